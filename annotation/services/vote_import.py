"""Votes from a spreadsheet: assignments are made where missing, gold follows, importing twice changes nothing.

The file is read whole and sorted by story on the disk, so that memory holds some stories' rows. Propositions and
people are looked up, and what is there is compared, outside of transactions;
votes and their gold are then written a few stories at a time. An import that breaks off leaves whole transactions
behind and is resumed by starting it again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import BinaryIO

from django.db import IntegrityError
from django.utils.translation import gettext

from annotation.domain.problems import Problem, Problems
from annotation.domain.votes_csv import VoteRow, read_votes
from annotation.models import Assignment, GoldEvent, GoldLabel, Project, Proposition, User, Vote, VoteEvent
from annotation.services import audit
from annotation.services.counts import refresh
from annotation.services.import_results import not_taken, summary
from annotation.services.imported_annotators import Annotators, Person
from annotation.services.short_writes import MOST_ROWS, ShortWrites, with_last
from annotation.services.very_many import without_full_collections
from annotation.services.vote_batches import Batch, Placed, Refused, Rehearsal, placed_at, stored_votes
from annotation.services.vote_shelves import Shelves
from core.incoming.sheets import rows_of
from core.wording import counted

_story_of = attrgetter("story")
CLOCK_LEAD = timedelta(minutes=1)
"""A file's times may be so far ahead of this machine's clock, and are then taken for now."""


class ImportBroken(ValueError):
    """The import stopped; what it had written stays, and the same file goes on from there. One sentence."""


@dataclass(slots=True)
class ImportedVotes:
    """`votes` counts the rows that can be read, `created` new and changed votes, `kept` votes cast in the product that
    the file would have overwritten. `people` maps each person to the votes that the file has of them."""

    votes: int = 0
    created: int = 0
    unchanged: int = 0
    kept: int = 0
    problems: Problems = field(default_factory=Problems)
    people: dict[str, tuple[Person, int]] = field(default_factory=dict)

    def count(self, person: Person, votes: int) -> None:
        key = f"{person.kind} {person.name}"
        self.people[key] = (person, self.people.get(key, (person, 0))[1] + votes)

    @property
    def annotators(self) -> list[dict]:
        """Return {name, kind, votes} of everybody whose votes could be used, by name."""
        rows = [
            {"name": person.name, "kind": person.kind.value, "votes": votes} for person, votes in self.people.values()
        ]
        return sorted(rows, key=lambda row: (row["name"], row["kind"]))

    @property
    def taken(self) -> int:
        return self.created

    @property
    def there(self) -> int:
        return self.unchanged

    @property
    def summary(self) -> str:
        refused = self.votes - self.created - self.unchanged
        done = (
            gettext("{created:,} created").format(created=self.created),
            gettext("{unchanged:,} unchanged").format(unchanged=self.unchanged),
            gettext("{refused:,} not taken").format(refused=refused) if refused else "",
        )
        kept = gettext("{votes} cast in the product kept").format(votes=counted(self.kept, "vote")) if self.kept else ""
        return summary(counted(self.votes, "vote"), done, kept, not_taken(self.problems))

    def as_dict(self) -> dict:
        return {
            "summary": self.summary,
            "votes": self.votes,
            "created": self.created,
            "unchanged": self.unchanged,
            "kept": self.kept,
            "problems": self.problems.as_dicts(),
            "annotators": self.annotators,
        }


@without_full_collections()
def import_votes(
    *,
    by: User | None,
    project: Project,
    handle: BinaryIO,
    file: str,
    now: datetime,
    encoding: str = "",
    dry_run: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> ImportedVotes:
    """Import every row that can be used. An encoding is needed where the file is
    neither UTF-8 nor UTF-16.

    Raises WrongColumns, BadSheet and BadText before anything is written, and ImportBroken.
    """
    result = ImportedVotes()
    with Shelves(list(project.stories.order_by("id").values_list("number", flat=True))) as shelves:
        rows = rows_of(handle, file, encoding=encoding)
        _read(read_votes(rows, file, project.schema), shelves, result, progress)
        annotators = Annotators(project)
        placed = _placed(shelves, _Places(project, annotators, now), file, result)
        if dry_run:
            _rehearse(project, placed, file, now, result)
        else:
            _write(by, project, annotators, placed, file, now, result)
            refresh(project)
    result.problems.sort(key=lambda problem: problem.line)
    return result


def _read(rows: Iterable[VoteRow | Problem], shelves: Shelves, result: ImportedVotes, progress) -> None:
    for at, row in enumerate(rows, 1):
        if isinstance(row, Problem):
            result.problems.add(row)
        else:
            shelves.put(row)
            result.votes += 1
        if at % 20000 == 0:
            progress(at)


def _rehearse(project: Project, placed: Iterable[Placed], file: str, now: datetime, result: ImportedVotes) -> None:
    rehearsal = Rehearsal()
    for part in _parts(placed, lambda: MOST_ROWS):
        _count(Batch(project, part, stored_votes(part), now, rehearsal=rehearsal), file, result)
        rehearsal.keep_only(part[-1].story, {row.proposition for row in part if row.story == part[-1].story})


def _placed(shelves: Shelves, places: _Places, file: str, result: ImportedVotes) -> Iterator[Placed]:
    """Yield the rows whose proposition and annotator are known, those of a story together."""
    for stories, rows in shelves.each():
        places.go_to(stories)
        placed = []
        for row in rows:
            try:
                placed.append(places.place(row))
            except Refused as error:
                result.problems.add(Problem(file, row.line, str(error)), once=error.once)
        rows.clear()
        yield from sorted(placed, key=_story_of)


class _Places:
    """Looks up what a row names: its proposition, its annotator, and whether the file contradicts itself."""

    def __init__(self, project: Project, annotators: Annotators, now: datetime) -> None:
        self.project, self.annotators, self.latest = project, annotators, now + CLOCK_LEAD
        self.people: dict[str, Person | str] = {}
        self.go_to(())

    def go_to(self, stories: Sequence[int]) -> None:
        """Look up the propositions of the stories with these numbers, and forget those before."""
        self.exact: dict[tuple, list[tuple[int, int]]] = defaultdict(list)
        self.trimmed: dict[tuple, list[tuple[int, int]]] = defaultdict(list)
        self.lines: dict[tuple, tuple[str, int]] = {}
        here = {"table__story__project": self.project, "table__story__number__in": stories}
        live = Proposition.objects.live_gold().filter(**here).order_by("table", "position")
        columns = ("id", "table__story_id", "table__story__number", "actor", "belief")
        for pk, story, number, actor, belief in live.values_list(*columns):
            self.exact[number, actor, belief].append((pk, story))
            self.trimmed[number, actor.strip(), belief.strip()].append((pk, story))

    def place(self, row: VoteRow) -> Placed:
        proposition, story = self._proposition(row)
        if row.created_at is not None and row.created_at > self.latest:
            raise Refused(
                gettext("created_at is {created_at}, which lies in the future; expected a time up to now.").format(
                    created_at=row.created_at.isoformat()
                )
            )
        person = self._person(row.annotator)
        self._check_once((proposition, row.dimension, id(person)), row)  # each person is one object: Annotators.find
        return placed_at((row, proposition, story, person))

    def _proposition(self, row: VoteRow) -> tuple[int, int]:
        matches = self.exact.get((row.story, row.actor, row.belief))
        matches = matches or self.trimmed.get((row.story, row.actor.strip(), row.belief.strip()), ())
        if len(matches) < row.occurrence:
            told = (
                gettext("Story {story} has no such proposition of {actor!r}: {belief!r}, occurrence {occurrence}.")
                if matches
                else gettext("Story {story} has no such proposition of {actor!r}: {belief!r}.")
            )
            named = {"story": row.story, "actor": row.actor[:60], "belief": row.belief[:80]}
            raise Refused(told.format(**named, occurrence=row.occurrence))
        return matches[row.occurrence - 1]

    def _person(self, name: str) -> Person:
        if name not in self.people:
            try:
                self.people[name] = self.annotators.find(name)
            except ValueError as error:
                self.people[name] = gettext("annotator {error}").format(error=error)
        person = self.people[name]
        if isinstance(person, str):
            raise Refused(person, once=True)
        return person

    def _check_once(self, cell: tuple, row: VoteRow) -> None:
        """Refuse a second, different label of a cell without a time: nothing says which is the later one."""
        label, line = self.lines.get(cell, (row.label, 0))
        if row.created_at is None and label != row.label:
            raise Refused(
                gettext("Line {line} gives {annotator}'s vote here as {label}; expected one vote.").format(
                    line=line, annotator=row.annotator, label=label
                )
            )
        self.lines[cell] = row.label, row.line


def _parts(placed: Iterable[Placed], most: Callable[[], int]) -> Iterator[list[Placed]]:
    """Yield whole stories, as many as have at most `most()` rows together; a story of more is divided."""
    part: list[Placed] = []
    for _, rows in groupby(placed, key=_story_of):
        story = list(rows)
        if part and len(part) + len(story) > most():
            yield part
            part = []
        while len(story) > (fitting := most()):
            yield story[:fitting]
            story = story[fitting:]
        part += story
    if part:
        yield part


def _write(by, project: Project, annotators: Annotators, placed, file: str, now: datetime, result) -> None:
    writes = ShortWrites()
    try:
        for part, is_last in with_last(_parts(placed, lambda: writes.rows)):
            already = result.created
            batch = Batch(project, part, stored_votes(part), now, by)
            if not (batch.strangers or batch.changed or (is_last and already)):
                _count(batch, file, result)
                continue
            with writes.transaction(len(part)):
                batch = _of_this_moment(batch, annotators, part)
                batch.write()
                _count(batch, file, result)
                if result.created and not already and not is_last:
                    audit.record(by=by, project=project, action="votes.import_started", target=file[-200:])
                if result.created and is_last:
                    _record(by, project, annotators, file, result)
    except IntegrityError as error:  # PostgreSQL lets two writers work at once
        raise ImportBroken(
            gettext(
                "Somebody changed assignments or votes of the same stories meanwhile; import the file again to go on."
            )
        ) from error
    writes.tell_planner(Assignment, Vote, VoteEvent, GoldLabel, GoldEvent)


def _of_this_moment(batch: Batch, annotators: Annotators, part: list[Placed]) -> Batch:
    """Return the batch, rebuilt where annotators had to be created or somebody voted since. Takes the locks of a saved
    vote."""
    for person in batch.strangers.values():
        annotators.make(person)
    stored = stored_votes(part, lock=True)
    if not batch.strangers and stored == batch.stored:
        return batch
    return Batch(batch.project, part, stored, batch.now, batch.by)


def _count(batch: Batch, file: str, result: ImportedVotes) -> None:
    created = unchanged = 0
    votes: Counter[int] = Counter()
    for placed, outcome in batch.outcomes:
        if outcome is True:
            created += 1
        elif outcome is False:
            unchanged += 1
        else:
            result.kept += outcome.keeps
            result.problems.add(Problem(file, placed.row.line, str(outcome)), once=outcome.once)
            continue
        votes[id(placed.person)] += 1
    result.created += created
    result.unchanged += unchanged
    for person in {id(placed.person): placed.person for placed, _ in batch.outcomes}.values():
        if votes[id(person)]:
            result.count(person, votes[id(person)])


def _record(by: User | None, project: Project, annotators: Annotators, file: str, result: ImportedVotes) -> None:
    audit.record(
        by=by,
        project=project,
        action="votes.imported",
        target=file[-200:],
        votes=result.created,
        kept=result.kept,
        problems=result.problems.total,
        imported_annotators=annotators.created,
    )
