"""Experts' decisions on cells: which are in force, which an expert can take back, and how fast experts decide."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from operator import attrgetter

from django.db.models import Count, Q, QuerySet, Subquery

from annotation.models import GoldEvent, GoldLabel, Method, Project, User, adjudication_queue

Decisions = dict[int, dict[str, dict[str, str]]]
"""The label of each decision, by proposition id, expert's user name and dimension."""
_SAID = attrgetter("by_id", "after", "votes")


def histories(propositions: Iterable[int]) -> dict[tuple[int, str], list[GoldEvent]]:
    """Return the events of the cells of these propositions, oldest first."""
    past: dict[tuple[int, str], list[GoldEvent]] = defaultdict(list)
    for event in GoldEvent.objects.filter(proposition__in=set(propositions)).select_related("by").order_by("id"):
        past[event.proposition_id, event.dimension].append(event)
    return past


def standing_decisions(history: Iterable[GoldEvent]) -> list[GoldEvent]:
    """Return the decisions that stand on one another in a cell, oldest first; the last one is in force. `history` are
    its events in order.

    A decision by the same expert for the same label on the same votes only amends reason and tag: it replaces the one
    before.
    """
    standing: list[GoldEvent] = []
    for event in history:
        if event.undoes is not None:
            standing[-1:] = []
        elif event.after_method != Method.ADJUDICATED:
            standing.clear()
        elif standing and _SAID(standing[-1]) == _SAID(event):
            standing[-1] = event
        else:
            standing.append(event)
    return standing


def decisions_in(events: QuerySet[GoldEvent]) -> Decisions:
    """Return each expert's last decision on a cell that was not taken back, overruled ones too; `events` holds the
    whole history of its cells."""
    decided_or_undone = Q(after_method=Method.ADJUDICATED) | Q(before_method=Method.ADJUDICATED)
    cells: dict[tuple[int, str], list[GoldEvent]] = defaultdict(list)
    columns = ("proposition_id", "dimension", "after", "after_method", "undoes", "votes", "by__username")
    for event in events.filter(decided_or_undone).select_related("by").order_by("id").only(*columns):
        cells[event.proposition_id, event.dimension].append(event)
    decisions: Decisions = defaultdict(lambda: defaultdict(dict))
    for (pk, key), history in cells.items():
        for event in standing_decisions(history):
            assert event.by, "a decision is somebody's"
            decisions[pk][event.by.username][key] = event.after
    return decisions


def last_action(*, by: User, project: Project) -> QuerySet[GoldLabel]:
    """Return the cells that the expert decided last, while that is in force: one, or all that were decided at once."""
    decided = GoldLabel.objects.filter(method=Method.ADJUDICATED, decided_by=by)
    own = decided.filter(proposition__table__story__project=project, proposition__removed_at__isnull=True)
    newest = own.order_by("-decided_at").values("decided_at")[:1]
    labels = own.filter(decided_at=Subquery(newest)).select_related("proposition__table__story")
    return labels.order_by("proposition", "dimension")


def pace(*, by: User, project: Project, now: datetime) -> dict[str, int]:
    """Return the numbers of cells decided within the last hour, by this expert (`own`) and by all (`all`)."""
    decided = adjudication_queue.of_project(project).filter(
        method=Method.ADJUDICATED, decided_at__gt=now - timedelta(hours=1)
    )
    counts: dict[str, int] = decided.order_by().aggregate(all=Count("id"), own=Count("id", filter=Q(decided_by=by)))
    return counts
