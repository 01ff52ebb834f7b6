"""How work stands, as pages show it: the bar whose parts are the states of items."""

from __future__ import annotations

from typing import Any

from django import template

from core.language import gettext_noop
from workers.domain.segments import segments_of

register = template.Library()
NAMES = {
    "done": "done", "unusable": "unusable", "failed": "failed", "cancelled": "cancelled",
    "flight": gettext_noop("in flight"),
    "waiting": "waiting",
}  # fmt: skip


@register.inclusion_tag("workers/_states.html")
def states_bar(progress: Any, total: int | None = None, *, legend: bool = False) -> dict[str, Any]:
    """Draw a bar of what `progress` counts: a `Progress` of a job, or an object with the same numbers.

    `total` is how many items there will be where `progress` does not know of all yet. With `legend`, all numbers stand
    beneath.
    """
    total = progress.total if total is None else total
    counts = {
        "done": progress.done,
        "unusable": progress.unusable,
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
