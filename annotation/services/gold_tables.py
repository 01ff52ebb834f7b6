"""Making a story's gold table of what experts wrote, and taking it away again while nobody has worked on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, Max, OuterRef
from django.utils.translation import gettext

from annotation.models import (
    BeliefTable,
    CellComment,
    GoldEvent,
    Proposition,
    PropositionFlag,
    Remark,
    Story,
    Suggestion,
    TableKind,
    VoteEvent,
)


@dataclass(frozen=True, slots=True)
class GoldRow:
    """A row as the gold table is to have it; one with the remark *removed* is kept out of sight, for the figures."""

    actor: str
    belief: str
    order: str
    remark: Remark = Remark.NONE
    remark_text: str = ""


def make_gold(*, story: Story, rows: Sequence[GoldRow], reviewed: bool, now: datetime) -> list[Proposition]:
    """Write the rows as the story's gold table, in their order, within a transaction of the caller's, who holds the
    story's lock."""
    table, _ = BeliefTable.objects.get_or_create(story=story, kind=TableKind.GOLD)
    last = table.propositions.aggregate(Max("position"))["position__max"] or 0
    return Proposition.objects.bulk_create(
        Proposition(
            table=table,
            position=last + at,
            actor=row.actor,
            belief=row.belief,
            order_text=row.order,
            remark=row.remark,
            remark_text=row.remark_text,
            reviewed=reviewed,
            removed_at=now if row.remark == Remark.REMOVED else None,
        )
        for at, row in enumerate(rows, 1)
    )


def kept_by(story: Story) -> str:
    """Return why the story's gold table must stay, one sentence; empty where nobody has worked on it."""
    rows = Proposition.objects.filter(table__story=story, table__kind=TableKind.GOLD)
    if rows.filter(imported_labels__isnull=False).exists():
        return gettext("This table came with labels from outside.")
    work = (
        (VoteEvent, gettext("People have voted on this table.")),
        (GoldEvent, gettext("Cells of this table were decided.")),
        (CellComment, gettext("People have commented on this table.")),
        (PropositionFlag, gettext("People have flagged rows of this table.")),
        (Suggestion, gettext("Models have made suggestions for this table; discard them first.")),
    )
    for model, why in work:
        if rows.filter(Exists(model._default_manager.filter(proposition=OuterRef("pk")))).exists():
            return why
    return ""


def unmake_gold(story: Story) -> int:
    """Take away the rows of a gold table that nobody has worked on; returns how many. The caller has asked `kept_by`
    under the story's lock."""
    rows = Proposition.objects.filter(table__story=story, table__kind=TableKind.GOLD)
    count = rows.count()
    rows.delete()
    return count
