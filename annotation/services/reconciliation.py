"""Stage 1: two experts draft a story's table apart, then settle it together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from annotation.domain.reconciliation import DraftRow, Pair, lanes
from annotation.domain.tables import TableRow
from annotation.models import BeliefTable, Proposition, Remark, Story, TableKind, User
from annotation.services import audit

DRAFTS = 2


class Refused(ValueError):
    """The step is not possible now; the message is one sentence for the person who tried."""


@dataclass(frozen=True, slots=True)
class Consensus:
    """A row of the gold table as the experts settled it, or one that they took out (`remark` REMOVED)."""

    actor: str
    belief: str
    order: str
    remark: Remark
    remark_text: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """The state of a story as one expert may know it: `others` says how many others have handed in, never what."""

    own_draft: BeliefTable | None
    submitted: tuple[BeliefTable, ...]
    others: int
    has_gold: bool

    @property
    def ready(self) -> bool:
        return len(self.submitted) == DRAFTS

    @property
    def handed_in(self) -> bool:
        return self.own_draft is not None and self.own_draft.submitted_at is not None


def state_of(*, story: Story, expert: User) -> State:
    drafts = list(story.tables.filter(kind=TableKind.DRAFT).select_related("author").order_by("submitted_at", "id"))
    submitted = [draft for draft in drafts if draft.submitted_at is not None]
    return State(
        own_draft=next((draft for draft in drafts if draft.author_id == expert.pk), None),
        submitted=tuple(submitted),
        others=sum(draft.author_id != expert.pk for draft in submitted),
        has_gold=Proposition.objects.gold_of(story).exists(),
    )


def rows_of(table: BeliefTable | None) -> list[DraftRow]:
    if table is None:
        return []
    rows = table.propositions.order_by("position").values_list("actor", "belief", "order_text")
    return [DraftRow(*row) for row in rows]


def lanes_of(state: State) -> list[Pair]:
    """Return the lanes of the two drafts. Raises Refused before both are handed in: neither expert sees the other's."""
    if not state.ready:
        raise Refused("The lanes open when two experts have handed in their tables.")
    first, second = state.submitted
    return lanes(rows_of(first), rows_of(second))


@transaction.atomic
def save_draft(*, by: User, story: Story, rows: Sequence[TableRow], submit: bool, now: datetime) -> BeliefTable:
    """Replace the expert's own draft; with `submit` it is handed in and stays as it is. Raises Refused."""
    Story.objects.select_for_update().get(pk=story.pk)  # two experts handing in at once must not make three tables
    state = state_of(story=story, expert=by)
    if state.handed_in:
        raise Refused("Your table is handed in already.")
    if state.has_gold or state.others >= DRAFTS:
        raise Refused("This story needs no further table.")
    if submit and not rows:
        raise Refused("Your table has no row yet.")
    table = state.own_draft or BeliefTable.objects.create(story=story, kind=TableKind.DRAFT, author=by)
    table.propositions.all().delete()
    Proposition.objects.bulk_create(
        Proposition(table=table, position=at, actor=row.actor, belief=row.belief, order_text=row.order)
        for at, row in enumerate(rows, 1)
    )
    if submit:
        table.submitted_at = now
        table.save(update_fields=["submitted_at"])
        audit.record(by=by, project=story.project, action="draft.submitted", target=_name(story), rows=len(rows))
    return table


@transaction.atomic
def build_gold(*, by: User, story: Story, rows: Sequence[Consensus], now: datetime) -> BeliefTable:
    """Make the gold table from the settled rows, in their order; removed ones are kept out of sight, for the figures.

    Raises Refused where there is a gold table with rows, the drafts are not both in, or nothing would be left.
    """
    Story.objects.select_for_update().get(pk=story.pk)
    state = state_of(story=story, expert=by)
    if state.has_gold:
        raise Refused("This story has a gold table already; edit that one.")
    if not state.ready:
        raise Refused("The lanes open when two experts have handed in their tables.")
    if all(row.remark == Remark.REMOVED for row in rows):
        raise Refused("Keep at least one row.")
    table, _ = BeliefTable.objects.get_or_create(story=story, kind=TableKind.GOLD)
    last = table.propositions.aggregate(Max("position"))["position__max"] or 0
    Proposition.objects.bulk_create(
        Proposition(
            table=table,
            position=last + at,
            actor=row.actor,
            belief=row.belief,
            order_text=row.order,
            remark=row.remark,
            remark_text=row.remark_text,
            reviewed=True,
            removed_at=now if row.remark == Remark.REMOVED else None,
        )
        for at, row in enumerate(rows, 1)
    )
    counts = {remark.label.lower(): sum(row.remark == remark for row in rows) for remark in Remark}
    audit.record(by=by, project=story.project, action="table.reconciled", target=_name(story), **counts)
    return table


def _name(story: Story) -> str:
    return f"story {story.number}"
