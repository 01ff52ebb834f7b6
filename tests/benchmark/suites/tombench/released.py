"""What the released code does with the options of a question."""

from __future__ import annotations


def clean_option_officially(text: str, letter: str) -> str:
    """Return the text as the released code cleans it: letter, dot and space are removed wherever they stand.

    `A.是` keeps its letter, which then shows the place that the option had before it was shuffled.
    """
    return text.replace(f"{letter}. ", "")
