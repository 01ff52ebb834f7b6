"""Saving, withdrawing and undoing votes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.domain.anchoring.arms import Arm
from annotation.models import Assignment, Proposition, User, Vote, VoteEvent
from annotation.services.arms import Suggested, suggestions_on
from annotation.services.resolution import Cell, resolve_cells
from core.bulk import write_few
from core.reads import Read

MAX_CHANGES = 200
MAX_CLOCK_LEAD = timedelta(hours=24)
EARLIEST = 2000


class Refused(ValueError):
    """The request as a whole cannot be carried out; the message is one sentence for the person who made it."""


@dataclass(frozen=True, slots=True)
class Change:
    """One cell's new label as the annotator made it. An empty label withdraws the vote.

    `changed_at` is the annotator's clock (aware, UTC); `client_key` is unique to the change, so that sending it again
    is harmless; `duration_ms` is the time from focusing the cell to choosing. `saw`: a suggestion stood in the cell;
    `accepted`: it was taken over with a key.
    """

    proposition: str
    dimension: str
    label: str
    changed_at: datetime
    client_key: str
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

    client_key: str
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
    client_key: str
    duration_ms: int | None
    arm: str = ""
    suggested: str = ""

    @property
    def place(self) -> tuple[datetime, str]:
        """The vote's place in time: of two votes on a cell the later one stands."""
        return self.changed_at, self.client_key


_CHANGED = ("label", "changed_at", "client_key", "duration_ms", "arm", "suggested")
_changed = attrgetter(*_CHANGED)
_VOTE = ("proposition_id", "dimension", "annotator_id", *_CHANGED)
_EVENT = (
    "proposition_id", "dimension", *_CHANGED, "previous", "undoes", "applied", "accepted", "annotator_id",
    "received_at", "origin",
)  # fmt: skip

# The row locks serialise annotators of one cell on PostgreSQL: else two last votes would not see each other.
_LOCKED = Read[tuple[str, int, str]](
    lambda given: (
        Proposition.objects.live_gold()
        .filter(table__story_id=given.story, uid__in=given.uids)
        .order_by("id")
        .select_for_update(of=("self",))
        .values_list("uid", "id", "actor")
    )
)
_VOTES_ON = Read[tuple](
    lambda given: (
        Vote.objects.filter(proposition_id__in=given.propositions).order_by("annotator_id").values_list(*_VOTE)
    )
)
_KNOWN = Read[tuple[str, bool, int, str]](
    lambda given: VoteEvent.objects.filter(annotator_id=given.annotator, client_key__in=given.keys).values_list(
        "client_key", "applied", "proposition_id", "dimension"
    )
)


@transaction.atomic
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
    locked = _LOCKED(story=assignment.story_id, uids=sorted({change.proposition for change in changes}))
    ids = {uid: pk for uid, pk, _ in locked}
    missing = next((change.proposition for change in changes if change.proposition not in ids), None)
    if missing:
        raise Refused(f"There is no proposition {missing} in this story; reload the page.")
    arrived = _known(by, changes, ids)
    current, others = _votes_on(by, ids.values())
    suggested = suggestions_on(assignment=assignment, ids=ids)
    events, touched, applied = _replay(changes, ids, arrived, current, suggested)
    now_standing = [(*cell, by.pk, *_changed(current[cell])) for cell in sorted(touched)]
    write_few(Vote, _VOTE, now_standing, unique=_VOTE[:3], update=_VOTE[3:])
    write_few(VoteEvent, _EVENT, [(*event, by.pk, now, origin) for event in events])
    resolve_cells(
        project=assignment.story.project,
        cells=touched,
        now=now,
        by=by,
        votes=_standing_votes(by, touched, current, others),
    )
    return _saved(changes, locked, current, applied, suggested)


def _votes_on(by: User, propositions) -> tuple[dict[Cell, Standing], dict[Cell, list[dict]]]:
    """Return the annotator's own votes, withdrawn ones too, and the standing votes of others, by annotator id."""
    own_votes: dict[Cell, Standing] = {}
    others: dict[Cell, list[dict]] = defaultdict(list)
    for proposition, dimension, annotator, *vote in _VOTES_ON(propositions=list(propositions)):
        standing = Standing(*vote)
        if annotator == by.pk:
            own_votes[proposition, dimension] = standing
        elif standing.label:
            others[proposition, dimension].append(_basis(annotator, standing))
    return own_votes, others


def _standing_votes(by: User, touched, current, others) -> dict[Cell, list[dict]]:
    """Return by cell the votes that its gold label rests on, as `resolve_cells` takes them."""
    votes = {}
    for cell in touched:
        own_vote = [_basis(by.pk, current[cell])] if current[cell].label else []
        votes[cell] = sorted(own_vote + others.get(cell, []), key=lambda vote: vote["annotator"])
    return votes


def _basis(annotator: int, vote: Standing) -> dict:
    return {"annotator": annotator, "label": vote.label, "key": vote.client_key}


def _saved(changes, locked, current, applied, suggested) -> list[Saved]:
    labels: dict[int, dict[str, str]] = defaultdict(dict)
    for (proposition, dimension), vote in current.items():
        labels[proposition][dimension] = vote.label
    places = {uid: (pk, actor) for uid, pk, actor in locked}
    saved = []
    for change in changes:
        pk, actor = places[change.proposition]
        vote = current[pk, change.dimension]
        place = (change.client_key, change.proposition, change.dimension)
        suggestion = suggested.get((pk, change.dimension))
        revealed = suggestion if suggestion and suggestion.arm is Arm.REVEAL and vote.label else None
        applies = applied[change.client_key]
        saved.append(Saved(*place, vote.label, applies, vote.changed_at, actor, labels[pk], revealed))
    return saved


def _known(by, changes, ids) -> dict[str, bool]:
    """Return idempotency key → applied of the changes that arrived before. Raises Refused for a key that names two
    cells."""
    cells = {}
    for change in changes:
        if cells.setdefault(change.client_key, (change.proposition, change.dimension)) != (
            change.proposition,
            change.dimension,
        ):
            raise Refused(f"The key {change.client_key} stands for two cells; every change needs a key of its own.")
    applied_by_key = {}
    for idempotency_key, applied, proposition, dimension in _KNOWN(annotator=by.pk, keys=list(cells)):
        if (proposition, dimension) != (ids[cells[idempotency_key][0]], cells[idempotency_key][1]):
            raise Refused(f"The key {idempotency_key} was used for another cell; every change needs a key of its own.")
        applied_by_key[idempotency_key] = applied
    return applied_by_key


def _replay(changes, ids, arrived, current, suggested):
    """Apply the changes to `current` in memory; return the new events, the cells touched, and key → applied."""
    events: list[tuple] = []
    touched: set[Cell] = set()
    applied = dict(arrived)
    for change in changes:
        if change.client_key in applied:
            continue
        cell = ids[change.proposition], change.dimension
        standing = current.get(cell)
        arm, seen = _met(suggested.get(cell), standing, change)
        vote = Standing(change.label, change.changed_at, change.client_key, change.duration_ms, arm, seen)
        wins = standing is None or vote.place > standing.place
        applied[change.client_key] = wins
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
        raise Refused(f"{len(changes)} changes in one request; expected 1 to {MAX_CHANGES}.")
    for change in changes:
        if change.dimension not in schema:
            raise Refused(f"{change.dimension!r} is not a dimension; expected one of {', '.join(schema.keys)}.")
        if change.label and not schema.is_legal(change.dimension, change.label):
            legal = ", ".join(schema[change.dimension].values)
            raise Refused(f"{change.label!r} is not a label of {change.dimension}; expected one of {legal}.")
        if change.changed_at.year < EARLIEST:
            raise Refused(f"changed_at lies before {EARLIEST}; set this computer's clock.")
        if change.changed_at > now + MAX_CLOCK_LEAD:
            raise Refused("changed_at lies more than a day ahead; set this computer's clock.")


def last_undoable(*, by: User, assignment: Assignment) -> VoteEvent | None:
    """Return the newest change of this annotator in this story that stands, takes nothing back and was not taken
    back."""
    taken_back = VoteEvent.objects.filter(annotator=by, undoes=OuterRef("client_key"))
    return (
        VoteEvent.objects.filter(
            annotator=by, applied=True, undoes="", proposition__table__story_id=assignment.story_id
        )
        .filter(~Exists(taken_back), proposition__removed_at__isnull=True)
        .select_related("proposition")
        .order_by("-changed_at", "-id")
        .first()
    )
