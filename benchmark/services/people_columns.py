"""Columns of tables about people: the figure against gold that contains their own votes, beside their own, and what
each labelled."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.tables import Cells, Column
from benchmark.domain.tables.estimates import interval_of
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named
from benchmark.suites.reports import LabelledCounts
from benchmark.suites.results import EntrantResults
from core.messages import Sentence, clauses, gettext_noop, labelled, listed, word

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
    counts_by_model = [(entrant.model, counts) for entrant in entrants if (counts := entrant.metrics.labelled)]
    shares = [labelled(name, _labelled(counts)) for name, counts in counts_by_model]
    return [Sentence("Labelled by {shares}.", shares=clauses(*shares))] if shares else []


def _labelled(counts: LabelledCounts) -> str:
    total = Sentence(
        "{cells} of {of_cells} cells in {stories} of {of_stories} stories",
        cells=f"{counts.cells:,}",
        of_cells=f"{counts.of_cells:,}",
        stories=f"{counts.stories:,}",
        of_stories=f"{counts.of_stories:,}",
    )
    cells = counts.settled
    settled = listed(
        (Sentence("{cells} by {who}", cells=f"{cells[by]:,}", who=who) for by, who in SETTLERS.items() if cells[by])
    )
    return Sentence(
        "{total}, of which {cells} count ({settled}) and {open} stay open",
        total=total,
        cells=f"{counts.cells - counts.open:,}",
        settled=settled or word("none is settled"),
        open=f"{counts.open:,}",
    )
