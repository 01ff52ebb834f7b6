"""Columns of tables about people: the figure against gold that contains their own votes, beside their own, and what
each labelled."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.tables import Cells, Column
from benchmark.domain.tables.estimates import interval_of
from benchmark.suites.asked import PARSES
from benchmark.suites.group_metrics import LabelledCounts
from benchmark.suites.registry import group_named
from benchmark.suites.results import EntrantResults
from core.language import gettext_noop

PEOPLE_NOTE = gettext_noop(
    "People are scored like models, on the cells that they labelled, against gold without their own vote or "
    "decision: as the record, another expert or the other votes settle the cell. A cell that these leave open does "
    "not count. The figure against gold that contains their own votes stands beside it and flatters them. People are "
    "not an upper bound and are never marked as best."
)
OWN_GROUP = gettext_noop("Own votes in gold (%)")
SETTLERS = {
    "votes": gettext_noop("the other votes"),
    "expert": gettext_noop("an expert"),
    "record": gettext_noop("the record"),
}


def own_columns(entrants: Sequence[EntrantResults]) -> list[Column]:
    """Overall accuracy of people against gold that contains their own votes, by parse; none without people."""
    own_parses = [own for entrant in entrants if (own := entrant.parses.own)]
    return [
        Column(
            key=f"own_{name}", header=name.capitalize(), kind="share", group=OWN_GROUP, interval=f"own_{name}_interval"
        )
        for name in PARSES
        if any(own.of(name) for own in own_parses)
    ]


def own_values(entrant: EntrantResults, group: str) -> Cells:
    values: Cells = {}
    own, score = entrant.parses.own, group_named(group).score
    if own is None:
        return values
    for name in PARSES:
        overall = own.overall(name)
        values |= {f"own_{name}": overall.value_of(score), **interval_of(f"own_{name}_interval", overall, score)}
    return values


def labelled_notes(entrants: Sequence[EntrantResults]) -> list[str]:
    """Return a note on how much of what models were asked each person labelled, and how much of that counts."""
    labelled_by_model = [(entrant.model, labelled) for entrant in entrants if (labelled := entrant.metrics.labelled)]
    sentences = [f"{name}: {_labelled(labelled)}" for name, labelled in labelled_by_model]
    return [gettext_noop(f"Labelled by {'; '.join(sentences)}.")] if sentences else []


def _labelled(counts: LabelledCounts) -> str:
    total = gettext_noop(
        f"{counts.cells:,} of {counts.of_cells:,} cells in {counts.stories:,} of {counts.of_stories:,} stories"
    )
    cells = counts.settled
    settled = ", ".join(gettext_noop(f"{cells[by]:,} by {who}") for by, who in SETTLERS.items() if cells[by])
    return gettext_noop(
        f"{total}, of which {counts.cells - counts.open:,} count ({settled or 'none is settled'}) and "
        f"{counts.open:,} stay open"
    )
