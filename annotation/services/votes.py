"""Saving, withdrawing and undoing votes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext

from annotation.domain.anchoring.arms import Arm
from annotation.domain.gold_votes import GoldVote
from annotation.models import Assignment, Proposition, User, Vote, VoteEvent
from annotation.services.arms import Suggested, suggestions_on
from annotation.services.resolution import Cell, Touched, resolve_touched
from core.bulk import write_few
from core.messages import Sentence
from core.reads import Read
from core.together import Together

MAX_CHANGES = 200
MAX_CLOCK_LEAD = timedelta(hours=24)
EARLIEST = 2000


class Refused(ValueError):
    """The request as a whole cannot be carried out; the message is one sentence for the person who made it."""


@dataclass(frozen=True, slots=True)
class Change:
    """One cell's new label as the annotator made it. An empty label withdraws the vote.

    `changed_at` is the annotator's clock (aware, UTC); `idempotency_key` is unique to the change, so that sending it
    again is harmless; `duration_ms` is the time from focusing the cell to choosing. `saw`: a suggestion stood in the
    cell; `accepted`: it was taken over with a key.
    """

    proposition: str
    dimension: str
    label: str
    changed_at: datetime
    idempotency_key: str
    duration_ms: int | None = None
    undoes: str = ""
    saw: bool = False
    accepted: bool = False


@dataclass(frozen=True, slots=True)
class Saved:
    """The vote that stands in the cell of a change; `applied` is false where a later change had already arrived.

    `changed_at` is the time of what stands: a client whose clock is behind it must date its next change later.
    `actor` and `row` (dimension → label) are what a cross-check of the whole proposition needs: own labels only.
    `revealed` is the suggestion that a first vote brought to light, None where it brought none.
    """

    idempotency_key: str
    proposition: str
    dimension: str
    label: str
    applied: bool
    changed_at: datetime
    actor: str
    row: Mapping[str, str]
    revealed: Suggested | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """One annotator's current vote on a cell, in the order of the columns below."""

    label: str
    changed_at: datetime
    idempotency_key: str
    duration_ms: int | None
    arm: str = ""
    suggested: str = ""

    @property
    def place(self) -> tuple[datetime, str]:
        """The vote's place in time: of two votes on a cell the later one stands."""
        return self.changed_at, self.idempotency_key


_CHANGED = ("label", "changed_at", "idempotency_key", "duration_ms", "arm", "suggested")
_changed = attrgetter(*_CHANGED)
_VOTE = ("proposition_id", "dimension", "annotator_id", *_CHANGED)
_EVENT = (
    "proposition_id", "dimension", *_CHANGED, "previous", "undoes", "applied", "accepted", "annotator_id",
    "received_at", "origin",
)  # fmt: skip

# The row locks serialise annotators of one cell on PostgreSQL: else two last votes would not see each other.
_LOCKED = Read[tuple[int, str, int, str]](
    lambda given: (
        Proposition.objects.live_gold()
        .filter(table__story_id__in=given.stories, uid__in=given.uids)
        .order_by("id")
        .select_for_update(of=("self",))
        .values_list("table__story_id", "uid", "id", "actor")
    )
)
_VOTES_ON = Read[tuple](
    lambda given: (
        Vote.objects.filter(proposition_id__in=given.propositions).order_by("annotator_id").values_list(*_VOTE)
    )
)
_SAVED = Read[tuple[int, str, bool, int, str]](
    lambda given: VoteEvent.objects.filter(
        annotator_id__in=given.annotators, idempotency_key__in=given.keys
    ).values_list("annotator_id", "idempotency_key", "applied", "proposition_id", "dimension")
)


@dataclass(frozen=True, slots=True)
class _Save:
    """Changes that one annotator saves with one request."""

    by: User
    assignment: Assignment
    changes: Sequence[Change]
    now: datetime
    origin: str

    @property
    def propositions(self) -> frozenset[str]:
        return frozenset(change.proposition for change in self.changes)


class _LockedRows(NamedTuple):
    """Rows that the database holds of everything that a few saves touch, read under the locks on their propositions."""

    propositions: Mapping[tuple[int, str], tuple[int, str]]
    """Id and actor by story and uid."""
    votes: Mapping[int, Sequence[tuple]]
    """The values of _VOTE, by proposition."""
    arrived: Mapping[tuple[int, str], tuple[bool, int, str]]
    """(applied, proposition, dimension) by annotator and key."""


class _Replayed(NamedTuple):
    """A save as it is to be written, and answered."""

    votes: Sequence[tuple]
    events: Sequence[tuple]
    touched: Touched
    saved: list[Saved]


def save_votes(
    *, by: User, assignment: Assignment, changes: Sequence[Change], now: datetime, origin: str = "grid"
) -> list[Saved]:
    """Save all changes or none; the answer is in the order of `changes`.

    Of two changes to one cell the one with the later `changed_at` stands (ties: the larger key), whatever order they
    arrive in. `origin` says where they were made. Raises `Refused` for an unknown proposition or dimension, an illegal
    label, too many changes, a key that was used for another cell, or a time that lies more than a day ahead or before
    EARLIEST.
    """
    _check(assignment, changes, now)
    return _together(_Save(by, assignment, changes, now, origin))


def _save_all(saves: Sequence[_Save]) -> list[list[Saved] | Exception]:
    """Write several saves that touch different propositions: the only place where votes of annotators are written. The
    outcome of a save that is refused is why; of it nothing is written."""
    locked = _lock_rows(saves)
    outcomes: list[list[Saved] | Exception] = []
    replayed: list[_Replayed] = []
    for save in saves:
        try:
            replayed.append(_replayed(save, locked))
            outcomes.append(replayed[-1].saved)
        except Refused as refusal:
            outcomes.append(refusal)
    write_few(Vote, _VOTE, [vote for replay in replayed for vote in replay.votes], unique=_VOTE[:3], update=_VOTE[3:])
    write_few(VoteEvent, _EVENT, [event for replay in replayed for event in replay.events])
    resolve_touched([replay.touched for replay in replayed])
    return outcomes


_together = Together(_save_all, touches=lambda save: save.propositions)


def _lock_rows(saves: Sequence[_Save]) -> _LockedRows:
    uids = {uid for save in saves for uid in save.propositions}
    locked = _LOCKED(stories=sorted({save.assignment.story_id for save in saves}), uids=sorted(uids))
    annotators = sorted({save.by.pk for save in saves})
    applied = _SAVED(annotators=annotators, keys=[change.idempotency_key for save in saves for change in save.changes])
    votes: dict[int, list[tuple]] = defaultdict(list)
    for vote in _VOTES_ON(propositions=[pk for _, _, pk, _ in locked]) if locked else ():
        votes[vote[0]].append(vote)
    return _LockedRows(
        {(story, uid): (pk, actor) for story, uid, pk, actor in locked},
        votes,
        {(annotator, key): about for annotator, key, *about in applied},
    )


def _replayed(save: _Save, locked: _LockedRows) -> _Replayed:
    by, assignment, changes = save.by, save.assignment, save.changes
    places = {}
    for uid in dict.fromkeys(change.proposition for change in changes):
        place = locked.propositions.get((assignment.story_id, uid))
        if place is None:
            raise Refused(gettext("There is no proposition {uid} in this story; reload the page.").format(uid=uid))
        places[uid] = place
    ids = {uid: pk for uid, (pk, _) in places.items()}
    arrived = _arrived(by, changes, ids, locked)
    current, others = _votes_on(by, ids.values(), locked)
    suggested = suggestions_on(assignment=assignment, ids=ids)
    events, cells, applied = _replay(changes, ids, arrived, current, suggested)
    return _Replayed(
        [(*cell, by.pk, *_changed(current[cell])) for cell in sorted(cells)],
        [(*event, by.pk, save.now, save.origin) for event in events],
        Touched(assignment.story.project, cells, save.now, by, _standing_votes(by, cells, current, others)),
        _saved(changes, places, current, applied, suggested),
    )


def _votes_on(
    by: User, propositions: Iterable[int], locked: _LockedRows
) -> tuple[dict[Cell, Standing], dict[Cell, list[GoldVote]]]:
    """Return the annotator's own votes, withdrawn ones too, and the standing votes of others, by annotator id."""
    own_votes: dict[Cell, Standing] = {}
    others: dict[Cell, list[GoldVote]] = defaultdict(list)
    for proposition in propositions:
        for _, dimension, annotator, *vote in locked.votes.get(proposition, ()):
            standing = Standing(*vote)
            if annotator == by.pk:
                own_votes[proposition, dimension] = standing
            elif standing.label:
                others[proposition, dimension].append(_gold_vote(annotator, standing))
    return own_votes, others


def _standing_votes(by: User, touched, current, others) -> dict[Cell, list[GoldVote]]:
    """Return by cell the votes that its gold label rests on, as `resolve_touched` takes them."""
    votes = {}
    for cell in touched:
        own_vote = [_gold_vote(by.pk, current[cell])] if current[cell].label else []
        votes[cell] = sorted(own_vote + others.get(cell, []), key=attrgetter("annotator"))
    return votes


def _gold_vote(annotator: int, vote: Standing) -> GoldVote:
    return GoldVote(annotator, vote.label, vote.idempotency_key)


def _saved(changes, places, current, applied, suggested) -> list[Saved]:
    labels: dict[int, dict[str, str]] = defaultdict(dict)
    for (proposition, dimension), vote in current.items():
        labels[proposition][dimension] = vote.label
    saved = []
    for change in changes:
        pk, actor = places[change.proposition]
        vote = current[pk, change.dimension]
        place = (change.idempotency_key, change.proposition, change.dimension)
        suggestion = suggested.get((pk, change.dimension))
        revealed = suggestion if suggestion and suggestion.arm is Arm.REVEAL and vote.label else None
        applies = applied[change.idempotency_key]
        saved.append(Saved(*place, vote.label, applies, vote.changed_at, actor, labels[pk], revealed))
    return saved


def _arrived(by, changes, ids, locked: _LockedRows) -> dict[str, bool]:
    """Return idempotency key → applied of the changes that arrived before. Raises Refused for a key that names two
    cells."""
    applied_by_key: dict[str, bool] = {}
    for change in changes:
        before = locked.arrived.get((by.pk, change.idempotency_key))
        if before is None:
            continue
        applied, *cell = before
        if cell != [ids[change.proposition], change.dimension]:
            raise Refused(
                gettext(
                    "The key {idempotency_key} was used for another cell; every change needs a key of its own."
                ).format(idempotency_key=change.idempotency_key)
            )
        applied_by_key[change.idempotency_key] = applied
    return applied_by_key


def _replay(changes, ids, arrived, current, suggested):
    """Apply the changes to `current` in memory; return the new events, the cells touched, and key → applied."""
    events: list[tuple] = []
    touched: set[Cell] = set()
    applied = dict(arrived)
    for change in changes:
        if change.idempotency_key in applied:
            continue
        cell = ids[change.proposition], change.dimension
        standing = current.get(cell)
        arm, seen = _met(suggested.get(cell), standing, change)
        vote = Standing(change.label, change.changed_at, change.idempotency_key, change.duration_ms, arm, seen)
        wins = standing is None or vote.place > standing.place
        applied[change.idempotency_key] = wins
        events.append(
            (
                *cell,
                *_changed(vote),
                standing.label if standing else "",
                change.undoes,
                wins,
                bool(seen and change.accepted),
            )
        )
        if wins:
            current[cell] = vote
            touched.add(cell)
    return events, touched, applied


def _met(suggested: Suggested | None, standing: Standing | None, change: Change) -> tuple[str, str]:
    """Return the arm of the cell and the suggestion that the annotator saw: a claim to have seen one counts only where
    the arm allows it."""
    if suggested is None:
        return "", ""
    voted = standing is not None and bool(standing.label)
    may_see = suggested.arm is Arm.SHOWN or (suggested.arm is Arm.REVEAL and voted)
    return suggested.arm.value, suggested.label if may_see and change.saw else ""


def _check(assignment: Assignment, changes: Sequence[Change], now: datetime) -> None:
    schema = assignment.story.project.schema
    if not 0 < len(changes) <= MAX_CHANGES:
        raise Refused(
            gettext("{changes} changes in one request; expected 1 to {max_changes}.").format(
                changes=len(changes), max_changes=MAX_CHANGES
            )
        )
    cells: dict[str, tuple[str, str]] = {}
    for change in changes:
        if change.dimension not in schema:
            raise Refused(
                Sentence(
                    "{dimension} is not a dimension; expected one of {keys}.",
                    dimension=repr(change.dimension),
                    keys=", ".join(schema.keys),
                )
            )
        if change.label and not schema.is_legal(change.dimension, change.label):
            legal = ", ".join(schema[change.dimension].values)
            raise Refused(
                gettext("{label!r} is not a label of {dimension}; expected one of {legal}.").format(
                    label=change.label, dimension=change.dimension, legal=legal
                )
            )
        if change.changed_at.year < EARLIEST:
            raise Refused(
                gettext("changed_at lies before {earliest}; set this computer's clock.").format(earliest=EARLIEST)
            )
        if change.changed_at > now + MAX_CLOCK_LEAD:
            raise Refused(gettext("changed_at lies more than a day ahead; set this computer's clock."))
        cell = change.proposition, change.dimension
        if cells.setdefault(change.idempotency_key, cell) != cell:
            raise Refused(
                gettext("The key {idempotency_key} stands for two cells; every change needs a key of its own.").format(
                    idempotency_key=change.idempotency_key
                )
            )


def last_undoable(*, by: User, assignment: Assignment) -> VoteEvent | None:
    """Return the newest change of this annotator in this story that stands, takes nothing back and was not taken
    back."""
    taken_back = VoteEvent.objects.filter(annotator=by, undoes=OuterRef("idempotency_key"))
    return (
        VoteEvent.objects.filter(
            annotator=by, applied=True, undoes="", proposition__table__story_id=assignment.story_id
        )
        .filter(~Exists(taken_back), proposition__removed_at__isnull=True)
        .select_related("proposition")
        .order_by("-changed_at", "-id")
        .first()
    )
