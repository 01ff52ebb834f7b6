"""US dollars as every page writes them (workers/domain/pricing.py)."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from django import template
from django.utils.translation import gettext as _

from core.messages import gettext_noop
from core.views.pages import Context
from workers.domain import pricing

register = template.Library()

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


@register.filter
def dollars(amount: Decimal | pricing.Money | None) -> str:
    """Return an amount in words; None is an unknown price, never 0."""
    return pricing.dollars(amount)


@register.simple_tag
def about(cost: Decimal | pricing.Money | None, most: Decimal | pricing.Money | None) -> str:
    return pricing.about(cost, most)


@register.filter
def exact_dollars(amount: Decimal | None) -> str:
    return pricing.exact_dollars(amount)


@register.filter
def price(amount: Decimal | None) -> str:
    """Return a price of tokens in words of the reader's language: "free" for 0, "unknown" for None."""
    return _("free") if amount == 0 else pricing.exact_dollars(amount)


@register.filter
def as_typed(amount: Decimal) -> str:
    return pricing.as_typed(amount)
