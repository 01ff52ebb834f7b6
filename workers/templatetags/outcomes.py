"""State of work as pages show it: the bar whose parts are the states of items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from django import template

from core.messages import gettext_noop
from core.views.pages import Context

LEAST = 1.5
"""Per cent of the bar that a part takes at least: one failure of ten thousand must be seen."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the bar. `start` and `width` are in per cent of the bar."""

    state: str
    count: int
    start: float
    width: float

    @property
    def end(self) -> float:
        return round(self.start + self.width, 3)


def segments_of(counts: Mapping[str, int]) -> list[Segment]:
    """Return a segment for each state that has items, in the order of `counts`. Their widths add up to 100 per cent."""
    filled = {state: count for state, count in counts.items() if count > 0}
    total = sum(filled.values())
    raised = {state: max(LEAST, 100 * count / total) for state, count in filled.items()}
    small = {state: width for state, width in raised.items() if width == LEAST}
    # What small parts gain is taken from the others, each by its share.
    scale = (100 - sum(small.values())) / (sum(raised.values()) - sum(small.values()) or 1)
    segments, start = [], 0.0
    for state, count in filled.items():
        width = LEAST if state in small else raised[state] * scale
        segments.append(Segment(state, count, round(start, 3), round(width, 3)))
        start += width
    return segments


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
