"""Tables with pipes as official scoring reads them (specification "OmniToM scoring", section 2).

Columns are positional, the header is only ever the first row, and whatever holds a pipe is a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from benchmark.suites.omnitom.labels import DIMENSIONS, Labels, canonical
from judge.domain.text import key, normalise_space

_SEPARATOR = re.compile(r":?-{3,}:?")


class ExtractionRow(NamedTuple):
    actor: str
    belief: str
    order: str


class LabelRow(NamedTuple):
    actor: str
    belief: str
    labels: Labels

    def cells(self) -> list[str]:
        return [self.actor, self.belief, *self.labels]


def cells(text: str) -> Iterator[list[str]]:
    """The trimmed cells of every line that holds a pipe, without separator rows."""
    for line in text.splitlines():
        if "|" not in line:
            continue
        cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        if not all(not cell or _SEPARATOR.fullmatch(cell) for cell in cells):
            yield cells


def _body(text: str, *, header_cells: int, least: int) -> Iterator[list[str]]:
    for at, row in enumerate(cells(text)):
        is_header = at == 0 and len(row) >= header_cells and key(row[0]) == "actor"
        if not is_header and len(row) >= least:
            yield row


def _belief(cell: str) -> str:
    return normalise_space(cell).rstrip(".")


def extraction_rows(text: str) -> list[ExtractionRow]:
    """Predicted propositions; rows without an actor or a belief stay. A blank before a removed period stays too."""
    body = _body(text, header_cells=3, least=3)
    return [ExtractionRow(normalise_space(row[0]), _belief(row[1]), normalise_space(row[2])) for row in body]


def label_rows(text: str) -> list[LabelRow]:
    """Labelled propositions: nine cells by position, further cells are ignored."""
    return [
        LabelRow(
            normalise_space(row[0]),
            _belief(row[1]),
            tuple(canonical(dimension, cell) for dimension, cell in zip(DIMENSIONS, row[2:9], strict=True)),
        )
        for row in _body(text, header_cells=2, least=9)
    ]
