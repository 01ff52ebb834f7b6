"""Values as pages write them: shares in per cent with two decimals, coefficients with three, undefined ones a dash;
what is below 0 has the minus of charts."""

from collections.abc import Iterable
from typing import Any

from django import template

from annotation.models.user import name_on_pages
from core.views.charts import PLAIN, POINTS, Notation

register = template.Library()
SHARE = Notation(places=2, unit="%")
COEFFICIENT = Notation(times=1, places=3)
register.filter("person", name_on_pages)


@register.filter
def percent(value: float | None) -> str:
    return "–" if value is None else SHARE.text(value)


@register.filter
def two_decimals(value: float | None) -> str:
    return "–" if value is None else PLAIN.text(value)


@register.filter
def coefficient(value: float | None) -> str:
    return "–" if value is None else COEFFICIENT.text(value)


@register.filter
def percent_interval(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else " – ".join(map(SHARE.text, interval))


@register.filter
def reasons(rows: Iterable[Any]) -> list[str]:
    """Return why estimates have no interval or no value, every reason once. `rows` are estimates as pages have them,
    each with its `estimate`, which has a `reason`, or rows with several of them as `estimates`."""
    all_reasons = [each.estimate.reason for row in rows for each in getattr(row, "estimates", [row])]
    return list(dict.fromkeys(filter(None, all_reasons)))


@register.filter
def brackets(interval: tuple[float, float]) -> str:
    """Write an interval of shares below its estimate, in per cent as tables of results have it."""
    return f"[{', '.join(map(POINTS.text, interval))}]"


@register.filter
def coefficient_interval(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else " – ".join(map(COEFFICIENT.text, interval))


@register.filter
def p_value(value: float | None) -> str:
    """Write a p value with four decimals; one below them as below, since no p is 0."""
    if value is None:
        return "–"
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"
