"""The one writer of what is kept of a story's cells: its counts, its annotators' counts and the patterns of its votes.

Who changes votes, gold or propositions need not know of them: the database marks what changed in the same transaction
(migration 0011), and `refresh` counts the stories of marked rows anew before anything is read. A vote so costs the
counts of one story. `differences` counts everything and says where what is kept is not that.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Max, Min

from annotation.domain.agreement.patterns import Patterns
from annotation.models import (
    AnnotatorCounts,
    BeliefTable,
    ChangedProposition,
    ChangedTable,
    GoldLabel,
    Method,
    Project,
    Proposition,
    Story,
    StoryCounts,
    Vote,
)
from annotation.services.short_writes import ShortWrites
from core.bulk import insert_rows

AT_ONCE = 25
"""Stories in one transaction: some 50 ms."""
_SQL_NAMES = 500
_REVISION_BITS = 62
"""Drawn: a count that follows none, as after a recount, has another revision than any before it, too."""


class VotesOf(NamedTuple):
    """One annotator's standing votes in a story."""

    cells: int
    first: datetime
    last: datetime


@dataclass(slots=True)
class Counted:
    """The counts of one story; see `StoryCounts` and `AnnotatorCounts`."""

    propositions: int = 0
    unanimous: int = 0
    majority: int = 0
    adjudicated: int = 0
    open: int = 0
    disturbed: int = 0
    imported: int = 0
    unvoted: int = 0
    patterns: bytes = b""
    annotators: dict[int, VotesOf] | None = None


_COLUMNS = (
    "propositions", "unanimous", "majority", "adjudicated", "open", "disturbed", "imported", "unvoted", "patterns",
)  # fmt: skip


def refresh(project: Project) -> int:
    """Count the stories anew in which something changed since they were counted; return how many. Two statements where
    nothing did."""
    outdated = sorted(_outdated(project))
    writes = ShortWrites()
    for at in range(0, len(outdated), AT_ONCE):
        part = outdated[at : at + AT_ONCE]
        with writes.transaction(len(part)):
            # On PostgreSQL, who counts the older state must not write it after who counted the newer one.
            Project.objects.select_for_update(no_key=True).get(pk=project.pk)
            propositions, tables = _marks(part)
            _write(counted(project, part))
            ChangedProposition.objects.filter(pk__in=propositions).delete()
            ChangedTable.objects.filter(pk__in=tables).delete()
    return len(outdated)


def _outdated(project: Project) -> set[int]:
    """Return the stories with a mark, and those that were never counted."""
    changed = Proposition.objects.filter(pk__in=ChangedProposition.objects.values("proposition"))
    tables = BeliefTable.objects.filter(pk__in=ChangedTable.objects.values("table"), story__project=project)
    never = project.stories.filter(counts__isnull=True).order_by()
    return set(
        changed.filter(table__story__project=project)
        .order_by()
        .values_list("table__story_id", flat=True)
        .union(tables.values_list("story_id", flat=True), never.values_list("id", flat=True))
    )


def _marks(stories: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the marks of these stories. They are read before the rows that are counted: a later change leaves its
    own."""
    propositions = Proposition.objects.filter(table__story__in=stories)
    tables = BeliefTable.objects.filter(story__in=stories)
    return (
        list(ChangedProposition.objects.filter(proposition__in=propositions.values("id")).values_list("id", flat=True)),
        list(ChangedTable.objects.filter(table__in=tables.values("id")).values_list("id", flat=True)),
    )


def counted(project: Project, stories: Sequence[int]) -> dict[int, Counted]:
    """Return by story what is to be kept of it, counted from its rows; six statements."""
    results = {pk: Counted(annotators={}) for pk in Story.objects.filter(pk__in=stories).values_list("id", flat=True)}
    live = Proposition.objects.live_gold().filter(table__story__in=stories)
    imported: dict[int, dict] = {}
    story_of: dict[int, int] = {}
    for pk, story, labels in live.order_by().values_list("id", "table__story_id", "imported_labels"):
        story_of[pk] = story
        results[story].propositions += 1
        if labels:
            imported[pk] = labels
    with_gold = _count_gold(results, story_of, stories)
    voted = _count_votes(project, results, story_of, stories)
    keys = project.schema.keys
    for pk, labels in imported.items():
        story = results[story_of[pk]]
        cells = {(pk, key) for key in keys if labels.get(key)} - with_gold
        story.imported += len(cells)
        story.unvoted += len(cells - voted)
    return results


def _count_gold(results: dict[int, Counted], story_of: dict[int, int], stories: Sequence[int]) -> set[tuple[int, str]]:
    """Count gold by method; return the cells that have any."""
    cells = set()
    rows = GoldLabel.objects.filter(proposition__table__story__in=stories)
    for pk, key, method, disturbed in rows.values_list("proposition_id", "dimension", "method", "disturbed"):
        if pk in story_of:
            cells.add((pk, key))
            story = results[story_of[pk]]
            name = Method(method).value
            setattr(story, name, getattr(story, name) + 1)
            story.disturbed += disturbed
    return cells


def _count_votes(
    project: Project, results: dict[int, Counted], story_of: dict[int, int], stories: Sequence[int]
) -> set[tuple[int, str]]:
    """Count votes by annotator and cells by pattern; return the cells that have any."""
    cast = Vote.objects.cast().filter(
        proposition__table__story__in=stories, proposition__table__kind="gold", proposition__removed_at__isnull=True
    )
    by_annotator = cast.order_by().values_list("proposition__table__story_id", "annotator_id")
    for story, annotator, *votes in by_annotator.annotate(Count("id"), Min("changed_at"), Max("changed_at")):
        results[story].annotators[annotator] = VotesOf(*votes)
    patterns: dict[int, Patterns] = defaultdict(lambda: Patterns(project.schema))
    by_label = cast.order_by().values_list("proposition_id", "dimension", "label").annotate(Count("id"))
    cells = set()
    for pk, key, label, votes in by_label:
        cells.add((pk, key))
        if pk in story_of:
            patterns[story_of[pk]].add(pk, key, label, votes)
    for story, of_story in patterns.items():
        results[story].patterns = of_story.packed()
    return cells


def _write(results: dict[int, Counted]) -> None:
    StoryCounts.objects.filter(story__in=results).delete()
    AnnotatorCounts.objects.filter(story__in=results).delete()
    rows = (
        [story, *(getattr(counts, name) for name in _COLUMNS), secrets.randbits(_REVISION_BITS)]
        for story, counts in results.items()
    )
    insert_rows(StoryCounts, ("story", *_COLUMNS, "revision"), rows)
    by_annotator = (
        [story, annotator, *votes]
        for story, counts in results.items()
        for annotator, votes in sorted((counts.annotators or {}).items())
    )
    insert_rows(AnnotatorCounts, ("story", "annotator", *VotesOf._fields), by_annotator)


def differences(project: Project) -> Iterator[tuple[int, str]]:
    """Yield (story number, what is kept and what was counted) of each story whose counts are wrong though nothing marks
    it as changed. Reads every cell of the project."""
    outdated = _outdated(project)
    numbers = dict(project.stories.exclude(pk__in=outdated).order_by("number").values_list("id", "number"))
    stories = list(numbers)
    for at in range(0, len(stories), _SQL_NAMES):
        part = stories[at : at + _SQL_NAMES]
        stored = _kept(part)
        for story, counts in counted(project, part).items():
            if stored[story] != counts:
                yield numbers[story], f"kept {_counts_text(stored[story])}, counted {_counts_text(counts)}"


def _kept(stories: Sequence[int]) -> dict[int, Counted]:
    stored = {
        story: Counted(*counts[:-1], bytes(counts[-1]), {})
        for story, *counts in StoryCounts.objects.filter(story__in=stories).values_list("story_id", *_COLUMNS)
    }
    rows = AnnotatorCounts.objects.filter(story__in=stories).values_list("story_id", "annotator_id", *VotesOf._fields)
    for story, annotator, *votes in rows:
        stored[story].annotators[annotator] = VotesOf(*votes)
    return stored


def _counts_text(counts: Counted) -> str:
    numbers = ", ".join(f"{name} {getattr(counts, name)}" for name in _COLUMNS if name != "patterns")
    return f"{numbers}, votes {sum(votes.cells for votes in (counts.annotators or {}).values())}"


def recount(project: Project) -> int:
    """Count every story of a project anew; return how many."""
    StoryCounts.objects.filter(story__project=project).delete()
    return refresh(project)


def forget_deleted() -> None:
    """Take away the marks of rows that are gone."""
    ChangedProposition.objects.exclude(proposition__in=Proposition.objects.values("id")).delete()
    ChangedTable.objects.exclude(table__in=BeliefTable.objects.values("id")).delete()
