"""Numbers as sentences have them."""

from __future__ import annotations


def counted(count: int, noun: str, several: str = "") -> str:
    """Return the number with its noun: 1 row, 2,860 rows."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"
