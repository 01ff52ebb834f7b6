"""Votes from a spreadsheet: members and seats are made where missing, gold follows, importing twice changes nothing."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TextIO

from django.db import transaction

from annotation.domain.corpus_files import Problem
from annotation.domain.schema import SCHEMAS
from annotation.domain.votes_csv import VoteRow, read_votes
from annotation.models import Assignment, GoldLabel, Membership, Project, Proposition, Role, User, Vote, VoteEvent
from annotation.services import audit
from annotation.services.accounts import Accounts
from annotation.services.bulk_resolution import settle_fresh
from annotation.services.resolution import Cell, resolve_cells
from annotation.services.votes import MAX_CLOCK_LEAD
from workers.models.bulk import insert_rows

_VOTE = ("proposition", "annotator", "dimension", "label", "changed_at", "client_key", "duration_ms")
_EVENT = (*_VOTE, "previous", "undoes", "received_at", "applied", "origin")
_BATCH = 400
_ORIGIN = "import"

VoteKey = tuple[int, str, int]
"""(proposition id, dimension key, annotator id)"""


class _Held(NamedTuple):
    label: str
    changed_at: datetime
    client_key: str
    line: int = 0  # of this file, where the vote comes from it


@dataclass(slots=True)
class ImportedVotes:
    """`votes` counts the rows that can be used, `created` new and changed votes; `people` are the accounts made."""

    votes: int = 0
    created: int = 0
    unchanged: int = 0
    problems: list[Problem] = field(default_factory=list)
    people: list[str] = field(default_factory=list)

    def as_dict(self) -> dict:
        return {
            "votes": self.votes,
            "created": self.created,
            "unchanged": self.unchanged,
            "problems": [problem.as_dict() for problem in self.problems],
            "people": self.people,
        }


def import_votes(
    *,
    by: User | None,
    project: Project,
    handle: TextIO,
    file: str,
    now: datetime,
    dry_run: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> ImportedVotes:
    """Imports every row that can be used, all at once. Raises WrongColumns."""
    result = ImportedVotes()
    rows: list[VoteRow] = []
    # Read before the transaction begins: SQLite has one writer, and annotators must not wait for the parser.
    for at, row in enumerate(read_votes(handle, file, SCHEMAS[project.schema_version]), 1):
        if isinstance(row, Problem):
            result.problems.append(row)
        else:
            rows.append(row)
        if at % 20000 == 0:
            progress(at)
    result.votes = len(rows)
    with transaction.atomic():
        state = _State(project, file, now)
        for row in rows:
            state.take(row, result)
        state.write(by, result)
        if dry_run:
            transaction.set_rollback(True)
    result.problems.sort(key=lambda problem: problem.line)
    return result


class _Refused(ValueError):
    """What is wrong with one row, as one sentence."""


class _State:
    """What the project holds, and what the file adds to it."""

    def __init__(self, project: Project, file: str, now: datetime) -> None:
        self.project, self.file, self.now = project, file, now
        self._load_propositions()
        votes = Vote.objects.filter(proposition__table__story__project=project).values_list(
            "proposition_id", "dimension", "annotator_id", "label", "changed_at", "client_key"
        )
        self.held: dict[VoteKey, _Held] = {row[:3]: _Held(*row[3:]) for row in votes.iterator(5000)}
        self.stored = set(self.held)
        self.accounts = Accounts()
        self.members = set(project.memberships.values_list("user_id", flat=True))
        self.seats: dict[int, dict[int, int]] = defaultdict(dict)
        active = Assignment.objects.active().filter(story__project=project)
        for story, annotator, slot in active.values_list("story_id", "annotator_id", "slot"):
            self.seats[story][annotator] = slot
        self.new_members: list[int] = []
        self.new_seats: list[Assignment] = []
        self.changed: set[VoteKey] = set()
        self.events: list[tuple] = []
        self._imported: set[str] | None = None

    def _load_propositions(self) -> None:
        """Propositions by story number and text: the exact one, and without its outer spaces."""
        self.exact: dict[tuple, list[tuple[int, int]]] = defaultdict(list)
        self.trimmed: dict[tuple, list[tuple[int, int]]] = defaultdict(list)
        live = Proposition.objects.live_gold().filter(table__story__project=self.project).order_by("table", "position")
        columns = ("id", "table__story_id", "table__story__number", "actor", "belief")
        for pk, story, number, actor, belief in live.values_list(*columns):
            self.exact[number, actor, belief].append((pk, story))
            self.trimmed[number, actor.strip(), belief.strip()].append((pk, story))

    def take(self, row: VoteRow, result: ImportedVotes) -> None:
        try:
            changed = self._take(row)
        except _Refused as error:
            result.problems.append(Problem(self.file, row.line, str(error)))
            return
        result.created += changed
        result.unchanged += not changed

    def _take(self, row: VoteRow) -> bool:
        proposition, story = self._proposition(row)
        if row.created_at is not None and row.created_at > self.now + MAX_CLOCK_LEAD:
            raise _Refused(f"created_at is {row.created_at.isoformat()}; expected no time more than a day ahead.")
        annotator = self._annotator(row.annotator)
        slot = self._slot(story, annotator, row)
        held = self.held.get((proposition, row.dimension, annotator))
        if held is not None:
            if held.label == row.label or (row.created_at is not None and row.created_at <= held.changed_at):
                return False
            if row.created_at is None and held.line:
                raise _Refused(
                    f"Line {held.line} gives {row.annotator}'s vote here as {held.label}; expected one vote."
                )
        if annotator is None:  # only now: a refused vote makes nobody
            annotator = self.accounts.make(row.annotator)
        cell = (proposition, row.dimension, annotator)
        key = self._key(cell, row)
        if held is not None and row.created_at is None and key in self.imported:
            return False
        self._take_seat(story, annotator, slot)
        fresh = _Held(row.label, row.created_at or self.now, key, row.line)
        previous = held.label if held else ""
        self.events.append((*_columns(cell, fresh), previous, "", self.now, True, _ORIGIN))
        self.held[cell] = fresh
        self.changed.add(cell)
        return True

    def _proposition(self, row: VoteRow) -> tuple[int, int]:
        found = self.exact.get((row.story, row.actor, row.belief))
        found = found or self.trimmed.get((row.story, row.actor.strip(), row.belief.strip()), ())
        if len(found) < row.occurrence:
            raise _Refused(
                f"Story {row.story} has no such proposition of {row.actor[:60]!r}: {row.belief[:80]!r}"
                + (f", occurrence {row.occurrence}." if found else ".")
            )
        return found[row.occurrence - 1]

    def _key(self, cell: VoteKey, row: VoteRow) -> str:
        """The same row of a file has the same key, so that it is the same change when it comes again."""
        moment = row.created_at.isoformat() if row.created_at else ""
        described = f"{self.project.pk}|{cell}|{row.label}|{moment}"
        return "import-" + hashlib.sha1(described.encode(), usedforsecurity=False).hexdigest()

    @property
    def imported(self) -> set[str]:
        """Keys of earlier imports: a row without a time must not undo what its annotator changed since."""
        if self._imported is None:
            rows = VoteEvent.objects.filter(origin=_ORIGIN, proposition__table__story__project=self.project)
            self._imported = set(rows.values_list("client_key", flat=True))
        return self._imported

    def _annotator(self, name: str) -> int | None:
        try:
            return self.accounts.find(name)
        except ValueError as error:
            raise _Refused(f"annotator {error}") from error

    def _slot(self, story: int, annotator: int | None, row: VoteRow) -> int:
        """The annotator's slot, else the lowest free one."""
        seats, overlap = self.seats[story], self.project.overlap
        if annotator in seats:
            return seats[annotator]
        slot = next((one for one in range(1, overlap + 1) if one not in seats.values()), None)
        if slot is None:
            raise _Refused(f"Story {row.story} has its {overlap} annotators already, without {row.annotator}.")
        return slot

    def _take_seat(self, story: int, annotator: int, slot: int) -> None:
        if annotator in self.seats[story]:
            return
        overlap = self.project.overlap
        self.new_seats.append(Assignment(story_id=story, annotator_id=annotator, slot=slot, overlap=overlap))
        self.seats[story][annotator] = slot
        if annotator not in self.members:
            Membership.objects.create(project=self.project, user_id=annotator, role=Role.ANNOTATOR)
            self.members.add(annotator)
            self.new_members.append(annotator)

    def write(self, by: User | None, result: ImportedVotes) -> None:
        for seat in self.new_seats:
            seat.assigned_by = by
        Assignment.objects.bulk_create(self.new_seats, batch_size=500)
        self._write_votes()
        self._write_gold(by)
        result.people = self.accounts.made
        if result.created:
            names = {pk: name for name, pk in self.accounts.ids.items()}
            audit.record(
                by=by,
                project=self.project,
                action="votes.imported",
                target=self.file[-200:],
                votes=result.created,
                problems=len(result.problems),
                seats=len(self.new_seats),
                members=[names[one] for one in self.new_members],
                accounts=self.accounts.made,
            )

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
            batch_size=_BATCH,
            update_conflicts=True,
            unique_fields=["proposition", "dimension", "annotator"],
            update_fields=["label", "changed_at", "client_key", "duration_ms"],
        )
        insert_rows(VoteEvent, _EVENT, self.events)

    def _write_gold(self, by: User | None) -> None:
        touched = {cell[:2] for cell in self.changed}
        settled = GoldLabel.objects.filter(proposition__table__story__project=self.project)
        with_gold = touched & set(settled.values_list("proposition_id", "dimension").iterator(5000))
        votes: dict[Cell, list[dict]] = {cell: [] for cell in touched - with_gold}
        for cell, vote in sorted(self.held.items()):
            if vote.label and cell[:2] in votes:
                votes[cell[:2]].append({"annotator": cell[2], "label": vote.label, "key": vote.client_key})
        settle_fresh(project=self.project, votes=votes, now=self.now, by=by)
        again = sorted(with_gold)
        for at in range(0, len(again), _BATCH):
            resolve_cells(project=self.project, cells=again[at : at + _BATCH], now=self.now, by=by)


def _columns(cell: VoteKey, vote: _Held) -> tuple:
    """The values of _VOTE."""
    proposition, dimension, annotator = cell
    return proposition, annotator, dimension, vote.label, vote.changed_at, vote.client_key, None
