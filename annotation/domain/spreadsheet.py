"""Cells that a spreadsheet would run as a formula, made harmless and back."""

from __future__ import annotations

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


def defused(text: str) -> str:
    """Return `text` with an apostrophe before it where a spreadsheet might run it; `restored` takes it off again.

    A text that already starts with an apostrophe and a dangerous character gets one too, so that the way back is exact.
    """
    probe = text.lstrip("'")
    return "'" + text if probe.startswith(_DANGEROUS) else text


def restored(text: str) -> str:
    probe = text.lstrip("'")
    return text[1:] if text.startswith("'") and probe.startswith(_DANGEROUS) else text


class Echo:
    """A file for csv.writer whose `write` returns the line, to stream it."""

    def write(self, line: str) -> str:
        return line
