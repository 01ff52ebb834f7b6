"""Writing a story's gold table. A proposition with votes is never changed in place: its history must stay true."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef
from django.utils.translation import gettext

from annotation.domain.stories import MAX_PROPOSITIONS
from annotation.domain.tables import MAX_ROWS, TableRow
from annotation.models import (
    Assignment,
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
from core.plain import Json

CREATED, CHANGED, UNCHANGED = gettext_noop("created"), gettext_noop("changed"), gettext_noop("unchanged")


class NotTaken(ValueError):
    """Rows are refused; the message is one sentence for the person who added them."""


class GoldRow(NamedTuple):
    """A row for a gold table. One with the remark *removed* is hidden, and counts in reports."""

    actor: str
    belief: str
    order: str
    remark: Remark = Remark.NONE
    remark_text: str = ""


def _locked_gold(story: Story) -> BeliefTable:
    return BeliefTable.objects.select_for_update().get_or_create(story=story, kind=TableKind.GOLD)[0]


def _last_position(table: BeliefTable) -> int:
    return table.propositions.aggregate(Max("position"))["position__max"] or 0


def _insert(
    table: BeliefTable, rows: Iterable[tuple[int, GoldRow]], now: datetime, *, reviewed: bool = False
) -> list[Proposition]:
    """Write new propositions at their positions."""
    return Proposition.objects.bulk_create(
        Proposition(
            table=table, position=position, actor=row.actor, belief=row.belief, order_text=row.order, remark=row.remark,
            remark_text=row.remark_text, reviewed=reviewed,
            removed_at=now if row.remark == Remark.REMOVED else None,
        )
        for position, row in rows
    )  # fmt: skip


@transaction.atomic
def add_rows(*, by: User, story: Story, rows: Sequence[TableRow], now: datetime) -> list[Proposition]:
    """Append rows to the gold table, which is made where there is none. Raises NotTaken."""
    table = _locked_gold(story)
    total = table.propositions.filter(removed_at__isnull=True).count() + len(rows)
    if total > MAX_PROPOSITIONS:
        text = gettext("The table would have {rows} rows; expected at most {max_propositions}.")
        raise NotTaken(text.format(rows=total, max_propositions=MAX_PROPOSITIONS))
    added = (GoldRow(*row, Remark.ADDED) for row in rows)
    propositions = _insert(table, enumerate(added, _last_position(table) + 1), now)
    recount([story.pk])
    audit.record_on(story, "table.rows_added", by=by, rows=len(propositions))
    return propositions


def take_table(
    *, by: User | None, story: Story, rows: Sequence[TableRow], now: datetime, replace: bool, dry_run: bool = False
) -> Json:
    """Make the story's gold table these rows, in their order, for a file and for the API. A row with the actor and
    belief of an existing one stays the same proposition with its votes; other rows are new, and propositions that are
    not among `rows` leave the table. Returns {outcome: CREATED, CHANGED or UNCHANGED, kept, added, removed: numbers of
    rows, reopened: names of the annotators who had finished the story and now have rows to label}.

    A different table is only replaced with `replace`. With `dry_run` nothing is kept. Raises NotTaken.
    """
    if len(rows) > MAX_ROWS:
        text = gettext("Story {number} has {rows} rows; expected at most {max_rows}.")
        raise NotTaken(text.format(number=story.number, rows=len(rows), max_rows=MAX_ROWS))
    if not Proposition.objects.gold_of(story).exists() and story.tables.drafts().exists():
        text = gettext("Experts are writing the table of story {number}; release them first.")
        raise NotTaken(text.format(number=story.number))
    with transaction.atomic():
        Story.objects.select_for_update(of=("self",)).get(pk=story.pk)
        taken = _take(by, story, rows, now, replace)
        transaction.set_rollback(dry_run)
    return taken


def _take(by: User | None, story: Story, rows: Sequence[TableRow], now: datetime, replace: bool) -> Json:
    table = _locked_gold(story)
    live = list(table.propositions.filter(removed_at__isnull=True).order_by("position"))
    free: dict[tuple[str, str], list[Proposition]] = defaultdict(list)
    for proposition in live:
        free[proposition.actor, proposition.belief].append(proposition)
    chosen = [free[row.actor, row.belief].pop(0) if free[row.actor, row.belief] else None for row in rows]
    reused = [proposition for proposition in chosen if proposition is not None]
    gone = [proposition for proposition in live if proposition not in reused]
    counts: Json = {"added": len(rows) - len(reused), "removed": len(gone), "kept": len(reused)}
    if reused == live and not counts["added"]:
        return counts | {"outcome": UNCHANGED if live else CREATED, "reopened": []}
    if live and not replace:
        text = gettext("Story {number} has another table already; choose to replace tables to write over it.")
        raise NotTaken(text.format(number=story.number))
    reopened = finished_by(story) if counts["added"] else []
    new, remark = list[tuple[int, GoldRow]](), Remark.ADDED if live else Remark.NONE
    # A position is unique at every moment, so all rows go behind the existing ones.
    for position, (row, same) in enumerate(zip(rows, chosen, strict=True), _last_position(table) + 1):
        if same is None:
            new.append((position, GoldRow(*row, remark)))
        else:
            same.position, same.order_text = position, row.order or same.order_text
    Proposition.objects.filter(pk__in=[proposition.pk for proposition in gone]).update(removed_at=now)
    Proposition.objects.bulk_update(reused, ["position", "order_text"], batch_size=200)
    _insert(table, new, now)
    recount([story.pk])
    audit.record_on(story, "table.written", by=by, **counts)
    return counts | {"outcome": CHANGED if live else CREATED, "reopened": reopened}


def make_gold(*, story: Story, rows: Sequence[GoldRow], reviewed: bool, now: datetime) -> list[Proposition]:
    """Write the rows as the story's gold table, in their order, within a transaction that holds the story's lock."""
    table, _ = BeliefTable.objects.get_or_create(story=story, kind=TableKind.GOLD)
    propositions = _insert(table, enumerate(rows, _last_position(table) + 1), now, reviewed=reviewed)
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


def has_history(proposition: Proposition) -> bool:
    """Return whether people voted on the row or decided about it: then its text stays as it was when they did."""
    return proposition.vote_events.exists() or proposition.gold_events.exists()


@transaction.atomic
def reword(*, by: User, proposition: Proposition, actor: str, belief: str, now: datetime) -> Proposition | None:
    """Change the text. With votes on it the old row is removed, keeping them, and a new one takes its place.

    Returns None if the row had left the table by then: somebody was quicker.
    """
    table = BeliefTable.objects.select_for_update().get(pk=proposition.table_id)
    # Votes lock their proposition, so none can arrive between the look at its history and the change.
    rows = Proposition.objects.select_for_update(of=("self",)).select_related("table__story__project")
    proposition = rows.get(pk=proposition.pk)
    if proposition.removed_at is not None:
        return None
    before, after = {"actor": proposition.actor, "belief": proposition.belief}, {"actor": actor, "belief": belief}
    if before == after:
        return proposition
    story, position, reworded = proposition.table.story, proposition.position, proposition
    if has_history(proposition):
        gone = {"removed_at": now, "position": _last_position(table) + 1, "remark": Remark.REVISED}
        Proposition.objects.filter(pk=proposition.pk).update(**gone)
        row = GoldRow(actor, belief, proposition.order_text, Remark.REVISED)
        [reworded] = _insert(proposition.table, [(position, row)], now)
    else:
        reworded.actor, reworded.belief, reworded.remark = actor, belief, Remark.REVISED
        reworded.save(update_fields=["actor", "belief", "remark"])
    recount([story.pk])
    audit.record_on(story, "proposition.reworded", by=by, before=before, after=after)
    return reworded


@transaction.atomic
def remove(*, by: User, proposition: Proposition, now: datetime) -> None:
    """Take the row out of pages and exports; its votes stay."""
    if Proposition.objects.filter(pk=proposition.pk, removed_at__isnull=True).update(removed_at=now):
        story = proposition.table.story
        recount([story.pk])
        audit.record_on(story, "proposition.removed", by=by, actor=proposition.actor, belief=proposition.belief)


@transaction.atomic
def move(*, by: User, proposition: Proposition, up: bool) -> bool:
    """Swap the row with its neighbour above or below. Returns False if there is none."""
    table = BeliefTable.objects.select_for_update().get(pk=proposition.table_id)
    proposition.refresh_from_db(fields=["position"])
    live = table.propositions.filter(removed_at__isnull=True)
    beyond = live.filter(**{f"position__{'lt' if up else 'gt'}": proposition.position})
    other = beyond.order_by("-position" if up else "position").first()
    if other is None:
        return False
    # A position is unique at every moment: one of the two steps aside first.
    steps = ((proposition.pk, _last_position(table) + 1), (other.pk, proposition.position))
    for pk, position in (*steps, (proposition.pk, other.position)):
        table.propositions.filter(pk=pk).update(position=position)
    recount([table.story_id])
    audit.record_on(proposition.table.story, "proposition.moved", by=by, belief=proposition.belief[:200], up=up)
    return True
