"""Agreement of experts on the belief tables that they wrote apart and reconciled."""

from typing import Any

from django.db.models import Count, Q

from annotation.domain.agreement.extraction import f1_estimate, overlap_estimate
from annotation.models import Pair, Project, Proposition, Story, TableKind
from annotation.models.story import StoryQuerySet


def table_report(*, project: Project, split: str | None = None, category: str | None = None) -> dict[str, Any]:
    """Return {stories, reviewed, unremarked, added, removed, revised, overlap, f1} for these stories: numbers of rows
    by the remark of reconciliation, and the overlap and the F1 between the experts as estimates over stories."""
    stories = _compared(Story.objects.filter(project=project).in_use().in_split(split).in_category(category))
    reviewed = Proposition.objects.filter(table__story__in=stories, table__kind=TableKind.GOLD, reviewed=True)
    remarks = {"unremarked": "", "added": "added", "removed": "removed", "revised": "revised"}
    counts = {name: Count("id", filter=Q(remark=remark)) for name, remark in remarks.items()}
    by_story: list[Any] = list(
        reviewed.order_by().values("table__story").annotate(rows=Count("id"), **counts).order_by("table__story")
    )
    return {
        "stories": len(by_story),
        "reviewed": sum(row["rows"] for row in by_story),
        **{name: sum(row[name] for row in by_story) for name in remarks},
        "overlap": overlap_estimate([(row["rows"], row["unremarked"]) for row in by_story]),
        "f1": f1_estimate(_matched(stories)),
    }


def _compared(stories: StoryQuerySet) -> StoryQuerySet:
    """Leave out stories whose reconciliation had one expert's table alone: nobody agreed or differed there."""
    settled = Pair.objects.standing().filter(proposition__isnull=False).order_by()
    both = Pair.objects.standing().filter(b__isnull=False).order_by()
    return stories.exclude(
        pk__in=settled.filter(story__in=stories).exclude(story__in=both.values("story")).values("story")
    )


def _matched(stories: StoryQuerySet) -> list[tuple[int, int, int]]:
    """Return by settled story the rows of A, the rows of B, and the pairs of them that say the same."""
    made = Pair.objects.standing().filter(story__in=stories)
    settled = made.filter(proposition__isnull=False).order_by().values("story")
    a, b = Q(a__isnull=False), Q(b__isnull=False)
    counts = made.filter(story__in=settled).order_by().values("story")
    rows = counts.annotate(first=Count("id", filter=a), second=Count("id", filter=b), both=Count("id", filter=a & b))
    return list(rows.order_by("story").values_list("first", "second", "both"))
