"""Rows of cells from a spreadsheet: CSV with commas, semicolons or tabs in any of `encodings`, or the first filled
sheet of an .xlsx file. Memory holds a row of a CSV file, and of an .xlsx file no more than _MOST_UNPACKED allows.

Every importer reads sheets here, so that width and quotes are checked once: a row whose cells do not fit its header
carries the problem, and no text is cut.
"""

import io
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, NamedTuple

from core.incoming.csv_text import MOST_COLUMNS, BadSheet, CsvText, Record, sign_of
from core.incoming.deadline import timed
from core.incoming.encodings import seekable, text_of
from core.incoming.workbooks import rows_of_workbook
from core.messages import Sentence, gettext_noop
from core.wording import counted

__all__ = ["BadSheet", "SheetRow", "Sheets", "rows_of", "rows_of_text"]

_ZIP = b"PK\x03\x04"
_MOST_NAMED = 12


class SheetRow(NamedTuple):
    """A row with at least as many cells as the header has names, unless it has a problem. `problem` is a sentence about
    a cell without a value or about cells that do not fit the header; empty if all is well. `line` is the line on which
    the row begins."""

    line: int
    cells: list[str]
    problem: str = ""


@dataclass(slots=True)
class Sheets:
    """Names of the sheet that was read and of visible sheets with values that were not; empty for a text."""

    read: str = ""
    left: Sequence[str] = ()

    def tell(self, read: str, left: Sequence[str]) -> None:
        self.read, self.left = read, left


_sheet_row = partial(tuple.__new__, SheetRow)
"""Half the time of a call of the class."""


def rows_of(handle: IO[bytes], file: str, *, encoding: str = "", sheets: Sheets | None = None) -> Generator[SheetRow]:
    """Yield the rows from the start of the handle that are not blank, the header first. `sheets` is filled with the
    names of the sheets of a workbook. Raises BadSheet and BadText."""
    source = seekable(handle)
    source.seek(0)
    start = source.read(4)
    source.seek(0)
    if start == _ZIP:
        rows = rows_of_workbook(source, file, (sheets or Sheets()).tell)
        yield from timed(_fitted(rows, file), file)
    else:
        text = text_of(source, file, encoding=encoding)
        try:
            yield from timed(rows_of_text(text, file), file)
        finally:
            if not source.closed:
                text.detach()


def rows_of_text(handle: io.TextIOBase, file: str) -> Iterator[SheetRow]:
    """Yield the rows of a CSV text that are not blank, the header first, which says what stands between cells. Raises
    BadSheet."""
    text = CsvText(handle, file)
    yield from _fitted(text.records(), file, text.delimiter)


def _fitted(records: Iterable[Record], file: str, delimiter: str = "") -> Iterator[SheetRow]:
    """Yield the rows that are not blank, and say of each that has other cells than the header.

    A row of a text that has fewer may be a piece of one with a line break outside of quotes: its neighbours, which
    may be other pieces, are refused with it. A workbook has no delimiter, and leaves out empty cells at the end.
    """
    width, header, previous, was_short = -1, list[str](), None, False
    for line, cells, problem in records:
        count = len(cells)
        if not problem and not any(map(str.strip, cells)):
            continue
        if width < 0:
            header = _named(cells, file, line, problem)
            width = len(header)
            yield _sheet_row((line, cells, problem))
            continue
        is_short = count < width and bool(delimiter)
        if count > width and any(map(str.strip, cells[width:])):
            problem = problem or _too_wide(cells, header, delimiter)
        elif is_short:
            problem = problem or _too_short(cells, header, delimiter)
            if previous is not None and not previous.problem:
                previous = previous._replace(problem=_next_to(line))
        elif count < width:
            cells = cells + [""] * (width - count)
        if was_short and previous is not None and not is_short:
            problem = problem or _next_to(previous.line)
        if previous is not None:
            yield previous
        previous, was_short = _sheet_row((line, cells, problem)), is_short
    if previous is not None:
        yield previous


def _named(cells: Sequence[str], file: str, line: int, problem: str) -> list[str]:
    """Return the names of columns up to the last one that has a name."""
    place = {"file": file, "line": line}
    if problem:
        sentence = gettext_noop("{file} has a header that cannot be read, in line {line}: {problem}")
        raise BadSheet(sentence.format(**place, problem=problem), line)
    if len(cells) > MOST_COLUMNS:
        sentence = gettext_noop("{file}, line {line}: {cells} columns; expected at most {most_columns}.")
        raise BadSheet(sentence.format(**place, cells=f"{len(cells):,}", most_columns=MOST_COLUMNS), line)
    names = [" ".join(cell.split()) for cell in cells]
    while names and not names[-1]:
        names.pop()
    return names


def _expected(header: Sequence[str]) -> str:
    """Return the cells that a row must have."""
    keys = ", ".join(name[:40] for name in header[:_MOST_NAMED]) + (", …" if len(header) > _MOST_NAMED else "")
    return Sentence("{header} as in the header ({keys})", header=len(header), keys=keys)


def _too_wide(cells: Sequence[str], header: Sequence[str], delimiter: str) -> str:
    sizes = {"count": counted(len(cells), "cell"), "expected": _expected(header)}
    if not delimiter:
        return Sentence("the row has {count}; expected {expected}.", **sizes)
    parted = [at for at in range(1, len(cells)) if cells[at][:1] == " " and at <= len(header)]
    if not parted:
        sentence = gettext_noop("the row has {count}; expected {expected}: a cell with {sign} must stand in quotes.")
        return sentence.format(**sizes, sign=sign_of(delimiter))
    sentence = gettext_noop(
        "the row has {count}; expected {expected}: a cell with {sign} must stand in quotes, as perhaps {keys}."
    )
    before = parted[0] - 1
    text = (cells[before] + delimiter + cells[before + 1])[:40]
    return sentence.format(**sizes, sign=sign_of(delimiter), keys=f"{header[before][:40]} {text!r}")


def _too_short(cells: Sequence[str], header: Sequence[str], delimiter: str) -> str:
    sentence = gettext_noop(
        "the row has {count}; expected {expected}: an empty cell needs {sign} too, and a cell with a "
        "line break must stand in quotes."
    )
    count = counted(len(cells), "cell")
    return sentence.format(count=count, expected=_expected(header), sign=sign_of(delimiter))


def _next_to(line: int) -> str:
    return Sentence(
        "line {line} next to it has too few cells, so that this row may be a part of a longer one.", line=line
    )
