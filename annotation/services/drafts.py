"""An expert's own draft of a belief table: each change is saved as it is typed, with its history. Nobody else sees it
before it is handed in and the lanes are opened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from annotation.domain.anchoring.arms import is_drawn_blind
from annotation.domain.drafts import (
    LONGEST,
    TEXTS,
    Action,
    Mark,
    RowState,
    in_order,
    incomplete,
    last_steps,
    mark_of,
    merge,
    places_of,
)
from annotation.domain.reconciliation import DraftRow as Words
from annotation.domain.table_checks import Warned, checks
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
from core.plain import plain, read_as

MAX_CHANGES = 2 * MAX_ROWS
VERSIONS_APART = timedelta(minutes=3)
BY_MODEL = "model"
"""The kind of the events by which a model's rows come into a draft."""


class Refused(ValueError):
    """The step is not possible now; the message is one sentence for the person who tried."""


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row as its expert wants it to be; `base` is what they saw before, None for a new row. `parent` is the row that
    a new one was split off or copied from: it comes from where that one does."""

    row: str
    base: RowState | None
    state: RowState
    idempotency_key: str
    action: str
    kind: str
    changed_at: datetime
    undoes: str = ""
    origin: str = Origin.TYPED
    parent: str = ""


class SavedRow(NamedTuple):
    """Result of a change: the row as it stands, and the copy that keeps words which would be lost."""

    idempotency_key: str
    row: str
    state: RowState
    copy: tuple[str, RowState] | None = None


def state_of_row(row: DraftRow) -> RowState:
    return RowState(row.actor, row.belief, row.order_text, row.remark, row.place, row.removed)


def own_draft(*, story: Story, expert: User) -> BeliefTable | None:
    return story.tables.filter(kind=TableKind.DRAFT, author=expert).first()


def live_rows(table: BeliefTable | None) -> QuerySet[DraftRow]:
    rows = DraftRow.objects.filter(removed=False).order_by("place", "uid")
    return rows.filter(table=table) if table is not None else rows.none()


def words_of(rows: Iterable[DraftRow]) -> list[Words]:
    return [Words(row.actor, row.belief, row.order_text) for row in rows]


def warnings_of(table: BeliefTable, story: Story) -> dict[str, list[Warned]]:
    """Return row → warnings, for rows with any."""
    rows = list(live_rows(table))
    warnings = checks(words_of(rows), [story.text, *story.translations.values()], story.project.schema.orders)
    return {row.uid: warned for row, warned in zip(rows, warnings, strict=True) if warned}


def closed_to(*, story: Story, expert: User, draft: BeliefTable | None) -> str:
    """Return why this expert cannot write a table of the story now, one sentence; empty where they can."""
    if draft is not None and draft.submitted_at is not None:
        return gettext("Your table is handed in; take it back to change it.")
    if Proposition.objects.gold_of(story).exists():
        return gettext("This story has its gold table already; changes are made there.")
    if draft is not None and draft.slot is not None:
        return ""
    if _free_slot(story) is not None:
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


def _lock(story: Story) -> None:
    Story.objects.select_for_update(of=("self",)).get(pk=story.pk)


@transaction.atomic
def take_slot(*, by: User | None, story: Story, expert: User) -> BeliefTable:
    """Return the expert's draft, which holds a slot of the story from now on. Raises Refused if none is free."""
    _lock(story)
    draft = own_draft(story=story, expert=expert)
    if draft is not None and draft.slot is not None:
        return draft
    if why := closed_to(story=story, expert=expert, draft=draft):
        raise Refused(why)
    draft = draft or BeliefTable(story=story, kind=TableKind.DRAFT, author=expert)
    draft.slot, draft.given_by = _free_slot(story), by if by is not None and by.pk != expert.pk else None
    draft.save()
    return draft


@transaction.atomic
def save_rows(*, by: User, story: Story, changes: Sequence[RowChange], now: datetime) -> list[SavedRow]:
    """Save all changes or none, in their order; the answer is in it, too. A change that was saved before counts once.

    A row that somebody else (another tab of the same expert) changed meanwhile is merged, and no words are lost. Raises
    Refused for a table that cannot be changed, a row of another table, too long texts and too many rows.
    """
    if not 0 < len(changes) <= MAX_CHANGES:
        text = gettext("{changes} changes in one request; expected 1 to {max_changes}.")
        raise Refused(text.format(changes=len(changes), max_changes=MAX_CHANGES))
    for name, words in ((name, getattr(change.state, name)) for change in changes for name in TEXTS):
        if len(words) > LONGEST[name]:
            text = gettext("A row's {name} has {text} characters; expected at most {name_2}.")
            raise Refused(text.format(name=name, text=len(words), name_2=LONGEST[name]))
        if "\x00" in words:
            raise Refused(gettext("A row's {name} holds a NUL character; remove it.").format(name=name))
    table = take_slot(by=by, story=story, expert=by)
    if why := closed_to(story=story, expert=by, draft=table):
        raise Refused(why)
    return _Saving(table, now).run(changes)


class _Saving:
    """The changes of one request, replayed in memory and written at the end."""

    def __init__(self, table: BeliefTable, now: datetime) -> None:
        self.table, self.now = table, now
        self.rows = {row.uid: row for row in table.draft_rows.all()}
        self.events: list[DraftEvent] = []
        self.touched: dict[str, DraftRow] = {}

    def run(self, changes: Sequence[RowChange]) -> list[SavedRow]:
        keys = [change.idempotency_key for change in changes]
        applied = self.table.draft_events.filter(idempotency_key__in=keys)
        applied_keys = set(applied.values_list("idempotency_key", flat=True))
        saved = [self._apply(change, is_known=change.idempotency_key in applied_keys) for change in changes]
        self._write()
        return saved

    def _apply(self, change: RowChange, *, is_known: bool) -> SavedRow:
        key, row = change.idempotency_key, self.rows.get(change.row)
        if is_known and row is None:
            text = gettext("The key {idempotency_key} was used for another row; every change needs its own.")
            raise Refused(text.format(idempotency_key=key))
        standing = state_of_row(row) if row is not None else None
        if is_known:
            return SavedRow(key, change.row, standing)
        state, copy = merge(change.base, standing, change.state)
        self._put(change, key, change.row, standing, state)
        return SavedRow(key, change.row, state, self._copy(change, copy) if copy is not None else None)

    def _copy(self, change: RowChange, state: RowState) -> tuple[str, RowState]:
        uid, key = new_uid(), f"{change.idempotency_key[:58]}-copy"
        following = sorted(row.place for row in self.rows.values() if not row.removed and row.place > state.place)
        [place] = places_of(state.place, following[0] if following else None, 1)
        state = replace(state, place=place)
        self._put(replace(change, parent=change.row), key, uid, None, state)
        return uid, state

    def _put(self, change: RowChange, key: str, uid: str, before: RowState | None, after: RowState) -> None:
        row = self.rows.get(uid)
        if row is None:
            row = self.rows[uid] = self._new_row(uid, change)
        row.actor, row.belief, row.order_text, row.remark = after.actor, after.belief, after.order, after.remark
        row.place, row.removed = after.place, after.removed
        self.touched[uid] = row
        self.events.append(
            DraftEvent(
                table=self.table, row=row, idempotency_key=key, action=change.action, kind=change.kind,
                undoes=change.undoes, before=plain(before), after=plain(after),
                changed_at=change.changed_at, received_at=self.now,
            )
        )  # fmt: skip

    def _new_row(self, uid: str, change: RowChange) -> DraftRow:
        parent = self.rows.get(change.parent)
        if parent is None or parent.suggested_id is None:
            return DraftRow(uid=uid, table=self.table, origin=change.origin)
        return DraftRow(
            uid=uid, table=self.table, origin=parent.origin, source=parent.source, suggested_id=parent.suggested_id
        )

    def _write(self) -> None:
        live = sum(not row.removed for row in self.rows.values())
        if live > MAX_ROWS:
            text = gettext("The table would have {live} rows; expected at most {max_rows}.")
            raise Refused(text.format(live=live, max_rows=MAX_ROWS))
        new = [row for row in self.touched.values() if row.pk is None]
        old = [row for row in self.touched.values() if row.pk is not None]
        try:
            with transaction.atomic():
                DraftRow.objects.bulk_create(new)
        except IntegrityError as error:
            raise Refused(gettext("A row of this name belongs to another table; reload the page.")) from error
        texts = ["actor", "belief", "order_text", "remark", "place", "removed"]
        DraftRow.objects.bulk_update(old, texts, batch_size=200)
        DraftEvent.objects.bulk_create(self.events)


def last_step(*, table: BeliefTable | None, redo: bool = False) -> tuple[str, dict[str, RowState]] | None:
    """Return the action that undo (or redo) takes back, and the rows as they were before it. Returns None if there is
    none. Rows that a model drafted are no action of the expert's."""
    if table is None:
        return None
    events = list(table.draft_events.exclude(kind=BY_MODEL).select_related("row").order_by("id"))
    undoable, redoable = last_steps({event.action: Action(event.action, event.undoes) for event in events}.values())
    action = redoable if redo else undoable
    rows: dict[str, RowState] = {}
    for event in events:
        if event.action == action and event.row.uid not in rows:
            gone = replace(read_as(RowState, event.after), removed=True)
            rows[event.row.uid] = read_as(RowState, event.before) if event.before else gone
    return (action, rows) if rows else None


def versions_of(table: BeliefTable | None) -> list[tuple[int, datetime, int]]:
    """Return the moments that the draft can go back to, newest first: before each pause of minutes, and the newest.
    Each is (number of its last event, time, number of rows)."""
    events = list(table.draft_events.order_by("id").values_list("id", "received_at")) if table is not None else []
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
    """Hand the expert's draft in. `rows` is how many they saw: another number is refused, since another page changed
    the table. Raises Refused."""
    _lock(story)
    table = own_draft(story=story, expert=by)
    if table is None:
        raise Refused(gettext("Your table has no row yet."))
    if table.submitted_at is not None:
        raise Refused(gettext("Your table is handed in already."))
    if why := closed_to(story=story, expert=by, draft=table):
        raise Refused(why)
    table = take_slot(by=by, story=story, expert=by)
    rows_in = list(live_rows(table))
    states = [state_of_row(row) for row in rows_in]
    filled = sum(not state.is_empty for state in states)
    if why := incomplete(states):
        raise Refused(why)
    if rows is not None and rows != filled:
        text = gettext("The table has {filled} rows by now, not {rows}: look at it again before you hand it in.")
        raise Refused(text.format(filled=filled, rows=rows))
    table.submitted_at = now
    table.save(update_fields=["submitted_at"])
    audit.record(by=by, project=story.project, action="draft.submitted", target=f"story {story.number}", rows=filled)
    if experts_of(story) == 1:
        _settle_alone(story, rows_in, now)
    return table


def _settle_alone(story: Story, rows: Sequence[DraftRow], now: datetime) -> None:
    """Make the gold table of what one expert alone wrote; each row knows the proposition that it became."""
    kept = [row for row in rows if row.belief.strip()]
    settled = [GoldRow(row.actor.strip(), row.belief.strip(), row.order_text.strip()) for row in kept]
    propositions = make_gold(story=story, rows=settled, reviewed=False, now=now)
    for row, proposition in zip(kept, propositions, strict=True):
        row.proposition = proposition
    DraftRow.objects.bulk_update(kept, ["proposition"], batch_size=200)


def why_not_back(*, story: Story, table: BeliefTable | None) -> str:
    """Return why a table cannot be taken back, one sentence; empty where it can."""
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
    somebody has opened the lanes with it, or worked on the table."""
    _lock(story)
    table = own_draft(story=story, expert=by)
    if why := why_not_back(story=story, table=table):
        raise Refused(why)
    table.submitted_at = None
    table.save(update_fields=["submitted_at"])
    if experts_of(story) == 1:
        unmake_gold(story)
    audit.record(by=by, project=story.project, action="draft.taken_back", target=f"story {story.number}")
    return table


@transaction.atomic
def release_slot(*, by: User | None, story: Story, expert: User) -> bool:
    """Free the slot of an expert whose table is not handed in; its rows are kept for them. False where they hold
    none."""
    _lock(story)
    freed = story.tables.drafts().filter(author=expert, submitted_at=None).update(slot=None, given_by=None)
    if freed:
        target = f"story {story.number}"
        audit.record(by=by, project=story.project, action="draft.released", target=target, expert=expert.username)
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
        if begun or not rows or closed_to(story=story, expert=expert, draft=draft):
            return
        draft = draft or BeliefTable(story=story, kind=TableKind.DRAFT, author=expert)
        seed, share = story.project.arms_seed, story.project.table_blind_share
        draft.arm_drawn_at, draft.arm_seed, draft.blind_share = now, seed, share
        draft.is_blind = is_drawn_blind(seed=seed, blind=share, story=story.uid, expert=expert.pk)
        draft.save()
        if not draft.is_blind:
            _begin_with(draft, rows, now)


def _begin_with(draft: BeliefTable, suggested: list[SuggestedRow], now: datetime) -> None:
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


class Begun(NamedTuple):
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
