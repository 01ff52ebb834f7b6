"""The room that a table takes on a printed page, estimated before any engine sets it, and its parts that fit.

Widths and heights are in points, of the fonts that LaTeX's classes set in ten points. An estimate need not be exact:
whatever is still too wide is shrunk to the line when it is set (`latex.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from benchmark.domain.tables.table import Column, Table

COLUMN_WIDTH, TEXT_WIDTH = 3.0 * 72.27, 6.3 * 72.27
TEXT_HEIGHT = 520.0
"""The greatest height of a float with its caption; papers have 9 inches or more."""
SHRUNK = 0.85
"""The smallest share of the type's size before a table is parted: seven points to six."""
SMALL, TINY = 1.3, 0.85
"""Sizes of type against that of wide tables: of narrow ones, and of the intervals below their values."""
_NARROW, _BROAD = frozenset("iljtfr.,:;!|'()[] "), frozenset("mwMW%")


@lru_cache(maxsize=4096)
def text_width(text: str) -> float:
    """Return the width of a text in type of seven points."""
    return sum(
        2.7 if character in _NARROW else 6.3 if character in _BROAD else 5.0 if character.isupper() else 4.0
        for character in text
    )


def column_width(table: Table, column: Column, *, intervals: bool, beside: bool) -> float:
    """Return the width of a column without its margins; `beside` where intervals follow their values on one line."""
    head = text_width(f"{column.header} ({column.unit})" if column.unit else column.header)
    printed = intervals and column.has_aside
    # Many rows print the same: each text is measured once.
    cells = {(column.text(row.get(column.key)), column.interval_text(row) if printed else "") for row in table.all_rows}
    return max([head, *(_cell(value, interval, beside) for value, interval in cells)])


def _cell(value: str, interval: str, beside: bool) -> float:
    width, small = text_width(value), TINY * text_width(interval)
    return width + small + (2.7 if small else 0.0) if beside else max(width, small)


def is_narrow(table: Table, *, intervals: bool) -> bool:
    """Return whether the table fits a column of a two-column page in small type, with intervals beside their values."""
    widths = [column_width(table, column, intervals=intervals, beside=True) for column in table.columns]
    return SMALL * sum(widths) + 12 * (len(widths) - 1) <= COLUMN_WIDTH / SHRUNK


def blocks(table: Table, *, intervals: bool) -> list[list[Column]]:
    """Return the columns in blocks that fit the width of the text one below the other, groups whole where they can be;
    each begins with the first column, which says what a row is of."""
    first, *others = table.columns
    widths = {
        column.key: column_width(table, column, intervals=intervals, beside=False) + 5 for column in table.columns
    }
    room, parts, used = TEXT_WIDTH / SHRUNK - widths[first.key], [[first]], 0.0
    for group in _groups(others):
        whole = sum(widths[column.key] for column in group)
        if used and used + whole > room:
            parts.append([first])
            used = 0.0
        for column in group:
            if used and used + widths[column.key] > room:
                parts.append([first])
                used = 0.0
            parts[-1].append(column)
            used += widths[column.key]
    return parts


def _groups(columns: Sequence[Column]) -> Iterator[list[Column]]:
    for _, members in groupby(columns, key=lambda column: column.group):
        yield list(members)


def chunks(count: int, line: float, room: float) -> list[range]:
    """Return the places of `count` rows of that height in pieces of even length that `room` holds."""
    most = max(1, int(room // line))
    pieces = max(1, -(-count // most))
    size = -(-count // pieces) if count else 0
    return [range(at, min(at + size, count)) for at in range(0, count, size)] if count else [range(0)]


def notes_height(notes: Sequence[str], *, wide: bool) -> float:
    """Return the height of the notes below a table, a paragraph each in type of seven points."""
    room = 0.92 * (TEXT_WIDTH if wide else COLUMN_WIDTH)  # lines end at words
    return sum(8.2 * -(-text_width(note) // room) + 4 for note in notes)
