"""Tables as a person reads them: columns are found by the names in their header, wherever that stands, and of several
versions of one table the last counts."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from string import ascii_lowercase
from typing import Any

from benchmark.suites.omnitom.parsing.cells import (
    FENCE,
    NAMES,
    NUMBER,
    POSITIONAL,
    RULE,
    SURE,
    Header,
    Row,
    Table,
    cells_at,
    escaped,
    header_of,
    lines_of,
    named_cells,
    split,
    split_cells,
)
from benchmark.suites.omnitom.parsing.values import fold, row_key, text_of
from core.incoming.embedded_json import plain_name, values_in

_OF_THE_STORY = (
    r"(?!\s+(?:\w+\s+)?(?:beliefs?|propositions?|knowledge|thoughts?|views?|states?|scenes?|parts?|sections?|"
    r"paragraphs?|acts?|days?))"
)
"""Behind a word that announces a version, unless that is said of what a story tells."""
_FINAL = re.compile(rf"\bfinal\b{_OF_THE_STORY}|最终|最后(?!一?[幕天]|场景|部分)", re.IGNORECASE)
_REVISED = re.compile(
    rf"\b(?:correct(?:ed|ions?|ing)|revis\w*|updat\w*|improv\w*|redo|rewrit\w*|"
    rf"(?:second|new|better) (?:attempt|version|draft|table)|version 2|v2)\b{_OF_THE_STORY}|修正|更正|修改|修订|重新",
    re.IGNORECASE,
)
_IN_A_SENTENCE = re.compile(r"\b(?:mistakes?|wrong|wait|actually|instead)\b", re.IGNORECASE)
"""Words that announce a version in a sentence; a heading with one may be about a belief."""
_DRAFT = re.compile(
    rf"\b(?:drafts?|rough|preliminary|initial|scratch|first (?:attempt|pass|version|try))\b"
    rf"{_OF_THE_STORY}|草稿|初稿|初步",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:orders?:? \d|parts?|scenes?|sections?|paragraphs?|continued|cont\.|rest|remaining|rows? \d|"
    r"additional|further|also|missed|more (?:rows|beliefs|propositions))\b|续|部分|补充",
    re.IGNORECASE,
)
_TITLE = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*\Z|__[^_]+__:?\s*\Z)")
_LONGEST_HEADING = 200


def names_a_version(line: str) -> bool:
    """Return whether a line announces another version of the table before it."""
    return len(line) <= _LONGEST_HEADING and bool(_FINAL.search(line) or _is_revised(line))


def _is_revised(heading: str) -> bool:
    lines = heading.split("\n")
    return any(_REVISED.search(line) or (_IN_A_SENTENCE.search(line) and not _TITLE.match(line)) for line in lines)


def joined(tables: Sequence[Table], *, restated: bool) -> list[Row]:
    """Return the rows that count. A table replaces the tables before it if its heading says so, if it repeats half of
    their rows, or, with `restated`, if it has rows of the same actors and orders in other words, unless both have a
    title of Markdown. Rows of any other
    table are added, or replace equal ones; those under the heading of a part are always added."""
    rows: list[Row] = []
    earlier = ""
    for table in tables:
        heading = "\n".join([line[:_LONGEST_HEADING] for line in table.lead if line][-3:])
        if not rows or _replaces(earlier, rows, heading, table.rows, restated):
            rows = list(table.rows)
        elif _PART.search(heading):
            rows = [*rows, *table.rows]
        else:
            by_key, before = {_key(row): row for row in table.rows}, {_key(row) for row in rows}
            rows = [by_key.get(_key(row), row) for row in rows]
            rows += [row for row in table.rows if _key(row) not in before]
        earlier = heading
    return rows


def _replaces(earlier: str, rows: Sequence[Row], heading: str, later: Sequence[Row], restated: bool) -> bool:
    before, after = {_key(row) for row in rows}, {_key(row) for row in later}
    if _FINAL.search(heading):
        return True
    if after < before:  # some rows of the table again, which are merged
        return False
    if 2 * len(later) >= len(rows) and (_is_revised(heading) or _DRAFT.search(earlier)):
        return True
    if _PART.search(heading) or (_has_title(earlier) and _has_title(heading)):
        return False
    repeated = len(before & after)
    if 2 * repeated >= len(before) or not restated or repeated:
        return 2 * repeated >= len(before)
    # each row has another of the same actor and order in the later table, which is not divided by actors or orders
    kinds, kinds_later = (
        Counter((fold(actor), fold(order)) for actor, _, order in map(Row.proposition, side)) for side in (rows, later)
    )
    return kinds <= kinds_later


def _has_title(heading: str) -> bool:
    return any(map(_TITLE.match, heading.split("\n")))


def _key(row: Row) -> str:
    return row_key(*row.proposition()[:2])


_MARK = re.compile(r"\(?#?(?P<letters>[A-Za-z]{0,4})[-. #]?(?P<digits>\d{0,3})[.):]?")
_FIELD = re.compile(r"[-*•\s]*\w[\w -]{0,30}[:：=]")
_BETWEEN_CELLS = (" – ", " — ", ";", ",")
"""What separates the cells of a row without a header, besides pipes and tabs."""


def rows_of(
    text: str, names: Mapping[str, str] = NAMES, *, restated: bool = False, only_json: bool = False
) -> list[Row]:
    """Return the rows of the tables of a text, with `only_json` of those in JSON; if one has a header, only rows below
    a header.

    Of several versions of one table the last counts, as `joined` describes.
    """
    return joined(list(tables_of(with_lines(text, names, bare=only_json), names)), restated=restated)


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
        self.last_field = ""
        """The field of the record that the line before this one ended with."""
        self.is_block = False
        """Whether the text of that field begins below its name."""
        self.fenced = ""
        """The separator that the open code fence names."""
        self.is_spaced = False
        """Whether a blank line follows the header of the open table, and so each of its rows."""

    def tables(self) -> list[Table]:
        at = 0
        while at < len(self.lines):
            at += self._line(at)
        self._end_record()
        return self.read

    @property
    def _delimiter(self) -> str:
        return self.open.header.delimiter if self.open and self.open.header else ""

    @property
    def _width(self) -> int:
        return self.open.header.width if self.open and self.open.header else 0

    def _fits(self, cells: Sequence[str]) -> bool:
        return len(cells) >= self._width

    def _line(self, at: int) -> int:
        """Read the table row at a line, and return the number of lines that it takes."""
        line, used = self.lines[at], 1
        last_field, self.last_field = self.last_field, ""
        if header := header_of(line, self.names):
            self._begin(header)
        elif fields := named_cells(line, self.names):
            self._named(fields)
        elif last_field and self._goes_on(at):
            self.record[last_field] = f"{self.record[last_field]} {line}".strip()
            self.last_field = last_field
        elif "|" in line and not FENCE.match(line):
            cells, used = cells_at(self.lines, at, "|", self._fits)
            if not all(map(RULE.fullmatch, cells)):
                if self._heads_another_table(at, cells):
                    self._begin(None)
                self._row(cells, "|")
        elif self._delimiter in ("|", "") and (separator := self._separator_of(line)):
            self._row(split(line, separator), "|")
        elif self._delimiter not in ("|", "") and line and not FENCE.match(line):
            cells, used = cells_at(self.lines, at, self._delimiter, self._fits)
            if self.is_spaced and len(cells) != self._width and at and not self.lines[at - 1]:
                self.open = None
                return self._line(at)
            self._row(cells, self._delimiter)
        else:
            self._text(line)
        return used

    def _heads_another_table(self, at: int, cells: Sequence[str]) -> bool:
        """Return whether a line with pipes is the header of a table of something else: words, of which one is the name
        of a column or a rule is below them, and no row above them."""
        above, below = self.lines[at - 1] if at else "", "".join(self.lines[at + 1 : at + 2])
        if "|" in above or any(map(str.isdigit, "".join(cells))):
            return False
        is_ruled = "|" in below and "-" in below and all(map(RULE.fullmatch, split_cells(below)))
        return is_ruled or any(plain_name(cell) in self.names for cell in cells)

    def _goes_on(self, at: int) -> bool:
        """Return whether a line continues the text of the field above it, that begins below its name or goes on
        until another field of the same record."""
        if not self.lines[at] or _FIELD.match(self.lines[at]):
            return False
        for line in () if self.is_block else self.lines[at + 1 : at + 4]:
            if fields := named_cells(line, self.names):
                return not self.record.keys() & fields.keys()
            if not line:
                break
        return self.is_block

    def _separator_of(self, line: str) -> str:
        """Return the separator of a row without a header: a tab, the one that the code fence names, or one between
        whose three cells the last is an order in digits."""
        for sign in ("\t", self.fenced):
            if sign and sign in line:
                return sign
        for sign in _BETWEEN_CELLS:
            cells = split(line, sign)
            if len(cells) == len(POSITIONAL) and " " in cells[1] and re.fullmatch(r"\d", cells[2]):
                return sign
        return ""

    def _begin(self, header: Header | None) -> Table:
        self.open = Table(self.lead, [], header)
        self.read.append(self.open)
        self.lead, self.is_spaced = [], False
        return self.open

    def _row(self, cells: Sequence[str], delimiter: str) -> None:
        if self._delimiter not in ("", delimiter):
            self.open = None  # a line with pipes ends a table of commas
        table = self.open or self._begin(None)
        self.lead = []
        if table.header:
            is_sure = cells[0].startswith(SURE)
            row = table.header.cells([cells[0].removeprefix(SURE), *cells[1:]])
            table.rows.append(Row(tuple(row), table.header, is_sure))
        else:
            table.rows.append(Row(tuple(cells)))

    def _named(self, fields: dict[str, str]) -> None:
        """Add the cells of a line to the record of a row: a name that it has already begins the next one."""
        if self.record.keys() & fields.keys():
            self._end_record()
        self.record |= fields
        self.last_field = list(fields)[-1]
        self.is_block = not fields[self.last_field]

    def _end_record(self) -> None:
        record, self.record = self.record, {}
        if {"actor", "belief"} <= record.keys():
            header = Header("|", {name: at for at, name in enumerate(record)}, len(record))
            table = self.open if self.open and self.open.header == header else self._begin(header)
            table.rows.append(Row(tuple(record.values()), header))

    def _text(self, line: str) -> None:
        is_fence = FENCE.match(line)
        if is_fence:
            self.fenced = "," if line.lower().endswith("csv") else ""
        if self._delimiter not in ("|", "") and (not line or is_fence):
            self.is_spaced = self.is_spaced or (self.open is not None and not self.open.rows)
            self.open = self.open if self.is_spaced and not line else None
        elif self.open and self.open.rows and names_a_version(line):
            self._end_record()
            self._begin(self.open.header)
        self.lead.append(line)


def _without_numbers(rows: list[Row]) -> list[Row]:
    """Return rows without a header and without the numbers or letters in front of them: an actor, a belief and an order
    follow."""
    wide = [row for row in rows if len(row.cells) > len(POSITIONAL)]
    marks = [mark for row in wide if (mark := _MARK.fullmatch(row.cells[0]))]
    letters, digits = [mark["letters"].lower() for mark in marks], [mark["digits"] for mark in marks]
    if not wide or len(marks) < len(wide):
        return rows
    if "" in digits:  # letters from a on
        counts = len(wide) > 1 and not any(digits) and letters == list(ascii_lowercase[: len(letters)])
    else:  # numbers that rise, also after gaps or from the first one again, behind the same letters if any
        numbers = [int(digit) for digit in digits]
        rises = all(later > number or later == numbers[0] for number, later in pairwise(numbers))
        counts = rises and len(set(letters)) == 1 and (len(wide) > 1 or (not letters[0] and numbers[0] < 2))
    is_certain = all(NUMBER.fullmatch(row.cells[0]) for row in wide)
    if not counts or (not is_certain and any(row.cells[2].isdecimal() for row in wide)):
        return rows  # the orders of actors with names such as A
    return [Row(row.cells[1:]) if row in wide else row for row in rows]


def with_lines(text: str, names: Mapping[str, str], *, bare: bool = False) -> str:
    """Return a text with its tables of JSON as lines with pipes, and its other JSON left out. With `bare` nothing but
    these tables remains.

    An object that may be a part of a table that was cut off is no row.
    """
    values = values_in(text)
    if not values.values:
        return "" if bare else text
    pieces: list[str] = []
    header, end = list[str](), 0
    for value, (start, after) in zip(values.values, values.places, strict=True):
        between, end = text[end:start], after
        if not isinstance(value, dict) or any(map(names_a_version, between.splitlines())):
            header = []
        pieces.append("" if bare else between)
        if not values.is_all and _is_row(value, names):
            continue
        for title, rows in _tables(value, names):
            named = (names.get(plain_name(name)) for row in rows for name in row)
            columns = list(dict.fromkeys(column for column in named if column))
            if isinstance(value, list) or title or columns != header:
                pieces += [f"\n{title}\n", _line(columns)]
            header = columns if rows == [value] else []
            for row in rows:
                first, *rest = (
                    next((text_of(value) for name, value in row.items() if names.get(plain_name(name)) == column), "")
                    for column in columns
                )
                pieces.append(_line([SURE + first, *rest]))
    pieces.append("" if bare else text[end:])
    return "".join(pieces)


def _tables(value: Any, names: Mapping[str, str]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the lists of rows in a value, each with the names that lead to it; a row by itself is a list of one."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        title, inner = waiting.pop()
        if _is_row(inner, names):
            yield title, [inner]
        elif isinstance(inner, list) and any(_is_row(item, names) for item in inner):
            yield title, [item for item in inner if isinstance(item, dict)]
        elif isinstance(inner, (dict, list)):
            named = inner.items() if isinstance(inner, dict) else (("", item) for item in inner)
            waiting += reversed([(f"{title} {name}".strip(), item) for name, item in named])


def _is_row(value: Any, names: Mapping[str, str]) -> bool:
    return isinstance(value, dict) and {"actor", "belief"} <= {names.get(plain_name(name)) for name in value}


def _line(cells: Sequence[str]) -> str:
    return f"\n| {' | '.join(map(escaped, cells))} |\n"
