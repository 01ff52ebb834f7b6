"""Choice of whether an expert begins with a model's draft of a belief table, and what became of its rows. Made by the
server alone, once for each story and expert."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotation.domain.anchoring.arms import is_drawn_blind
from annotation.domain.drafts import Mark, mark_of, places_of
from annotation.models import BeliefTable, DraftEvent, DraftRow, Origin, Story, SuggestedRow, TableKind, User
from annotation.services.drafts import BY_MODEL, closed_to, own_draft, state_of_row
from core.ids import new_uid
from core.plain import plain


def draw_for(*, story: Story, expert: User, now: datetime) -> None:
    """Draw the arm of an expert's table, once: when its editor is first opened with a model's draft in the story. A
    table that was begun before has no arm. Where the draft is shown, its rows are written into the expert's."""
    draft = own_draft(story=story, expert=expert)
    if (draft is not None and draft.arm_drawn_at) or not story.suggested_rows.exists():
        return
    with transaction.atomic():
        story = Story.objects.select_for_update(of=("self",)).select_related("project").get(pk=story.pk)
        draft = own_draft(story=story, expert=expert)
        begun = draft is not None and (draft.arm_drawn_at or draft.draft_rows.exists())
        rows = list(story.suggested_rows.order_by("number"))
        if begun or not rows or closed_to(story=story, expert=expert, draft=draft):
            return
        draft = draft or BeliefTable(story=story, kind=TableKind.DRAFT, author=expert)
        _draw(draft, story, expert, now)
        if not draft.is_blind:
            _write(draft, rows, now)


def _draw(draft: BeliefTable, story: Story, expert: User, now: datetime) -> None:
    project = story.project
    draft.arm_drawn_at, draft.arm_seed, draft.blind_share = now, project.arms_seed, project.table_blind_share
    draft.is_blind = is_drawn_blind(
        seed=project.arms_seed, blind=project.table_blind_share, story=story.uid, expert=expert.pk
    )
    draft.save()


def _write(draft: BeliefTable, suggested: list[SuggestedRow], now: datetime) -> None:
    action = f"model-{new_uid()}"
    places = places_of(None, None, len(suggested))
    rows = DraftRow.objects.bulk_create(
        DraftRow(
            table=draft, actor=row.actor, belief=row.belief, order_text=row.order_text, place=place,
            origin=Origin.MODEL, source=row.source, suggested=row,
        )
        for row, place in zip(suggested, places, strict=True)
    )  # fmt: skip
    DraftEvent.objects.bulk_create(
        DraftEvent(
            table=draft, row=row, idempotency_key=f"{action}-{row.uid}", action=action, kind=BY_MODEL, before=None,
            after=plain(state_of_row(row)), changed_at=now, received_at=now,
        )
        for row in rows
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Begun:
    """Beginning of an expert's draft: the model's `source`, and its row by the uid of each row of the draft that began
    as one, removed rows too."""

    source: str
    rows: dict[str, SuggestedRow]


def begun_with(draft: BeliefTable | None) -> Begun | None:
    """Return what the draft began with; None, as where nothing was drafted, where the expert writes blind."""
    if draft is None or draft.is_blind is not False:
        return None
    rows = {row.uid: row.suggested for row in draft.draft_rows.select_related("suggested") if row.suggested}
    return Begun(next((row.source for row in rows.values()), ""), rows)


def mark_of_row(row: DraftRow) -> Mark:
    """Return what the expert made of a row; its `suggested` is loaded."""
    began = row.suggested
    suggested = (began.actor, began.belief, began.order_text) if began is not None else None
    return mark_of((row.actor, row.belief, row.order_text), suggested)


def deleted_rows(rows: Iterable[DraftRow], begun: Begun) -> list[SuggestedRow]:
    """Return the model's rows of which nothing is left among these live rows of the draft, in its order."""
    left = {row.suggested_id for row in rows}
    gone = {row.pk: row for row in begun.rows.values() if row.pk not in left}
    return sorted(gone.values(), key=lambda row: row.number)
