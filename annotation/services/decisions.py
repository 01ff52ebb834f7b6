"""Experts' decisions on cells, including those that another expert overruled."""

from __future__ import annotations

from collections import defaultdict

from django.db.models import Q, QuerySet

from annotation.models import GoldEvent, Method
from annotation.services.adjudication import standing_decisions

Decisions = dict[int, dict[str, dict[str, str]]]
"""The label of each decision, by proposition id, expert's user name and dimension."""


def decisions_in(events: QuerySet[GoldEvent]) -> Decisions:
    """Return each expert's last decision on a cell that was not taken back; `events` holds the whole history of its
    cells."""
    decided_or_undone = Q(after_method=Method.ADJUDICATED) | Q(before_method=Method.ADJUDICATED)
    cells: dict[tuple[int, str], list[GoldEvent]] = defaultdict(list)
    columns = ("proposition_id", "dimension", "after", "after_method", "undoes", "votes", "by__username")
    for event in events.filter(decided_or_undone).select_related("by").order_by("id").only(*columns):
        cells[event.proposition_id, event.dimension].append(event)
    decisions: Decisions = defaultdict(lambda: defaultdict(dict))
    for (pk, key), history in cells.items():
        for event in standing_decisions(history):
            decisions[pk][event.by.username][key] = event.after
    return decisions
