"""Predicted propositions, as a person reads them off an answer."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, ORDER, Scheme
from benchmark.suites.omnitom.parsing.cells import Row, names_of
from benchmark.suites.omnitom.parsing.structured import object_in, rows_in, text_of
from benchmark.suites.omnitom.parsing.tables import rows_of
from benchmark.suites.omnitom.parsing.values import is_blank, repaired
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
    if not line.columns:
        return _headless(line.cells, scheme) if scheme.ordered else None
    for read in (line.spread(), line.plain()):
        if read and (line.is_sure or not scheme.ordered or _is_order(read.get(ORDER, ""), scheme)):
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
