"""Lines of tables and their cells, separated by pipes, HTML, tabs, commas or semicolons, or each with its name."""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from html.parser import HTMLParser
from typing import NamedTuple

from benchmark.suites.omnitom.labels import DIMENSIONS, Scheme
from core.incoming.embedded_json import plain_name

_LINE_END = re.compile(r"\r\n?|\n")
_OTHER_LINE_END = re.compile("[\u2028\u2029\x85\x0b\x0c]")
_QUOTED_BLOCK = re.compile(r"\A(?:>\s*)+")
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")
_PIPE_SIGNS = str.maketrans("｜│┃║", "||||")
_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")
RULE = re.compile(r"[\s:=+_–—\u2500-\u257f-]*")
_BULLET = re.compile(r"\A(?:[-*•]|\(?\d{1,3}[.)])\s+")
FENCE = re.compile(r"(?:`{3,}|~{3,})")
NUMBER = re.compile(r"\(?#?\d{1,3}[.):]?")
_NAMED_CELL = re.compile(
    r"(?:^|[|,;，；、\t] {0,8})[*_`]{0,4}([A-Za-z\u4e00-\u9fff][A-Za-z\u4e00-\u9fff _-]{0,24}?)"
    r"[*_`]{0,4} {0,8}[:：=][*_`]{0,4}"
)
_BLOCK_SCALAR = re.compile(r"[>|][-+]?\Z")
_WHOLLY_QUOTED = re.compile(r"\A([\"'])((?:(?!\1).)*)\1\Z")
_AROUND_CELL = " \t|,;，；、*`"
_LONGEST_WRAPPED, _LARGEST_SPAN = 4, 100
SURE = "\ue000"
"""Begins the first cell of a line that was made of a row of JSON."""
_LONGEST_QUOTED = 8
_LONGEST_HTML = 500_000
"""Characters of an answer whose HTML is read; Python's parser takes the square of their number for some."""
DELIMITERS = ",\t;"
"""The separators besides pipes. A table by one of them needs a header, and ends with a blank line or its fence."""

NAMES: Mapping[str, str] = {
    **dict.fromkeys(("actor", "actors", "character", "characters"), "actor"),
    **dict.fromkeys(("角色", "人物", "主体", "行动者"), "actor"),
    **dict.fromkeys(("belief", "beliefs", "proposition", "propositions", "信念", "命题"), "belief"),
    **{plain_name(dimension): dimension for dimension in DIMENSIONS},
    **dict.fromkeys(("orders", "belieforder", "阶数", "阶次", "阶"), "order"),
    **dict.fromkeys(("truth", "status"), "truth_status"),
    **dict.fromkeys(("access", "knowledge"), "knowledge_access"),
    **dict.fromkeys(("repr", "representations"), "representation"),
    **dict.fromkeys(("content", "contenttypes", "ctype"), "content_type"),
    **dict.fromkeys(("source", "mentalsources"), "mental_source"),
    "contexts": "context",
    **dict.fromkeys(("matchcount", "matchcounts", "matches", "count"), "count"),
}
"""Plain header names and the columns that they mean."""
POSITIONAL = ("actor", "belief", "order")
"""The columns of a table of propositions without a header."""
_ACTOR = re.compile("|".join(name for name, column in NAMES.items() if column == "actor"), re.IGNORECASE)
_NUMBERING = frozenset({"", "#", "id", "no", "no.", "s.no", "s.no.", "nr", "nr.", "№", "index", "row", "序号", "编号"})


@lru_cache(64)
def names_of(scheme: Scheme) -> Mapping[str, str]:
    """Return `NAMES` for the dimensions of a scheme: those of another schema than OmniToM's go by key, name and short
    name."""
    if scheme.official:
        return NAMES
    names = {"actor": "actor", "belief": "belief"}
    for titles in ({key: key for key in scheme.keys}, scheme.names, scheme.titles, scheme.shorts):
        for key, title in titles.items():
            names.setdefault(plain_name(title), key)
    for name, column in NAMES.items():
        if column in ("actor", "belief"):
            names.setdefault(name, column)
    return {name: column for name, column in names.items() if name}


class Header(NamedTuple):
    """The separator, columns (place by name) and number of cells of a header."""

    delimiter: str
    columns: Mapping[str, int]
    width: int

    def cells(self, cells: Sequence[str]) -> Sequence[str]:
        """Return the cells of a row without a number in front of them that the header does not have."""
        numbered = len(cells) == self.width + 1 and NUMBER.fullmatch(cells[0])
        return cells[1:] if numbered else cells

    def spread(self, cells: Sequence[str]) -> dict[str, str] | None:
        """Return cells by column name; surplus cells are taken as a belief that holds the separator, which it keeps.
        Returns None for a row with too few cells."""
        surplus, belief = len(cells) - self.width, self.columns["belief"]
        if surplus < 0:
            return None
        fields = {name: cells[at + surplus if at > belief else at] for name, at in self.columns.items()}
        joint = " | " if self.delimiter == "|" else f"{self.delimiter} "
        return fields | {"belief": joint.join(cells[belief : belief + surplus + 1])}

    def readings(self, cells: Sequence[str]) -> list[dict[str, str]]:
        """Return cells by column name: surplus ones as a belief that holds the separator, if a column after it shows
        where it ends, then as remarks, which are left out. Returns nothing for a row with too few cells."""
        if len(cells) < self.width:
            return []
        plain = {name: cells[at] for name, at in self.columns.items()}
        spread = self.spread(cells) if len(cells) == self.width or self.columns["belief"] < self.width - 1 else None
        return [spread, plain] if spread else [plain]


class Row(NamedTuple):
    """The cells of one row, and the header that it stands below."""

    cells: tuple[str, ...]
    header: Header | None = None
    is_sure: bool = False
    """True for a row whatever its cells hold."""

    def proposition(self) -> tuple[str, str, str]:
        """The actor, belief and order of the row, "" where it has no such cell."""
        if self.header:
            fields = next(iter(self.header.readings(self.cells)), {})
        else:
            fields = dict(zip(POSITIONAL, self.cells, strict=False))
        return fields.get("actor", ""), fields.get("belief", ""), fields.get("order", "")


class Table(NamedTuple):
    """Rows that belong together, and the lines of text in front of them."""

    lead: Sequence[str]
    rows: list[Row]
    header: Header | None = None


def header_of(line: str, names: Mapping[str, str] = NAMES) -> Header | None:
    """Return the header that a line is. Pipes come first: a cell may hold commas.

    A header names an actor, a belief and either a third column or, besides row numbers, nothing else: the line
    `Actor | Belief | 1` is a proposition.
    """
    for delimiter in () if not _ACTOR.search(line) else "|" if "|" in line else DELIMITERS:
        columns: dict[str, int] = {}
        unknown, cells = 0, split(line, delimiter)
        for at, cell in enumerate(cells):
            name = names.get(plain_name(cell)) or names.get(plain_name(_IN_BRACKETS.sub("", cell)))
            unknown += name is None and cell.lower() not in _NUMBERING
            if name:
                columns.setdefault(name, at)
        if {"actor", "belief"} <= columns.keys() and (len(columns) > 2 or not unknown):
            return Header(delimiter, columns, len(cells))
    return None


def lines_of(text: str) -> list[str]:
    """Return the lines of an answer without white space around them, each row of an HTML table as a line with pipes.

    Only a line feed or a carriage return ends a line, as a cell may hold U+2028, unless the text has none of them.
    """
    if len(text) <= _LONGEST_HTML and "<tr" in text.lower():
        parser = _Html()
        parser.feed(text)
        parser.close()
        parser.end_row()
        text = "".join(parser.written)
    ends = _LINE_END if _LINE_END.search(text) else _OTHER_LINE_END
    text = _LINE_BREAK.sub(" ", text)
    lines = (_QUOTED_BLOCK.sub("", line.strip().lstrip("\ufeff")) for line in ends.split(text))
    return [line if "|" in line else line.translate(_PIPE_SIGNS) for line in lines]


class _Html(HTMLParser):
    """Writes rows of HTML tables as lines with pipes, and leaves other text as it is. A cell over several rows stands
    in each of them, and one over several columns in the first."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []
        self._row: list[tuple[list[str], int, int]] | None = None
        """The pieces of the text of each cell, its rows and its columns."""
        self._above: dict[int, tuple[int, str]] = {}
        """For each column, the number of rows to come that a cell above covers, and its text."""

    def end_row(self) -> None:
        cells: list[str] = []
        for pieces, rows, columns in self._row or ():
            self._take_above(cells)
            text = escaped("".join(pieces))
            if rows > 1:
                self._above[len(cells)] = (rows - 1, text)
            cells += [text, *[""] * (columns - 1)]
        if self._row:
            self._take_above(cells)
            self.written.append(f"\n| {' | '.join(cells)} |\n")
        self._row = None

    def _take_above(self, cells: list[str]) -> None:
        while (at := len(cells)) in self._above:
            rows, text = self._above.pop(at)
            if rows > 1:
                self._above[at] = (rows - 1, text)
            cells.append(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._above = {}
        if tag == "tr":
            self.end_row()
            self._row = []
        elif tag in ("td", "th") and self._row is not None:
            spans = dict(attrs)
            self._row.append(([], _span(spans.get("rowspan")), _span(spans.get("colspan"))))
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("tr", "table"):
            self.end_row()

    def handle_data(self, data: str) -> None:
        if self._row is None:
            self.written.append(data)
        elif self._row:
            self._row[-1][0].append(data)


def _span(text: str | None) -> int:
    """Return the number of rows or columns that an attribute gives a cell, from 1 to _LARGEST_SPAN."""
    return min(int(text), _LARGEST_SPAN) or 1 if text and text.isascii() and text.isdecimal() and len(text) < 9 else 1


def escaped(text: str) -> str:
    """Return a text as a cell between pipes."""
    return " ".join(text.split()).replace("|", "\\|")


def named_cells(line: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return the cells of a line that names each: `Actor: Mia | Belief: … | Order: 1`, or one of them on a line of its
    own. Returns an empty mapping for any other line."""
    if ":" not in line and "：" not in line and "=" not in line:
        return {}
    line = _BULLET.sub("", line.removeprefix("|").strip())
    cells = [(name, names[plain_name(name[1])]) for name in _NAMED_CELL.finditer(line) if plain_name(name[1]) in names]
    if not cells or cells[0][0].start():
        return {}
    ends = [name.start() for name, _ in cells[1:]] + [len(line)]
    fields: dict[str, str] = {}
    for (name, column), end in zip(cells, ends, strict=True):
        text = _BLOCK_SCALAR.sub("", line[name.end() : end].strip()).strip(_AROUND_CELL)
        fields.setdefault(column, _WHOLLY_QUOTED.sub(r"\2", text).replace("\\|", "|"))
    return fields


def split(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line. Returns an empty list for a line that is no CSV."""
    if delimiter == "|":
        return split_cells(line)
    if len(delimiter) > 1:
        return [cell.strip() for cell in _BULLET.sub("", line).split(delimiter)]
    try:
        cells = next(csv.reader([line.replace('\\"', '""')], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def cells_at(
    lines: Sequence[str], at: int, delimiter: str, fits: Callable[[Sequence[str]], bool]
) -> tuple[list[str], int]:
    """Return the cells of the row that starts at a line, and its number of lines: a quoted belief may hold line ends,
    and so may a row of pipes without one at its end. Lines are joined if the first alone does not fit."""
    line = lines[at]
    cells = split(line, delimiter)
    is_open = line.count('"') % 2 == 1 if delimiter != "|" else not (line.startswith("|") and line.endswith("|"))
    if is_open and not fits(cells):
        most = _LONGEST_QUOTED if delimiter != "|" else _LONGEST_WRAPPED
        for last in range(at + 1, min(at + most, len(lines))):
            below = lines[last]
            begins = not below or below.startswith(("|", "#")) or FENCE.match(below) or header_of(below)
            if delimiter == "|" and (begins or fits(split_cells(below))):
                break
            joined = " ".join(lines[at : last + 1])
            row = split(joined, delimiter)
            if fits(row) if delimiter == "|" else joined.count('"') % 2 == 0:
                return row, last + 1 - at
    return cells, 1


def split_cells(line: str) -> list[str]:
    """Return the cells of a line between pipes that no backslash escapes, without emphasis around them."""
    doubled = min(len(line) - len(line.lstrip("|")), len(line) - len(line.rstrip("|"))) - 1
    if doubled > 0:
        line = line[doubled : len(line) - doubled]
    line = _BULLET.sub("", line).removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.replace("\\|", "|").strip().strip("*`").strip() for cell in _UNESCAPED_PIPE.split(line)]
