"""Named reads of the history of gold over a whole project, newest first."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models.belief_table import Proposition
from annotation.models.gold import DECIDED, GoldEvent, Method
from annotation.models.project import Project
from annotation.models.story import Story
from core.messages import gettext_noop

PAGE = 50
BY = {"decision": DECIDED, "rule": ~DECIDED}
"""What changed a label: somebody's decision (or taking one back), or the rule, when a vote or the rules changed."""


def of_project(project: Project, *, unfinished: Iterable[int] = (), **filters: Any) -> QuerySet[GoldEvent]:
    """Return the changes of gold that match, newest first, without those of the stories `unfinished`.

    `filters`: by (a key of BY), who (a user name), story (its number), dimension, method (what it became), reason
    (words of it).
    """
    # A condition on each event and no join: the newest events are read until a page is full, not the whole project.
    own = Proposition.objects.filter(pk=OuterRef("proposition_id"), table__story__project=project)
    rows = GoldEvent.objects.filter(Exists(own))
    if unfinished := set(unfinished):
        rows = rows.exclude(proposition__table__story_id__in=unfinished)
    if filters.get("by"):
        rows = rows.filter(BY[filters["by"]])
    if filters.get("story") is not None:
        # The story first, by its index: its few rows and not the whole history are looked through.
        story = Story.objects.filter(project=project, number=filters["story"]).values("id")
        rows = rows.filter(proposition__table__story_id__in=story)
    same = {"who": "by__username", "dimension": "dimension", "method": "after_method", "reason": "reason__icontains"}
    rows = rows.filter(**{same[name]: value for name, value in filters.items() if value and name in same})
    return rows.select_related("by", "proposition__table__story").order_by("-id")


def page_of(rows: QuerySet[GoldEvent], *, before: int | None) -> tuple[list[GoldEvent], int | None]:
    """Return (up to PAGE events older than the event `before`, the event that the next page begins before, None at the
    end)."""
    events = list((rows.filter(pk__lt=before) if before else rows)[: PAGE + 1])
    return events[:PAGE], events[PAGE - 1].pk if len(events) > PAGE else None


def method_name(method: str) -> str:
    """Return how a label was settled, in words; a cell without gold has the empty method."""
    return Method(method).label.lower() if method else gettext_noop("no gold")
