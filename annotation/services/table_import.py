"""Import belief tables from a spreadsheet, story by story. Importing the same file again changes nothing."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO, ClassVar

from django.utils.translation import gettext

from annotation.domain.problems import Problem, Problems
from annotation.domain.tables import TableLine, read_tables
from annotation.models import Project, Story, User
from annotation.services.belief_tables import NotTaken, take_table
from annotation.services.import_results import ImportResult
from core.digests import text_digest
from core.incoming.sheets import Sheets, rows_of
from core.joints import listed
from core.messages import gettext_noop
from core.plain import Json
from core.wording import counted

MOST_LISTED = 200
"""Tables that a result lists one by one."""
Named = int | str
"""A story's number or its text, as a row names it."""


@dataclass(slots=True)
class ImportedTables(ImportResult):
    """Tables by outcome, rows, and the annotators whose finished stories have rows to label again. `refused` counts
    stories of the file whose table was not taken. `tables` are (story number, outcome) of changed tables."""

    stories: int = 0
    changed: int = 0
    refused: int = 0
    added: int = 0
    removed: int = 0
    reopened: Counter[str] = field(default_factory=Counter)
    tables: list[tuple[int, Json]] = field(default_factory=list)
    SIZE: ClassVar = "stories"
    NOUN: ClassVar = ("table",)
    OUTCOMES: ClassVar = {
        "created": gettext_noop("{created:,} created"), "changed": gettext_noop("{changed:,} changed"),
        "unchanged": gettext_noop("{unchanged:,} unchanged"), "refused": gettext_noop("{refused:,} not taken"),
    }  # fmt: skip
    ALWAYS: ClassVar = ("created", "changed", "unchanged")
    TAKEN: ClassVar = ("created", "changed")
    COUNTS: ClassVar = ("stories", "created", "changed", "unchanged", "refused", "added", "removed")

    def count(self, story: int, taken: Json) -> None:
        setattr(self, taken["outcome"], getattr(self, taken["outcome"]) + 1)
        self.added += taken["added"]
        self.removed += taken["removed"]
        self.reopened.update(taken["reopened"])
        if taken["outcome"] != "unchanged" and len(self.tables) < MOST_LISTED:
            self.tables.append((story, taken))

    @property
    def opened_again(self) -> list[tuple[str, int]]:
        """The annotators whose finished stories have new rows, with the number of these stories."""
        return sorted(self.reopened.items())

    @property
    def clauses(self) -> tuple[str, ...]:
        text = gettext("{rows} added, {removed:,} taken out")
        return (text.format(rows=counted(self.added, "row"), removed=self.removed),)

    def as_dict(self) -> dict[str, Any]:
        return ImportResult.as_dict(self) | {"reopened": dict(self.opened_again)}


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
    """Write the tables of a spreadsheet (`domain.tables`). A story with one broken row is left as it is.

    A row names its story by number, or by its exact text if only one story has it. A story that has a table is a
    problem, unless `replace`: then rows whose text did not change keep their votes, and others are added or taken out.
    With `dry_run` nothing is kept. Raises WrongColumns, BadSheet and BadText.
    """
    result, sheets = ImportedTables(), Sheets()
    read = rows_of(handle, file, encoding=encoding, sheets=sheets)
    lines, broken = _by_story(read_tables(read, file, result.left_out), file, result.problems)
    result.left_out.add_sheets(sheets)
    find = _finder(project, lines)
    for named, rows in lines.items():
        result.stories += 1
        try:
            story = find(named)
            if named in broken:
                raise NotTaken  # its rows have problems of their own
            words = story.text.split()
            if any(line.text.strip() and line.text.split() != words for line in rows):
                text = gettext(
                    "Story {number} has another text than the column story; expected both to name one story."
                )
                raise NotTaken(text.format(number=story.number))
            table = [line.row for line in rows]
            taken = take_table(by=by, story=story, rows=table, now=now, replace=replace, dry_run=dry_run)
            result.count(story.number, taken)
        except NotTaken as error:
            result.refused += 1
            if str(error):
                result.problems.add(Problem(file, rows[0].line, str(error)))
    return result


def _by_story(
    items: Iterable[TableLine], file: str, problems: Problems
) -> tuple[dict[Named, list[TableLine]], set[Named]]:
    """Return the rows of each story, and the stories with a row that cannot be used. A row that names no story counts
    for those above and below it."""
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


def _finder(project: Project, named: Iterable[Named]) -> Callable[[Named], Story]:
    """Return a function that finds the story that rows name; it raises NotTaken if there is none or several fit."""
    numbers = [name for name in named if isinstance(name, int)]
    digests = [digest for name in named if isinstance(name, str) for digest in _digests(name)]
    by_number = {story.number: story for story in project.stories.filter(number__in=numbers)}
    by_digest: dict[str, list[Story]] = defaultdict(list)
    for story in project.stories.filter(digest__in=digests).order_by("number"):
        by_digest[story.digest].append(story)

    def find(name: Named) -> Story:
        if isinstance(name, int):
            if name not in by_number:
                raise NotTaken(gettext("There is no story {named} in {slug}.").format(named=name, slug=project.slug))
            return by_number[name]
        matches = next((by_digest[digest] for digest in _digests(name) if digest in by_digest), [])
        if not matches:
            text = gettext("{slug} has no story with exactly the text {named!r}.")
            raise NotTaken(text.format(slug=project.slug, named=name[:60]))
        if len(matches) > 1:
            text = gettext("Stories {numbers} have this text; name one by its number in a column story_id.")
            raise NotTaken(text.format(numbers=listed(story.number for story in matches[:5])))
        return matches[0]

    return find


def _digests(text: str) -> list[str]:
    """Return the digests of a text as it is and with the line ends of another system."""
    return [text_digest(variant) for variant in dict.fromkeys([text, text.replace("\r\n", "\n")])]
