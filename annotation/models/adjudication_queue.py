"""Named reads of the experts' queue."""

from __future__ import annotations

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models.gold import GoldLabel, Method
from annotation.models.project import Project
from annotation.models.vote import Vote, VoteEvent

STATUSES = {
    "todo": Q(method=Method.OPEN) | Q(disturbed=True),
    "open": Q(method=Method.OPEN),
    "disturbed": Q(disturbed=True),
    "adjudicated": Q(method=Method.ADJUDICATED),
    "majority": Q(method=Method.MAJORITY),
    "all": Q(),
}


def of_project(project: Project) -> QuerySet:
    return GoldLabel.objects.filter(proposition__table__story__project=project, proposition__removed_at__isnull=True)


def queue(project: Project, *, expert, unfinished: set[int], status: str = "todo", **filters: str) -> QuerySet:
    """Cells in order of agreement, lowest first, with `voted` true where the expert voted.

    `unfinished` are the stories that the expert still labels: they are left out. `filters`: dimension, category, split,
    text (in actor or belief) and pair, two labels with a bar between, both voted for.
    """
    own = VoteEvent.objects.filter(
        annotator=expert, proposition_id=OuterRef("proposition_id"), dimension=OuterRef("dimension")
    )
    rows = of_project(project).filter(STATUSES[status]).exclude(proposition__table__story__in=unfinished)
    named = {
        "dimension": "dimension",
        "category": "proposition__table__story__category__name",
        "split": "proposition__table__story__split__name",
    }
    rows = rows.filter(**{named[name]: value for name, value in filters.items() if name in named and value})
    if text := filters.get("text"):
        rows = rows.filter(Q(proposition__belief__icontains=text) | Q(proposition__actor__icontains=text))
    for label in [part for part in (filters.get("pair") or "").split("|") if part]:
        voted = Vote.objects.filter(
            proposition_id=OuterRef("proposition_id"), dimension=OuterRef("dimension"), label=label
        )
        rows = rows.filter(Exists(voted))
    order = ("agreement", "proposition__table__story__number", "proposition__position", "dimension")
    return rows.annotate(voted=Exists(own)).order_by(*order)


def left(project: Project) -> dict[str, int]:
    """Open or disturbed cells by dimension."""
    rows = of_project(project).filter(STATUSES["todo"]).values_list("dimension")
    return dict(rows.annotate(Count("id")).order_by())
