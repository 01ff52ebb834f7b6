"""Two experts' drafts of a story's table beside each other, settled row by row into one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_lazy, ngettext

from annotation.domain.drafts import LONGEST, TEXTS, Action, last_steps
from annotation.domain.reconciliation import DraftRow as Words
from annotation.domain.reconciliation import Lane, LaneState, Status, change_of, lane_of, pairs, proposed
from annotation.models import BeliefTable, LaneEvent, LaneRow, Proposition, Remark, Story, User
from annotation.services import audit
from annotation.services.belief_tables import GoldRow, kept_by, make_gold, unmake_gold
from annotation.services.drafts import Refused, live_rows
from core.plain import plain, read_as

NOT_OPEN = gettext_lazy("The lanes open when both experts have handed in their tables.")
RELINKED = gettext_lazy("These rows were decided or linked anew since; they stay as they stand.")
SETTLED = gettext_lazy("This story has its gold table already; open the lanes again, or change the table.")


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

    @property
    def opened(self) -> bool:
        return self.ready and all(draft.opened_at is not None for draft in self.submitted)


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


def lanes_of(story: Story) -> QuerySet[LaneRow]:
    return LaneRow.objects.filter(story=story).standing().select_related("a__suggested", "b__suggested", "decided_by")


def words_of(row: Any) -> Words | None:
    """Return what a row of a draft says, None for none."""
    return Words(row.actor, row.belief, row.order_text) if row is not None else None


def state_of_row(row: LaneRow) -> LaneState:
    return LaneState(row.status, row.actor, row.belief, row.order_text, row.remark, row.place)


def lane_of_row(row: LaneRow) -> Lane:
    return lane_of(words_of(row.a), words_of(row.b))


def remark_of(row: LaneRow) -> Remark:
    """Return the remark that a row has in gold, or will have as it stands."""
    return Remark(change_of(words_of(row.a), words_of(row.b), state_of_row(row)))


@transaction.atomic
def open_lanes(*, story: Story, by: User, now: datetime) -> None:
    """Lay the drafts beside each other, once: from now on none of them can be taken back. Raises Refused before both
    are handed in: neither expert sees the other's."""
    Story.objects.select_for_update(of=("self",)).get(pk=story.pk)
    state = state_of(story=story, expert=by)
    if not state.ready:
        raise Refused(NOT_OPEN)
    BeliefTable.objects.filter(pk__in=[draft.pk for draft in state.submitted], opened_at=None).update(opened_at=now)
    if LaneRow.objects.filter(story=story).exists() or state.has_gold:
        return
    first, second = ([row for row in live_rows(table) if row.belief.strip()] for table in _two(state.submitted))
    LaneRow.objects.bulk_create(
        _proposed(story, None if i is None else first[i], None if j is None else second[j], float(place))
        for place, (i, j) in enumerate(pairs([words_of(row) for row in first], [words_of(row) for row in second]), 1)
    )
    audit.record(by=by, project=story.project, action="lanes.opened", target=_name(story))


def _two(submitted: Sequence[BeliefTable]) -> tuple[BeliefTable | None, BeliefTable | None]:
    """A single draft, of a project that wanted two at first, has an empty one beside it."""
    first, *rest = submitted
    return first, rest[0] if rest else None


def _proposed(story: Story, a, b, place: float) -> LaneRow:
    state = proposed(words_of(a), words_of(b), place)
    return LaneRow(
        story=story, a=a, b=b, place=place, status=state.status, actor=state.actor, belief=state.belief,
        order_text=state.order,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decision:
    """A row as an expert wants it to be; `base` is what they saw before, None for a new row."""

    row: str
    base: LaneState | None
    state: LaneState
    idempotency_key: str
    action: str
    changed_at: datetime
    undoes: str = ""


@transaction.atomic
def decide(*, by: User, story: Story, decisions: Sequence[Decision], now: datetime) -> list[tuple[LaneRow, str]]:
    """Save decisions on rows of the lanes, in their order, and return each row as it stands, with the name of somebody
    who was quicker: such a row stays as it is. A decision that was saved before counts once. Earlier agreement ends.
    Raises Refused."""
    _writable(story, by)
    for decision in decisions:
        _check(decision.state)
    keys = [decision.idempotency_key for decision in decisions]
    events = LaneEvent.objects.filter(row__story=story, idempotency_key__in=keys)
    applied = set(events.values_list("row__uid", "idempotency_key"))
    rows = {row.uid: row for row in lanes_of(story)}
    decided = [
        _decide(by, story, rows, decision, now, (decision.row, decision.idempotency_key) in applied)
        for decision in decisions
    ]
    if len(applied) < len(decisions):
        _no_longer_agreed(story)
    return decided


def _writable(story: Story, by: User) -> None:
    Story.objects.select_for_update(of=("self",)).get(pk=story.pk)
    state = state_of(story=story, expert=by)
    if not state.opened:
        raise Refused(NOT_OPEN)
    if state.has_gold:
        raise Refused(SETTLED)


def _check(state: LaneState) -> None:
    for name in TEXTS:
        text = getattr(state, name)
        if len(text) > LONGEST[name] or "\x00" in text:
            raise Refused(
                gettext("A row's {name} is longer than {name_2} characters, or holds a NUL character.").format(
                    name=name, name_2=LONGEST[name]
                )
            )
    if state.status == Status.KEPT and not (state.actor.strip() and state.belief.strip()):
        raise Refused(gettext("A row that is kept has an actor and a proposition."))


def _decide(
    by: User, story: Story, rows: dict, decision: Decision, now: datetime, is_known: bool
) -> tuple[LaneRow, str]:
    row = rows.get(decision.row)
    if is_known:
        return row or story.lane_rows.get(uid=decision.row), ""
    if links := _links(story, by, decision.undoes):
        _take_back(story, links, decision, now)
        rows.clear()
        rows.update({row.uid: row for row in lanes_of(story)})
        return story.lane_rows.get(uid=decision.row), ""
    if row is None and decision.base is not None:
        raise Refused(gettext("This row was linked to another one meanwhile; look at the lanes again."))
    before = state_of_row(row) if row is not None else None
    if row is not None and before not in (decision.base, decision.state):
        return row, row.decided_by.shown_name if row.decided_by else gettext("Somebody")
    if row is None:
        row = rows[decision.row] = LaneRow(uid=decision.row, story=story)
    row.decide(decision.state, by, now)
    row.save()
    LaneEvent.objects.create(
        row=row, by=by, before=plain(before), after=plain(decision.state), **_of_act(decision, now)
    )
    return row, ""


def _of_act(decision: Decision, now: datetime) -> dict[str, Any]:
    """Return the fields of an event that say of which action it is."""
    names = ("idempotency_key", "action", "undoes", "changed_at")
    return {name: getattr(decision, name) for name in names} | {"received_at": now}


def _of_press(key: str, now: datetime) -> dict[str, Any]:
    return {"idempotency_key": key, "action": key, "changed_at": now, "received_at": now}


def _no_longer_agreed(story: Story) -> None:
    story.tables.drafts().filter(agreed_at__isnull=False).update(agreed_at=None)


def last_step(*, story: Story, by: User, redo: bool = False) -> tuple[str, dict[str, LaneState]] | None:
    """Return the person's last action on these lanes (or their last undo) with the rows as they were before; None
    where there is nothing to take back. Of rows that were linked or separated it returns one that is to go, as it
    stands: a decision on it that undoes the action brings all back. Raises Refused where one of them changed since."""
    events = [
        event
        for event in LaneEvent.objects.filter(row__story=story, by=by).select_related("row")
        if event.is_link or not event.row.gone
    ]
    undoable, redoable = last_steps({event.action: Action(event.action, event.undoes) for event in events}.values())
    action = redoable if redo else undoable
    if links := _links(story, by, action):
        _check_as_left(links)
        row = next(event.row for event in links if not event.row.gone)
        return action, {row.uid: state_of_row(row)}
    rows: dict[str, LaneState] = {}
    for event in events:
        if event.action == action:
            gone = replace(read_as(LaneState, event.after), status=Status.DROPPED.value)
            rows.setdefault(event.row.uid, read_as(LaneState, event.before) if event.before else gone)
    return (action, rows) if rows else None


@transaction.atomic
def link(*, by: User, story: Story, first: str, second: str, key: str, now: datetime) -> None:
    """Make one row of two that say the same, one of each expert. The same key again is the same link. Raises
    Refused."""
    _writable(story, by)
    if _links(story, by, key):
        return
    rows = {row.uid: row for row in lanes_of(story).filter(uid__in=[first, second])}
    if len(rows) < 2:
        raise Refused(gettext("These rows are not in the lanes any more; look at them again."))
    left, right = rows[first], rows[second]
    if (left.a and left.b) or (right.a and right.b):
        raise Refused(gettext("One of these rows is linked already; separate it first."))
    if not ((left.a and right.b) or (left.b and right.a)):
        raise Refused(gettext("A link goes from a row of A to a row of B."))
    a, b, place = left.a or right.a, left.b or right.b, min(left.place, right.place)
    typed = next((row for row in (left, right) if row.decided_by_id and row.status != Status.DROPPED), None)
    made = _with_words(_proposed(story, a, b, place), typed)
    _exchange(by, [left, right], [made], _of_press(key, now))
    _linked(by, made, is_linked=True)


@transaction.atomic
def separate(*, by: User, story: Story, row: str, key: str, now: datetime) -> None:
    """Make two rows of one that was linked; both are open again. The same key again is the same press. Raises
    Refused."""
    _writable(story, by)
    if _links(story, by, key):
        return
    linked = lanes_of(story).filter(uid=row).first()
    if linked is None or not (linked.a and linked.b):
        raise Refused(gettext("This row is not linked."))
    following = lanes_of(story).filter(place__gt=linked.place).first()
    after = (linked.place + following.place) / 2 if following else linked.place + 1
    typed = linked if linked.decided_by_id else None
    made = [_with_words(_proposed(story, linked.a, None, linked.place), typed), _proposed(story, None, linked.b, after)]
    _exchange(by, [linked], made, _of_press(key, now))
    _linked(by, linked, is_linked=False)


def _with_words(row: LaneRow, typed: LaneRow | None) -> LaneRow:
    if typed is not None:
        row.keep_words(typed)
    return row


def _exchange(by: User, going: Sequence[LaneRow], coming: Sequence[LaneRow], act: dict[str, Any]) -> None:
    """Have rows go from the lanes and others come in their stead; `act` has the fields that their events share. They go
    first: a row of a draft is in one standing row. Those that went keep their decision and who made it, for undo."""
    for rows, gone in ((going, True), (coming, False)):
        for row in rows:
            state = plain(state_of_row(row))
            before = state | {"gone": not gone} if row.pk else None
            row.gone = gone
            row.save()
            LaneEvent.objects.create(row=row, by=by, before=before, after=state | {"gone": gone}, **act)


def _links(story: Story, by: User, action: str) -> list[LaneEvent]:
    """Return the events of that action of the person's, where it linked or separated rows."""
    if not action:
        return []
    events = LaneEvent.objects.filter(row__story=story, by=by, action=action)
    return [event for event in events.select_related("row__a", "row__b", "row__decided_by") if event.is_link]


def _check_as_left(links: Sequence[LaneEvent]) -> None:
    if any(plain(state_of_row(event.row)) | {"gone": event.row.gone} != event.after for event in links):
        raise Refused(RELINKED)


def _take_back(story: Story, links: Sequence[LaneEvent], decision: Decision, now: datetime) -> None:
    """Have the rows of a link stand as they did before it, with their decisions. Raises Refused where one changed."""
    if decision.row not in {event.row.uid for event in links}:
        raise Refused(RELINKED)
    _check_as_left(links)
    by = links[0].by
    going = [event.row for event in links if not event.row.gone]
    coming = [event.row for event in links if event.row.gone]
    _exchange(by, going, coming, _of_act(decision, now))
    pair = next(row for row in (*going, *coming) if row.a and row.b)
    _linked(by, pair, is_linked=not pair.gone)


def _linked(by: User, pair: LaneRow, *, is_linked: bool) -> None:
    _no_longer_agreed(pair.story)
    words = {"a": pair.a.belief[:200], "b": pair.b.belief[:200]}
    action = "lanes.linked" if is_linked else "lanes.separated"
    audit.record(by=by, project=pair.story.project, action=action, target=_name(pair.story), **words)


@transaction.atomic
def agree(*, by: User, story: Story, now: datetime | None) -> None:
    """Note that the author of one of the drafts agrees to the rows as they stand; with None that they do no more.
    Raises Refused where a row is open."""
    _writable(story, by)
    draft = story.tables.drafts().filter(author=by).first()
    if draft is None:
        raise Refused(gettext("Those who wrote the two tables agree to what comes of them."))
    if now is not None:
        _check_all_decided(story)
    BeliefTable.objects.filter(pk=draft.pk).update(agreed_at=now)


def _check_all_decided(story: Story) -> None:
    left = sum(state_of_row(row).status == Status.OPEN for row in lanes_of(story))
    if left:
        raise Refused(
            ngettext("{count} row is still to decide.", "{count} rows are still to decide.", left).format(count=left)
        )


@transaction.atomic
def finish(*, by: User, story: Story, now: datetime) -> int:
    """Make the gold table of the rows that are kept, in their order; removed ones are kept out of sight, for the
    figures. Returns how many rows it has. Raises Refused where a row is open, nothing is left, or somebody has yet to
    agree."""
    _writable(story, by)
    _check_all_decided(story)
    rows = list(lanes_of(story))
    if all(row.status == Status.DROPPED for row in rows):
        raise Refused(gettext("Keep at least one row."))
    waiting = [draft for draft in state_of(story=story, expert=by).submitted if draft.agreed_at is None]
    if story.project.tables_agreed and waiting:
        names = gettext(" and ").join(
            draft.author.shown_name if draft.author else gettext("somebody") for draft in waiting
        )
        raise Refused(
            ngettext("{names} has yet to agree.", "{names} have yet to agree.", len(waiting)).format(names=names)
        )
    rows = [row for row in rows if not (row.status == Status.DROPPED and row.a is None and row.b is None)]
    propositions = make_gold(story=story, rows=[_gold(row) for row in rows], reviewed=True, now=now)
    for row, proposition in zip(rows, propositions, strict=True):
        row.proposition = proposition
    LaneRow.objects.bulk_update(rows, ["proposition"], batch_size=200)
    counts = {remark.label.lower(): sum(row.remark == remark for row in propositions) for remark in Remark}
    audit.record(by=by, project=story.project, action="table.reconciled", target=_name(story), **counts)
    return sum(row.removed_at is None for row in propositions)


def _gold(row: LaneRow) -> GoldRow:
    return GoldRow(row.actor.strip(), row.belief.strip(), row.order_text.strip(), remark_of(row), row.remark.strip())


@transaction.atomic
def reopen(*, by: User, story: Story) -> None:
    """Take the gold table away and open its lanes again. Raises Refused where somebody has worked on the table, or it
    was not made of lanes."""
    Story.objects.select_for_update(of=("self",)).get(pk=story.pk)
    if not LaneRow.objects.filter(story=story, proposition__isnull=False).exists():
        raise Refused(gettext("The table of this story was not made of two drafts."))
    if why := kept_by(story):
        raise Refused(why)
    rows = unmake_gold(story)
    _no_longer_agreed(story)
    audit.record(by=by, project=story.project, action="lanes.reopened", target=_name(story), rows=rows)


def _name(story: Story) -> str:
    return f"story {story.number}"
