"""Hours as pages write them."""

from django import template
from django.utils.translation import gettext

register = template.Library()


@register.filter
def hours(value: float | None) -> str:
    """Hours and minutes; a dash where they are not known."""
    if value is None:
        return "–"
    minutes = round(value * 60)
    if not minutes:
        return gettext("under 1 min") if value else "0"
    if minutes < 60:
        return gettext("{minutes} min").format(minutes=minutes)
    return gettext("{hours:,} h {minutes:02} min").format(hours=minutes // 60, minutes=minutes % 60)
