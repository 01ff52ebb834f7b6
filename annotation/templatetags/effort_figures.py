"""Hours as pages write them."""

from django import template

register = template.Library()


@register.filter
def hours(value: float | None) -> str:
    """Hours and minutes; a dash where they are not known."""
    if value is None:
        return "–"
    minutes = round(value * 60)
    if not minutes:
        return "0" if not value else "under 1 min"
    return f"{minutes // 60:,} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
