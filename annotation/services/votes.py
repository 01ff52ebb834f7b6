"""Saving, withdrawing and undoing votes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext

from annotation.domain.arms import Arm
from annotation.domain.resolution import GoldVote
from annotation.models import Assignment, Proposition, User, Vote, VoteEvent
from annotation.services.arms import Suggested, suggestions_on
from annotation.services.counts import recount
from annotation.services.gold import Cell, Touched, resolve_touched
from core.bulk import write_few
from core.reads import Read
from core.together import Together

MAX_CHANGES = 200
MAX_CLOCK_LEAD = timedelta(hours=24)
EARLIEST = 2000


class Refused(ValueError):
    """The request as a whole cannot be carried out; the message is one sentence for the person who made it."""


@dataclass(frozen=True, slots=True)
class Change:
    """One cell's new label as the annotator made it. `annotation.forms.votes.ChangeIn` has the same fields."""

    proposition: str
    dimension: str
    label: str  # empty: withdraws the vote
    changed_at: datetime  # the annotator's clock (aware, UTC)
    idempotency_key: str  # unique to the change
    duration_ms: int | None = None  # from focusing the cell to choosing
    undoes: str = ""
    saw: bool = False  # a suggestion was in the cell
    accepted: bool = False  # it was taken over with a key


@dataclass(frozen=True, slots=True)
class Saved:
    """The vote that stands in the cell of a change.

    `applied` is false if a later change had already arrived. `changed_at` is the time of the standing vote: a client
    whose clock is behind it must date its next change later. `actor` and `row` (dimension → own label) are for
    cross-checks of the whole proposition. `revealed` is the suggestion that a first vote brought to light.
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


_CHANGED = ("label", "changed_at", "idempotency_key", "duration_ms", "arm", "suggested")
_VOTE = ("proposition_id", "dimension", "annotator_id", *_CHANGED)
_EVENT = (*_VOTE, "previous", "undoes", "applied", "accepted", "received_at", "origin")
_LABEL, _AT, _KEY = 0, 1, 2

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
_VOTES_ON = Read[tuple[Any, ...]](
    lambda given: (
        Vote.objects.filter(proposition_id__in=given.propositions).order_by("annotator_id").values_list(*_VOTE)
    )
)
_SAVED = Read[tuple[int, str, bool, int, str]](
    lambda given: VoteEvent.objects.filter(
        annotator_id__in=given.annotators, idempotency_key__in=given.keys
    ).values_list("annotator_id", "idempotency_key", "applied", "proposition_id", "dimension")
)
Places = Mapping[tuple[int, str], tuple[int, str]]
"""Story and uid of a proposition → its id and its actor."""
Arrived = Mapping[tuple[int, str], Sequence[Any]]


class _Save:
    """Changes that one annotator saves with one request, and what they write."""

    def __init__(self, by: User, assignment: Assignment, changes: Sequence[Any], now: datetime, origin: str) -> None:
        self.by, self.assignment, self.changes, self.now, self.origin = by, assignment, changes, now, origin
        self.propositions = frozenset(change.proposition for change in changes)
        self.touched: set[Cell] = set()
        self.events: list[tuple[Any, ...]] = []
        # own votes as they stand, withdrawn ones too: the values of _CHANGED
        self.current: dict[Cell, tuple[Any, ...]] = {}
        self.others: dict[Cell, list[GoldVote]] = defaultdict(list)

    def replay(self, places: Places, votes: Mapping[int, Sequence[Any]], arrived: Arrived) -> list[Saved]:
        """Apply the changes in memory and return their outcomes. Raises Refused."""
        story = self.assignment.story_id
        for uid in self.propositions:
            if (story, uid) not in places:
                raise Refused(gettext("There is no proposition {uid} in this story; reload the page.").format(uid=uid))
        ids = {uid: places[story, uid][0] for uid in self.propositions}
        applied: dict[str, bool] = {}
        for change in self.changes:
            key, place = change.idempotency_key, [ids[change.proposition], change.dimension]
            before, *cell_before = arrived.get((self.by.pk, key), (None,))
            if before is not None and cell_before != place:
                raise Refused(
                    gettext(
                        "The key {idempotency_key} was used for another cell; every change needs a key of its own."
                    ).format(idempotency_key=key)
                )
            if before is not None:
                applied[key] = before
        for pk in ids.values():
            for _, dimension, annotator, *vote in votes.get(pk, ()):
                if annotator == self.by.pk:
                    self.current[pk, dimension] = tuple(vote)
                elif vote[_LABEL]:
                    self.others[pk, dimension].append(GoldVote(annotator, vote[_LABEL], vote[_KEY]))
        suggested = suggestions_on(assignment=self.assignment, ids=ids)
        for change in self.changes:
            if change.idempotency_key not in applied:
                cell = ids[change.proposition], change.dimension
                applied[change.idempotency_key] = self._apply(change, cell, suggested.get(cell))
        return self._saved(places, applied, suggested)

    def _apply(self, change: Any, cell: Cell, suggestion: Suggested | None) -> bool:
        """Return whether the change wins over the vote that stands."""
        standing = self.current.get(cell)
        arm, seen = "", ""
        if suggestion is not None:
            # A claim to have seen the suggestion counts only if the arm allows it.
            has_voted = bool(standing and standing[_LABEL])
            may_see = suggestion.arm is Arm.SHOWN or (suggestion.arm is Arm.REVEAL and has_voted)
            arm, seen = suggestion.arm.value, suggestion.label if may_see and getattr(change, "saw", False) else ""
        vote = (change.label, change.changed_at, change.idempotency_key, change.duration_ms, arm, seen)
        wins = standing is None or vote[_AT : _KEY + 1] > standing[_AT : _KEY + 1]
        self.events.append((
            *cell, self.by.pk, *vote, standing[_LABEL] if standing else "", change.undoes, wins,
            bool(seen and getattr(change, "accepted", False)), self.now, self.origin,
        ))  # fmt: skip
        if wins:
            self.current[cell] = vote
            self.touched.add(cell)
        return wins

    def _saved(self, places: Places, applied: Mapping[str, bool], suggested: Mapping[Cell, Suggested]) -> list[Saved]:
        labels: dict[int, dict[str, str]] = defaultdict(dict)
        for (proposition, dimension), vote in self.current.items():
            labels[proposition][dimension] = vote[_LABEL]
        saved = []
        for change in self.changes:
            pk, actor = places[self.assignment.story_id, change.proposition]
            label, at, *_ = self.current[pk, change.dimension]
            suggestion = suggested.get((pk, change.dimension))
            revealed = suggestion if suggestion and suggestion.arm is Arm.REVEAL and label else None
            place = (change.idempotency_key, change.proposition, change.dimension)
            saved.append(Saved(*place, label, applied[place[0]], at, actor, labels[pk], revealed))
        return saved

    @property
    def standing(self) -> dict[Cell, list[GoldVote]]:
        """The votes that gold rests on now, by cell, in order of annotator."""
        votes = {}
        for cell in self.touched:
            label, _, key, *_ = self.current[cell]
            own = [GoldVote(self.by.pk, label, key)] if label else []
            votes[cell] = sorted(own + self.others.get(cell, []), key=attrgetter("annotator"))
        return votes


def save_votes(
    *, by: User, assignment: Assignment, changes: Sequence[Any], now: datetime, origin: str = "grid"
) -> list[Saved]:
    """Save all changes or none; the answer is in the order of `changes`, which have the fields of `Change`.

    Of two changes to one cell the one with the later `changed_at` stands (ties: the larger key), whatever order they
    arrive in. `origin` says where they were made. Raises `Refused` for an unknown proposition, an illegal label, a key
    that was used for another cell, or a time that lies more than a day ahead or before EARLIEST.
    """
    _check(assignment, changes, now)
    return _together(_Save(by, assignment, changes, now, origin))


def _save_all(saves: Sequence[_Save]) -> list[list[Saved] | Exception]:
    """Write several saves that touch different propositions: the only place where votes of annotators are written. A
    refused save has its refusal as outcome, and nothing of it is written."""
    uids = {uid for save in saves for uid in save.propositions}
    locked = _LOCKED(stories=sorted({save.assignment.story_id for save in saves}), uids=sorted(uids))
    keys = [change.idempotency_key for save in saves for change in save.changes]
    known = _SAVED(annotators=sorted({save.by.pk for save in saves}), keys=keys)
    arrived = {(annotator, key): event for annotator, key, *event in known}
    places = {(story, uid): (pk, actor) for story, uid, pk, actor in locked}
    votes: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for vote in _VOTES_ON(propositions=[pk for _, _, pk, _ in locked]) if locked else ():
        votes[vote[0]].append(vote)
    outcomes: list[list[Saved] | Exception] = []
    for save in saves:
        try:
            outcomes.append(save.replay(places, votes, arrived))
        except Refused as refusal:
            outcomes.append(refusal)
    taken = [save for save, outcome in zip(saves, outcomes, strict=True) if not isinstance(outcome, Refused)]
    with_events = [save for save in taken if save.events]
    rows = [(*cell, save.by.pk, *save.current[cell]) for save in with_events for cell in sorted(save.touched)]
    write_few(Vote, _VOTE, rows, unique=_VOTE[:3], update=_VOTE[3:])
    write_few(VoteEvent, _EVENT, [event for save in with_events for event in save.events])
    if changed := [save for save in with_events if save.touched]:
        resolve_touched([Touched(save.assignment.story.project, save.by, save.now, save.standing) for save in changed])
        voters = {(save.assignment.story_id, save.by.pk) for save in changed}
        recount({story for story, _ in voters}, voters=voters)
    return outcomes


_together = Together(_save_all, touches=lambda save: save.propositions)


def _check(assignment: Assignment, changes: Sequence[Any], now: datetime) -> None:
    schema = assignment.story.project.schema
    cells: dict[str, tuple[str, str]] = {}
    for change in changes:
        if change.label and not schema.is_legal(change.dimension, change.label):
            legal = ", ".join(schema[change.dimension].values) if change.dimension in schema else "…"
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
    """Return the newest change of this annotator in this story that stands, undoes nothing and was not undone."""
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
