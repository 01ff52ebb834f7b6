"""Votes from a spreadsheet: assignments are made where missing, gold follows, importing twice changes nothing.

The file is read whole and sorted by story on the disk, so that memory holds some stories' rows. Propositions and
people are looked up, what is there is compared, and votes and gold are made ready (`vote_parts.py`) outside of
transactions; they are then written a few stories at a time. An import that breaks off leaves whole transactions behind
and is resumed by starting it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from django.db import IntegrityError, connection
from django.utils.translation import gettext

from annotation.domain.left_out import LeftOut
from annotation.domain.problems import Problem, Problems
from annotation.domain.votes_csv import VoteRow, read_votes
from annotation.models import Assignment, GoldEvent, GoldLabel, Project, User, Vote, VoteEvent
from annotation.services import audit
from annotation.services.counts import refresh
from annotation.services.import_results import not_taken, summary
from annotation.services.imported_annotators import Person
from annotation.services.ready_votes import ReadyVotes, Tally, made_ready, tally
from annotation.services.short_writes import MOST_ROWS, ShortWrites
from annotation.services.very_many import without_full_collections
from annotation.services.vote_batches import Batch, Rehearsal, stored_of, stored_votes
from annotation.services.vote_parts import Part, ReportedProblem, VoteParts
from annotation.services.vote_shelves import Shelves
from core.beside import EndedEarly
from core.incoming.sheets import Sheets, rows_of
from core.plain import plain
from core.wording import counted

VERY_MANY = 10_000
"""Votes for which another process pays."""


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
    left_out: LeftOut = field(default_factory=LeftOut)
    people: dict[str, tuple[Person, int]] = field(default_factory=dict)

    def take(self, part_tally: Tally, file: str) -> None:
        """Add what became of some rows of a file."""
        self.created += part_tally.created
        self.unchanged += part_tally.unchanged
        for line, refused in part_tally.refused:
            self.kept += refused.keeps
            self.problems.add(Problem(file, line, str(refused)), once=refused.once)
        for person, votes in part_tally.votes:
            key = f"{person.kind} {person.name}"
            self.people[key] = (person, self.people.get(key, (person, 0))[1] + votes)

    def tell(self, problems: Iterable[ReportedProblem]) -> None:
        for problem, once in problems:
            self.problems.add(problem, once=once)

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
        return summary(self.left_out, counted(self.votes, "vote"), done, kept, not_taken(self.problems))

    def as_dict(self) -> dict:
        return {
            "summary": self.summary,
            "votes": self.votes,
            "created": self.created,
            "unchanged": self.unchanged,
            "kept": self.kept,
            **self.left_out.as_json(),
            "problems": plain(self.problems.listed()),
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
    beside: bool = False,
) -> ImportedVotes:
    """Import every row that can be used. An encoding is needed where the file is neither UTF-8 nor UTF-16. With
    `beside`, very many votes are made ready by a forked process; only a process of one thread may ask for that.

    Raises WrongColumns, BadSheet and BadText before anything is written, and ImportBroken.
    """
    result = ImportedVotes()
    with Shelves(list(project.stories.order_by("id").values_list("number", flat=True))) as shelves:
        sheets = Sheets()
        rows = rows_of(handle, file, encoding=encoding, sheets=sheets)
        _read(read_votes(rows, file, project.schema, result.left_out), shelves, result, progress)
        result.left_out.add_sheets(sheets)
        votes = VoteParts(project, shelves, file, now, by)
        if dry_run:
            _rehearse(votes, result)
        else:
            _write(votes, result, beside=beside and result.votes >= VERY_MANY and not connection.in_atomic_block)
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


def _rehearse(votes: VoteParts, result: ImportedVotes) -> None:
    rehearsal = Rehearsal()
    for rows in votes.parts(lambda: MOST_ROWS):
        batch = Batch(votes.project, rows, stored_of(rows), votes.now, rehearsal)
        result.take(tally(batch.outcomes), votes.file)
        rehearsal.keep_only(rows[-1].story, {row.proposition for row in rows if row.story == rows[-1].story})
    result.tell(votes.problems())


def _write(votes: VoteParts, result: ImportedVotes, *, beside: bool) -> None:
    with ShortWrites() as writes:
        parts = votes.beside(writes) if beside else votes.made(lambda: writes.rows)
        try:
            for part in parts:
                _write_part(votes, part, writes, result)
        except IntegrityError as error:  # PostgreSQL lets two writers work at once
            raise ImportBroken(
                gettext(
                    "Somebody changed assignments or votes of the same stories meanwhile; import the file again to go "
                    "on."
                )
            ) from error
        except EndedEarly as error:
            raise ImportBroken(
                gettext("The process that makes votes ready was ended; import the file again to go on.")
            ) from error
        writes.tell_planner(Assignment, Vote, VoteEvent, GoldLabel, GoldEvent)


def _write_part(votes: VoteParts, part: Part, writes: ShortWrites, result: ImportedVotes) -> None:
    result.tell(part.problems)
    already = result.created
    if not (part.ready.writes or (part.is_last and already)):
        result.take(part.ready.tally, votes.file)
        return
    with writes.transaction(part.size):
        ready = _of_this_moment(votes, part)
        ready.write(votes.project, votes.now, votes.by)
        result.take(ready.tally, votes.file)
        if result.created and not already and not part.is_last:
            audit.record(by=votes.by, project=votes.project, action="votes.import_started", target=votes.file[-200:])
        if result.created and part.is_last:
            _record(votes, result)


def _of_this_moment(votes: VoteParts, part: Part) -> ReadyVotes:
    """Return what is ready, made anew where annotators had to be created or somebody voted since. Takes the locks of a
    saved vote."""
    ready = part.ready
    stored = stored_votes(ready.stored.propositions, list(ready.stored.slots), lock=True)
    if not ready.strangers and stored == ready.stored:
        return ready
    rows = part.placed()
    for person in {id(row.person): row.person for row in rows}.values():
        if person.name in ready.strangers:
            votes.annotators.make(person)
    return made_ready(Batch(votes.project, rows, stored, votes.now), votes.by)


def _record(votes: VoteParts, result: ImportedVotes) -> None:
    audit.record(
        by=votes.by,
        project=votes.project,
        action="votes.imported",
        target=votes.file[-200:],
        votes=result.created,
        kept=result.kept,
        problems=result.problems.total,
        imported_annotators=votes.annotators.created,
    )
