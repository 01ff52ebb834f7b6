"""Values as pages write them: shares in per cent with two decimals, coefficients with three, undefined ones a dash;
what is below 0 has the minus of charts."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.translation import gettext

from annotation.domain.stories import MAX_SPLIT_LENGTH
from annotation.forms.values import MAX_MESSAGE, MAX_REASON
from annotation.models.user import name_on_pages
from core.messages import gettext_noop
from core.views.charts import PLAIN, POINTS, Notation

register = template.Library()

LONGEST = {"message": MAX_MESSAGE, "reason": MAX_REASON, "split": MAX_SPLIT_LENGTH}


@register.simple_tag
def longest(name: str) -> int:
    """Return the most characters of a text by what it is."""
    return LONGEST[name]


WORDS = (
    gettext_noop("unanimous"),
    gettext_noop("majority"),
    gettext_noop("adjudicated"),
    gettext_noop("imported"),
    gettext_noop("open"),
    gettext_noop("waiting"),
    gettext_noop("unlabelled"),
    gettext_noop("annotator"),
    gettext_noop("expert"),
    gettext_noop("admin"),
    gettext_noop("accepted"),
    gettext_noop("declined"),
)
"""Ways in which a cell is settled or not, roles, and what becomes of a flag."""

LABELS = (
    gettext_noop("Replaces"),
    gettext_noop("Annotators"),
    gettext_noop("Outcome"),
    gettext_noop("Files (.jsonl, .json, .csv, .xlsx)"),
    gettext_noop("Withdraw"),
    gettext_noop("Role"),
    gettext_noop("Split"),
    gettext_noop("Reason"),
    gettext_noop("Belief"),
    gettext_noop("Description"),
    gettext_noop("Stories"),
    gettext_noop("Error tag"),
    gettext_noop("Actor"),
    gettext_noop("Order"),
    gettext_noop("Language"),
    gettext_noop("Label"),
    gettext_noop("Seed"),
    gettext_noop("Status"),
    gettext_noop("Dimension"),
    gettext_noop("Encoding"),
    gettext_noop("Experts"),
    gettext_noop("Format"),
    gettext_noop("Archive (.zip)"),
    gettext_noop("Name"),
    gettext_noop("Category"),
    gettext_noop("User name"),
    gettext_noop("Display name"),
    gettext_noop("E-mail address"),
)
"""What Django makes of the names of fields that a form gives no words to."""


@register.filter
def word(value: str) -> str:
    """Return a word that the code keeps as the reader's language has it."""
    return gettext(value) if value else ""


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
    """Return the reasons why the estimates of rows have no interval or no value, each once."""
    return list(dict.fromkeys(row["estimate"].reason for row in rows if row["estimate"].reason))


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


@register.filter
def estimate_text(estimate: Any, kind: str) -> dict[str, Any]:
    """Return an estimate as {value, n, reason, value_text, interval_text}: a share in per cent, a shift in percentage
    points, a time of milliseconds in seconds, a number, or a signed one. Both texts are empty if there is no value."""
    interval = ""
    if estimate.interval:
        low, high = (in_unit(end, kind, unit=False) for end in estimate.interval)
        interval = gettext("{low} to {high}").format(low=low, high=high) + _units()[kind]
    texts = {"value_text": in_unit(estimate.value, kind), "interval_text": interval}
    return {"value": estimate.value, "n": estimate.n, "reason": estimate.reason or "", **texts}


@register.filter
def in_unit(value: float | None, kind: str, *, unit: bool = True) -> str:
    """Return a number in the unit of a kind of estimate; "" for None."""
    if value is None:
        return ""
    scale, sign = {"share": (100, ""), "shift": (100, "+"), "seconds": (0.001, ""), "number": (1, "z")}.get(
        kind, (1, "+z")
    )
    return f"{value * scale:{sign}.1f}".replace("-", "\N{MINUS SIGN}") + (_units()[kind] if unit else "")


def _units() -> dict[str, str]:
    points = f"\u202f{gettext('points')}"
    return {"share": "\u202f%", "shift": points, "seconds": "\u202fs", "number": "", "signed": ""}
