"""Writing a story's gold table. A proposition with votes is never changed in place: its history must stay true."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from annotation.domain.corpus_files import MAX_PROPOSITIONS
from annotation.domain.tables import TableRow
from annotation.models import BeliefTable, Proposition, Remark, Story, TableKind, User
from annotation.services import audit


class TooManyRows(ValueError):
    """One sentence for the person who added them."""


@transaction.atomic
def add_rows(*, by: User, story: Story, rows: Sequence[TableRow]) -> list[Proposition]:
    """Appends rows to the gold table, which is made where there is none. Raises TooManyRows."""
    table, _ = BeliefTable.objects.select_for_update().get_or_create(story=story, kind=TableKind.GOLD)
    held = table.propositions.filter(removed_at__isnull=True).count()
    if held + len(rows) > MAX_PROPOSITIONS:
        raise TooManyRows(f"The table would have {held + len(rows)} rows; expected at most {MAX_PROPOSITIONS}.")
    last = table.propositions.aggregate(Max("position"))["position__max"] or 0
    made = Proposition.objects.bulk_create(
        Proposition(
            table=table,
            position=last + at,
            actor=row.actor,
            belief=row.belief,
            order_text=row.order,
            remark=Remark.ADDED,
        )
        for at, row in enumerate(rows, 1)
    )
    audit.record(
        by=by, project=story.project, action="table.rows_added", target=f"story {story.number}", rows=len(made)
    )
    return made


def has_history(proposition: Proposition) -> bool:
    """Whether people voted on the row or decided about it: then its text stays as it was when they did."""
    return proposition.vote_events.exists() or proposition.gold_events.exists()


@transaction.atomic
def reword(*, by: User, proposition: Proposition, actor: str, belief: str, now: datetime) -> Proposition:
    """Changes the text. With votes on it the old row is removed, keeping them, and a new one takes its place."""
    project = proposition.table.story.project
    before = {"actor": proposition.actor, "belief": proposition.belief}
    if (actor, belief) == (proposition.actor, proposition.belief):
        return proposition
    if has_history(proposition):
        position = proposition.position
        last = proposition.table.propositions.aggregate(Max("position"))["position__max"]
        Proposition.objects.filter(pk=proposition.pk).update(removed_at=now, position=last + 1, remark=Remark.REVISED)
        fresh = Proposition.objects.create(
            table=proposition.table,
            position=position,
            actor=actor,
            belief=belief,
            order_text=proposition.order_text,
            remark=Remark.REVISED,
        )
    else:
        fresh = proposition
        fresh.actor, fresh.belief, fresh.remark = actor, belief, Remark.REVISED
        fresh.save(update_fields=["actor", "belief", "remark"])
    after = {"actor": actor, "belief": belief}
    audit.record(
        by=by,
        project=project,
        action="proposition.reworded",
        target=f"story {proposition.table.story.number}",
        before=before,
        after=after,
    )
    return fresh


@transaction.atomic
def remove(*, by: User, proposition: Proposition, now: datetime) -> None:
    """Takes the row out of pages and exports; its votes stay."""
    if Proposition.objects.filter(pk=proposition.pk, removed_at__isnull=True).update(removed_at=now):
        audit.record(
            by=by,
            project=proposition.table.story.project,
            action="proposition.removed",
            target=f"story {proposition.table.story.number}",
            actor=proposition.actor,
            belief=proposition.belief,
        )


@transaction.atomic
def move(*, by: User, proposition: Proposition, up: bool) -> bool:
    """Swaps the row with its neighbour above or below; false where there is none."""
    BeliefTable.objects.select_for_update().get(pk=proposition.table_id)
    rows = Proposition.objects.filter(table_id=proposition.table_id)
    proposition.refresh_from_db(fields=["position"])
    live = rows.filter(removed_at__isnull=True)
    other = (
        live.filter(position__lt=proposition.position).order_by("-position").first()
        if up
        else live.filter(position__gt=proposition.position).order_by("position").first()
    )
    if other is None:
        return False
    places = (proposition.position, other.position)
    # A position is unique at every moment: one of the two steps aside first.
    aside = rows.aggregate(Max("position"))["position__max"] + 1
    for pk, position in ((proposition.pk, aside), (other.pk, places[0]), (proposition.pk, places[1])):
        rows.filter(pk=pk).update(position=position)
    story = proposition.table.story
    audit.record(
        by=by,
        project=story.project,
        action="proposition.moved",
        target=f"story {story.number}",
        belief=proposition.belief[:200],
        up=up,
    )
    return True
