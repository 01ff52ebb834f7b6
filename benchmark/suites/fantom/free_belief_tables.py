"""The table of what answers in free words state, as a judge reads them, beside what the embedder says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from benchmark.domain.tables import Column, Table
from benchmark.domain.tables.table import Cells
from benchmark.suites.fantom.free_beliefs import FREE_BELIEFS, UNREAD
from benchmark.suites.fantom.verdicts import CANNOT_TELL, NEITHER, RIGHT, WRONG
from benchmark.suites.fantom_questions.question_types import SCENARIOS
from benchmark.suites.fantom_questions.tables import table_of
from benchmark.suites.results import EntrantResults, ParseResults, ShownTable
from benchmark.suites.showing.entrants import analyses_of
from core.language import gettext_noop

_HEADERS: Mapping[str, str] = {
    RIGHT: gettext_noop("Right belief"),
    WRONG: gettext_noop("Wrong belief"),
    NEITHER: gettext_noop("Neither"),
    CANNOT_TELL: gettext_noop("Cannot tell"),
    UNREAD: gettext_noop("No verdict"),
}
_NOTE = gettext_noop(
    "Answers by what the judge says that they state. Of a false belief the wrong text is the view of one who heard "
    "everything. Embedder: of the answers that both call right or wrong, the share that it calls right, and the share "
    "of which it says what the judge says. Cannot tell: also where two passes of the judge say something else."
)


def free_belief_tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the table of a parse, none without verdicts."""
    entrants = [entrant for entrant in results.analysed.get(FREE_BELIEFS.key, ()) if _analysis(entrant, results.parse)]
    return {"told": ShownTable(partial(_table, entrants, results.parse), (FREE_BELIEFS.key,))} if entrants else {}


def _analysis(entrant: EntrantResults, parse: str) -> Mapping[str, Any]:
    return (analyses_of(entrant, parse) or {}).get("told") or {}


def _table(entrants: Sequence[EntrantResults], parse: str) -> Table:
    columns = [column for scenario, title in SCENARIOS.items() for column in _columns(scenario, title.capitalize())]
    cells = [_cells(_analysis(entrant, parse)) for entrant in entrants]
    title = gettext_noop("What answers in free words state, by the judge")
    return table_of(entrants, FREE_BELIEFS.key, title, columns, cells, _NOTE)


def _columns(scenario: str, group: str) -> list[Column]:
    counts = [Column(key=f"{scenario} {key}", header=name, kind="count", group=group) for key, name in _HEADERS.items()]
    shares = {"near": gettext_noop("Right, by the embedder"), "alike": gettext_noop("Embedder agrees")}
    return [
        *counts,
        *(
            Column(key=f"{scenario} {key}", header=name, kind="share", unit="%", group=group)
            for key, name in shares.items()
        ),
    ]


def _cells(by_scenario: Mapping[str, Any]) -> Cells:
    cells: Cells = {}
    for scenario, of in by_scenario.items():
        cells |= {f"{scenario} {verdict}": count for verdict, count in of["verdicts"].items()}
        cells |= {f"{scenario} {name}": of[name] / of["both"] if of["both"] else None for name in ("near", "alike")}
    return cells
