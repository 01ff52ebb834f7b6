"""Labels of gold propositions, as a person reads them off an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.suites.omnitom.labels import DIMENSIONS, Labels
from benchmark.suites.omnitom.parsing import pipes
from benchmark.suites.omnitom.parsing.matching import by_position, pair, row_key
from benchmark.suites.omnitom.parsing.structured import id_of, json_in, plain, rows_in, text_of
from benchmark.suites.omnitom.parsing.values import repaired
from benchmark.suites.omnitom.records import GoldRow

_POSITIONAL = {"actor": 0, "belief": 1} | {dimension: at for at, dimension in enumerate(DIMENSIONS, 2)}
_PLAIN = {plain(dimension): dimension for dimension in DIMENSIONS}


def parse_labels(text: str, gold: Sequence[GoldRow], *, structured: bool = False) -> list[Labels | None]:
    """Return, for each of the `gold` rows that were shown, in their order, its seven labels; None where the answer has no row.

    A structured row names its gold row by `id`, counted from 1, or by actor and belief; a table row by actor and belief. A table
    is not a `structured` answer.
    """
    value = json_in(text)
    rows = rows_in(value, "rows")
    if rows and not any("actor" in row for row in rows):
        return _by_id(rows, len(gold))
    read = [_structured(row) for row in rows] if rows or structured else _tabled(text, gold)
    present = [row for row in read if row]
    keys = [row_key(row.actor, row.belief) for row in gold]
    places = pair(keys, [row_key(row["actor"], row["belief"]) for row in present])
    places = by_position(places, [row.actor for row in gold], [row["actor"] for row in present])
    return [None if place is None else _labels(present[place]) for place in places]


def _by_id(rows: Sequence[Mapping[str, Any]], count: int) -> list[Labels | None]:
    """Two rows that give one id different labels leave it without any."""
    labels_by_row: dict[int, Labels] = {}
    twice: set[int] = set()
    for row in rows:
        if (at := id_of(row, count)) is not None:
            labels = _labels(_structured(row))
            if labels_by_row.setdefault(at, labels) != labels:
                twice.add(at)
    return [None if at in twice else labels_by_row.get(at) for at in range(count)]


def _structured(row: Mapping[str, Any]) -> dict[str, str]:
    named = {dimension: text_of(row.get(name)) for name, dimension in _PLAIN.items()}
    return named | {name: text_of(row.get(name)) for name in ("actor", "belief")}


def _tabled(text: str, gold: Sequence[GoldRow]) -> list[dict[str, str] | None]:
    gold_keys = {row_key(row.actor, row.belief) for row in gold}
    return [_row(line, gold_keys) for line in pipes.rows_of(text)]


def _row(line: pipes.Row, gold_keys: set[str]) -> dict[str, str] | None:
    """A line with cells too many is read in the way that names a gold row."""
    if not set(DIMENSIONS) & line.columns.keys():
        line = pipes.Row(line.cells, _POSITIONAL, len(_POSITIONAL))
    readings = [read for read in (line.spread(), line.plain()) if read]
    fitting = (read for read in readings if row_key(read["actor"], read["belief"]) in gold_keys)
    return next(fitting, readings[0] if readings else None)


def _labels(row: Mapping[str, str]) -> Labels:
    return tuple(repaired(dimension, row.get(dimension, "")) for dimension in DIMENSIONS)
