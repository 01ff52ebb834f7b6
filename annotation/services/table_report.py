"""Agreement of experts on the belief tables that they wrote apart and reconciled."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.domain.agreement.extraction import f1_estimate, overlap_estimate
from annotation.models import LaneRow, Project, Proposition, Story, TableKind
from annotation.models.story import StoryQuerySet
from core.statistics import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReport:
    """The reconciliation overlap and the F1 between the experts, each with its interval over stories, and how many rows
    reconciliation added, removed and revised."""

    stories: int
    reviewed: int
    unremarked: int
    added: int
    removed: int
    revised: int
    overlap: Estimate
    f1: Estimate


def table_report(*, project: Project, split: str | None = None, category: str | None = None) -> TableReport:
    """Return how far experts agreed on the tables of these stories."""
    stories = _compared(Story.objects.filter(project=project).in_use().in_split(split).in_category(category))
    reviewed = Proposition.objects.filter(table__story__in=stories, table__kind=TableKind.GOLD, reviewed=True)
    by_story = list(
        reviewed.order_by()
        .values("table__story")
        .annotate(
            rows=Count("id"),
            unremarked=Count("id", filter=Q(remark="")),
            **{name: Count("id", filter=Q(remark=name)) for name in ("added", "removed", "revised")},
        )
        .order_by("table__story")
    )
    changes = {name: sum(row[name] for row in by_story) for name in ("unremarked", "added", "removed", "revised")}
    return TableReport(
        stories=len(by_story),
        reviewed=sum(row["rows"] for row in by_story),
        **changes,
        overlap=overlap_estimate([(row["rows"], row["unremarked"]) for row in by_story]),
        f1=f1_estimate(_matched(stories)),
    )


def _compared(stories: StoryQuerySet) -> StoryQuerySet:
    """Leave out stories whose lanes had one expert's table alone: nobody agreed or differed there."""
    settled = LaneRow.objects.standing().filter(proposition__isnull=False).order_by()
    both = LaneRow.objects.standing().filter(b__isnull=False).order_by()
    return stories.exclude(
        pk__in=settled.filter(story__in=stories).exclude(story__in=both.values("story")).values("story")
    )


def _matched(stories) -> list[tuple[int, int, int]]:
    """Return by settled story the rows of A, the rows of B, and the pairs of them that say the same."""
    made = LaneRow.objects.standing().filter(story__in=stories)
    settled = made.filter(proposition__isnull=False).order_by().values("story")
    a, b = Q(a__isnull=False), Q(b__isnull=False)
    counts = made.filter(story__in=settled).order_by().values("story")
    rows = counts.annotate(first=Count("id", filter=a), second=Count("id", filter=b), both=Count("id", filter=a & b))
    return list(rows.order_by("story").values_list("first", "second", "both"))
