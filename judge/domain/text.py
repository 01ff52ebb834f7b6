"""Text as official scoring compares it (specification "OmniToM scoring", section 1).

`normalise_space` and `key` decide which rows are equal, `match_count` what a count is worth. They copy the released
code to the letter, odd cases included: a repaired reading is another module's work.
"""

from __future__ import annotations


def normalise_space(value: object) -> str:
    """`value` as text with every run of Unicode white space as one blank, trimmed; None is empty.

    U+FEFF and U+200B are no white space here, U+001C to U+001F are.
    """
    return "" if value is None else " ".join(str(value).split())


def key(value: object) -> str:
    """What actors, beliefs and header cells are compared by: lower case, without outer straight quotes.

    Blanks that the removed quotes held stay: `" a "` gives ` a `.
    """
    return normalise_space(value).lower().strip("\"'")


def match_count(value: object) -> int:
    """A MatchCount as a whole number, cut towards zero; 0 for whatever is no finite number."""
    try:
        return int(float(str(value).strip()))
    except (ValueError, OverflowError):
        return 0
