"""Writing a story's gold table. A proposition with votes is never changed in place: its history must stay true."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef
from django.utils.translation import gettext, ngettext

from annotation.domain.stories import MAX_PROPOSITIONS
from annotation.domain.tables import MAX_ROWS, TableRow
from annotation.models import (
    Assignment,
    AuditEvent,
    BeliefTable,
    CellComment,
    GoldEvent,
    Proposition,
    PropositionFlag,
    Remark,
    Story,
    Suggestion,
    TableKind,
    User,
    Vote,
    VoteEvent,
)
from annotation.services import audit
from annotation.services.counts import recount
from core.messages import gettext_noop

CREATED, CHANGED, UNCHANGED = gettext_noop("created"), gettext_noop("changed"), gettext_noop("unchanged")
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
        text = gettext("The table would have {rows} rows; expected at most {max_propositions}.")
        raise TooManyRows(text.format(rows=live_rows + len(rows), max_propositions=MAX_PROPOSITIONS))
    last = _last_position(table)
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
    recount([story.pk])
    audit.record(by=by, project=story.project, action="table.rows_added", target=_target(story), rows=len(added))
    return added


class NotTaken(ValueError):
    """A story's table is not taken; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Result of taking a table: `outcome` is CREATED, CHANGED or UNCHANGED, the numbers count rows, and `reopened` are
    annotators who had finished the story and now have rows to label."""

    outcome: str
    kept: int
    added: int
    removed: int
    reopened: tuple[str, ...] = ()


def take_table(
    *, by: User | None, story: Story, rows: Sequence[TableRow], now: datetime, replace: bool, dry_run: bool = False
) -> Taken:
    """Make the story's gold table these rows, in their order, for a file and for the API. A row with the actor and
    belief of an existing one stays the same proposition with its votes; other rows are new, and propositions that are
    not among `rows` leave the table.

    A different table is only replaced with `replace`. With `dry_run` nothing is kept. Raises NotTaken.
    """
    if len(rows) > MAX_ROWS:
        text = gettext("Story {number} has {rows} rows; expected at most {max_rows}.")
        raise NotTaken(text.format(number=story.number, rows=len(rows), max_rows=MAX_ROWS))
    if not Proposition.objects.gold_of(story).exists() and story.tables.drafts().exists():
        text = gettext("Experts are writing the table of story {number}; release them first.")
        raise NotTaken(text.format(number=story.number))
    with transaction.atomic():
        taken = _take(by, story, rows, now, replace)
        transaction.set_rollback(dry_run)
    return taken


def _take(by: User | None, story: Story, rows: Sequence[TableRow], now: datetime, replace: bool) -> Taken:
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
    is_changed = bool(added or gone or reused != live)
    if live and is_changed and not replace:
        text = gettext("Story {number} has another table already; choose to replace tables to write over it.")
        raise NotTaken(text.format(number=story.number))
    reopened = tuple(finished_by(story)) if added else ()
    if is_changed:
        _rewrite(table, rows, chosen, gone, now, is_new=not live)
        counts = {"added": added, "removed": len(gone), "kept": len(reused)}
        audit.record(by=by, project=story.project, action="table.written", target=_target(story), **counts)
    outcome = (CHANGED if is_changed else UNCHANGED) if live else CREATED
    return Taken(outcome, len(reused), added, len(gone), reopened)


def _rewrite(table, rows, chosen, gone, now: datetime, *, is_new: bool) -> None:
    last = _last_position(table)
    for proposition in gone:
        proposition.removed_at = now
    new = []
    # A position is unique at every moment, so all rows go behind the existing ones.
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
    recount([table.story_id])


def _last_position(table: BeliefTable) -> int:
    return table.propositions.aggregate(Max("position"))["position__max"] or 0


class GoldRow(NamedTuple):
    """A row for a new gold table. One with the remark *removed* is hidden, and counts in reports."""

    actor: str
    belief: str
    order: str
    remark: Remark = Remark.NONE
    remark_text: str = ""


def make_gold(*, story: Story, rows: Sequence[GoldRow], reviewed: bool, now: datetime) -> list[Proposition]:
    """Write the rows as the story's gold table, in their order, within a transaction that holds the story's lock."""
    table, _ = BeliefTable.objects.get_or_create(story=story, kind=TableKind.GOLD)
    propositions = Proposition.objects.bulk_create(
        Proposition(
            table=table,
            position=at,
            actor=row.actor,
            belief=row.belief,
            order_text=row.order,
            remark=row.remark,
            remark_text=row.remark_text,
            reviewed=reviewed,
            removed_at=now if row.remark == Remark.REMOVED else None,
        )
        for at, row in enumerate(rows, _last_position(table) + 1)
    )
    recount([story.pk])
    return propositions


def kept_by(story: Story) -> str:
    """Return the reason why the story's gold table must stay, one sentence. Returns "" if nobody has worked on it."""
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
    """Delete the rows of a gold table that nobody has worked on (`kept_by`), under the story's lock; return their
    number."""
    rows = Proposition.objects.filter(table__story=story, table__kind=TableKind.GOLD)
    count = rows.count()
    rows.delete()
    recount([story.pk])
    return count


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
        last = _last_position(proposition.table)
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
    recount([proposition.table.story_id])
    after = {"actor": actor, "belief": belief}
    target = _target(proposition.table.story)
    audit.record(by=by, project=project, action="proposition.reworded", target=target, before=before, after=after)
    return reworded


@transaction.atomic
def remove(*, by: User, proposition: Proposition, now: datetime) -> None:
    """Take the row out of pages and exports; its votes stay."""
    if Proposition.objects.filter(pk=proposition.pk, removed_at__isnull=True).update(removed_at=now):
        story, text = proposition.table.story, {"actor": proposition.actor, "belief": proposition.belief}
        recount([story.pk])
        audit.record(by=by, project=story.project, action="proposition.removed", target=_target(story), **text)


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
    details = {"belief": proposition.belief[:200], "up": up}
    recount([story.pk])
    audit.record(by=by, project=story.project, action="proposition.moved", target=_target(story), **details)
    return True
