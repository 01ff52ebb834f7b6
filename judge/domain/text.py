"""Comparison of two texts of rows.

Released scorers compare so, and published figures rest on it: odd cases stay as they are.
"""


def normalise_space(value: object) -> str:
    """`value` as text with every run of Unicode white space as one blank, trimmed; None is empty.

    U+FEFF and U+200B are not white space here, U+001C to U+001F are.
    """
    return "" if value is None else " ".join(str(value).split())


def key(value: object) -> str:
    """Return what texts are compared by: lower case, without outer straight quotes.

    Blanks that the removed quotes held stay: `" a "` gives ` a `.
    """
    return normalise_space(value).lower().strip("\"'")
