"""Votes from a spreadsheet. Missing assignments are made, gold follows, and importing twice changes nothing.

The rows are sorted by story in a temporary database on the disk, so that memory holds a few stories. They are compared
with the project and written a few stories at a time. An interrupted import leaves complete transactions behind;
importing the file again resumes it.
"""

import hashlib
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, BinaryIO, ClassVar

from django.db import IntegrityError
from django.utils.translation import gettext

from annotation.domain.problems import Problem
from annotation.domain.resolution import GoldVote
from annotation.domain.votes_csv import VoteRow, read_votes
from annotation.models import Assignment, GoldEvent, GoldLabel, Project, Proposition, User, Vote, VoteEvent
from annotation.services import audit
from annotation.services.accounts import Annotators, Kind, Person
from annotation.services.counts import recount
from annotation.services.gold import Cell, Touched, resolve_touched, stories_of
from annotation.services.import_results import ImportResult
from annotation.services.short_writes import ShortWrites, with_last
from core.bulk import insert_rows
from core.incoming.sheets import Sheets, rows_of
from core.messages import gettext_noop
from core.wording import counted

ORIGIN = "import"
"""The origin of the events of imported votes."""
_AT_ONCE = 400
"""Cells whose gold is written in one statement."""
CLOCK_LEAD = timedelta(minutes=1)
"""Times up to this far ahead of this machine's clock are taken for now."""
VoteKey = tuple[int, str, int]
"""(proposition id, dimension key, annotator id)"""
StoredVote = tuple[str, datetime, str]
"""(label, time, idempotency key). The label of a withdrawn vote is empty."""
Placed = tuple[VoteRow, int, int, Person]
"""(row, proposition id, story id, annotator)"""
_VOTE = ("proposition_id", "dimension", "annotator_id", "label", "changed_at", "idempotency_key")


class ImportBroken(ValueError):
    """The import stopped. Its completed transactions stay, and importing the file again resumes it. One sentence."""


class Refused(ValueError):
    """A row that cannot be imported; one sentence, with its parameters. `keeps`: a vote cast in the product stays as it
    is."""

    def __init__(self, sentence: str, *, keeps: bool = False, **parameters: object) -> None:
        super().__init__(sentence.format(**parameters) if parameters else sentence)
        self.keeps = keeps


@dataclass(slots=True)
class ImportedVotes(ImportResult):
    """`votes` counts the readable rows, `created` new and changed votes, `kept` votes cast in the product that the file
    would have overwritten. `people` maps each person to the number of their usable votes."""

    votes: int = 0
    kept: int = 0
    people: Counter[tuple[str, str]] = field(default_factory=Counter)
    SIZE: ClassVar = "votes"
    NOUN: ClassVar = ("vote",)
    OUTCOMES: ClassVar = {
        "created": gettext_noop("{created:,} created"), "unchanged": gettext_noop("{unchanged:,} unchanged"),
        "refused": gettext_noop("{refused:,} not taken"),
    }  # fmt: skip
    COUNTS: ClassVar = ("votes", "created", "unchanged", "kept", "annotators")

    @property
    def annotators(self) -> list[dict[str, Any]]:
        """{name, kind, votes} of everybody with usable votes, by name."""
        return [{"name": name, "kind": kind, "votes": votes} for (name, kind), votes in sorted(self.people.items())]

    @property
    def refused(self) -> int:
        return self.votes - self.created - self.unchanged

    @property
    def clauses(self) -> tuple[str, ...]:
        kept = gettext("{votes} cast in the product kept").format(votes=counted(self.kept, "vote")) if self.kept else ""
        return (kept,)


def import_votes(
    *,
    by: User | None,
    project: Project,
    handle: BinaryIO,
    file: str,
    now: datetime,
    encoding: str = "",
    dry_run: bool = False,
) -> ImportedVotes:
    """Import every usable row. A file that is neither UTF-8 nor UTF-16 needs an encoding.

    Raises WrongColumns, BadSheet and BadText before anything is written, and ImportBroken.
    """
    result = ImportedVotes()
    with closing(sqlite3.connect("", isolation_level=None)) as staged:
        sheets = Sheets()
        rows = rows_of(handle, file, encoding=encoding, sheets=sheets)
        _stage(read_votes(rows, file, project.schema, result.left_out), staged, result)
        result.left_out.add_sheets(sheets)
        in_order = staged.execute("SELECT * FROM rows ORDER BY story, line")
        parsed = (VoteRow._make((*row[:-1], row[-1] and datetime.fromisoformat(row[-1]))) for row in in_order)
        stories = (list(of_story) for _, of_story in groupby(parsed, key=lambda row: row.story))
        try:
            _Import(by, project, file, now, result).run(stories, dry_run=dry_run)
        except IntegrityError as error:  # PostgreSQL lets two writers work at once
            raise ImportBroken(
                gettext(
                    "Somebody changed assignments or votes of the same stories meanwhile; import the file again to go "
                    "on."
                )
            ) from error
    result.problems.sort(key=lambda problem: problem.line)
    return result


def _stage(rows: Iterable[VoteRow | Problem], staged: sqlite3.Connection, result: ImportedVotes) -> None:
    """Write the readable rows into a temporary table, and the others to the problems."""

    def values() -> Iterator[tuple[Any, ...]]:
        for row in rows:
            if isinstance(row, Problem):
                result.problems.add(row)
            else:
                result.votes += 1
                yield (*row[:-1], row.created_at and row.created_at.isoformat())

    staged.execute(f"CREATE TABLE rows ({', '.join(VoteRow._fields)})")
    staged.execute("BEGIN")
    staged.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(VoteRow._fields))})", values())


class _Import:
    def __init__(self, by: User | None, project: Project, file: str, now: datetime, result: ImportedVotes) -> None:
        self.by, self.project, self.file, self.now, self.result = by, project, file, now, result
        self.annotators = Annotators(project)
        self.writes = ShortWrites()
        self.people: dict[str, Person | str] = {}
        self.lines: dict[tuple[Any, ...], tuple[str, int]] = {}

    def run(self, stories: Iterable[list[VoteRow]], *, dry_run: bool) -> None:
        for rows, is_last in with_last(self._parts(stories, divide=not dry_run)):
            placed = self._placed(rows)
            if dry_run or not placed:
                plan = _Plan(self.project, placed, self.now)
            else:
                with self.writes.transaction(len(placed)):
                    plan = _Plan(self.project, placed, self.now, self.annotators)
                    plan.write(self.by)
                    if plan.changed and not self.result.created and not is_last:
                        self._record("votes.import_started")
            for row, person, outcome in plan.outcomes:
                if isinstance(outcome, Refused):
                    self._refuse(row, outcome)
                    continue
                self.result.created += outcome
                self.result.unchanged += not outcome
                self.result.people[person.name, person.kind.value] += 1
        if self.result.created and not dry_run:
            result, created = self.result, self.annotators.created
            counts = {"votes": result.created, "kept": result.kept, "problems": result.problems.total}
            self._record("votes.imported", **counts, imported_annotators=created)
            self.writes.tell_planner(Assignment, Vote, VoteEvent, GoldLabel, GoldEvent)

    def _parts(self, stories: Iterable[list[VoteRow]], *, divide: bool) -> Iterator[list[VoteRow]]:
        """Yield whole stories, as many as fit into a short transaction. A larger story is divided."""
        part: list[VoteRow] = []
        for rows in stories:
            if part and len(part) + len(rows) > self.writes.rows:
                yield part
                part = []
            part += rows
            while divide and len(part) > (fitting := self.writes.rows):
                yield part[:fitting]
                part = part[fitting:]
        if part:
            yield part

    def _refuse(self, row: VoteRow, refused: Refused) -> None:
        self.result.kept += refused.keeps
        self.result.problems.add(Problem(self.file, row.line, str(refused)))

    def _record(self, action: str, **details: object) -> None:
        audit.record(by=self.by, project=self.project, action=action, target=self.file[-200:], **details)

    def _placed(self, rows: Sequence[VoteRow]) -> list[Placed]:
        """Return the rows with what they name. A row that names nothing is a problem."""
        propositions: dict[tuple[Any, ...], list[tuple[int, int]]] = defaultdict(list)
        live = Proposition.objects.live_gold().filter(
            table__story__project=self.project, table__story__number__in={row.story for row in rows}
        )
        columns = ("id", "table__story_id", "table__story__number", "actor", "belief")
        for pk, story, number, actor, belief in live.order_by("table", "position").values_list(*columns):
            propositions[number, actor, belief].append((pk, story))
            propositions["trimmed", number, actor.strip(), belief.strip()].append((pk, story))
        placed = []
        for row in rows:
            try:
                placed.append(self._place(row, propositions))
            except Refused as refused:
                self._refuse(row, refused)
        self.lines = {cell: label for cell, label in self.lines.items() if cell[0] == rows[-1].story}
        return placed

    def _place(self, row: VoteRow, propositions: dict[tuple[Any, ...], list[tuple[int, int]]]) -> Placed:
        """Return a row with what it names. Raises Refused."""
        matches = propositions.get((row.story, row.actor, row.belief))
        matches = matches or propositions.get(("trimmed", row.story, row.actor.strip(), row.belief.strip()), [])
        if len(matches) < row.occurrence:
            none = gettext("Story {story} has no such proposition of {actor!r}: {belief!r}.")
            fewer = gettext("Story {story} has no such proposition of {actor!r}: {belief!r}, occurrence {occurrence}.")
            named: dict[str, Any] = {"story": row.story, "actor": row.actor[:60], "belief": row.belief[:80]}
            raise Refused(fewer if matches else none, **named, occurrence=row.occurrence)
        if row.created_at is not None and row.created_at > self.now + CLOCK_LEAD:
            text = gettext("created_at is {created_at}, which lies in the future; expected a time up to now.")
            raise Refused(text, created_at=row.created_at.isoformat())
        if row.annotator not in self.people:
            try:
                self.people[row.annotator] = self.annotators.find(row.annotator)
            except ValueError as error:
                self.people[row.annotator] = gettext("annotator {error}").format(error=error)
        person = self.people[row.annotator]
        if isinstance(person, str):
            raise Refused(person)
        proposition, story = matches[row.occurrence - 1]
        # Of two labels of a cell without a time, the later one is not known.
        cell = (row.story, proposition, row.dimension, person)
        label, line = self.lines.get(cell, (row.label, 0))
        if row.created_at is None and label != row.label:
            text = gettext("Line {line} gives {annotator}'s vote here as {label}; expected one vote.")
            raise Refused(text, line=line, annotator=row.annotator, label=label)
        self.lines[cell] = row.label, row.line
        return row, proposition, story, person


class _Plan:
    """The changes that rows bring to a project. `outcomes` has (row, person, True for a change, False for none, or the
    refusal). `annotators` creates people with their first vote, and propositions are locked as saving a vote does; a
    dry run has none."""

    def __init__(
        self, project: Project, placed: Sequence[Placed], now: datetime, annotators: Annotators | None = None
    ) -> None:
        self.project, self.now, self.annotators = project, now, annotators
        propositions = {proposition for _, proposition, _, _ in placed}
        rows = Proposition.objects.live_gold().filter(id__in=propositions).order_by("id")
        rows = rows.select_for_update(of=("self",)) if annotators is not None else rows
        self.live = set(rows.values_list("id", flat=True))
        votes = Vote.objects.filter(proposition_id__in=propositions).values_list(*_VOTE)
        self.votes: dict[VoteKey, StoredVote] = {tuple(vote[:3]): tuple(vote[3:]) for vote in votes}
        self.stored = set(self.votes)
        self.slots: dict[int, dict[int, int]] = {story: {} for _, _, story, _ in placed}
        active = Assignment.objects.active().filter(story_id__in=self.slots)
        for story, annotator, slot in active.values_list("story_id", "annotator_id", "slot"):
            self.slots[story][annotator] = slot
        events = VoteEvent.objects.filter(origin=ORIGIN, proposition_id__in=propositions)
        # A vote without a key of an earlier import was cast in the product.
        self.imported = set(events.values_list("annotator_id", "idempotency_key")) if self.votes else set()
        self.assignments: list[tuple[int, int, int]] = []
        self.events: list[tuple[Any, ...]] = []
        self.changed: set[VoteKey] = set()
        self.outcomes: list[tuple[VoteRow, Person, bool | Refused]] = []
        for row, proposition, story, person in placed:
            try:
                self.outcomes.append((row, person, self._take(row, proposition, story, person)))
            except Refused as refused:
                self.outcomes.append((row, person, refused))

    def _take(self, row: VoteRow, proposition: int, story: int, person: Person) -> bool:
        """Return whether the row changes something. Raises Refused."""
        if proposition not in self.live:
            raise Refused(gettext("The proposition left the table of story {story} meanwhile."), story=row.story)
        cell = (proposition, row.dimension, person.pk)
        key = self._key(cell, row)
        moment = min(self.now, row.created_at or self.now)
        standing = self.votes.get(cell)
        if standing is not None:
            label, changed_at, standing_key = standing
            if label == row.label or (person.pk, key) in self.imported:
                return False
            was_imported = cell in self.changed or (person.pk, standing_key) in self.imported
            if person.kind is not Kind.IMPORTED and not was_imported:
                chose = gettext("{name} chose {label!r} here in the product; an import does not overwrite that.")
                withdrew = gettext("{name} withdrew the vote here in the product; an import does not overwrite that.")
                raise Refused(chose if label else withdrew, name=person.name, label=label, keeps=True)
            if row.created_at is not None and moment <= changed_at:
                return False
        if person.kind is Kind.FORMER:
            text = gettext("{name} left the project; only votes that are there already can come again.")
            raise Refused(text, name=person.name)
        if person.pk not in self.slots[story]:
            self._assign(row, story, person)
            cell = (proposition, row.dimension, person.pk)
            key = self._key(cell, row)
        self.votes[cell] = (row.label, moment, key)
        self.changed.add(cell)
        self.events.append((*cell, *self.votes[cell], standing[0] if standing else ""))
        return True

    def _assign(self, row: VoteRow, story: int, person: Person) -> None:
        """Give the person the lowest free slot. Raises Refused if the story is full."""
        overlap, taken = self.project.overlap, set(self.slots[story].values())
        slot = next((number for number in range(1, overlap + 1) if number not in taken), None)
        if slot is None:
            text = gettext("Story {story} has its {overlap} annotators already, without {annotator}.")
            raise Refused(text, story=row.story, overlap=overlap, annotator=row.annotator)
        if person.pk < 0 and self.annotators is not None:
            self.annotators.make(person)
        self.slots[story][person.pk] = slot
        self.assignments.append((story, person.pk, slot))

    def _key(self, cell: VoteKey, row: VoteRow) -> str:
        """Return the idempotency key of a row: importing the same row again is no new change."""
        proposition, dimension, annotator = cell
        moment = row.created_at.isoformat() if row.created_at else ""
        text = f"{self.project.pk}|({proposition}, {dimension!r}, {annotator})|{row.label}|{moment}"
        # The proposition first: keys of neighbours are close in the index, and fewer of its pages change.
        return f"import-{proposition:x}-{hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()}"

    def write(self, by: User | None) -> None:
        """Write the changes, within a transaction."""
        if not self.changed:
            return
        overlap, new = self.project.overlap, sorted(self.changed - self.stored)
        Assignment.objects.bulk_create(
            Assignment(story_id=story, annotator_id=annotator, slot=slot, overlap=overlap, assigned_by=by)
            for story, annotator, slot in self.assignments
        )
        insert_rows(Vote, _VOTE, [(*cell, *self.votes[cell]) for cell in new])
        Vote.objects.bulk_create(
            [
                Vote(**dict(zip(_VOTE, (*cell, *self.votes[cell]), strict=True)))
                for cell in sorted(self.changed & self.stored)
            ],
            update_conflicts=True,
            unique_fields=["proposition", "dimension", "annotator"],
            update_fields=["label", "changed_at", "idempotency_key", "duration_ms"],
        )
        same = ("", self.now, True, ORIGIN)
        names = (*_VOTE, "previous", "undoes", "received_at", "applied", "origin")
        insert_rows(VoteEvent, names, [(*event, *same) for event in self.events])
        votes: dict[Cell, list[GoldVote]] = {cell[:2]: [] for cell in self.changed}
        for (pk, dimension, annotator), (label, _, key) in sorted(self.votes.items()):
            if label and (of_cell := votes.get((pk, dimension))) is not None:
                of_cell.append(GoldVote(annotator, label, key))
        cells = sorted(votes)
        for at in range(0, len(cells), _AT_ONCE):
            some = {cell: votes[cell] for cell in cells[at : at + _AT_ONCE]}
            resolve_touched([Touched(self.project, by, self.now, some)])
        recount(stories_of({proposition for proposition, _ in cells}))
