"""The one writer of the counts of stories and annotators, in the transaction of the change that they follow."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet

from annotation.models import AnnotatorCounts, GoldLabel, Project, Proposition, Story, StoryCounts, Vote
from annotation.services.short_writes import ShortWrites
from core.bulk import write_few
from core.reads import Read

AT_ONCE = 200
_COUNTS = ("propositions", "unanimous", "majority", "adjudicated", "open", "disturbed", "imported", "unvoted")
_STORY = ("story_id", *_COUNTS, "version")
_ANNOTATOR = ("story_id", "annotator_id", "cells", "first", "last")

# The locks serialise the savers of a story: on PostgreSQL each counts what the others committed.
_VERSIONS = Read[tuple[int, int]](
    lambda given: (
        StoryCounts.objects.filter(story_id__in=given.stories)
        .order_by("story_id")
        .select_for_update()
        .values_list("story_id", "version")
    )
)
_ROWS = Read[tuple[int, int, int]](
    lambda given: (
        Proposition.objects.live_gold()
        .filter(table__story_id__in=given.stories)
        .order_by()
        .values_list("table__story_id")
        .annotate(Count("id"), Count("imported_labels"))
    )
)
_GOLD = Read[tuple[int, str, int, int]](
    lambda given: (
        GoldLabel.objects.filter(proposition__table__story_id__in=given.stories, proposition__removed_at__isnull=True)
        .order_by()
        .values_list("proposition__table__story_id", "method")
        .annotate(cells=Count("id"), changed=Count("id", filter=Q(disturbed=True)))
    )
)


def _votes(given: Any) -> QuerySet[Vote, Any]:
    rows = Vote.objects.on_gold().cast().filter(proposition__table__story_id__in=given.stories).order_by()
    by_annotator = rows.values_list("proposition__table__story_id", "annotator_id")
    return by_annotator.annotate(Count("id"), Min("changed_at"), Max("changed_at"))


_VOTES = Read[tuple[Any, ...]](_votes)
_VOTES_OF = Read[tuple[Any, ...]](lambda given: _votes(given).filter(annotator_id__in=given.annotators))


def recount(stories: Collection[int], *, voters: Collection[tuple[int, int]] | None = None) -> None:
    """Count stories again after a change, in its transaction. With `voters`, (story, annotator) pairs, only the votes
    of these have changed. The number of statements is the same for one story as for hundreds."""
    ids = sorted(set(stories))
    annotators = None if voters is None else sorted({annotator for _, annotator in voters})
    for at in range(0, len(ids), AT_ONCE):
        part = ids[at : at + AT_ONCE]
        versions = dict(_VERSIONS(stories=part))
        counts, votes = counted(part, annotators)
        rows = [(story, *counts[story], versions.get(story, 0) + 1) for story in part]
        write_few(StoryCounts, _STORY, rows, unique=_STORY[:1], update=_STORY[1:])
        before = AnnotatorCounts.objects.filter(story__in=part)
        if voters is None:
            before.delete()
        elif gone := set(voters) - {row[:2] for row in votes}:  # they withdrew all their votes
            before.filter(annotator__in={annotator for _, annotator in gone}).delete()
        for first in range(0, len(votes), AT_ONCE):
            some = votes[first : first + AT_ONCE]
            write_few(AnnotatorCounts, _ANNOTATOR, some, unique=_ANNOTATOR[:2], update=_ANNOTATOR[2:])


def counted(
    stories: Sequence[int], annotators: Collection[int] | None = None
) -> tuple[dict[int, tuple[int, ...]], list[tuple[Any, ...]]]:
    """Return by story the values of its counts, and (story, annotator, cells, first, last) of these annotators, or of
    all, counted from the cells."""
    numbers: dict[int, Counter[str]] = {story: Counter() for story in stories}
    imported = []
    for story, rows, labelled in _ROWS(stories=list(stories)):
        numbers[story]["propositions"] = rows
        if labelled:
            imported.append(story)
    for story, method, cells, disturbed in _GOLD(stories=list(stories)):
        numbers[story][method] = cells
        numbers[story]["disturbed"] += disturbed
    for story, cells, unvoted in _imported(imported) if imported else ():
        numbers[story]["imported"], numbers[story]["unvoted"] = cells, unvoted
    if annotators is None:
        votes = _VOTES(stories=list(stories))
    else:
        votes = _VOTES_OF(stories=list(stories), annotators=sorted(annotators)) if annotators else []
    return {story: tuple(of_story[name] for name in _COUNTS) for story, of_story in numbers.items()}, votes


def _imported(stories: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (story, cells with an imported label and no gold, those of them without a vote)."""
    live = Proposition.objects.live_gold().filter(table__story__in=stories)
    rows = live.filter(imported_labels__isnull=False).order_by().values_list("id", "table__story_id", "imported_labels")
    cell = ("proposition_id", "dimension")
    gold = set(GoldLabel.objects.filter(proposition__in=live).order_by().values_list(*cell))
    voted = set(Vote.objects.cast().filter(proposition__in=live).order_by().values_list(*cell).distinct())
    projects = {story.pk: story.project for story in Story.objects.filter(pk__in=stories).select_related("project")}
    cells: dict[int, set[tuple[int, str]]] = defaultdict(set)
    for pk, story, labels in rows:
        cells[story] |= {(pk, key) for key in projects[story].schema.keys if labels and labels.get(key)} - gold
    yield from ((story, len(of_story), len(of_story - voted)) for story, of_story in cells.items())


def recount_project(project: Project) -> int:
    """Count every story of a project again, in short transactions. Returns the number of stories."""
    stories = list(project.stories.order_by("id").values_list("id", flat=True))
    writes = ShortWrites()
    for at in range(0, len(stories), AT_ONCE):
        part = stories[at : at + AT_ONCE]
        with writes.transaction(len(part)):
            recount(part)
    return len(stories)


def differences(project: Project) -> Iterator[tuple[int, str]]:
    """Yield (story number, stored and right counts) of each story whose counts are wrong. Reads every cell."""
    numbers = dict(project.stories.order_by("number").values_list("id", "number"))
    stories = list(numbers)
    for at in range(0, len(stories), AT_ONCE):
        part = stories[at : at + AT_ONCE]
        counts, votes = counted(part)
        stored = {row[0]: row[1:] for row in StoryCounts.objects.filter(story__in=part).values_list(*_STORY[:-1])}
        stored_votes: dict[int, set[Any]] = defaultdict(set)
        right_votes: dict[int, set[Any]] = defaultdict(set)
        for row in AnnotatorCounts.objects.filter(story__in=part).values_list(*_ANNOTATOR):
            stored_votes[row[0]].add(row)
        for row in votes:
            right_votes[row[0]].add(row)
        for story in part:
            before = stored.get(story, (0,) * len(_COUNTS))
            if before != counts[story] or stored_votes[story] != right_votes[story]:
                kept, right = _text(before, stored_votes[story]), _text(counts[story], right_votes[story])
                yield numbers[story], f"kept {kept}, counted {right}"


def _text(counts: Sequence[int], votes: Collection[tuple[Any, ...]]) -> str:
    numbers = ", ".join(f"{name} {count}" for name, count in zip(_COUNTS, counts, strict=True))
    return f"{numbers}, votes {sum(row[2] for row in votes)}"


def version_of(project: Project) -> list[int]:
    """Return the version of all votes, gold and propositions of a project: it is another one after each change."""
    rows = StoryCounts.objects.filter(story__project=project)
    return [project.pk, *rows.order_by("story").values_list("version", flat=True)]
