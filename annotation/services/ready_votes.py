"""Imported votes that have been compared with what the project holds, ready to be written with their gold.

All that takes long has been done by then. It can be done by another process, so that these are plain values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from datetime import datetime

from annotation.domain.gold_votes import GoldVote
from annotation.models import Assignment, Project, User, Vote, VoteEvent
from annotation.services.imported_annotators import Person
from annotation.services.resolution import Cell, gold_of_new_cells, resolve_cells
from annotation.services.vote_batches import ORIGIN, Batch, Placed, Refused, StoredVote, StoredVotes, VoteKey
from core.bulk import ReadyRows

_VOTE = ("proposition", "annotator", "dimension", "label", "changed_at", "idempotency_key")
_EVENT = (*_VOTE, "previous")
_AT_ONCE = 400
_SAME_IN_EVENTS = {"duration_ms": None, "undoes": "", "applied": True, "origin": ORIGIN}


@dataclass(frozen=True, slots=True)
class Tally:
    """Outcome of rows: how many change something and how many nothing, both together by person, and why others are
    refused, by line."""

    created: int
    unchanged: int
    votes: list[tuple[Person, int]]
    refused: list[tuple[int, Refused]]


def tally(outcomes: Iterable[tuple[Placed, bool | Refused]]) -> Tally:
    """Return the tally of a batch's outcomes."""
    created = unchanged = 0
    votes: Counter[int] = Counter()
    people: dict[int, Person] = {}
    refused: list[tuple[int, Refused]] = []
    for placed, outcome in outcomes:
        if isinstance(outcome, Refused):
            refused.append((placed.row.line, outcome))
            continue
        created, unchanged = created + outcome, unchanged + (not outcome)
        votes[id(placed.person)] += 1
        people[id(placed.person)] = placed.person
    return Tally(created, unchanged, [(people[key], number) for key, number in votes.items()], refused)


@dataclass(frozen=True, slots=True)
class ReadyVotes:
    """`stored` is what the project must still hold. `strangers` are the names of people whom it lacks: they are to be
    made first, and this anew."""

    stored: StoredVotes
    tally: Tally
    strangers: Set[str] = frozenset()
    assignments: list[tuple[int, int, int]] = field(default_factory=list)
    """(story id, annotator id, slot)"""
    inserts: list[ReadyRows] = field(default_factory=list)
    changed: list[tuple] = field(default_factory=list)
    """Votes that others replace, in the order of _VOTE."""
    settled: list[Cell] = field(default_factory=list)
    """Cells with gold, which is to be looked at again."""

    @property
    def writes(self) -> bool:
        """True where there is anything to be written."""
        return bool(self.strangers or self.tally.created)

    def write(self, project: Project, now: datetime, by: User | None) -> None:
        """Write all, within a transaction."""
        overlap = project.overlap
        Assignment.objects.bulk_create(
            [
                Assignment(story_id=story, annotator_id=annotator, slot=slot, overlap=overlap, assigned_by=by)
                for story, annotator, slot in self.assignments
            ],
            batch_size=500,
        )
        for rows in self.inserts:
            rows.insert()
        self._change_votes()
        for at in range(0, len(self.settled), _AT_ONCE):
            resolve_cells(project=project, cells=self.settled[at : at + _AT_ONCE], now=now, by=by)

    def _change_votes(self) -> None:
        names = ("proposition_id", "annotator_id", *_VOTE[2:])
        Vote.objects.bulk_create(
            [Vote(**dict(zip(names, values, strict=True))) for values in self.changed],
            batch_size=_AT_ONCE,
            update_conflicts=True,
            unique_fields=["proposition", "dimension", "annotator"],
            update_fields=["label", "changed_at", "idempotency_key", "duration_ms"],
        )


def made_ready(batch: Batch, by: User | None) -> ReadyVotes:
    """Return what a batch brings, ready to be written."""
    counted = tally(batch.outcomes)
    if batch.strangers or not batch.changed:
        return ReadyVotes(batch.stored, counted, set(batch.strangers))
    order, there = sorted(batch.votes.items()), batch.stored.votes.keys()
    new = batch.changed - there
    votes = ReadyRows(
        Vote, _VOTE, [_columns(cell, vote) for cell, vote in order if cell in new], same={"duration_ms": None}
    )
    events = ReadyRows(VoteEvent, _EVENT, batch.events, same=_SAME_IN_EVENTS | {"received_at": batch.now})
    return ReadyVotes(
        stored=batch.stored,
        tally=counted,
        assignments=batch.new_assignments,
        inserts=[votes, events, *_new_gold(batch, order, by)],
        changed=[_columns(cell, batch.votes[cell]) for cell in sorted(batch.changed & there)],
        settled=sorted(batch.stored.with_gold & {cell[:2] for cell in batch.changed}),
    )


def _new_gold(batch: Batch, order: list[tuple[VoteKey, StoredVote]], by: User | None) -> tuple[ReadyRows, ReadyRows]:
    touched = {(proposition, dimension) for proposition, dimension, _ in batch.changed} - batch.stored.with_gold
    votes: dict[Cell, list[GoldVote]] = {cell: [] for cell in touched}
    for (proposition, dimension, annotator), (label, _, key) in order:
        here = votes.get((proposition, dimension))
        if label and here is not None:
            here.append(GoldVote(annotator, label, key))
    return gold_of_new_cells(project=batch.project, votes=votes, now=batch.now, by=by)


def _columns(cell: VoteKey, vote: StoredVote) -> tuple:
    """Return the values of _VOTE."""
    proposition, dimension, annotator = cell
    return proposition, annotator, dimension, *vote
