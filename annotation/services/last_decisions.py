"""Last decisions of an expert in a project that can still be taken back, and how fast experts decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q

from annotation.models import GoldEvent, GoldLabel, Method, Project, User, adjudication_queue
from annotation.services.adjudication import histories, standing_decisions

_LOOKED_AT = 50


def last_action(*, by: User, project: Project) -> list[GoldEvent]:
    """Return the decisions that the expert took last and that are still in force: one, or all that were taken at once.
    None where there is none."""
    standing = GoldLabel.objects.filter(
        proposition_id=OuterRef("proposition_id"),
        dimension=OuterRef("dimension"),
        method=Method.ADJUDICATED,
        decided_by=by,
    )
    own = GoldEvent.objects.filter(by=by, undoes=None, after_method=Method.ADJUDICATED).filter(
        Exists(standing),
        proposition__table__story__project=project,
        proposition__removed_at__isnull=True,
    )
    newest = own.select_related("proposition__table__story").order_by("-id")
    below = None
    while decisions := list((newest.filter(id__lt=below) if below else newest)[:_LOOKED_AT]):
        if in_force := _in_force(decisions):
            return _in_force(newest.filter(at=in_force[0].at)) if len(decisions) > 1 else in_force
        below = decisions[-1].pk
    return []


def _in_force(events: Iterable[GoldEvent]) -> list[GoldEvent]:
    """Return those of the events that are the last decision on their cell."""
    listed = list(events)
    past = histories({event.proposition_id for event in listed})
    return [event for event in listed if _last(past[event.proposition_id, event.dimension]) == event.pk]


def _last(history: Sequence[GoldEvent]) -> int | None:
    decisions = standing_decisions(history)
    return decisions[-1].pk if decisions else None


class Pace(NamedTuple):
    """Cells that were decided within the last hour, by one expert and by all."""

    own: int
    all: int


def pace(*, by: User, project: Project, now: datetime) -> Pace:
    """Return how fast cells are decided now; what an hour says of the rest is left to time on task."""
    decided = adjudication_queue.of_project(project).filter(
        method=Method.ADJUDICATED, decided_at__gt=now - timedelta(hours=1)
    )
    counts = decided.order_by().aggregate(every=Count("id"), own=Count("id", filter=Q(decided_by=by)))
    return Pace(counts["own"], counts["every"])
