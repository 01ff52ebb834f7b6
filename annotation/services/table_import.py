"""Import belief tables from a spreadsheet, a story at a time. The same file again changes nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

from django.utils.translation import gettext, ngettext

from annotation.domain.left_out import LeftOut
from annotation.domain.problems import Problem, Problems
from annotation.domain.tables_csv import TableLine, read_tables
from annotation.models import Project, Story, User
from annotation.services.import_results import not_taken, summary
from annotation.services.whole_tables import NotTaken, take_table
from core.digests import text_digest
from core.incoming.sheets import Sheets, rows_of
from core.joints import listed, sentences
from core.plain import plain
from core.wording import counted

MOST_LISTED = 200
"""Tables that a result lists one by one."""

_MOST_NAMED = 10
Named = int | str
"""A story's number or its text, as a row names it."""


@dataclass(frozen=True, slots=True)
class ImportedTable:
    """Outcome of one story's table; `reopened` are annotators who had finished the story and have rows to label
    again."""

    story: int
    outcome: str
    added: int
    removed: int
    kept: int
    reopened: tuple[str, ...]


@dataclass(slots=True)
class ImportedTables:
    """The result of an import: tables by what became of them, rows, and annotators whose finished stories have rows
    to label again. `refused` counts stories of the file whose table was not taken; `repeated` are the lines of taken
    rows that say word for word what one above them says of the same story."""

    stories: int = 0
    created: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: int = 0
    added: int = 0
    removed: int = 0
    reopened: Counter[str] = field(default_factory=Counter)
    repeated: list[int] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    left_out: LeftOut = field(default_factory=LeftOut)
    tables: list[ImportedTable] = field(default_factory=list)

    def count(self, table: ImportedTable) -> None:
        setattr(self, table.outcome, getattr(self, table.outcome) + 1)
        self.added += table.added
        self.removed += table.removed
        self.reopened.update(table.reopened)
        if table.outcome != "unchanged" and len(self.tables) < MOST_LISTED:
            self.tables.append(table)

    @property
    def opened_again(self) -> list[tuple[str, int]]:
        """Return the annotators whose finished stories have new rows, with the number of these stories."""
        return sorted(self.reopened.items())

    @property
    def taken(self) -> int:
        return self.created + self.changed

    @property
    def there(self) -> int:
        return self.unchanged

    @property
    def summary(self) -> str:
        done = (
            gettext("{created:,} created").format(created=self.created),
            gettext("{changed:,} changed").format(changed=self.changed),
            gettext("{unchanged:,} unchanged").format(unchanged=self.unchanged),
            gettext("{refused:,} not taken").format(refused=self.refused) if self.refused else "",
        )
        rows = gettext("{rows} added, {removed:,} taken out").format(
            rows=counted(self.added, "row"), removed=self.removed
        )
        text = summary(self.left_out, counted(self.stories, "table"), done, rows, not_taken(self.problems))
        return sentences(text, self._repeated)

    @property
    def _repeated(self) -> str:
        """Say which rows say again what is said, where any do."""
        if not self.repeated:
            return ""
        lines = listed(self.repeated[:_MOST_NAMED]) + (" …" if len(self.repeated) > _MOST_NAMED else "")
        return ngettext(
            "{count} row repeats an earlier one of its story word for word and was taken as it is: line {lines}.",
            "{count} rows repeat earlier ones of their story word for word and were taken as they are: lines {lines}.",
            len(self.repeated),
        ).format(count=len(self.repeated), lines=lines)

    def as_dict(self) -> dict[str, Any]:
        names = ("stories", "created", "changed", "unchanged", "refused", "added", "removed")
        counts = {name: getattr(self, name) for name in names}
        return {
            "summary": self.summary,
            **counts,
            "reopened": dict(self.opened_again),
            "repeated": self.repeated,
            **self.left_out.as_json(),
            "problems": plain(self.problems.listed()),
        }


def import_tables(
    *,
    by: User | None,
    project: Project,
    handle: BinaryIO,
    file: str,
    now: datetime,
    encoding: str = "",
    replace: bool = False,
    dry_run: bool = False,
) -> ImportedTables:
    """Write the tables of a spreadsheet (`domain.tables_csv`). A story with one broken row is left as it is.

    A row names its story by number, or by its exact text where one story has it. A story that has a table is a problem,
    unless `replace`: then rows whose text did not change keep their votes, and others are added or taken out. With
    `dry_run` nothing is kept. Raises WrongColumns, BadSheet and BadText.
    """
    result = ImportedTables()
    sheets = Sheets()
    rows = rows_of(handle, file, encoding=encoding, sheets=sheets)
    lines, broken = _by_story(read_tables(rows, file, result.left_out), file, result.problems)
    result.left_out.add_sheets(sheets)
    stories = _Stories(project, lines)
    for named, rows in lines.items():
        result.stories += 1
        try:
            story = stories.find(named)
            if named in broken:
                raise NotTaken  # its rows say why already
            _check_texts(story, rows)
            result.count(_write(by, story, rows, now, replace, dry_run))
            result.repeated += _repeated(rows)
        except NotTaken as error:
            result.refused += 1
            if str(error):
                result.problems.add(Problem(file, rows[0].line, str(error)))
    return result


def _check_texts(story: Story, rows: list[TableLine]) -> None:
    """Raise NotTaken where a row has the text of another story beside the number of this one."""
    text = story.text.split()
    if any(line.text.strip() and line.text.split() != text for line in rows):
        raise NotTaken(
            gettext("Story {number} has another text than the column story; expected both to name one story.").format(
                number=story.number
            )
        )


def _repeated(rows: list[TableLine]) -> list[int]:
    """Return the lines of rows with the actor and belief of one above them."""
    seen: set[tuple[str, ...]] = set()
    lines = []
    for line in rows:
        key = tuple(" ".join(part.split()).casefold() for part in (line.row.actor, line.row.belief))
        if key in seen:
            lines.append(line.line)
        seen.add(key)
    return lines


def _by_story(items, file: str, problems: Problems) -> tuple[dict[Named, list[TableLine]], set[Named]]:
    """Return the rows of each story, and the stories that a row which cannot be used is about: where it names none,
    those above and below it."""
    lines: dict[Named, list[TableLine]] = defaultdict(list)
    broken: set[Named] = set()
    last: Named | None = None
    is_open = False
    for item in items:
        if item.problem:
            problems.add(Problem(file, item.line, item.problem))
        if item.story is None:
            broken |= {last} if last is not None else set()
            is_open = True
            continue
        if item.problem or (is_open and item.story not in lines):
            broken.add(item.story)
        last, is_open = item.story, False
        lines[item.story].append(item)
    return lines, broken


class _Stories:
    """The stories of a project that rows name."""

    def __init__(self, project: Project, named: Collection[Named]) -> None:
        self.project = project
        numbers = [name for name in named if isinstance(name, int)]
        digests = [digest for name in named if isinstance(name, str) for digest in _digests(name)]
        self.by_number = {story.number: story for story in project.stories.filter(number__in=numbers)}
        self.by_digest: dict[str, list[Story]] = defaultdict(list)
        for story in project.stories.filter(digest__in=digests).order_by("number"):
            self.by_digest[story.digest].append(story)

    def find(self, named: Named) -> Story:
        """Return the story. Raises NotTaken where there is none or several could be meant."""
        if isinstance(named, int):
            if named not in self.by_number:
                raise NotTaken(
                    gettext("There is no story {named} in {slug}.").format(named=named, slug=self.project.slug)
                )
            return self.by_number[named]
        matches = next((matches for digest in _digests(named) if (matches := self.by_digest.get(digest))), [])
        if not matches:
            raise NotTaken(
                gettext("{slug} has no story with exactly the text {named!r}.").format(
                    slug=self.project.slug, named=named[:60]
                )
            )
        if len(matches) > 1:
            numbers = listed(story.number for story in matches[:5])
            raise NotTaken(
                gettext("Stories {numbers} have this text; name one by its number in a column story_id.").format(
                    numbers=numbers
                )
            )
        return matches[0]


def _digests(text: str) -> list[str]:
    """Return the digests of a text as it is and with the line ends of another system."""
    texts = dict.fromkeys([text, text.replace("\r\n", "\n")])
    return [text_digest(variant) for variant in texts]


def _write(
    by: User | None, story: Story, rows: list[TableLine], now: datetime, replace: bool, dry_run: bool
) -> ImportedTable:
    """Write one table, or only say what would become of it. Raises NotTaken."""
    table = [line.row for line in rows]
    taken = take_table(by=by, story=story, rows=table, now=now, replace=replace, dry_run=dry_run)
    done = taken.written
    return ImportedTable(story.number, taken.outcome, done.added, done.removed, done.kept, done.reopened)
