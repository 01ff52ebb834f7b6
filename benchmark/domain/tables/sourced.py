"""Rows that say whose figures they hold, and which items these rest on: what a page links them to, and no file has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Items:
    """The items behind a cell, as `filters` of the items page; of another `run` and `entrant` than the row's where
    these are said."""

    filters: Mapping[str, str] = field(default_factory=dict)
    run: str = ""
    entrant: int | None = None


Where = Mapping[str, Items]
"""Filters of items by the key of a column."""


@dataclass(frozen=True, slots=True)
class Source:
    """Source of the figures of a row.

    `key` is the entrant's, `kind` is model, baseline or person, `run` and `entrant` say whose items the figures rest
    on, at the metric group `group`, and `where` which of them. `own` are the settings that not all rows have, in words;
    `others` is how many earlier entrants the row stands for. An `unranked` row takes no marks. Corrected scores of the
    row rest on the alignment study with the uid `study` and on what the judge of that `version` judged.
    """

    key: str
    kind: str
    run: str
    run_title: str
    entrant: int | None
    group: str
    own: str = ""
    others: int = 0
    unranked: bool = False
    where: Where = field(default_factory=dict)
    study: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SourcedRow(Mapping[str, Any]):
    """The cells of a row by key, and where they come from."""

    cells: Mapping[str, Any]
    source: Source

    def __getitem__(self, key: str) -> Any:
        return self.cells[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)


def source_of(row: Mapping[str, Any]) -> Source | None:
    """Return the source of a row, None for one without, such as a total."""
    return row.source if isinstance(row, SourcedRow) else None


def with_cell(row: Mapping[str, Any], key: str, value: Any) -> Mapping[str, Any]:
    """The row with one cell more, from where it comes as before."""
    cells = {**row, key: value}
    return replace(row, cells=cells) if isinstance(row, SourcedRow) else cells
