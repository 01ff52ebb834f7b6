"""The options of a question: their letters, and their texts without them."""

from __future__ import annotations

import re

from core.messages import gettext_noop

LETTERS = "ABCD"
NO_OPTION = gettext_noop("names no option")
SEVERAL = gettext_noop("names more than one option")
"""Reasons why an answer chooses nothing."""
NONE_OF_THEM = "–"
"""The choice of an answer that rejects all options."""
_BREAK = re.compile(r"\s*\n\s*")
_BREAK_IN_CHINESE = re.compile(r"\s*\n\s*(?=[^\x00-\x7f])")


def clean_option(text: str, letter: str) -> str:
    """Return the text of an option in one line, without the letter that it carries, such as `A. `, `A.` or `A: `, and
    without outer space.

    Only the option's own letter goes, only at the start: `attraction C.` stays as it is.
    """
    bare = re.sub(rf"\A\s*{letter}\s*[.:、)．：）](?![A-Za-z]\.)", "", text, count=1).strip()
    return _BREAK.sub(" ", _BREAK_IN_CHINESE.sub("", bare))


def clean_options(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts of all options of a question, in their original order, without their letters."""
    return tuple(clean_option(text, letter) for text, letter in zip(texts, LETTERS, strict=False))
