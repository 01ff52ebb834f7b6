"""Rows of cells from a spreadsheet: CSV with commas, semicolons or tabs in any of `encodings`, or the first sheet of an
.xlsx file. Memory holds a row of a CSV file, and of an .xlsx file no more than _MOST_UNPACKED allows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import IO, BinaryIO, NamedTuple

from core.incoming.encodings import seekable, text_of
from core.incoming.workbooks import rows_of_workbook
from core.language import gettext_noop
from core.turns import taking_turns

MOST_COLUMNS = 200
LONGEST_LINE = 8 * 1024 * 1024
LONGEST_CELL = 1_000_000
_DELIMITERS = ",;\t"
_ZIP = b"PK\x03\x04"


class BadSheet(ValueError):
    """A file that cannot be read on, as one sentence that names it; `line` is where the reading ended."""

    def __init__(self, sentence: str, line: int = 1) -> None:
        super().__init__(sentence)
        self.line = line


class SheetRow(NamedTuple):
    """A row; `problem` is a sentence about a cell that has no value, empty where all have one."""

    line: int
    cells: list[str]
    problem: str = ""


_sheet_row = partial(tuple.__new__, SheetRow)
"""Half the time of a call of the class."""


def is_workbook(start: bytes) -> bool:
    """Return whether a file that begins like this is read as a workbook and not as text."""
    return start.startswith(_ZIP)


def rows_of(handle: BinaryIO, file: str, *, encoding: str = "") -> Iterator[SheetRow]:
    """Yield the rows from the start of the handle, empty ones too. Raises BadSheet and BadText."""
    source = seekable(handle)
    source.seek(0)
    start = source.read(4)
    source.seek(0)
    if start == _ZIP:
        yield from taking_turns(_workbook(source, file))
    else:
        text = text_of(source, file, encoding=encoding)
        try:
            yield from taking_turns(rows_of_text(text, file))
        finally:
            if not source.closed:
                text.detach()


def _workbook(source: IO[bytes], file: str) -> Iterator[SheetRow]:
    for line, cells, problem in rows_of_workbook(source, file, BadSheet):
        if line == 1 or len(cells) > MOST_COLUMNS:
            _check_columns(cells, file, line)
        yield SheetRow(line, cells, problem)


def rows_of_text(handle: io.TextIOBase, file: str) -> Iterator[SheetRow]:
    """Yield the rows of a CSV text; its first line says what stands between cells. Raises BadSheet."""
    csv.field_size_limit(LONGEST_CELL)
    lines = _lines(handle, file)
    head, skipped = next(lines, ""), 0
    delimiter = max(_DELIMITERS, key=head.count)  # spreadsheets of half of Europe save semicolons
    if head[:4].lower() == "sep=":
        delimiter, head, skipped = head[4:5] or ",", next(lines, ""), 1
    if delimiter in '\r\n"':
        raise BadSheet(gettext_noop(f"{file}, line 1: sep= names no character that separates cells."))
    reader = csv.reader(chain([head], lines), delimiter=delimiter)
    try:
        for cells in reader:
            if reader.line_num == 1:
                _check_columns(cells, file, 1 + skipped)
            yield _sheet_row((reader.line_num + skipped, cells, ""))
    except csv.Error as error:
        line = reader.line_num + skipped
        raise BadSheet(gettext_noop(f"{file}, line {line}: the line is not valid CSV: {error}."), line) from error


def _check_columns(cells: list[str], file: str, line: int) -> None:
    if len(cells) > MOST_COLUMNS:
        raise BadSheet(
            gettext_noop(f"{file}, line {line}: {len(cells):,} columns; expected at most {MOST_COLUMNS}."), line
        )


def _lines(handle: io.TextIOBase, file: str) -> Iterator[str]:
    line = 0
    while text := handle.readline(LONGEST_LINE + 1):
        line += 1
        if len(text) > LONGEST_LINE:
            most = LONGEST_LINE // 1024 // 1024
            raise BadSheet(
                gettext_noop(f"{file}, line {line}: the line is longer than {most} million characters."), line
            )
        yield text
