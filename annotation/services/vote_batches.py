"""A few stories' worth of imported votes, compared with what the project holds.

Comparing and making ready (`ready_votes.py`) take longer than writing and need no lock. They are done before the
transaction, in which only a second look follows: whether the project still holds what it did.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, partial
from typing import NamedTuple

from django.utils.translation import gettext

from annotation.domain.votes_csv import VoteRow
from annotation.models import Assignment, GoldLabel, Project, Proposition, Vote, VoteEvent
from annotation.services.imported_annotators import Kind, Person
from annotation.services.resolution import Cell
from core.reads import Read

_iso = lru_cache(1024)(datetime.isoformat)
ORIGIN = "import"
"""The origin of the events of imported votes."""

VoteKey = tuple[int, str, int]
"""(proposition id, dimension key, annotator id)"""


class Refused(ValueError):
    """A row that cannot be imported; the message is one sentence. `keeps`: a vote cast in the product stays as it is.
    `once`: the message is listed for the first of the rows that it applies to."""

    def __init__(self, sentence: str, *, keeps: bool = False, once: bool = False) -> None:
        super().__init__(sentence)
        self.keeps, self.once = keeps, once


class Placed(NamedTuple):
    """A row with the ids of what it names."""

    row: VoteRow
    proposition: int
    story: int
    person: Person


placed_at = partial(tuple.__new__, Placed)
"""Half the time of a call of the class."""


def packed(rows: list[Placed]) -> bytes:
    """Return rows in a form that costs little where nobody unpacks it."""
    plain = [(tuple(row), proposition, story, person) for row, proposition, story, person in rows]
    return pickle.dumps(plain, pickle.HIGHEST_PROTOCOL)


def unpacked(rows: bytes) -> list[Placed]:
    """Return the rows, with people of their own."""
    return [placed_at((VoteRow(*row), *ids_and_person)) for row, *ids_and_person in pickle.loads(rows)]


class StoredVote(NamedTuple):
    """One annotator's vote on a cell, or a withdrawn one, whose label is empty."""

    label: str
    changed_at: datetime
    idempotency_key: str


_stored_vote = partial(tuple.__new__, StoredVote)


@dataclass(slots=True)
class Rehearsal:
    """The rows that earlier batches of a dry run would have written."""

    votes: dict[int, dict[VoteKey, StoredVote]] = field(default_factory=lambda: defaultdict(dict))
    """The votes of each proposition, by id."""
    slots: dict[int, dict[int, int]] = field(default_factory=dict)
    people: int = 0
    story: int = 0
    propositions: set[int] = field(default_factory=set)
    """The propositions of the last story that its rows named so far."""

    def keep_only(self, story: int, propositions: Set[int]) -> None:
        """Forget the rows of all stories but this, of which more may come, with these propositions too."""
        self.propositions = propositions | (self.propositions if story == self.story else set())
        self.story = story
        for proposition in self.votes.keys() - self.propositions:
            del self.votes[proposition]
        for other in self.slots.keys() - {story}:
            del self.slots[other]


@dataclass(frozen=True, slots=True)
class StoredVotes:
    """The rows that a project holds at one moment for the propositions and stories of a few votes.

    `propositions` are those asked for. `slots` maps each story to annotator to slot; `imported` are annotator and key
    of what earlier imports wrote here: what has no such key was cast in the product.
    """

    propositions: list[int]
    live: set[int]
    votes: Mapping[VoteKey, StoredVote]
    slots: Mapping[int, Mapping[int, int]]
    imported: set[tuple[int, str]]
    with_gold: set[Cell]


NOTHING = StoredVotes([], set(), {}, {}, set(), set())

_LIVE = Read[tuple[int]](
    lambda given: Proposition.objects.live_gold().filter(id__in=given.ids).order_by("id").values_list("id")
)
_LIVE_LOCKED = Read[tuple[int]](
    lambda given: (
        Proposition.objects.live_gold()
        .filter(id__in=given.ids)
        .order_by("id")
        .select_for_update(of=("self",))
        .values_list("id")
    )
)
_VOTES = Read[tuple](
    lambda given: Vote.objects.filter(proposition_id__in=given.ids).values_list(
        "proposition_id", "dimension", "annotator_id", "label", "changed_at", "idempotency_key"
    )
)
_SLOTS = Read[tuple[int, int, int]](
    lambda given: (
        Assignment.objects.active().filter(story_id__in=given.stories).values_list("story_id", "annotator_id", "slot")
    )
)
_IMPORTED = Read[tuple[int, str]](
    lambda given: VoteEvent.objects.filter(origin=ORIGIN, proposition_id__in=given.ids).values_list(
        "annotator_id", "idempotency_key"
    )
)
_WITH_GOLD = Read[tuple[int, str]](
    lambda given: GoldLabel.objects.filter(proposition_id__in=given.ids).values_list("proposition_id", "dimension")
)


def stored_votes(propositions: list[int], stories: list[int], *, lock: bool = False) -> StoredVotes:
    """Return what the project holds. `lock` locks the propositions as saving a vote does: else two last votes would not
    see each other."""
    live = {pk for (pk,) in (_LIVE_LOCKED if lock else _LIVE)(ids=propositions)}
    votes = {tuple(row[:3]): StoredVote(*row[3:]) for row in _VOTES(ids=propositions)}
    slots: dict[int, dict[int, int]] = {story: {} for story in stories}
    for story, annotator, slot in _SLOTS(stories=stories):
        slots[story][annotator] = slot
    imported = {(annotator, key) for annotator, key in _IMPORTED(ids=propositions)} if votes else set()
    with_gold = {(pk, dimension) for pk, dimension in _WITH_GOLD(ids=propositions)}
    return StoredVotes(propositions, live, votes, slots, imported, with_gold)


def stored_of(rows: list[Placed]) -> StoredVotes:
    """Return what the project holds for `rows`."""
    return stored_votes(sorted({row.proposition for row in rows}), list({row.story: None for row in rows}))


class Batch:
    """The changes that rows bring to a project that holds `stored`. With a `rehearsal`, what earlier batches would have
    written counts too.

    `outcomes` says of each row whether it changes something, or why it is refused; `strangers` are people, by name,
    whom the project lacks and whose votes can be used: they are to be made, and the batch anew.
    """

    def __init__(
        self,
        project: Project,
        rows: list[Placed],
        stored: StoredVotes,
        now: datetime,
        rehearsal: Rehearsal | None = None,
    ) -> None:
        self.project, self.stored, self.now, self.rehearsal = project, stored, now, rehearsal
        self.votes = dict(stored.votes)
        self.slots: dict[int, dict[int | str, int]] = {story: dict(slots) for story, slots in stored.slots.items()}
        if rehearsal is not None:
            for proposition in {row.proposition for row in rows} & rehearsal.votes.keys():
                self.votes |= rehearsal.votes[proposition]
            self.slots = {story: rehearsal.slots.setdefault(story, slots) for story, slots in self.slots.items()}
        self._described = f"{project.pk}|"
        self.strangers: dict[str, Person] = {}
        self.new_assignments: list[tuple[int, int, int]] = []
        self.changed: set[VoteKey] = set()
        self.events: list[tuple] = []
        self.outcomes = [(placed, self._outcome(placed)) for placed in rows]

    def _outcome(self, placed: Placed) -> bool | Refused:
        try:
            return self._take(placed)
        except Refused as refused:
            return refused

    def _take(self, placed: Placed) -> bool:
        """Return whether the row changes something. Raises Refused."""
        row, proposition, story, person = placed
        dimension, label, annotator, created_at = row.dimension, row.label, person.pk, row.created_at
        if proposition not in self.stored.live:
            raise Refused(gettext("The proposition left the table of story {story} meanwhile.").format(story=row.story))
        cell = (proposition, dimension, annotator)
        idempotency_key = self._key(cell, row)
        standing = None if annotator is None else self.votes.get(cell)
        moment = self.now if created_at is None or created_at > self.now else created_at
        if standing is not None:
            self._check_kept(cell, placed, idempotency_key)
            if not self._changes(standing, placed, idempotency_key, moment):
                return False
        self._check_member(person)
        if annotator is None or annotator not in self.slots[story]:
            if not self._assign(placed):
                return True
            annotator = person.pk
            cell = (proposition, dimension, annotator)
        self.votes[cell] = vote = _stored_vote((label, moment, idempotency_key))
        self.changed.add(cell)
        if self.rehearsal is not None:
            self.rehearsal.votes[proposition][cell] = vote
            return True
        previous = standing.label if standing else ""
        self.events.append((proposition, annotator, dimension, label, moment, idempotency_key, previous))
        return True

    def _assign(self, placed: Placed) -> bool:
        """Give the annotator a slot of the story; return whether the person is there by now. Raises Refused."""
        story, person, slot = placed.story, placed.person, self._slot(placed)
        if person.pk is None:  # only now: a refused vote makes nobody
            if self.rehearsal is None:
                self.strangers[person.name] = person
                self.slots[story][person.name] = slot
                return False
            self.rehearsal.people += 1
            person.pk = -self.rehearsal.people
        self._take_slot(story, person.pk, slot)
        return True

    def _check_kept(self, cell: VoteKey, placed: Placed, key: str) -> None:
        """Raise Refused where the row differs from a vote that was cast in the product."""
        person, standing = placed.person, self.votes[cell]
        was_rehearsed = self.rehearsal is not None and cell in self.rehearsal.votes.get(placed.proposition, ())
        was_imported = cell in self.changed or (person.pk, standing.idempotency_key) in self.stored.imported
        says_the_same = standing.label == placed.row.label or (person.pk, key) in self.stored.imported
        if person.kind is Kind.IMPORTED or was_rehearsed or was_imported or says_the_same:
            return
        reason = (
            gettext("{name} chose {label!r} here in the product; an import does not overwrite that.")
            if standing.label
            else gettext("{name} withdrew the vote here in the product; an import does not overwrite that.")
        )
        raise Refused(reason.format(name=person.name, label=standing.label), keeps=True)

    def _changes(self, standing: StoredVote, placed: Placed, key: str, moment: datetime) -> bool:
        if standing.label == placed.row.label or (placed.person.pk, key) in self.stored.imported:
            return False
        return placed.row.created_at is None or moment > standing.changed_at

    def _check_member(self, person: Person) -> None:
        if person.kind is Kind.FORMER:
            raise Refused(
                gettext("{name} left the project; only votes that are there already can come again.").format(
                    name=person.name
                ),
                once=True,
            )

    def _key(self, cell: tuple[int, str, int | None], row: VoteRow) -> str:
        """Return the idempotency key of a row: the same row of a file has the same key, so that importing it again is
        not a new change."""
        proposition, dimension, annotator = cell
        moment = _iso(row.created_at) if row.created_at else ""
        described = f"{self._described}({proposition}, {dimension!r}, {annotator})|{row.label}|{moment}"
        # The proposition first: keys of neighbours lie side by side in the index, where a digest alone dirties a page
        # of it a row.
        return f"import-{proposition:x}-{hashlib.sha1(described.encode(), usedforsecurity=False).hexdigest()}"

    def _slot(self, placed: Placed) -> int:
        """Return the annotator's slot, else the lowest free one. Raises Refused where the story is full."""
        slots, overlap = self.slots[placed.story], self.project.overlap
        key = placed.person.name if placed.person.pk is None else placed.person.pk
        if key in slots:
            return slots[key]
        slot = next((number for number in range(1, overlap + 1) if number not in slots.values()), None)
        if slot is None:
            row = placed.row
            sentence = gettext("Story {story} has its {overlap} annotators already, without {annotator}.").format(
                story=row.story, overlap=overlap, annotator=row.annotator
            )
            raise Refused(sentence, once=True)
        return slot

    def _take_slot(self, story: int, annotator: int, slot: int) -> None:
        if annotator not in self.slots[story]:
            self.new_assignments.append((story, annotator, slot))
            self.slots[story][annotator] = slot
