"""Import belief tables from a spreadsheet, a story at a time. The same file again changes nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TextIO

from django.db import transaction

from annotation.domain.problems import Problem, Problems
from annotation.domain.tables import MAX_ROWS, TableRow
from annotation.domain.tables_csv import TableLine, read_tables
from annotation.models import Project, Proposition, Story, User
from annotation.services.belief_tables import write_table


@dataclass(slots=True)
class ImportedTables:
    """The result of an import: tables by what became of them, rows, and annotators whose finished stories have rows
    to label again."""

    stories: int = 0
    created: int = 0
    changed: int = 0
    unchanged: int = 0
    added: int = 0
    removed: int = 0
    reopened: Counter[str] = field(default_factory=Counter)
    problems: Problems = field(default_factory=Problems)

    def as_dict(self) -> dict[str, Any]:
        names = ("stories", "created", "changed", "unchanged", "added", "removed")
        counts = {name: getattr(self, name) for name in names}
        return {**counts, "reopened": dict(sorted(self.reopened.items())), "problems": self.problems.as_dicts()}


class _Rehearsal(Exception):
    """Ends the transaction of a story of which nothing is to be kept."""


def import_tables(
    *,
    by: User | None,
    project: Project,
    handle: TextIO,
    file: str,
    now: datetime,
    replace: bool = False,
    dry_run: bool = False,
) -> ImportedTables:
    """Write the tables of a CSV file (`domain.tables_csv`). A story with one broken line is left as it is.

    A story that has a table is a problem, unless `replace`: then rows whose text did not change keep their votes, and
    others are added or taken out. With `dry_run` nothing is kept. Raises WrongColumns.
    """
    result = ImportedTables()
    lines, broken = _by_story(handle, file, result)
    stories = {story.number: story for story in project.stories.filter(number__in=list(lines))}
    for number, found in lines.items():
        story, first = stories.get(number), found[0].line
        if story is None:
            result.problems.add(Problem(file, first, f"There is no story {number} in {project.slug}."))
        elif len(found) > MAX_ROWS:
            result.problems.add(Problem(file, first, f"Story {number} has {len(found)} rows; expected {MAX_ROWS}."))
        elif number not in broken:
            _write(by, story, [one.row for one in found], now, replace, dry_run, result, Problem(file, first, ""))
    return result


def _by_story(handle: TextIO, file: str, result: ImportedTables) -> tuple[dict[int, list[TableLine]], set[int]]:
    """Return the rows of each story, and the stories after whose rows a line could not be read."""
    lines: dict[int, list[TableLine]] = defaultdict(list)
    broken: set[int] = set()
    last: int | None = None
    for item in read_tables(handle, file):
        if isinstance(item, TableLine):
            last = item.story
            lines[item.story].append(item)
            continue
        result.problems.add(item)
        if last is not None:
            broken.add(last)
    return lines, broken


def _write(
    by: User | None,
    story: Story,
    rows: list[TableRow],
    now: datetime,
    replace: bool,
    dry_run: bool,
    result: ImportedTables,
    where: Problem,
) -> None:
    has_table = Proposition.objects.gold_of(story).exists()
    if not has_table and story.tables.drafts().exists():
        message = f"Experts are writing the table of story {story.number}; release them first."
        result.problems.add(Problem(where.file, where.line, message))
        return
    try:
        with transaction.atomic():
            written = write_table(by=by, story=story, rows=rows, now=now, only_new=not replace)
            if dry_run:
                raise _Rehearsal
    except _Rehearsal:
        pass
    result.stories += 1
    if written is None:
        message = f"Story {story.number} has another table already; --replace writes this one over it."
        result.problems.add(Problem(where.file, where.line, message))
        return
    is_same = not written.added and not written.removed and not written.moved
    result.created += not has_table
    result.unchanged += has_table and is_same
    result.changed += has_table and not is_same
    result.added += written.added
    result.removed += written.removed
    result.reopened.update(written.reopened)
