"""The table of what answers in free words state, as a judge reads them, beside what the embedder says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from benchmark.domain.tables import Column, Table
from benchmark.domain.tables.table import Cells
from benchmark.suites.fantom.free_beliefs import FREE_BELIEFS, UNREADABLE, FreeBeliefs
from benchmark.suites.fantom.verdicts import CANNOT_TELL, NEITHER, RIGHT, WRONG
from benchmark.suites.fantom_questions.question_types import SCENARIOS
from benchmark.suites.fantom_questions.tables import table_of
from benchmark.suites.results import EntrantResults, ParseResults, ShownTable
from benchmark.suites.showing.entrants import findings_of
from core.messages import gettext_noop

_HEADERS: Mapping[str, str] = {
    RIGHT: gettext_noop("Right belief"),
    WRONG: gettext_noop("Wrong belief"),
    NEITHER: gettext_noop("Neither"),
    CANNOT_TELL: gettext_noop("Cannot tell"),
    UNREADABLE: gettext_noop("No verdict"),
}
_NOTE = gettext_noop(
    "Answers by what the judge says that they state. Of a false belief the wrong text is the view of one who heard "
    "everything. Embedder: of the answers that both call right or wrong, the share that it calls right, and the share "
    "of which it says what the judge says. Cannot tell: also where two passes of the judge say something else."
)


def free_belief_tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the table of a parse, none without verdicts."""
    analysed = findings_of(results.analysed.get(FREE_BELIEFS.key, ()), results.parse, FreeBeliefs)
    return {"told": ShownTable(partial(_table, analysed), (FREE_BELIEFS.key,))} if analysed else {}


def _table(analysed: Sequence[tuple[EntrantResults, FreeBeliefs]]) -> Table:
    columns = [column for scenario, title in SCENARIOS.items() for column in _columns(scenario, title.capitalize())]
    entrants, cells = [entrant for entrant, _ in analysed], [_cells(beliefs) for _, beliefs in analysed]
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


def _cells(beliefs: FreeBeliefs) -> Cells:
    cells: Cells = {}
    for scenario, counts in beliefs.by_scenario.items():
        cells |= {f"{scenario} {verdict}": count for verdict, count in counts.verdicts.items()}
        for name, count in (("near", counts.near), ("alike", counts.alike)):
            cells[f"{scenario} {name}"] = count / counts.both if counts.both else None
    return cells
