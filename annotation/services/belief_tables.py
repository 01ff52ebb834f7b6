"""Writing a story's gold table. A proposition with votes is never changed in place: its history must stay true."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Max
from django.utils.translation import gettext, ngettext

from annotation.domain.story_records import MAX_PROPOSITIONS
from annotation.domain.tables import TableRow
from annotation.models import Assignment, AuditEvent, BeliefTable, Proposition, Remark, Story, TableKind, User, Vote
from annotation.services import audit

AGAIN_AFTER = timedelta(seconds=10)


class TooManyRows(ValueError):
    """Too many rows; the message is one sentence for the person who added them."""


class AddedAlready(ValueError):
    """Rows that came twice within moments, as from a button that was pressed twice; the message is one sentence."""


@transaction.atomic
def add_rows(*, by: User, story: Story, rows: Sequence[TableRow], now: datetime) -> list[Proposition]:
    """Append rows to the gold table, which is made where there is none. Raises TooManyRows and AddedAlready.

    A table may hold equal rows: they are refused only within moments of each other, by the same person.
    """
    table, _ = BeliefTable.objects.select_for_update().get_or_create(story=story, kind=TableKind.GOLD)
    if _added_just_now(by, story, table, rows, now):
        raise AddedAlready(
            ngettext(
                "This row was added a moment ago. If the table needs the same again, wait {seconds} seconds and add "
                "once more.",
                "These rows were added a moment ago. If the table needs the same again, wait {seconds} seconds and add "
                "once more.",
                len(rows),
            ).format(seconds=AGAIN_AFTER.seconds)
        )
    live_rows = table.propositions.filter(removed_at__isnull=True).count()
    if live_rows + len(rows) > MAX_PROPOSITIONS:
        raise TooManyRows(
            gettext("The table would have {rows} rows; expected at most {max_propositions}.").format(
                rows=live_rows + len(rows), max_propositions=MAX_PROPOSITIONS
            )
        )
    last = table.propositions.aggregate(Max("position"))["position__max"] or 0
    added = Proposition.objects.bulk_create(
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
    audit.record(by=by, project=story.project, action="table.rows_added", target=_target(story), rows=len(added))
    return added


@dataclass(frozen=True, slots=True)
class Written:
    """Result of writing a table: rows by what became of them, and the names of annotators who had finished the story
    and now have rows to label."""

    kept: int
    added: int
    removed: int
    moved: bool
    reopened: tuple[str, ...] = ()


@transaction.atomic
def write_table(
    *, by: User | None, story: Story, rows: Sequence[TableRow], now: datetime, only_new: bool = False
) -> Written | None:
    """Make the story's gold table these rows, in their order. A row whose actor and belief are there already stays the
    same proposition with its votes; the others are new, and what is not among `rows` leaves the table.

    With `only_new` a table that is there and differs stays as it is: None.
    """
    Story.objects.select_for_update(of=("self",)).get(pk=story.pk)
    table, _ = BeliefTable.objects.select_for_update().get_or_create(story=story, kind=TableKind.GOLD)
    live = list(table.propositions.filter(removed_at__isnull=True).order_by("position"))
    free: dict[tuple[str, str], list[Proposition]] = defaultdict(list)
    for proposition in live:
        free[proposition.actor, proposition.belief].append(proposition)
    chosen = [free[row.actor, row.belief].pop(0) if free[row.actor, row.belief] else None for row in rows]
    reused = [proposition for proposition in chosen if proposition is not None]
    gone = [proposition for proposition in live if proposition not in reused]
    added = len(rows) - len(reused)
    moved = reused != [proposition for proposition in live if proposition in reused]
    if live and only_new and (added or gone or moved):
        return None
    reopened = tuple(finished_by(story)) if added else ()
    if added or gone or moved:
        _rewrite(table, rows, chosen, gone, now, is_new=not live)
        counts = {"added": added, "removed": len(gone), "kept": len(reused)}
        audit.record(by=by, project=story.project, action="table.written", target=_target(story), **counts)
    return Written(len(reused), added, len(gone), moved, reopened)


def _rewrite(table, rows, chosen, gone, now: datetime, *, is_new: bool) -> None:
    last = table.propositions.aggregate(Max("position"))["position__max"] or 0
    for proposition in gone:
        proposition.removed_at = now
    new = []
    # A position is unique at every moment, so all rows go behind those that are there.
    for at, (row, proposition) in enumerate(zip(rows, chosen, strict=True), last + 1):
        if proposition is None:
            remark = Remark.NONE if is_new else Remark.ADDED
            fields = {"actor": row.actor, "belief": row.belief, "order_text": row.order, "remark": remark}
            new.append(Proposition(table=table, position=at, **fields))
        else:
            proposition.position = at
            proposition.order_text = row.order or proposition.order_text
    reused = [proposition for proposition in chosen if proposition is not None]
    Proposition.objects.bulk_update(gone, ["removed_at"], batch_size=200)
    Proposition.objects.bulk_update(reused, ["position", "order_text"], batch_size=200)
    Proposition.objects.bulk_create(new)


def finished_by(story: Story) -> list[str]:
    """Return the names of annotators who have labelled every cell of the story that is theirs to label: a new row opens
    it for them again."""
    rows = Proposition.objects.gold_of(story)
    cells = rows.count() * len(story.project.schema.dimensions)
    if not cells:
        return []
    active = Assignment.objects.active().filter(story=story).select_related("annotator")
    cast = Vote.objects.cast().filter(proposition__in=rows.order_by()).order_by()
    done = dict(cast.values_list("annotator").annotate(count=Count("id")))
    return [assignment.annotator.shown_name for assignment in active if done.get(assignment.annotator_id, 0) >= cells]


def _added_just_now(by: User, story: Story, table: BeliefTable, rows: Sequence[TableRow], now: datetime) -> bool:
    """Return whether `by` added as many rows within moments and the rows added since hold just these, one after the
    other."""
    recent = AuditEvent.objects.filter(
        project=story.project, action="table.rows_added", target=_target(story), at__gt=now - AGAIN_AFTER
    )
    batches = [(event.actor_id, event.details["rows"]) for event in recent]
    if (by.pk, len(rows)) not in batches:
        return False
    newest = table.propositions.order_by("-position").values_list("actor", "belief", "order_text")
    added = list(newest[: sum(count for _, count in batches)])[::-1]
    texts = [(row.actor, row.belief, row.order) for row in rows]
    return any(added[at : at + len(texts)] == texts for at in range(len(added) - len(texts) + 1))


def _target(story: Story) -> str:
    return f"story {story.number}"


def has_history(proposition: Proposition) -> bool:
    """Return whether people voted on the row or decided about it: then its text stays as it was when they did."""
    return proposition.vote_events.exists() or proposition.gold_events.exists()


@transaction.atomic
def reword(*, by: User, proposition: Proposition, actor: str, belief: str, now: datetime) -> Proposition | None:
    """Change the text. With votes on it the old row is removed, keeping them, and a new one takes its place.

    None where the row had left the table by then: somebody was quicker.
    """
    BeliefTable.objects.select_for_update().get(pk=proposition.table_id)
    # Votes lock their proposition, so none can arrive between the look at its history and the change.
    rows = Proposition.objects.select_for_update(of=("self",)).select_related("table__story__project")
    proposition = rows.get(pk=proposition.pk)
    if proposition.removed_at is not None:
        return None
    project = proposition.table.story.project
    before = {"actor": proposition.actor, "belief": proposition.belief}
    if (actor, belief) == (proposition.actor, proposition.belief):
        return proposition
    if has_history(proposition):
        position = proposition.position
        last = proposition.table.propositions.aggregate(Max("position"))["position__max"]
        Proposition.objects.filter(pk=proposition.pk).update(removed_at=now, position=last + 1, remark=Remark.REVISED)
        reworded = Proposition.objects.create(
            table=proposition.table,
            position=position,
            actor=actor,
            belief=belief,
            order_text=proposition.order_text,
            remark=Remark.REVISED,
        )
    else:
        reworded = proposition
        reworded.actor, reworded.belief, reworded.remark = actor, belief, Remark.REVISED
        reworded.save(update_fields=["actor", "belief", "remark"])
    after = {"actor": actor, "belief": belief}
    audit.record(
        by=by,
        project=project,
        action="proposition.reworded",
        target=_target(proposition.table.story),
        before=before,
        after=after,
    )
    return reworded


@transaction.atomic
def remove(*, by: User, proposition: Proposition, now: datetime) -> None:
    """Take the row out of pages and exports; its votes stay."""
    if Proposition.objects.filter(pk=proposition.pk, removed_at__isnull=True).update(removed_at=now):
        audit.record(
            by=by,
            project=proposition.table.story.project,
            action="proposition.removed",
            target=_target(proposition.table.story),
            actor=proposition.actor,
            belief=proposition.belief,
        )


@transaction.atomic
def move(*, by: User, proposition: Proposition, up: bool) -> bool:
    """Swap the row with its neighbour above or below; false where there is none."""
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
        target=_target(story),
        belief=proposition.belief[:200],
        up=up,
    )
    return True
