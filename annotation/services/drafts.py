"""An expert's own draft of a belief table: each change is saved as it is typed, with its history. Nobody else sees it
before it is handed in and the reconciliation is opened."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import zip_longest

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from annotation.domain.arms import is_drawn_blind
from annotation.domain.drafts import (
    Change,
    Mark,
    RowState,
    in_order,
    incomplete,
    last_steps,
    mark_of,
    merge,
    places_of,
    states_before,
    unfit,
)
from annotation.domain.table_checks import checks
from annotation.domain.tables import MAX_ROWS
from annotation.models import (
    BeliefTable,
    DraftEvent,
    DraftRow,
    Origin,
    Proposition,
    Story,
    SuggestedRow,
    TableKind,
    User,
)
from annotation.services import audit
from annotation.services.belief_tables import GoldRow, kept_by, make_gold, unmake_gold
from core.ids import new_uid
from core.plain import Json, plain, read_as

MAX_CHANGES = 2 * MAX_ROWS
VERSIONS_APART = timedelta(minutes=3)
BY_MODEL = "model"
"""The kind of the events by which a model's rows come into a draft."""


class Refused(ValueError):
    """The step is not possible now; the message is one sentence for the person who tried."""


SavedRow = tuple[RowState, tuple[str, RowState] | None]
"""A row as it stands after a change, and the copy that keeps words which would be lost."""


def own_draft(*, story: Story, expert: User) -> BeliefTable | None:
    return story.tables.filter(kind=TableKind.DRAFT, author=expert).first()


def live_rows(table: BeliefTable | None) -> QuerySet[DraftRow]:
    rows = DraftRow.objects.filter(removed=False).order_by("place", "uid")
    return rows.filter(table=table) if table is not None else rows.none()


def warnings_of(table: BeliefTable | None, story: Story) -> dict[str, list[Json]]:
    """Return row → warnings, for rows with any."""
    rows = list(live_rows(table))
    texts = [story.text, *story.translations.values()]
    warnings = checks([row.words for row in rows], texts, story.project.schema.orders)
    return {row.uid: warned for row, warned in zip(rows, warnings, strict=True) if warned}


def closed_to(*, story: Story, draft: BeliefTable | None) -> str:
    """Return why the expert with this draft cannot write a table of the story now, one sentence. Returns "" if they
    can."""
    if draft is not None and draft.submitted_at is not None:
        return gettext("Your table is handed in; take it back to change it.")
    if Proposition.objects.gold_of(story).exists():
        return gettext("This story has its gold table already; changes are made there.")
    if (draft is not None and draft.slot is not None) or _free_slot(story) is not None:
        return ""
    alone = story.project.table_experts == 1
    others = gettext("another expert writes it.") if alone else gettext("two other experts write it.")
    return gettext("This story needs no further table: ") + others


def experts_of(story: Story) -> int:
    """Return how many experts write the story's table: the project's number, or more where more have begun."""
    return max(story.project.table_experts, story.tables.drafts().count())


def _free_slot(story: Story) -> int | None:
    taken = set(story.tables.drafts().values_list("slot", flat=True))
    return next((slot for slot in range(1, story.project.table_experts + 1) if slot not in taken), None)


def _locked_draft(story: Story, expert: User) -> BeliefTable | None:
    """Lock the story and return the expert's draft."""
    Story.objects.select_for_update(of=("self",)).get(pk=story.pk)
    return own_draft(story=story, expert=expert)


@transaction.atomic
def take_slot(*, by: User | None, story: Story, expert: User) -> BeliefTable:
    """Return the expert's draft, which holds a slot of the story from now on. Raises Refused if none is free."""
    draft = _locked_draft(story, expert)
    if draft is not None and draft.slot is not None:
        return draft
    if why := closed_to(story=story, draft=draft):
        raise Refused(why)
    draft = draft or BeliefTable(story=story, kind=TableKind.DRAFT, author=expert)
    draft.slot, draft.given_by = _free_slot(story), by if by is not None and by.pk != expert.pk else None
    draft.save()
    return draft


@transaction.atomic
def save_rows(*, by: User, story: Story, changes: Sequence[Change], now: datetime) -> list[SavedRow]:
    """Save all changes or none, in their order; the answer is in it, too. A change that was saved before counts once.

    A row that somebody else (another tab of the same expert) changed meanwhile is merged, and no words are lost. Raises
    Refused for a table that cannot be changed, a row of another table, too long texts and too many rows.
    """
    if not 0 < len(changes) <= MAX_CHANGES:
        text = gettext("{changes} changes in one request; expected 1 to {max_changes}.")
        raise Refused(text.format(changes=len(changes), max_changes=MAX_CHANGES))
    table = take_slot(by=by, story=story, expert=by)
    wrong = (why for change in changes if (why := unfit(change.state)))
    if why := next(wrong, "") or closed_to(story=story, draft=table):
        raise Refused(why)
    rows, events = {row.uid: row for row in table.draft_rows.all()}, list[DraftEvent]()
    keys = [change.idempotency_key for change in changes]
    known = set(table.draft_events.filter(idempotency_key__in=keys).values_list("idempotency_key", flat=True))
    saved = [_apply(change, rows, events, table, now, change.idempotency_key in known) for change in changes]
    live = sum(not row.removed for row in rows.values())
    if live > MAX_ROWS:
        text = gettext("The table would have {live} rows; expected at most {max_rows}.")
        raise Refused(text.format(live=live, max_rows=MAX_ROWS))
    touched = {event.row.uid: event.row for event in events}.values()
    old = [row for row in touched if row.pk is not None]
    try:
        with transaction.atomic():
            DraftRow.objects.bulk_create(row for row in touched if row.pk is None)
    except IntegrityError as error:
        raise Refused(gettext("A row of this name belongs to another table; reload the page.")) from error
    DraftRow.objects.bulk_update(old, ["actor", "belief", "order_text", "remark", "place", "removed"], batch_size=200)
    DraftEvent.objects.bulk_create(events)
    return saved


def _apply(
    change: Change,
    rows: dict[str, DraftRow],
    events: list[DraftEvent],
    table: BeliefTable,
    now: datetime,
    is_known: bool,
) -> SavedRow:
    """Apply a change to the rows in memory, and add its events."""
    key, row = change.idempotency_key, rows.get(change.row)
    if is_known:
        if row is None:
            text = gettext("The key {idempotency_key} was used for another row; every change needs its own.")
            raise Refused(text.format(idempotency_key=key))
        return row.state, None

    def put(uid: str, state: RowState, key: str, parent: str) -> None:
        row, before = rows.get(uid), None
        if row is None:  # it comes from the model's row that its parent comes from
            above = rows.get(parent)
            names = ("origin", "source", "suggested_id") if above is not None and above.suggested_id else ()
            lineage = {name: getattr(above, name) for name in names} or {"origin": change.origin}
            row = rows[uid] = DraftRow(uid=uid, table=table, **lineage)
        else:
            before = plain(row.state)
        row.put(state)
        about = change.event(now) | {"idempotency_key": key, "kind": change.kind}
        events.append(DraftEvent(table=table, row=row, before=before, after=plain(state), **about))

    state, lost = merge(change.base, row.state if row else None, change.state)
    put(change.row, state, key, change.parent)
    if lost is None:
        return state, None
    following = [row.place for row in rows.values() if not row.removed and row.place > lost.place]
    [place] = places_of(lost.place, min(following, default=None), 1)
    copy = new_uid(), replace(lost, place=place)
    put(*copy, f"{key[:58]}-copy", change.row)
    return state, copy


def last_step(*, table: BeliefTable | None, redo: bool = False) -> tuple[str, dict[str, RowState]] | None:
    """Return the action that undo (or redo) takes back, and the rows as they were before it. Returns None if there is
    none. Rows that a model drafted are no action of the expert's."""
    if table is None:
        return None
    events = list(table.draft_events.exclude(kind=BY_MODEL).select_related("row").order_by("id"))
    action = last_steps({event.action: event.undoes for event in events})[redo]
    rows = states_before((event for event in events if event.action == action), RowState, removed=True)
    return (action, rows) if rows else None


def versions_of(table: BeliefTable | None) -> list[tuple[int, datetime, int]]:
    """Return the moments that the draft can go back to, newest first: before each pause of minutes, and the newest.
    Each is (number of its last event, time, number of rows)."""
    if table is None:
        return []
    events = list(table.draft_events.order_by("id").values_list("id", "received_at"))
    versions = [
        (pk, at)
        for (pk, at), following in zip_longest(events, events[1:])
        if following is None or following[1] - at > VERSIONS_APART
    ]
    return [(pk, at, len(in_order(rows_at(table, pk)))) for pk, at in reversed(versions)]


def rows_at(table: BeliefTable, event: int) -> dict[str, RowState]:
    """Return the rows as they stood after the event of that number."""
    states = table.draft_events.filter(id__lte=event).order_by("id").values_list("row__uid", "after")
    return {uid: read_as(RowState, after) for uid, after in states}


@transaction.atomic
def hand_in(*, by: User, story: Story, now: datetime, rows: int | None = None) -> BeliefTable:
    """Hand the expert's draft in; the draft of one expert alone becomes the gold table. `rows` is how many they saw:
    another number is refused, since another page changed the table. Raises Refused."""
    table = _locked_draft(story, by)
    if table is None:
        raise Refused(gettext("Your table has no row yet."))
    if table.submitted_at is not None:
        raise Refused(gettext("Your table is handed in already."))
    table = take_slot(by=by, story=story, expert=by)
    live = list(live_rows(table))
    filled = sum(not row.state.is_empty for row in live)
    if why := closed_to(story=story, draft=table) or incomplete([row.state for row in live]):
        raise Refused(why)
    if rows is not None and rows != filled:
        text = gettext("The table has {filled} rows by now, not {rows}: look at it again before you hand it in.")
        raise Refused(text.format(filled=filled, rows=rows))
    table.submitted_at = now
    table.save(update_fields=["submitted_at"])
    audit.record_on(story, "draft.submitted", by=by, rows=filled)
    if experts_of(story) == 1:
        kept = [row for row in live if row.belief.strip()]
        gold = [GoldRow(row.actor.strip(), row.belief.strip(), row.order_text.strip()) for row in kept]
        propositions = make_gold(story=story, rows=gold, reviewed=False, now=now)
        for row, proposition in zip(kept, propositions, strict=True):
            row.proposition = proposition
        DraftRow.objects.bulk_update(kept, ["proposition"], batch_size=200)
    return table


def why_not_back(*, story: Story, table: BeliefTable | None) -> str:
    """Return why a table cannot be taken back, one sentence. Returns "" if it can."""
    if table is None or table.submitted_at is None:
        return gettext("Your table is not handed in.")
    if table.opened_at is not None:
        return gettext("Your table was opened beside the other one by now, and stays as it is.")
    if not Proposition.objects.gold_of(story).exists():
        return ""
    if experts_of(story) > 1:
        return gettext("This story has its gold table already; changes are made there.")
    return kept_by(story)


@transaction.atomic
def take_back(*, by: User, story: Story) -> BeliefTable:
    """Open the expert's own draft again; what one expert alone wrote is then not a gold table. Raises Refused where
    somebody has opened the reconciliation with it, or worked on the table."""
    table = _locked_draft(story, by)
    if why := why_not_back(story=story, table=table):
        raise Refused(why)
    assert table, "a reason is given where there is none"
    table.submitted_at = None
    table.save(update_fields=["submitted_at"])
    if experts_of(story) == 1:
        unmake_gold(story)
    audit.record_on(story, "draft.taken_back", by=by)
    return table


@transaction.atomic
def release_slot(*, by: User | None, story: Story, expert: User) -> bool:
    """Free the slot of an expert whose table is not handed in; its rows are kept for them. Returns False if they hold
    none."""
    _locked_draft(story, expert)
    freed = story.tables.drafts().filter(author=expert, submitted_at=None).update(slot=None, given_by=None)
    if freed:
        audit.record_on(story, "draft.released", by=by, expert=expert.username)
    return bool(freed)


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
        if begun or not rows or closed_to(story=story, draft=draft):
            return
        draft = draft or BeliefTable(story=story, kind=TableKind.DRAFT, author=expert)
        seed, share = story.project.arms_seed, story.project.table_blind_share
        draft.arm_drawn_at, draft.arm_seed, draft.blind_share = now, seed, share
        draft.is_blind = is_drawn_blind(seed=seed, blind=share, story=story.uid, expert=expert.pk)
        draft.save()
        if draft.is_blind:
            return
        own = [DraftRow(table=draft, origin=Origin.MODEL, source=row.source, suggested=row) for row in rows]
        for row, suggested, place in zip(own, rows, places_of(None, None, len(rows)), strict=True):
            row.put(RowState(*suggested.words, place=place))
        action, at = f"model-{new_uid()}", {"changed_at": now, "received_at": now, "before": None}
        DraftEvent.objects.bulk_create(
            DraftEvent(
                table=draft, row=row, idempotency_key=f"{action}-{row.uid}", action=action, kind=BY_MODEL,
                after=plain(row.state), **at,
            )
            for row in DraftRow.objects.bulk_create(own)
        )  # fmt: skip


def begun_with(draft: BeliefTable | None) -> dict[str, SuggestedRow] | None:
    """Return the model's row by the uid of each row of the draft that began as one, removed rows too. Returns None if
    the expert writes blind, or nothing was drafted."""
    if draft is None or draft.is_blind is not False:
        return None
    return {row.uid: row.suggested for row in draft.draft_rows.select_related("suggested") if row.suggested}


def mark_of_row(row: DraftRow) -> Mark:
    """Return what the expert made of a row; its `suggested` is loaded."""
    return mark_of(row.words, row.suggested.words if row.suggested else None)


def deleted_rows(rows: Iterable[DraftRow], begun: dict[str, SuggestedRow]) -> list[SuggestedRow]:
    """Return the model's rows of which nothing is left among these live rows of the draft, in its order."""
    left = {row.suggested_id for row in rows}
    gone = {row.pk: row for row in begun.values() if row.pk not in left}
    return sorted(gone.values(), key=lambda row: row.number)
