"""The rows of a file of votes with the ids of what they name, in parts of some stories, each made ready to be written.

Making ready takes as long as writing, so that for very many votes a process of its own does it beside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from multiprocessing.sharedctypes import RawValue
from operator import attrgetter

from django.utils.translation import gettext

from annotation.domain.problems import Problem
from annotation.domain.votes_csv import VoteRow
from annotation.models import Project, Proposition, User
from annotation.services.imported_annotators import Annotators, Person
from annotation.services.ready_votes import ReadyVotes, made_ready
from annotation.services.short_writes import ShortWrites, with_last
from annotation.services.vote_batches import NOTHING, Batch, Placed, Refused, packed, placed_at, stored_of, unpacked
from annotation.services.vote_shelves import Shelves
from core.beside import made_beside

_story_of = attrgetter("story")
CLOCK_LEAD = timedelta(minutes=1)
"""A file's times may be so far ahead of this machine's clock, and are then taken for now."""
ReportedProblem = tuple[Problem, bool]
"""A problem, and whether it is listed once for all rows that have it."""


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of some whole stories, or some rows of a large one, made ready; and the problems of rows before them that
    name nothing. `rows` are packed where another process made them ready."""

    rows: list[Placed] | bytes
    size: int
    ready: ReadyVotes
    problems: list[ReportedProblem]
    is_last: bool

    def placed(self) -> list[Placed]:
        return unpacked(self.rows) if isinstance(self.rows, bytes) else self.rows


class VoteParts:
    """The votes of a file, from the shelves on which they lie."""

    def __init__(self, project: Project, shelves: Shelves, file: str, now: datetime, by: User | None) -> None:
        self.project, self.file, self.now, self.by = project, file, now, by
        self.annotators = Annotators(project)
        self._shelves, self._reported = shelves, []

    def beside(self, writes: ShortWrites) -> Iterator[Part]:
        """Yield the parts, made ready by a forked process (`core/beside.py`)."""
        most = RawValue("l", writes.rows)
        for part in made_beside(lambda: self.made(lambda: most.value, apart=True)):
            yield part
            most.value = writes.rows

    def made(self, most: Callable[[], int], *, apart: bool = False) -> Iterator[Part]:
        """Yield the parts, of at most `most()` rows. With `apart`, another process writes them and makes people."""
        for rows, is_last in with_last(self.parts(most)):
            if apart:
                self.annotators.look_again()
            ready = made_ready(Batch(self.project, rows, stored_of(rows), self.now), self.by)
            yield Part(packed(rows) if apart else rows, len(rows), ready, self.problems(), is_last)
        if problems := self.problems():  # nobody else tells them
            yield Part([], 0, made_ready(Batch(self.project, [], NOTHING, self.now), self.by), problems, True)

    def problems(self) -> list[ReportedProblem]:
        """Return the problems found since the last call."""
        problems, self._reported = self._reported, []
        return problems

    def parts(self, most: Callable[[], int]) -> Iterator[list[Placed]]:
        """Yield whole stories, as many as have at most `most()` rows together; a story of more is divided."""
        part: list[Placed] = []
        for _, rows in groupby(self._placed(), key=_story_of):
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

    def _placed(self) -> Iterator[Placed]:
        """Yield the rows whose proposition and annotator are known, those of a story together."""
        places = _Places(self.project, self.annotators, self.now)
        for stories, rows in self._shelves.each():
            places.go_to(stories)
            placed = []
            for row in rows:
                try:
                    placed.append(places.place(row))
                except Refused as error:
                    self._reported.append((Problem(self.file, row.line, str(error)), error.once))
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
            reason = (
                gettext("Story {story} has no such proposition of {actor!r}: {belief!r}, occurrence {occurrence}.")
                if matches
                else gettext("Story {story} has no such proposition of {actor!r}: {belief!r}.")
            )
            named = {"story": row.story, "actor": row.actor[:60], "belief": row.belief[:80]}
            raise Refused(reason.format(**named, occurrence=row.occurrence))
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
