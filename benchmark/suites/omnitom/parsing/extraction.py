"""Predicted propositions, as a person reads them off an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from benchmark.suites.omnitom.data import GoldRow
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, ORDER, Labels, Scheme
from benchmark.suites.omnitom.parsing.cells import Header, Row, names_of
from benchmark.suites.omnitom.parsing.tables import has_bare_header, rows_of
from benchmark.suites.omnitom.parsing.values import (
    by_position,
    is_blank,
    object_in,
    pair,
    place_of,
    repaired,
    row_key,
    rows_in,
    text_of,
)
from core.incoming.embedded_json import plain_name
from judge.domain.text import key, normalise_space


class PredictedRow(NamedTuple):
    """A proposition; `officially` is (actor, belief) as official parsing shows it to a judge, where that differs."""

    actor: str
    belief: str
    order: str
    officially: tuple[str, str] | None = None


def parse_extraction(text: str, *, structured: bool = False, scheme: Scheme = OMNITOM_SCHEME) -> list[PredictedRow]:
    """The propositions of an answer, in its order: of its JSON (`rows`), otherwise of its tables. Of a `structured`
    answer only tables in JSON count.

    Rows without an actor or a belief are not propositions. Without a header a line counts only if it ends in an order,
    so that prose with pipes stays out; by a scheme without orders none does.
    """
    value = object_in(text)
    if value and value["rows"] == []:
        return []
    if rows := rows_in(value, "rows"):
        cells = ([text_of(row.get(name)) for name in ("actor", "belief", "order")] for row in rows)
        predicted = [PredictedRow(actor, belief, order) for actor, belief, order in cells]
    else:
        lines = rows_of(text, names_of(scheme), restated=True, only_json=structured)
        predicted = [row for line in lines if (row := _row(line, scheme))]
    return [row for row_as_written in predicted if (row := _tidy(row_as_written, scheme)).actor and row.belief]


def _tidy(row: PredictedRow, scheme: Scheme) -> PredictedRow:
    belief = normalise_space(row.belief).rstrip(".").rstrip()
    order = repaired(ORDER, row.order, scheme) if scheme.ordered else ""
    return row._replace(actor=normalise_space(row.actor), belief=belief, order=order)


def _row(line: Row, scheme: Scheme) -> PredictedRow | None:
    if not line.header:
        return _headless(line.cells, scheme) if scheme.ordered else None
    for read in line.header.readings(line.cells):
        if line.is_sure or not scheme.ordered or _is_order(read.get(ORDER, ""), scheme):
            return _predicted(line.cells, read["actor"], read["belief"], read.get(ORDER, ""))
    return None


def _headless(cells: tuple[str, ...], scheme: Scheme) -> PredictedRow | None:
    """The last cell that is an order ends the proposition: pipes before it are the belief's, cells after it remarks.
    An order in digits only goes before any other."""
    ends = [at for at, cell in enumerate(cells) if at > 1 and not is_blank(cell) and _is_order(cell, scheme)]
    ends = [at for at in ends if cells[at].isdecimal()] or ends
    if not ends or ends[-1] not in (2, len(cells) - 1):
        return None
    return _predicted(cells, cells[0], " | ".join(cells[1 : ends[-1]]), cells[ends[-1]])


def _predicted(cells: tuple[str, ...], actor: str, belief: str, order: str) -> PredictedRow:
    """Official parsing cuts a belief at its first pipe; a judge who was shown that table judged the cut row."""
    if "|" not in belief or key(cells[0]) != key(actor):
        return PredictedRow(actor, belief, order)
    return PredictedRow(actor, belief, order, (cells[0], belief.split("|")[0].strip()))


@lru_cache(maxsize=8192)
def _is_order(text: str, scheme: Scheme) -> bool:
    return is_blank(text) or repaired(ORDER, text, scheme) in scheme.legal[ORDER] or text.strip().isdecimal()


def says_nothing(text: str, scheme: Scheme = OMNITOM_SCHEME) -> bool:
    """Return whether an answer is a table without rows: an empty list of `rows`, or a header with nothing but rules
    below it."""
    value = object_in(text, listed=True)
    if value is not None:
        return bool(value["rows"] == [])
    return has_bare_header(text, names_of(scheme))


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
        if (at := place_of(row.get("id"), count)) is not None:
            labels = _labels(_structured(row, scheme), scheme)
            if labels_by_row.setdefault(at, labels) != labels:
                twice.add(at)
    return [None if at in twice else labels_by_row.get(at) for at in range(count)]


def _structured(row: Mapping[str, Any], scheme: Scheme) -> dict[str, str]:
    named = {dimension: text_of(row.get(plain_name(dimension))) for dimension in scheme.keys}
    return named | {name: text_of(row.get(name)) for name in ("actor", "belief")}


def _tabled(text: str, gold: Sequence[GoldRow], scheme: Scheme, *, only_json: bool) -> list[dict[str, str] | None]:
    gold_keys = {row_key(row.actor, row.belief) for row in gold}
    return [_labelled_row(line, gold_keys, scheme) for line in rows_of(text, names_of(scheme), only_json=only_json)]


def _labelled_row(line: Row, gold_keys: set[str], scheme: Scheme) -> dict[str, str] | None:
    """A line with cells too many is read in the way that names a gold row."""
    header = line.header
    if not header or not set(scheme.keys) & header.columns.keys():
        names = ("actor", "belief", *scheme.keys)
        header = Header("|", {name: at for at, name in enumerate(names)}, len(names))
    parses = header.readings(line.cells)
    fitting = (read for read in parses if row_key(read["actor"], read["belief"]) in gold_keys)
    return next(fitting, parses[0] if parses else None)


def _labels(row: Mapping[str, str], scheme: Scheme) -> Labels:
    return tuple(repaired(dimension, row.get(dimension, ""), scheme) for dimension in scheme.keys)
