"""Figures as pages write them: shares in per cent with two decimals, coefficients with three, undefined ones a dash."""

from django import template

from annotation.models.user import name_on_pages

register = template.Library()
register.filter("person", name_on_pages)


@register.filter
def percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2%}"


@register.filter
def coefficient(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


@register.filter
def percent_interval(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{interval[0]:.2%} – {interval[1]:.2%}"


@register.filter
def coefficient_interval(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{interval[0]:.3f} – {interval[1]:.3f}"
