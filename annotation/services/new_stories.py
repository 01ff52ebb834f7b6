"""Writing the rows of corpus files: stories that a project lacks, and tables for stories that lack one, found by their
text."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import count
from typing import Any

from django.db import connection
from django.db.models import Exists, Max, OuterRef
from django.utils.translation import gettext

from annotation.domain.stories import PropositionRow, StoryRow
from annotation.models import BeliefTable, Category, Project, Proposition, Story, TableKind
from annotation.services.counts import recount
from core.bulk import insert_rows
from core.ids import new_uid
from core.joints import listed

MARK = "table_fingerprint"
"""The fingerprint of a later table, in a story's `extra`: the same record again changes nothing."""
_PROPOSITION = (
    "uid", "table", "position", "actor", "belief", "imported_labels", "extra", "order_text", "remark", "remark_text",
    "reviewed",
)  # fmt: skip


def insert_stories(project: Project, rows: list[StoryRow], source: str) -> None:
    """Write stories with their belief tables, within a transaction; `source` is the name of their file. A story without
    a number gets the next one of the project."""
    last = project.stories.aggregate(Max("number"))["number__max"] or 0
    free = count(1 + max([last, *(row.number for row in rows if row.number is not None)]))
    categories = {
        name: Category.objects.get_or_create(project=project, name=name)[0]
        for name in dict.fromkeys(row.category for row in rows)
    }
    stories = Story.objects.bulk_create(
        Story(
            project=project,
            number=next(free) if row.number is None else row.number,
            category=categories[row.category],
            text=row.text,
            language=row.language,
            translations=row.translations,
            source=source,
            digest=row.digest,
            extra=_marks(fingerprint=row.fingerprint, layout=row.layout),
        )
        for row in rows
    )
    with_table = [(row, story) for row, story in zip(rows, stories, strict=True) if row.propositions is not None]
    tables = BeliefTable.objects.bulk_create([BeliefTable(story=story) for _, story in with_table])
    _insert_propositions(
        (table, position, proposition)
        for (row, _), table in zip(with_table, tables, strict=True)
        for position, proposition in enumerate(row.propositions or (), 1)
    )
    recount([story.pk for story in stories])


def _insert_propositions(rows: Iterable[tuple[BeliefTable, int, PropositionRow]]) -> None:
    values = (
        (new_uid(), table.pk, position, row.actor, row.belief, row.labels, _marks(layout=row.layout), "", "", "", False)
        for table, position, row in rows
    )
    insert_rows(Proposition, _PROPOSITION, values)


def _marks(**marks: str) -> dict[str, str]:
    return {name: value for name, value in marks.items() if value}


def candidates_for(project: Project, rows: Sequence[StoryRow]) -> dict[str, list[Any]]:
    """Return the digest of each record with a table → the project's stories with that text, locked in a transaction.
    `settled` says whether a story has a table, `written` whether experts write one."""
    digests = {row.digest for row in rows if row.propositions}
    if not digests:
        return {}
    stories = Story.objects.filter(project=project, digest__in=digests).select_related("category").order_by("number")
    if connection.in_atomic_block:
        stories = stories.select_for_update(of=("self",))
    by_text: dict[str, list[Any]] = defaultdict(list)
    for story in stories.defer("text", "translations").annotate(
        settled=Exists(Proposition.objects.live_gold().filter(table__story=OuterRef("pk"))),
        written=Exists(BeliefTable.objects.drafts().filter(story=OuterRef("pk"))),
    ):
        by_text[story.digest].append(story)
    return by_text


class Ambiguous(ValueError):
    """A table that goes to no story; the message is one sentence."""


def story_for(row: StoryRow, candidates: Collection[Any]) -> Any:
    """Return the story that takes the record's table: the only one without a table and with its text, number or
    category. Returns None if there is none, or the record is here already. Raises Ambiguous."""
    if any(row.fingerprint in (story.extra.get("fingerprint", ""), story.extra.get(MARK, "")) for story in candidates):
        return None
    bare = [story for story in candidates if not story.settled]
    same = [story for story in bare if story.number == row.number]
    same = same or [story for story in bare if story.category.name == row.category]
    chosen = same if len(same) == 1 else bare
    if len(chosen) > 1:
        text = gettext("Stories {numbers} have this text and no table; the table of story {number} fits each.")
        raise Ambiguous(text.format(numbers=listed(story.number for story in chosen), number=row.number))
    if chosen and chosen[0].written:
        text = gettext("Experts are writing the table of story {number}; release them first.")
        raise Ambiguous(text.format(number=chosen[0].number))
    return chosen[0] if chosen else None


def attach(tables: Sequence[tuple[Story, StoryRow]]) -> None:
    """Write each record's rows as the gold table of its story, within a transaction."""
    for story, row in tables:
        table, _ = BeliefTable.objects.get_or_create(story=story, kind=TableKind.GOLD)
        last = table.propositions.aggregate(Max("position"))["position__max"] or 0
        _insert_propositions(
            (table, at, proposition) for at, proposition in enumerate(row.propositions or (), last + 1)
        )
        story.extra = {**story.extra, MARK: row.fingerprint}
    Story.objects.bulk_update([story for story, _ in tables], ["extra"], batch_size=200)
    recount([story.pk for story, _ in tables])
