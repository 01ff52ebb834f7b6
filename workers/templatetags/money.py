"""US dollars as every page writes them (workers/domain/pricing.py)."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import template
from django.utils.translation import gettext as _

from core.messages import gettext_noop
from core.views.pages import Context
from workers.domain import pricing

register = template.Library()
register.filter("dollars", pricing.dollars)
register.filter("exact_dollars", pricing.exact_dollars)
register.filter("as_typed", pricing.as_typed)
register.simple_tag(pricing.about, name="about")

LEAST = 1.5
"""Per cent of the bar that a part takes at least: one failure of ten thousand must be seen."""


NAMES = {
    "done": "done", "unreadable": "unreadable", "failed": "failed", "cancelled": "cancelled",
    "flight": gettext_noop("in flight"),
    "waiting": "waiting",
}  # fmt: skip


def segments_of(counts: Mapping[str, int]) -> list[Context]:
    """Return {"state", "name", "count", "start", "end", "width"} of each state that has items, in the order of
    `counts`; places and widths in per cent of the bar. The widths add up to 100 per cent."""
    filled = {state: count for state, count in counts.items() if count > 0}
    total = sum(filled.values())
    raised = {state: max(LEAST, 100 * count / total) for state, count in filled.items()}
    small = {state: width for state, width in raised.items() if width == LEAST}
    # What small parts gain is taken from the others, each by its share.
    scale = (100 - sum(small.values())) / (sum(raised.values()) - sum(small.values()) or 1)
    segments: list[Context] = []
    at = 0.0
    for state, count in filled.items():
        exact = LEAST if state in small else raised[state] * scale
        start, width = round(at, 3), round(exact, 3)
        place = {"start": start, "end": round(start + width, 3), "width": width}
        segments.append({"state": state, "name": NAMES[state], "count": count, **place})
        at += exact
    return segments


@register.inclusion_tag("workers/_states.html")
def states_bar(progress: Any, total: int | None = None, *, legend: bool = False) -> Context:
    """Draw a bar of what `progress` counts: a `Progress` of a job, or an object with the same numbers.

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
    return {"segments": segments_of(counts), "ended": progress.ended, "total": total, "legend": legend}


@register.filter
def price(amount: Decimal | None) -> str:
    """Return a price of tokens in words of the reader's language: "free" for 0, "unknown" for None."""
    return _("free") if amount == 0 else pricing.exact_dollars(amount)
