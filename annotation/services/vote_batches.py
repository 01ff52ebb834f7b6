"""A few stories' worth of imported votes, compared with what the project holds at that moment and written with their gold."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from annotation.domain.votes_csv import VoteRow
from annotation.models import Assignment, GoldLabel, Project, Proposition, User, Vote, VoteEvent
from annotation.services.bulk_resolution import settle_fresh
from annotation.services.imported_annotators import Annotators, Kind, Person
from annotation.services.resolution import Cell, resolve_cells
from workers.models.bulk import insert_rows

_VOTE = ("proposition", "annotator", "dimension", "label", "changed_at", "client_key", "duration_ms")
_EVENT = (*_VOTE, "previous", "undoes", "received_at", "applied", "origin")
_AT_ONCE = 400
_ORIGIN = "import"

VoteKey = tuple[int, str, int]
"""(proposition id, dimension key, annotator id)"""


class Refused(ValueError):
    """What is wrong with one row, as one sentence; `keeps` where a vote cast in the product stays as it is."""

    def __init__(self, sentence: str, *, keeps: bool = False) -> None:
        super().__init__(sentence)
        self.keeps = keeps


@dataclass(frozen=True, slots=True)
class Placed:
    """A row with the ids of what it names."""

    row: VoteRow
    proposition: int
    story: int
    person: Person


class Standing(NamedTuple):
    label: str
    changed_at: datetime
    client_key: str


@dataclass(slots=True)
class Rehearsal:
    """What earlier batches would have written, where nothing is kept."""

    votes: dict[VoteKey, Standing] = field(default_factory=dict)
    seats: dict[int, dict[int, int]] = field(default_factory=dict)
    people: int = 0


class Batch:
    """Made in the transaction that writes it, so that no vote can come between the comparison and the writing.

    With a `rehearsal` nothing is locked or written.
    """

    def __init__(
        self,
        project: Project,
        annotators: Annotators,
        rows: list[Placed],
        now: datetime,
        rehearsal: Rehearsal | None = None,
    ) -> None:
        self.project, self.annotators, self.now, self.rehearsal = project, annotators, now, rehearsal
        ids = {one.proposition for one in rows}
        live = Proposition.objects.live_gold().filter(id__in=ids).order_by("id")
        if rehearsal is None:  # as a saved vote does it: else two last votes would not see each other
            live = live.select_for_update(of=("self",))
        self.live = set(live.values_list("id", flat=True))
        votes = Vote.objects.filter(proposition_id__in=ids).values_list(
            "proposition_id", "dimension", "annotator_id", "label", "changed_at", "client_key"
        )
        self.held: dict[VoteKey, Standing] = {row[:3]: Standing(*row[3:]) for row in votes}
        self.stored = set(self.held)
        self.seats = self._seats({one.story for one in rows})
        self.imported = self._imported(ids) if self.held else set()
        self.new_seats: list[Assignment] = []
        self.changed: set[VoteKey] = set()
        self.events: list[tuple] = []
        if rehearsal is not None:
            self.held |= rehearsal.votes

    def _seats(self, stories: set[int]) -> dict[int, dict[int, int]]:
        """Story → annotator → slot."""
        found: dict[int, dict[int, int]] = defaultdict(dict)
        active = Assignment.objects.active().filter(story_id__in=stories)
        for story, annotator, slot in active.values_list("story_id", "annotator_id", "slot"):
            found[story][annotator] = slot
        if self.rehearsal is not None:
            for story in stories:
                found[story] = self.rehearsal.seats.setdefault(story, found[story])
        return found

    @staticmethod
    def _imported(propositions: set[int]) -> set[tuple[int, str]]:
        """Annotator and key of what earlier imports wrote here: what has no such key was cast in the product."""
        events = VoteEvent.objects.filter(origin=_ORIGIN, proposition_id__in=propositions)
        return set(events.values_list("annotator_id", "client_key"))

    def take(self, placed: Placed) -> bool:
        """Whether the row changes something. Raises Refused."""
        row, person = placed.row, placed.person
        if placed.proposition not in self.live:
            raise Refused(f"The proposition left the table of story {row.story} meanwhile.")
        cell = (placed.proposition, row.dimension, person.pk)
        key = self._key(cell, row)
        standing = None if person.pk is None else self.held.get(cell)
        moment = min(row.created_at or self.now, self.now)
        if standing is not None:
            self._check_kept(cell, placed, key)
            if not self._changes(standing, placed, key, moment):
                return False
        self._check_member(person)
        slot = self._slot(placed)
        if person.pk is None:  # only now: a refused vote makes nobody
            self._make(person)
            cell = (placed.proposition, row.dimension, person.pk)
            key = self._key(cell, row)
        self._take_seat(placed.story, person.pk, slot)
        fresh = Standing(row.label, moment, key)
        previous = standing.label if standing else ""
        self.events.append((*_columns(cell, fresh), previous, "", self.now, True, _ORIGIN))
        self.held[cell] = fresh
        self.changed.add(cell)
        if self.rehearsal is not None:
            self.rehearsal.votes[cell] = fresh
        return True

    def _check_kept(self, cell: VoteKey, placed: Placed, key: str) -> None:
        """Raises Refused where the row differs from a vote that was cast in the product."""
        person, standing = placed.person, self.held[cell]
        was_imported = cell in self.changed or (person.pk, standing.client_key) in self.imported
        says_the_same = standing.label == placed.row.label or (person.pk, key) in self.imported
        if person.kind is Kind.IMPORTED or was_imported or says_the_same:
            return
        what = f"chose {standing.label!r}" if standing.label else "withdrew the vote"
        raise Refused(f"{person.name} {what} here in the product; an import does not overwrite that.", keeps=True)

    def _changes(self, standing: Standing, placed: Placed, key: str, moment: datetime) -> bool:
        if standing.label == placed.row.label or (placed.person.pk, key) in self.imported:
            return False
        return placed.row.created_at is None or moment > standing.changed_at

    def _check_member(self, person: Person) -> None:
        if person.kind is Kind.FORMER:
            raise Refused(f"{person.name} left the project; only votes that are there already can come again.")

    def _key(self, cell: tuple[int, str, int | None], row: VoteRow) -> str:
        """The same row of a file has the same key, so that it is the same change when it comes again."""
        moment = row.created_at.isoformat() if row.created_at else ""
        described = f"{self.project.pk}|{cell}|{row.label}|{moment}"
        return "import-" + hashlib.sha1(described.encode(), usedforsecurity=False).hexdigest()

    def _slot(self, placed: Placed) -> int:
        """The annotator's slot, else the lowest free one."""
        seats, overlap = self.seats[placed.story], self.project.overlap
        if placed.person.pk in seats:
            return seats[placed.person.pk]
        slot = next((one for one in range(1, overlap + 1) if one not in seats.values()), None)
        if slot is None:
            row = placed.row
            raise Refused(f"Story {row.story} has its {overlap} annotators already, without {row.annotator}.")
        return slot

    def _make(self, person: Person) -> None:
        if self.rehearsal is None:
            self.annotators.make(person)
            return
        self.rehearsal.people += 1
        person.pk = -self.rehearsal.people

    def _take_seat(self, story: int, annotator: int, slot: int) -> None:
        if annotator not in self.seats[story]:
            overlap = self.project.overlap
            self.new_seats.append(Assignment(story_id=story, annotator_id=annotator, slot=slot, overlap=overlap))
            self.seats[story][annotator] = slot

    def write(self, by: User | None) -> None:
        for seat in self.new_seats:
            seat.assigned_by = by
        Assignment.objects.bulk_create(self.new_seats, batch_size=500)
        self._write_votes()
        self._write_gold(by)

    def _write_votes(self) -> None:
        fresh = sorted(self.changed - self.stored)
        insert_rows(Vote, _VOTE, (_columns(cell, self.held[cell]) for cell in fresh))
        names = ("proposition_id", "annotator_id", *_VOTE[2:])
        again = [
            Vote(**dict(zip(names, _columns(cell, self.held[cell]), strict=True)))
            for cell in sorted(self.changed & self.stored)
        ]
        Vote.objects.bulk_create(
            again,
            batch_size=_AT_ONCE,
            update_conflicts=True,
            unique_fields=["proposition", "dimension", "annotator"],
            update_fields=["label", "changed_at", "client_key", "duration_ms"],
        )
        insert_rows(VoteEvent, _EVENT, self.events)

    def _write_gold(self, by: User | None) -> None:
        touched = {cell[:2] for cell in self.changed}
        settled = GoldLabel.objects.filter(proposition_id__in={proposition for proposition, _ in touched})
        with_gold = touched & set(settled.values_list("proposition_id", "dimension"))
        votes: dict[Cell, list[dict]] = {cell: [] for cell in touched - with_gold}
        for cell, vote in sorted(self.held.items()):
            if vote.label and cell[:2] in votes:
                votes[cell[:2]].append({"annotator": cell[2], "label": vote.label, "key": vote.client_key})
        settle_fresh(project=self.project, votes=votes, now=self.now, by=by)
        again = sorted(with_gold)
        for at in range(0, len(again), _AT_ONCE):
            resolve_cells(project=self.project, cells=again[at : at + _AT_ONCE], now=self.now, by=by)


def _columns(cell: VoteKey, vote: Standing) -> tuple:
    """The values of _VOTE."""
    proposition, dimension, annotator = cell
    return proposition, annotator, dimension, vote.label, vote.changed_at, vote.client_key, None
