"""Labels of gold propositions, as a person reads them off an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Labels, Scheme
from benchmark.suites.omnitom.parsing.cells import Row, names_of
from benchmark.suites.omnitom.parsing.matching import by_position, pair, row_key
from benchmark.suites.omnitom.parsing.structured import id_of, object_in, rows_in, text_of
from benchmark.suites.omnitom.parsing.tables import rows_of
from benchmark.suites.omnitom.parsing.values import repaired
from benchmark.suites.omnitom.records import GoldRow
from core.incoming.embedded_json import plain_name


def parse_labels(
    text: str, gold: Sequence[GoldRow], *, structured: bool = False, scheme: Scheme = OMNITOM_SCHEME
) -> list[Labels | None]:
    """Return, for each of the `gold` rows that were shown, in their order, its labels of the scheme; None where the
    answer has no row.

    A structured row names its gold row by `id`, counted from 1, or by actor and belief; a table row by actor and
    belief. A table is not a `structured` answer.
    """
    rows = rows_in(object_in(text), "rows")
    if rows and not any("actor" in row for row in rows):
        return _by_id(rows, len(gold), scheme)
    read = [_structured(row, scheme) for row in rows] or _tabled(text, gold, scheme, only_json=structured)
    present = [row for row in read if row]
    keys = [row_key(row.actor, row.belief) for row in gold]
    places = pair(keys, [row_key(row["actor"], row["belief"]) for row in present])
    places = by_position(places, [row.actor for row in gold], [row["actor"] for row in present])
    return [None if place is None else _labels(present[place], scheme) for place in places]


def _by_id(rows: Sequence[Mapping[str, Any]], count: int, scheme: Scheme) -> list[Labels | None]:
    """Two rows that give one id different labels leave it without any."""
    labels_by_row: dict[int, Labels] = {}
    twice: set[int] = set()
    for row in rows:
        if (at := id_of(row, count)) is not None:
            labels = _labels(_structured(row, scheme), scheme)
            if labels_by_row.setdefault(at, labels) != labels:
                twice.add(at)
    return [None if at in twice else labels_by_row.get(at) for at in range(count)]


def _structured(row: Mapping[str, Any], scheme: Scheme) -> dict[str, str]:
    named = {dimension: text_of(row.get(plain_name(dimension))) for dimension in scheme.keys}
    return named | {name: text_of(row.get(name)) for name in ("actor", "belief")}


def _tabled(text: str, gold: Sequence[GoldRow], scheme: Scheme, *, only_json: bool) -> list[dict[str, str] | None]:
    gold_keys = {row_key(row.actor, row.belief) for row in gold}
    return [_row(line, gold_keys, scheme) for line in rows_of(text, names_of(scheme), only_json=only_json)]


def _row(line: Row, gold_keys: set[str], scheme: Scheme) -> dict[str, str] | None:
    """A line with cells too many is read in the way that names a gold row."""
    if not set(scheme.keys) & line.columns.keys():
        positional = {name: at for at, name in enumerate(("actor", "belief", *scheme.keys))}
        line = Row(line.cells, positional, len(positional))
    parses = [read for read in (line.spread(), line.plain()) if read]
    fitting = (read for read in parses if row_key(read["actor"], read["belief"]) in gold_keys)
    return next(fitting, parses[0] if parses else None)


def _labels(row: Mapping[str, str], scheme: Scheme) -> Labels:
    return tuple(repaired(dimension, row.get(dimension, ""), scheme) for dimension in scheme.keys)
