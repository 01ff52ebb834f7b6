"""Stories of a corpus file that a project lacks, written with their belief tables and propositions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from django.db.models import Max

from annotation.domain.story_rows import PropositionRow, StoryRow
from annotation.models import BeliefTable, Category, Project, Proposition, Story
from core.bulk import insert_rows
from core.ids import new_uid

_PROPOSITION = (
    "uid", "table", "position", "actor", "belief", "imported_labels", "extra", "order_text", "remark", "remark_text",
    "reviewed",
)  # fmt: skip


class NewStories:
    """Writes rows of files into one project, within a transaction of the caller's; the categories met so far are
    remembered."""

    def __init__(self) -> None:
        self.categories: dict[str, Category] = {}

    def insert(self, project: Project, rows: list[StoryRow], source: str) -> None:
        """Write the rows; `source` is the name of their file. A story without a number gets the next one of the
        project."""
        last = project.stories.aggregate(Max("number"))["number__max"] or 0
        free = count(1 + max([last, *(row.number for row in rows if row.number is not None)]))
        unsaved = [self._story(project, row, source, next(free) if row.number is None else row.number) for row in rows]
        stories = Story.objects.bulk_create(unsaved)
        with_table = [(row, story) for row, story in zip(rows, stories, strict=True) if row.propositions is not None]
        tables = BeliefTable.objects.bulk_create([BeliefTable(story=story) for _, story in with_table])
        insert_propositions(
            (table, position, proposition)
            for (row, _), table in zip(with_table, tables, strict=True)
            for position, proposition in enumerate(row.propositions, 1)
        )

    def _story(self, project: Project, row: StoryRow, source: str, number: int) -> Story:
        return Story(
            project=project,
            number=number,
            category=self._category(project, row.category),
            text=row.text,
            language=row.language,
            translations=row.translations,
            source=source,
            digest=row.digest,
            extra=_marks(fingerprint=row.fingerprint, layout=row.layout),
        )

    def _category(self, project: Project, name: str) -> Category:
        if name not in self.categories:
            self.categories[name], _ = Category.objects.get_or_create(project=project, name=name)
        return self.categories[name]


def insert_propositions(rows: Iterable[tuple[BeliefTable, int, PropositionRow]]) -> None:
    """Write rows of files into tables, each with its position, within a transaction of the caller's."""
    insert_rows(Proposition, _PROPOSITION, (_proposition(*row) for row in rows))


def _proposition(table: BeliefTable, position: int, row: PropositionRow) -> tuple:
    """The values of _PROPOSITION."""
    extra = _marks(layout=row.layout)
    return new_uid(), table.pk, position, row.actor, row.belief, row.labels, extra, "", "", "", False


def _marks(**marks: str) -> dict[str, str]:
    return {name: value for name, value in marks.items() if value}
