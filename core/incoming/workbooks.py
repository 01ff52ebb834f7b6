"""The first filled sheet of an .xlsx file, row by row. What it unpacks to is counted before a library opens it: a file
of a few kilobytes can hold gigabytes."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import IO, Any, NamedTuple
from xml.parsers import expat

from core.language import gettext_noop

_MOST_UNPACKED = 64 * 1024 * 1024
_MOST_MARKS = 3_000_000
"""The most characters < and = in all parts: about 400,000 cells, and no more elements than memory has room for."""
_MOST_ROWS = 1_048_576
_PIECE = 256 * 1024
_ERROR = "e"
_FORMULA = "f"

Row = tuple[int, list[str], str]
"""(line, cells, what is wrong with one of them)"""


class _Merged(NamedTuple):
    first_row: int
    last_row: int
    first_column: int
    last_column: int


class _Package(NamedTuple):
    """`filled` are the names of parts with values of cells."""

    has_formulas: bool
    has_merged: bool
    filled: frozenset[str]


Tell = Callable[[str, Sequence[str]], None]
"""Takes the names of the sheet that is read and of the visible sheets with values that are not."""


def rows_of_workbook(source: IO[bytes], file: str, refused: Callable[[str], ValueError], tell: Tell) -> Iterator[Row]:
    """Yield the rows of the first sheet that is not hidden and has values, values in the place of formulas, merged
    cells each with the value of all. Raises what `refused` makes of a sentence."""
    try:
        yield from _rows(source, file, refused, tell)
    except (zipfile.BadZipFile, expat.ExpatError, RuntimeError, OSError, EOFError, NotImplementedError) as error:
        raise refused(
            gettext_noop(f"{file} cannot be read as .xlsx; open it in a spreadsheet program and save it again.")
        ) from error


def _rows(source: IO[bytes], file: str, refused: Callable[[str], ValueError], tell: Tell) -> Iterator[Row]:
    with zipfile.ZipFile(source) as archive:
        package = _checked(archive, file, refused)
    books = [_opened(source, file, refused, values=True)]
    if package.has_formulas:
        books.append(_opened(source, file, refused, values=False))
    sheets = [_sheet(book, package, file, refused, tell) for book in books]
    merged = _merged_cells(books[0], sheets[0]) if package.has_merged else []
    written = _guarded(sheets[1], file, refused) if package.has_formulas else repeat(())
    anchors: dict[_Merged, str] = {}
    for line, (row, formulas) in enumerate(zip(_guarded(sheets[0], file, refused), written, strict=False), 1):
        if line > _MOST_ROWS:
            raise refused(gettext_noop(f"{file} has more than {_MOST_ROWS:,} rows."))
        cells = [_text(cell.value) for cell in row]
        _fill(cells, line, merged, anchors)
        while cells and not cells[-1]:
            cells.pop()
        yield line, cells, _problem(row, formulas)


def _checked(archive: zipfile.ZipFile, file: str, refused: Callable[[str], ValueError]) -> _Package:
    """Count what is packed, at most _MOST_UNPACKED bytes and _MOST_MARKS, once, bit by bit and no further than that."""
    names = set(archive.namelist())
    if "[Content_Types].xml" not in names or not any(name.startswith("xl/") for name in names):
        raise refused(gettext_noop(f"{file} is a zip file, but no .xlsx workbook."))
    if sum(part.file_size for part in archive.infolist()) > _MOST_UNPACKED:
        most = _MOST_UNPACKED // 1024 // 1024
        raise refused(gettext_noop(f"{file} unpacks to more than {most} MB; save the sheet as CSV."))
    marks, has_formulas, has_merged, filled = 0, False, False, set[str]()
    for part in archive.infolist():
        if not part.filename.endswith((".xml", ".rels")):
            continue
        with archive.open(part) as unpacked:
            tail = b""
            while piece := unpacked.read(_PIECE):
                marks += piece.count(b"<") + piece.count(b"=")
                if marks > _MOST_MARKS:
                    raise refused(
                        gettext_noop(f"{file} has more cells than an .xlsx file may have here; save the sheet as CSV.")
                    )
                both = tail + piece
                has_formulas |= b"<f>" in both or b"<f " in both or b":f>" in both or b":f " in both or b"<f/" in both
                has_merged |= b"mergeCell" in both
                if b"<v>" in both or b"<v " in both or b":v>" in both or b"<is>" in both or b":is>" in both:
                    filled.add(part.filename)
                tail = piece[-16:]
    return _Package(has_formulas, has_merged, frozenset(filled))


def _opened(source: IO[bytes], file: str, refused: Callable[[str], ValueError], *, values: bool) -> Any:
    from openpyxl import load_workbook  # takes a moment, and few processes read workbooks

    source.seek(0)
    try:
        return load_workbook(source, read_only=True, data_only=values, keep_links=False)
    except Exception as error:  # the library raises whatever a broken part makes its code do
        raise _broken(file, refused) from error


def _broken(file: str, refused: Callable[[str], ValueError]) -> ValueError:
    return refused(gettext_noop(f"{file} cannot be read as .xlsx; open it in a spreadsheet program and save it again."))


def _sheet(book: Any, package: _Package, file: str, refused: Callable[[str], ValueError], tell: Tell) -> Any:
    """Return the first visible sheet with values, else the first visible one."""
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    if not sheets:
        raise refused(gettext_noop(f"{file} has no sheet with rows."))
    filled = [sheet for sheet in sheets if sheet._worksheet_path in package.filled] or sheets[:1]
    tell(filled[0].title, [sheet.title for sheet in filled[1:]])
    filled[0].reset_dimensions()  # what a file says of its size is not to be believed
    return filled[0]


def _guarded(sheet: Any, file: str, refused: Callable[[str], ValueError]) -> Iterator[Any]:
    rows = iter(sheet.iter_rows())
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except Exception as error:
            raise _broken(file, refused) from error
        yield row


def _text(value: object) -> str:
    """Return what a cell would be in a CSV file."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def _problem(row: Any, formulas: Any) -> str:
    for cell in row:
        if getattr(cell, "data_type", "") == _ERROR:
            return gettext_noop(f"cell {cell.coordinate} holds the error {cell.value}; expected a value.")
    for value, cell in zip(row, formulas, strict=False):
        if getattr(cell, "data_type", "") == _FORMULA and value.value is None:
            return gettext_noop(
                f"cell {cell.coordinate} holds a formula without a value; save the file in a spreadsheet program."
            )
    return ""


def _merged_cells(book: Any, sheet: Any) -> list[_Merged]:
    from openpyxl.utils import range_boundaries

    ranges: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name.rpartition(":")[2] == "mergeCell" and "ref" in attributes:
            ranges.append(attributes["ref"])

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    with book._archive.open(sheet._worksheet_path) as part:  # read row by row, the library leaves merged cells out
        parser.ParseFile(part)
    bounds = [range_boundaries(reference) for reference in ranges]
    merged = [_Merged(top, bottom, left, right) for left, top, right, bottom in bounds]
    return sorted(merged, reverse=True)


def _fill(cells: list[str], line: int, merged: list[_Merged], open_: dict[_Merged, str]) -> None:
    """Write the value of merged cells, that of the first, to all of them. Takes what begins here out of `merged`."""
    while merged and merged[-1].first_row <= line:
        area = merged.pop()
        value = cells[area.first_column - 1] if area.first_column <= len(cells) else ""
        if value:
            open_[area] = value
    for area in [area for area in open_ if area.last_row < line]:
        del open_[area]
    for area, value in open_.items():
        last = min(area.last_column, max(len(cells), area.first_column))
        cells.extend([""] * (last - len(cells)))
        for column in range(area.first_column, last + 1):
            cells[column - 1] = value
