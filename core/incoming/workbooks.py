"""The first filled sheet of an .xlsx file, row by row. What it unpacks to is counted before a library opens it: a file
of a few kilobytes can hold gigabytes."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import IO, Any, NamedTuple
from xml.parsers import expat

from core.incoming.csv_text import MOST_COLUMNS, BadSheet
from core.incoming.damage import damage_as, oversize
from core.messages import Sentence, gettext_noop

_MOST_UNPACKED = 64 * 1024 * 1024
_MOST_MARKS = 3_000_000
"""The most characters < and = in all parts: about 400,000 cells, and no more elements than memory has room for."""
_MOST_ROWS = 1_048_576
_MOST_MERGED, _MOST_COVERED = 20_000, 2_000_000
"""The most merged areas of a sheet, and the most cells in them."""
_PIECE = 256 * 1024
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
"""How a workbook writes a character that XML may not hold, as the carriage return before a line feed."""
_FORMULAS = (b"<f>", b"<f ", b":f>", b":f ", b"<f/")
_VALUES = (b"<v>", b"<v ", b":v>", b"<is>", b":is>")
_ERROR = "e"
_FORMULA = "f"

Row = tuple[int, list[str], str]
"""(line, cells, what is wrong with one of them)"""


class _Merged(NamedTuple):
    first_row: int
    last_row: int
    first_column: int
    last_column: int


Tell = Callable[[str, Sequence[str]], None]
"""Takes the names of the sheet that is read and of the visible sheets with values that are not."""


def rows_of_workbook(source: IO[bytes], file: str, tell: Tell) -> Iterator[Row]:
    """Yield the rows of the first sheet that is not hidden and has values, values in the place of formulas, merged
    cells each with the value of all. Raises BadSheet."""
    sentence = Sentence(
        "{file} cannot be read as .xlsx; open it in a spreadsheet program and save it again.", file=file
    )
    with damage_as(lambda error: BadSheet(sentence), BadSheet):
        yield from _rows(source, file, tell)


def _rows(source: IO[bytes], file: str, tell: Tell) -> Iterator[Row]:
    with zipfile.ZipFile(source) as archive:
        has_formulas, filled = _checked(archive, file)
    books = [_opened(source, values=True)] + ([_opened(source, values=False)] if has_formulas else [])
    sheets = [_sheet(book, filled, file, tell) for book in books]
    layout = _layout(books[0], sheets[0], file)
    values, *written = (sheet.iter_rows(max_col=layout.columns) for sheet in sheets)
    open_: dict[_Merged, str] = {}
    for line, (row, formulas) in enumerate(zip(values, *(written or [repeat(())]), strict=False), 1):
        if line > _MOST_ROWS:
            raise BadSheet(Sentence("{file} has more than {most_rows} rows.", file=file, most_rows=f"{_MOST_ROWS:,}"))
        cells = [_text(cell.value) for cell in row]
        # All cells of a merged area have the value of the first.
        while layout.merged and layout.merged[-1].first_row <= line:
            area = layout.merged.pop()
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
        while cells and not cells[-1]:
            cells.pop()
        yield line, cells, _problem(row, formulas)


def _checked(archive: zipfile.ZipFile, file: str) -> tuple[bool, set[str]]:
    """Return whether a workbook has formulas, and the parts with values of cells. Reads at most _MOST_UNPACKED bytes
    and _MOST_MARKS once, piece by piece."""
    names = set(archive.namelist())
    if "[Content_Types].xml" not in names or not any(name.startswith("xl/") for name in names):
        raise BadSheet(Sentence("{file} is a zip file, but no .xlsx workbook.", file=file))
    if oversize(archive, most_bytes=_MOST_UNPACKED):
        sentence = gettext_noop("{file} unpacks to more than {most} MB; save the sheet as CSV.")
        raise BadSheet(sentence.format(file=file, most=_MOST_UNPACKED // 2**20))
    marks, has_formulas, filled = 0, False, set[str]()
    for part in archive.namelist():
        if not part.endswith((".xml", ".rels")):
            continue
        with archive.open(part) as unpacked:
            tail = b""
            while piece := unpacked.read(_PIECE):
                marks += piece.count(b"<") + piece.count(b"=")
                if marks > _MOST_MARKS:
                    sentence = gettext_noop(
                        "{file} has more cells than an .xlsx file may have here; save the sheet as CSV."
                    )
                    raise BadSheet(sentence.format(file=file))
                both = tail + piece
                has_formulas = has_formulas or any(mark in both for mark in _FORMULAS)
                if any(mark in both for mark in _VALUES):
                    filled.add(part)
                tail = piece[-16:]
    return has_formulas, filled


def _opened(source: IO[bytes], *, values: bool) -> Any:
    from openpyxl import load_workbook  # takes a moment, and few processes read workbooks

    source.seek(0)
    return load_workbook(source, read_only=True, data_only=values, keep_links=False)


def _sheet(book: Any, parts: set[str], file: str, tell: Tell) -> Any:
    """Return the first visible sheet with values, else the first visible one."""
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    if not sheets:
        raise BadSheet(Sentence("{file} has no sheet with rows.", file=file))
    filled = [sheet for sheet in sheets if sheet._worksheet_path in parts] or sheets[:1]
    tell(filled[0].title, [sheet.title for sheet in filled[1:]])
    filled[0].reset_dimensions()  # what a file says of its size is not to be believed
    return filled[0]


def _text(value: object) -> str:
    """Return what a cell would be in a CSV file."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, str):
        return _ESCAPED.sub(_character, value) if "_x" in value else value
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def _character(escape: re.Match[str]) -> str:
    """Return the character that an escape stands for. One that no text holds stays an escape."""
    character = chr(int(escape[1], 16))
    return character if character.isprintable() or character in "\t\r\n" else escape[0]


def _problem(row: Any, formulas: Any) -> str:
    for cell in row:
        if getattr(cell, "data_type", "") == _ERROR:
            sentence = gettext_noop("cell {coordinate} holds the error {value}; expected a value.")
            return sentence.format(coordinate=cell.coordinate, value=cell.value)
    for value, cell in zip(row, formulas, strict=False):
        if getattr(cell, "data_type", "") == _FORMULA and value.value is None:
            return Sentence(
                "cell {coordinate} holds a formula without a value; save the file in a spreadsheet program.",
                coordinate=cell.coordinate,
            )
    return ""


def _layout(book: Any, sheet: Any, file: str) -> _Layout:
    """Return the layout of a sheet, which the library leaves out where it reads row by row. Raises BadSheet for more
    than a table needs: a merged area takes time in every row that it covers, and a cell far to the right makes its row
    that long."""
    layout = _Layout(file)
    parser = expat.ParserCreate()
    parser.StartElementHandler = layout.take
    with book._archive.open(sheet._worksheet_path) as part:
        parser.ParseFile(part)
    layout.merged.sort(reverse=True)
    return layout


class _Layout:
    """The merged areas of a sheet, and the number of columns to read if cells without a value stand beyond the last."""

    def __init__(self, file: str) -> None:
        self.file, self.merged = file, list[_Merged]()
        self.columns: int | None = None
        self._covered, self._cell, self._last_row = 0, "", 0

    def take(self, name: str, attributes: dict[str, str]) -> None:
        element = name.rpartition(":")[2]
        if element == "c":
            from openpyxl.utils import column_index_from_string

            self._cell = attributes.get("r", "")
            letters = self._cell.rstrip("0123456789")  # one for the first 26 columns
            if len(letters) > 1 and column_index_from_string(letters) > MOST_COLUMNS:
                self.columns = MOST_COLUMNS
            else:
                self._cell = ""
        elif self._cell and element in ("v", "is"):
            sentence = gettext_noop("{file}: cell {cell} has a value; expected at most {most_columns} columns.")
            raise BadSheet(sentence.format(file=self.file, cell=self._cell, most_columns=MOST_COLUMNS))
        elif element == "row":
            self._last_row = int(attributes.get("r") or self._last_row + 1)
        elif element == "mergeCell":
            self._merge(attributes["ref"])

    def _merge(self, reference: str) -> None:
        from openpyxl.utils import range_boundaries

        left, top, right, bottom = range_boundaries(reference)
        self.merged.append(_Merged(top, bottom, left, min(right, MOST_COLUMNS)))
        rows, columns = min(bottom, self._last_row) - top + 1, min(right, MOST_COLUMNS) - left + 1
        self._covered += max(rows, 1) * max(columns, 1)
        if len(self.merged) > _MOST_MERGED or self._covered > _MOST_COVERED:
            sentence = gettext_noop(
                "{file} has more merged cells than can be read (areas: at most {most_merged}; cells in them: "
                "at most {most_covered}); undo the merging, or save the sheet as CSV."
            )
            limits = {"most_merged": f"{_MOST_MERGED:,}", "most_covered": f"{_MOST_COVERED:,}"}
            raise BadSheet(sentence.format(file=self.file, **limits))
