"""State of work as pages show it: the bar whose parts are the states of items."""

from __future__ import annotations

from typing import Protocol

from django import template

from core.messages import gettext_noop
from core.views.contexts import Context
from workers.domain.segments import segments_of

register = template.Library()
NAMES = {
    "done": "done", "unreadable": "unreadable", "failed": "failed", "cancelled": "cancelled",
    "flight": gettext_noop("in flight"),
    "waiting": "waiting",
}  # fmt: skip


class Counted(Protocol):
    """Numbers of items by state: a `Progress` of a job, or an object with the same."""

    @property
    def total(self) -> int: ...
    @property
    def done(self) -> int: ...
    @property
    def unreadable(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def cancelled(self) -> int: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def ended(self) -> int: ...


@register.inclusion_tag("workers/_states.html")
def states_bar(progress: Counted, total: int | None = None, *, legend: bool = False) -> Context:
    """Draw a bar of what `progress` counts.

    `total` is how many items there will be where `progress` does not know of all yet. With `legend`, all numbers stand
    beneath.
    """
    total = progress.total if total is None else total
    counts = {
        "done": progress.done,
        "unreadable": progress.unreadable,
        "failed": progress.failed,
        "cancelled": progress.cancelled,
        "flight": progress.in_flight,
        "waiting": total - progress.ended - progress.in_flight,
    }
    return {
        "segments": [{"part": segment, "name": NAMES[segment.state]} for segment in segments_of(counts)],
        "ended": progress.ended,
        "total": total,
        "legend": legend,
    }
