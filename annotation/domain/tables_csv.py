"""Belief tables kept in a spreadsheet: one row a proposition (the contract of `import_tables`)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple, TextIO

from annotation.domain.drafts import LONGEST
from annotation.domain.problems import Problem
from annotation.domain.spreadsheet import restored
from annotation.domain.tables import TableRow
from annotation.domain.votes_csv import WrongColumns

REQUIRED = ("story_id", "actor", "belief")
_DELIMITERS = ",;\t"
_MAX_FIELD = 1_000_000


class TableLine(NamedTuple):
    """A row of a spreadsheet of tables; `story` is the story's number."""

    line: int
    story: int
    row: TableRow


def read_tables(handle: TextIO, file: str) -> Iterator[TableLine | Problem]:
    """Yield the rows of the file in order, with a Problem in place of each that cannot be used. Raises WrongColumns."""
    csv.field_size_limit(_MAX_FIELD)
    try:
        head = handle.readline(_MAX_FIELD)
        delimiter = max(_DELIMITERS, key=head.count)  # spreadsheets of half of Europe save semicolons
        reader = csv.reader(chain([head], handle), delimiter=delimiter)
        at = _columns(next(reader, []), file)
        for cells in reader:
            if any(cells):
                yield _line(cells, at, reader.line_num, file)
    except UnicodeDecodeError as error:
        raise WrongColumns(f"{file} is not UTF-8 text: {error.reason}.") from error
    except csv.Error as error:
        raise WrongColumns(f"{file} is not readable as CSV: {error}.") from error


def _columns(header: list[str], file: str) -> Mapping[str, int]:
    at = {name.strip().lower(): number for number, name in enumerate(header)}
    at.setdefault("belief", at.get("proposition", -1))
    missing = [name for name in REQUIRED if at.get(name, -1) < 0]
    if missing:
        raise WrongColumns(
            f"{file} lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}; expected "
            f"{', '.join(REQUIRED)} and, if you like, order."
        )
    return at


def _line(cells: list[str], at: Mapping[str, int], line: int, file: str) -> TableLine | Problem:
    def cell(name: str) -> str:
        place = at.get(name, -1)
        return restored(cells[place]).strip() if 0 <= place < len(cells) else ""

    story = cell("story_id")
    if not (story.isascii() and story.isdecimal() and len(story) < 19):
        return Problem(file, line, f"story_id is {story[:40]!r}; expected the number of a story.")
    row = TableRow(cell("actor"), cell("belief"), cell("order"))
    for name, text in (("actor", row.actor), ("belief", row.belief), ("order", row.order)):
        if not text and name != "order":
            return Problem(file, line, f"{name} is empty; expected a text.")
        if len(text) > LONGEST[name] or "\x00" in text:
            return Problem(file, line, f"{name} is longer than {LONGEST[name]} characters, or holds a NUL character.")
    return TableLine(line, int(story), row)
