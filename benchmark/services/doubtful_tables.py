"""Doubtful gold as a table."""

from __future__ import annotations

from annotation.domain.schema import Schema
from benchmark.domain.tables import Cells, Column, Table
from benchmark.services.doubtful_gold import DoubtfulCell, DoubtfulGold
from core.messages import gettext_noop

WAITS, STANDS, CHANGED = "waits", "stands", "changed"
STATES = {
    WAITS: gettext_noop("To look at"),
    STANDS: gettext_noop("Gold stands"),
    CHANGED: gettext_noop("Gold changed"),
}
BLIND = gettext_noop(
    "Labels stand in a row once an expert has looked at it: until then nobody is told what models said."
)
SIMULATED = gettext_noop(
    "A doubt is a reason to look again, not yet an error. In simulations with 2 to 10 % of gold wrong, 94 to 100 % of "
    "the first cells listed are wrong where models err independently of one another, and 32 to 66 % where all give the "
    "same wrong label in 5 % of cells. Models that learned from the same texts share more errors: where they do so in "
    "10 to 20 % of cells, 64 to 95 % of all cells listed are right gold, and 48 to 94 % of the first."
)
PUBLISHED = gettext_noop(
    "What an expert changes is in the next version that is published: published ones, and their scores, stay."
)


def state_of(cell: DoubtfulCell) -> str:
    return WAITS if cell.waits else STANDS if cell.stands else CHANGED


def doubtful_table(gold: DoubtfulGold, schema: Schema) -> Table:
    """Return a row for each doubtful cell, the least credible first."""
    columns = [
        Column(key="place", header=gettext_noop("Place"), kind="count"),
        Column(key="story", header=gettext_noop("Story"), kind="count"),
        Column(key="row", header=gettext_noop("Row"), kind="count"),
        Column(key="actor", header=gettext_noop("Actor")),
        Column(key="belief", header=gettext_noop("Belief")),
        Column(key="dimension", header=gettext_noop("Dimension")),
        Column(key="against", header=gettext_noop("Families against gold"), kind="count"),
        Column(key="heard", header=gettext_noop("Families heard"), kind="count"),
        Column(key="state", header=gettext_noop("State")),
        Column(key="gold", header=gettext_noop("Gold, published")),
        Column(key="proposed", header=gettext_noop("Models")),
        Column(key="label", header=gettext_noop("Second look")),
        Column(key="by", header=gettext_noop("Expert")),
        Column(key="at", header=gettext_noop("When")),
        Column(key="reason", header=gettext_noop("Reason")),
    ]
    return Table(
        title=gettext_noop("Doubtful gold"),
        columns=columns,
        rows=[_cells(rank, cell, schema) for rank, cell in enumerate(gold.cells, 1)],
        notes=[SIMULATED, BLIND, PUBLISHED],
    )


def _cells(rank: int, cell: DoubtfulCell, schema: Schema) -> Cells:
    look_cells: Cells = dict.fromkeys(("gold", "proposed", "label", "by", "at", "reason"), "")
    if cell.look and not cell.waits:
        look = cell.look
        look_cells = {
            "gold": cell.gold, "proposed": cell.proposed, "label": look.label, "by": look.by.shown_name,
            "at": look.at.isoformat(timespec="minutes"), "reason": look.reason,
        }  # fmt: skip
    return {
        "place": rank, "story": cell.story, "row": cell.row, "actor": cell.proposition.actor,
        "belief": cell.proposition.belief, "dimension": schema[cell.dimension].name,
        "against": len(cell.families), "heard": cell.heard, "state": STATES[state_of(cell)], **look_cells,
    }  # fmt: skip
