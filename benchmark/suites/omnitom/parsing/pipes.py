"""Tables with pipes as a person reads them: columns by the names in their header, wherever that stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from benchmark.suites.omnitom.labels import DIMENSIONS, Scheme
from core.incoming.embedded_json import plain_name

_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s:=+_–—-]*")
_BULLET = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s+")

NAMES: Mapping[str, str] = {
    **dict.fromkeys(("actor", "actors"), "actor"),
    **dict.fromkeys(("belief", "beliefs", "proposition", "propositions"), "belief"),
    **{plain_name(dimension): dimension for dimension in DIMENSIONS},
    **dict.fromkeys(("orders", "belieforder"), "order"),
    **dict.fromkeys(("truth", "status"), "truth_status"),
    **dict.fromkeys(("access", "knowledge"), "knowledge_access"),
    **dict.fromkeys(("repr", "representations"), "representation"),
    **dict.fromkeys(("content", "contenttypes", "ctype"), "content_type"),
    **dict.fromkeys(("source", "mentalsources"), "mental_source"),
    "contexts": "context",
    **dict.fromkeys(("matchcount", "matchcounts", "matches", "count"), "count"),
}
"""Plain header names and the columns that they mean."""


@lru_cache(64)
def names_of(scheme: Scheme) -> Mapping[str, str]:
    """Return `NAMES` for the dimensions of a scheme: those of another schema than OmniToM's go by key, name and short
    name."""
    if scheme.official:
        return NAMES
    names = {name: column for name, column in NAMES.items() if column in ("actor", "belief")}
    for titles in ({key: key for key in scheme.keys}, scheme.names, scheme.titles, scheme.shorts):
        for key, title in titles.items():
            names.setdefault(plain_name(title), key)
    return {name: column for name, column in names.items() if name}


_NUMBERING = frozenset({"", "#", "id", "no", "no.", "nr", "index", "row"})


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one line. `columns` maps names to places, empty before a header."""

    cells: tuple[str, ...]
    columns: Mapping[str, int]
    width: int

    def spread(self) -> dict[str, str] | None:
        """Cells by column name; cells too many are taken as a belief that holds pipes, which it keeps.

        None for a line with too few cells, and where no column after the belief says where it ends.
        """
        surplus, belief = len(self.cells) - self.width, self.columns["belief"]
        if surplus < 0 or (surplus and belief == self.width - 1):
            return None
        fields = {name: self.cells[at + surplus if at > belief else at] for name, at in self.columns.items()}
        return fields | {"belief": " | ".join(self.cells[belief : belief + surplus + 1])}

    def plain(self) -> dict[str, str] | None:
        """Cells by column name; cells too many are taken as remarks and left out."""
        if len(self.cells) < self.width:
            return None
        return {name: self.cells[at] for name, at in self.columns.items()}


def columns_of(cells: Iterable[str], names: Mapping[str, str] = NAMES) -> dict[str, int]:
    """The columns that a header names; empty for a line that is not a header.

    A header names an actor, a belief and either a third column or, besides row numbers, nothing else: the line
    `Actor | Belief | 1` is a proposition.
    """
    columns: dict[str, int] = {}
    unknown = 0
    for at, cell in enumerate(cells):
        name = names.get(plain_name(cell))
        unknown += name is None and cell.lower() not in _NUMBERING
        if name and name not in columns:
            columns[name] = at
    is_header = {"actor", "belief"} <= columns.keys() and (len(columns) > 2 or not unknown)
    return columns if is_header else {}


def rows_of(text: str, names: Mapping[str, str] = NAMES) -> list[Row]:
    """The rows of every table in a text; where there is a header, only rows below one."""
    rows: list[Row] = []
    columns: dict[str, int] = {}
    width = 0
    for line in _lines(text):
        cells = split_cells(line)
        if all(_RULE.fullmatch(cell) for cell in cells):
            continue
        if "actor" in line.lower() and (named := columns_of(cells, names)):
            if not columns:
                rows.clear()
            columns, width = named, len(cells)
        else:
            rows.append(Row(tuple(cells), columns, width))
    return rows


def has_bare_header(text: str, names: Mapping[str, str] = NAMES) -> bool:
    """Return whether a text has a table of no rows and nothing else between pipes."""
    return not rows_of(text, names) and any(columns_of(split_cells(line), names) for line in _lines(text))


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        line = line.strip().lstrip("\ufeff")
        if "|" in line and not line.startswith("```"):
            yield line


def split_cells(line: str) -> list[str]:
    """Cells of a line between pipes that no backslash escapes, without emphasis around them."""
    doubled = min(len(line) - len(line.lstrip("|")), len(line) - len(line.rstrip("|"))) - 1
    if doubled > 0:
        line = line[doubled : len(line) - doubled]
    if line.startswith("|"):
        line = line[1:]
    elif bullet := _BULLET.match(line):
        line = line[bullet.end() :]
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.replace("\\|", "|").strip().strip("*`").strip() for cell in _UNESCAPED_PIPE.split(line)]
