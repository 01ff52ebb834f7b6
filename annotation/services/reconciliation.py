"""Two experts' drafts of a story's table in pairs of rows, settled pair by pair into one table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_lazy, ngettext

from annotation.domain.drafts import Change, last_steps, states_before, unfit
from annotation.domain.reconciliation import PairState, Status, pairs, proposed
from annotation.models import BeliefTable, DraftRow, Pair, PairEvent, Proposition, Remark, Story, User
from annotation.services import audit
from annotation.services.belief_tables import GoldRow, kept_by, make_gold, unmake_gold
from annotation.services.drafts import Refused, live_rows
from core.plain import plain

NOT_OPEN = gettext_lazy("The reconciliation opens when both experts have handed in their tables.")
RELINKED = gettext_lazy("These rows were decided or linked anew since; they stay as they stand.")
SETTLED = gettext_lazy("This story has its gold table already; open the reconciliation again, or change the table.")


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


def pairs_of(story: Story) -> QuerySet[Pair]:
    return story.pairs.standing().select_related("a__suggested", "b__suggested", "decided_by")


def _locked_state(story: Story, by: User) -> State:
    Story.objects.select_for_update(of=("self",)).get(pk=story.pk)
    return state_of(story=story, expert=by)


def _writable(story: Story, by: User) -> State:
    """Lock the story. Raises Refused unless its pairs can be changed."""
    state = _locked_state(story, by)
    if not state.opened:
        raise Refused(NOT_OPEN)
    if state.has_gold:
        raise Refused(SETTLED)
    return state


def _ask_again(story: Story) -> None:
    """End earlier agreement."""
    story.tables.drafts().filter(agreed_at__isnull=False).update(agreed_at=None)


@transaction.atomic
def open_pairs(*, story: Story, by: User, now: datetime) -> None:
    """Pair the rows of the drafts, once: from now on none of them can be taken back. Raises Refused before both are
    handed in: neither expert sees the other's."""
    state = _locked_state(story, by)
    if not state.ready:
        raise Refused(NOT_OPEN)
    BeliefTable.objects.filter(pk__in=[draft.pk for draft in state.submitted], opened_at=None).update(opened_at=now)
    if story.pairs.exists() or state.has_gold:
        return
    # A single draft, of a project that wanted two at first, is paired with an empty one.
    first, second = (*state.submitted, None)[:2]
    a, b = ([row for row in live_rows(table) if row.belief.strip()] for table in (first, second))
    positions = pairs([row.words for row in a], [row.words for row in b])
    Pair.objects.bulk_create(
        _proposed(story, None if i is None else a[i], None if j is None else b[j], float(place))
        for place, (i, j) in enumerate(positions, 1)
    )
    audit.record_on(story, "pairs.opened", by=by)


def _proposed(story: Story, a: DraftRow | None, b: DraftRow | None, place: float, typed: Pair | None = None) -> Pair:
    """Return a new pair. `typed` is an earlier one whose words somebody settled on: they stay, and are open again."""
    pair = Pair(story=story, a=a, b=b)
    state = proposed(a.words if a else None, b.words if b else None, place)
    if typed is not None:
        state = PairState(Status.OPEN.value, typed.actor, typed.belief, typed.order_text, typed.remark, place)
    pair.decide(state, typed.decided_by if typed else None, None)
    return pair


@transaction.atomic
def decide(*, by: User, story: Story, decisions: Sequence[Change], now: datetime) -> list[tuple[Pair, str]]:
    """Save decisions on pairs, in their order, and return each pair as it stands, with the name of somebody who was
    quicker: such a pair stays as it is. A decision that was saved before counts once. Earlier agreement ends. Raises
    Refused."""
    _writable(story, by)
    for state in (decision.state for decision in decisions):
        if why := unfit(state):
            raise Refused(why)
        if state.status == Status.KEPT and not (state.actor.strip() and state.belief.strip()):
            raise Refused(gettext("A row that is kept has an actor and a proposition."))
    keys = [decision.idempotency_key for decision in decisions]
    events = PairEvent.objects.filter(row__story=story, idempotency_key__in=keys)
    known = set(events.values_list("row__uid", "idempotency_key"))
    decided = [
        (story.pairs.get(uid=decision.row), "")
        if (decision.row, decision.idempotency_key) in known
        else _decide(by, story, decision, now)
        for decision in decisions
    ]
    if len(known) < len(decisions):
        _ask_again(story)
    return decided


def _decide(by: User, story: Story, decision: Change, now: datetime) -> tuple[Pair, str]:
    if links := _links(story, by, decision.undoes):
        # The pairs of a link are restored as they were before it, with their decisions.
        found = [event.row for event in links]
        if decision.row not in {pair.uid for pair in found}:
            raise Refused(RELINKED)
        _check_as_left(links)
        going, coming = ([each for each in found if each.gone is gone] for gone in (False, True))
        _exchange(by, going, coming, decision.event(now))
        _linked(by, next(each for each in found if each.a and each.b))
        return story.pairs.get(uid=decision.row), ""
    pair, before = pairs_of(story).filter(uid=decision.row).first(), None
    if pair is None:
        if decision.base is not None:
            raise Refused(gettext("This row was linked to another one meanwhile; look at the pairs again."))
        pair = Pair(uid=decision.row, story=story)
    else:
        before = pair.state
        if before not in (decision.base, decision.state):
            return pair, pair.decided_by.shown_name if pair.decided_by else gettext("Somebody")
    pair.decide(decision.state, by, now)
    pair.save()
    PairEvent.objects.create(row=pair, by=by, before=plain(before), after=plain(decision.state), **decision.event(now))
    return pair, ""


def last_step(*, story: Story, by: User, redo: bool = False) -> tuple[str, dict[str, PairState]] | None:
    """Return the person's last action on these pairs (or their last undo) with the pairs as they were before; None
    if there is nothing to take back. Of rows that were linked or separated it returns one pair that is to go, as it
    stands: a decision on it that undoes the action brings all back. Raises Refused where one of them changed since."""
    own = PairEvent.objects.filter(row__story=story, by=by).select_related("row")
    events = [event for event in own if event.is_link or not event.row.gone]
    action = last_steps({event.action: event.undoes for event in events})[redo]
    if links := _links(story, by, action):
        _check_as_left(links)
        pair = next(event.row for event in links if not event.row.gone)
        return action, {pair.uid: pair.state}
    of_action = (event for event in events if event.action == action)
    rows = states_before(of_action, PairState, status=Status.DROPPED.value)
    return (action, rows) if rows else None


@transaction.atomic
def link(*, by: User, story: Story, first: str, second: str | None, key: str, now: datetime) -> None:
    """Make one pair of two rows that say the same, one of each expert; without the second, `separate` the first. The
    same key again is the same link. Raises Refused."""
    if second is None:
        return separate(by=by, story=story, row=first, key=key, now=now)
    _writable(story, by)
    if _links(story, by, key):
        return
    found = {pair.uid: pair for pair in pairs_of(story).filter(uid__in=[first, second])}
    if len(found) < 2:
        raise Refused(gettext("These rows are in no pair any more; look at them again."))
    left, right = found[first], found[second]
    if (left.a and left.b) or (right.a and right.b):
        raise Refused(gettext("One of these rows is linked already; separate it first."))
    a, b = left.a or right.a, left.b or right.b
    if not (a and b):
        raise Refused(gettext("A link goes from a row of A to a row of B."))
    typed = next((pair for pair in (left, right) if pair.decided_by_id and pair.status != Status.DROPPED), None)
    made = _proposed(story, a, b, min(left.place, right.place), typed)
    _exchange(by, [left, right], [made], _press(key, now))
    _linked(by, made)


@transaction.atomic
def separate(*, by: User, story: Story, row: str, key: str, now: datetime) -> None:
    """Make two pairs of one that was linked; both are open again. The same key again is the same press. Raises
    Refused."""
    _writable(story, by)
    if _links(story, by, key):
        return
    linked = pairs_of(story).filter(uid=row).first()
    if linked is None or not (linked.a and linked.b):
        raise Refused(gettext("This row is not linked."))
    following = pairs_of(story).filter(place__gt=linked.place).first()
    after = (linked.place + following.place) / 2 if following else linked.place + 1
    typed = linked if linked.decided_by_id else None
    made = [_proposed(story, linked.a, None, linked.place, typed), _proposed(story, None, linked.b, after)]
    _exchange(by, [linked], made, _press(key, now))
    _linked(by, linked)


def _press(key: str, now: datetime) -> dict[str, Any]:
    return {"idempotency_key": key, "action": key, "changed_at": now, "received_at": now}


def _exchange(by: User, going: Sequence[Pair], coming: Sequence[Pair], act: dict[str, Any]) -> None:
    """Replace pairs by others; `act` has the fields that their events share. They go first: a row of a draft is in one
    standing pair. Those that went keep their decision and who made it, for undo."""
    for some, gone in ((going, True), (coming, False)):
        for pair in some:
            state = plain(pair.state)
            before = state | {"gone": not gone} if pair.pk else None
            pair.gone = gone
            pair.save()
            PairEvent.objects.create(row=pair, by=by, before=before, after=state | {"gone": gone}, **act)


def _links(story: Story, by: User, action: str) -> list[PairEvent]:
    """Return the events of that action of the person's, if it linked or separated rows."""
    events = PairEvent.objects.filter(row__story=story, by=by, action=action) if action else PairEvent.objects.none()
    return [event for event in events.select_related("row__a", "row__b", "row__decided_by") if event.is_link]


def _check_as_left(links: Sequence[PairEvent]) -> None:
    if any(plain(event.row.state) | {"gone": event.row.gone} != event.after for event in links):
        raise Refused(RELINKED)


def _linked(by: User, pair: Pair) -> None:
    """Note that the rows of a pair were linked or, if it is gone, separated."""
    assert pair.a and pair.b, "rows of both experts"
    _ask_again(pair.story)
    action = "pairs.separated" if pair.gone else "pairs.linked"
    audit.record_on(pair.story, action, by=by, a=pair.a.belief[:200], b=pair.b.belief[:200])


@transaction.atomic
def agree(*, by: User, story: Story, now: datetime | None) -> None:
    """Note that the author of one of the drafts agrees to the pairs as they stand; with None that they do no more.
    Raises Refused where a pair is open."""
    draft = _writable(story, by).own_draft
    if draft is None:
        raise Refused(gettext("Those who wrote the two tables agree to what comes of them."))
    if now is not None:
        _check_all_decided(pairs_of(story))
    BeliefTable.objects.filter(pk=draft.pk).update(agreed_at=now)


def _check_all_decided(rows: Sequence[Pair] | QuerySet[Pair]) -> None:
    if left := sum(pair.status == Status.OPEN for pair in rows):
        text = ngettext("{count} row is still to decide.", "{count} rows are still to decide.", left)
        raise Refused(text.format(count=left))


@transaction.atomic
def finish(*, by: User, story: Story, now: datetime) -> int:
    """Make the gold table of the pairs that are kept, in their order; removed ones are hidden, and count in reports.
    Returns how many rows it has. Raises Refused where a pair is open, nothing is left, or somebody has yet to agree."""
    state, rows = _writable(story, by), list(pairs_of(story))
    _check_all_decided(rows)
    if all(pair.status == Status.DROPPED for pair in rows):
        raise Refused(gettext("Keep at least one row."))
    waiting = [draft.author for draft in state.submitted if draft.agreed_at is None]
    if story.project.tables_agreed and waiting:
        names = gettext(" and ").join(person.shown_name if person else gettext("somebody") for person in waiting)
        text = ngettext("{names} has yet to agree.", "{names} have yet to agree.", len(waiting))
        raise Refused(text.format(names=names))
    rows = [pair for pair in rows if pair.status != Status.DROPPED or pair.a or pair.b]
    gold = [
        GoldRow(pair.actor.strip(), pair.belief.strip(), pair.order_text.strip(), pair.gold_remark, pair.remark.strip())
        for pair in rows
    ]
    propositions = make_gold(story=story, rows=gold, reviewed=True, now=now)
    for pair, proposition in zip(rows, propositions, strict=True):
        pair.proposition = proposition
    Pair.objects.bulk_update(rows, ["proposition"], batch_size=200)
    counts = {remark.label.lower(): sum(row.remark == remark for row in propositions) for remark in Remark}
    audit.record_on(story, "table.reconciled", by=by, **counts)
    return sum(row.removed_at is None for row in propositions)


@transaction.atomic
def reopen(*, by: User, story: Story) -> None:
    """Take the gold table away and open its pairs again. Raises Refused where somebody has worked on the table, or it
    was not reconciled."""
    _locked_state(story, by)
    if not story.pairs.filter(proposition__isnull=False).exists():
        raise Refused(gettext("The table of this story was not made of two drafts."))
    if why := kept_by(story):
        raise Refused(why)
    rows = unmake_gold(story)
    _ask_again(story)
    audit.record_on(story, "pairs.reopened", by=by, rows=rows)
