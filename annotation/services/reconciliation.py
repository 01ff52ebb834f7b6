"""Stage 1: two experts draft a story's table apart, then settle it together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from annotation.domain.reconciliation import DraftRow, Pair, lanes
from annotation.models import BeliefTable, Proposition, Remark, Story, TableKind, User
from annotation.services import audit
from annotation.services.drafts import Refused, live_rows, words_of


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
    experts: int

    @property
    def ready(self) -> bool:
        return len(self.submitted) == self.experts

    @property
    def handed_in(self) -> bool:
        return self.own_draft is not None and self.own_draft.submitted_at is not None


def state_of(*, story: Story, expert: User) -> State:
    drafts = list(story.tables.drafts().select_related("author").order_by("slot"))
    submitted = [draft for draft in drafts if draft.submitted_at is not None]
    return State(
        own_draft=next((draft for draft in drafts if draft.author_id == expert.pk), None),
        submitted=tuple(submitted),
        others=sum(draft.author_id != expert.pk for draft in submitted),
        has_gold=Proposition.objects.gold_of(story).exists(),
        experts=max(story.project.table_experts, len(drafts)),
    )


def rows_of(table: BeliefTable | None) -> list[DraftRow]:
    return words_of(row for row in live_rows(table) if row.belief.strip())


def lanes_of(state: State) -> list[Pair]:
    """Return the lanes of the two drafts. Raises Refused before both are handed in: neither expert sees the other's."""
    if not state.ready:
        raise Refused("The lanes open when two experts have handed in their tables.")
    first, second = state.submitted
    return lanes(rows_of(first), rows_of(second))


def open_lanes(*, state: State, now: datetime) -> None:
    """Note that the drafts were seen beside each other: from now on none of them can be taken back."""
    drafts = [draft.pk for draft in state.submitted if draft.opened_at is None]
    if drafts:
        BeliefTable.objects.filter(pk__in=drafts, opened_at=None).update(opened_at=now)


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
