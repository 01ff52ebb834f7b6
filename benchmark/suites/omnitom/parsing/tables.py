"""Tables as a person reads them: columns are found by the names in their header, wherever that stands, and of several
versions of one table the last counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmark.suites.omnitom.parsing.cells import (
    FENCE,
    NAMES,
    NUMBER,
    POSITIONAL,
    RULE,
    Header,
    Row,
    Table,
    cells_at,
    header_of,
    lines_of,
    named_cells,
    split,
    split_cells,
)
from benchmark.suites.omnitom.parsing.versions import joined, names_a_version


def rows_of(text: str, names: Mapping[str, str] = NAMES, *, restated: bool = False) -> list[Row]:
    """Return the rows of the tables of a text; if one has a header, only rows below a header.

    Of several versions of one table the last counts, as `joined` describes.
    """
    return joined(list(tables_of(text, names)), restated=restated)


def has_bare_header(text: str, names: Mapping[str, str] = NAMES) -> bool:
    """Return whether a text has a header and no row of any table."""
    return not rows_of(text, names) and any(header_of(line, names) for line in lines_of(text))


def tables_of(text: str, names: Mapping[str, str] = NAMES) -> Iterator[Table]:
    """Yield the tables of a text that have rows, in its order."""
    tables = _Reading(lines_of(text), names).tables()
    has_header = any(table.header for table in tables)
    for table in tables:
        if table.rows and (table.header or not has_header):
            yield table if table.header else Table(table.lead, _without_numbers(table.rows))


class _Reading:
    """Reads the tables of an answer line by line."""

    def __init__(self, lines: Sequence[str], names: Mapping[str, str]) -> None:
        self.lines, self.names = lines, names
        self.read: list[Table] = []
        self.lead: list[str] = []
        self.open: Table | None = None
        self.record: dict[str, str] = {}
        self.fenced = ""
        """The separator that the open code fence names."""

    def tables(self) -> list[Table]:
        at = 0
        while at < len(self.lines):
            at += self._line(at)
        self._end_record()
        return self.read

    def _line(self, at: int) -> int:
        """Read the table row at a line, and return the number of lines that it takes."""
        line = self.lines[at]
        if header := header_of(line, self.names):
            self._begin(header)
        elif fields := named_cells(line, self.names):
            self._named(fields)
        elif "|" in line and not FENCE.match(line):
            cells = split_cells(line)
            if not all(RULE.fullmatch(cell) for cell in cells):
                self._row(cells, "|")
        elif self._delimiter in ("|", "") and (separator := self._separator_of(line)):
            self._row(split(line, separator), "|")
        elif self._delimiter not in ("|", "") and line and not FENCE.match(line):
            cells, used = cells_at(self.lines, at, self._delimiter, lambda cells: len(cells) >= self._width)
            self._row(cells, self._delimiter)
            return used
        else:
            self._text(line)
        return 1

    def _separator_of(self, line: str) -> str:
        """Return the separator of a row without a header: a tab, or the one that the code fence names."""
        return next((sign for sign in ("\t", self.fenced) if sign and sign in line), "")

    @property
    def _delimiter(self) -> str:
        return self.open.header.delimiter if self.open and self.open.header else ""

    @property
    def _width(self) -> int:
        return self.open.header.width if self.open and self.open.header else 0

    def _begin(self, header: Header | None) -> Table:
        table = Table(self.lead, [], header)
        self.read.append(table)
        self.open, self.lead = table, []
        return table

    def _row(self, cells: Sequence[str], delimiter: str) -> None:
        if self._delimiter not in ("", delimiter):
            self.open = None  # a line with pipes ends a table of commas
        table = self.open or self._begin(None)
        header, self.lead = table.header, []
        if header:
            table.rows.append(Row(tuple(header.cells(cells)), header.columns, header.width, header.joint))
        else:
            table.rows.append(Row(tuple(cells), {}, 0))

    def _named(self, fields: dict[str, str]) -> None:
        """Add the cells of a line to the record of a row: a name that it has already begins the next one."""
        if self.record.keys() & fields.keys():
            self._end_record()
        self.record |= fields

    def _end_record(self) -> None:
        record, self.record = self.record, {}
        if {"actor", "belief"} <= record.keys():
            header = Header("|", {name: at for at, name in enumerate(record)}, len(record))
            table = self.open if self.open and self.open.header == header else self._begin(header)
            table.rows.append(Row(tuple(record.values()), header.columns, header.width))

    def _text(self, line: str) -> None:
        if FENCE.match(line):
            self.fenced = "," if line.lower().endswith("csv") else ""
        if self._delimiter not in ("|", "") and (not line or FENCE.match(line)):
            self.open = None
        elif self.open and self.open.rows and names_a_version(line):
            self._end_record()
            self._begin(self.open.header)
        self.lead.append(line)


def _without_numbers(rows: list[Row]) -> list[Row]:
    """Return rows without a header and without the numbers in front of them: an actor, a belief and an order follow."""
    wide = [row for row in rows if len(row.cells) > len(POSITIONAL)]
    numbers = [int("".join(filter(str.isdigit, row.cells[0]))) for row in wide if NUMBER.fullmatch(row.cells[0])]
    if not numbers or len(numbers) < len(wide) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return rows
    return [Row(row.cells[1:], {}, 0) if row in wide else row for row in rows]
