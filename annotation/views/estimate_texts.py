"""Estimates as the pages on suggestions and drafts write them: value and interval, in per cent, points, seconds or
numbers. A text of an estimate is {value, n, reason, value_text, interval_text}; both texts are empty if there is no
value."""

from __future__ import annotations

from django.utils.translation import gettext as _

from annotation.domain.anchoring.estimates import Estimate
from annotation.domain.anchoring.report import Largest
from core.views.pages import Context


def share_text(estimate: Estimate) -> Context:
    """Return a share with its text in per cent."""
    return _as_text(estimate, 100, unit="\u202f%")


def shift_text(estimate: Estimate) -> Context:
    """Return a difference of shares with its text in percentage points."""
    return _as_text(estimate, 100, "+", unit=_points())


def largest_text(largest: Largest) -> Context:
    """Return the largest shift that is not excluded, with its text in percentage points, or the reason for none."""
    text = "" if largest.value is None else f"{_written(largest.value, 100, '+')}{_points()}"
    return {"value_text": text, "reason": largest.reason or ""}


def seconds_text(milliseconds: Estimate) -> Context:
    """Return a time with its text in seconds."""
    return _as_text(milliseconds, 0.001, unit="\u202fs")


def number_text(estimate: Estimate, *, signed: bool = False) -> Context:
    """Return an estimate with its text as a number of rows or minutes."""
    return _as_text(estimate, 1, "+z" if signed else "z")


def _points() -> str:
    return f"\u202f{_('points')}"


def _written(value: float, scale: float, sign: str) -> str:
    return f"{value * scale:{sign}.1f}".replace("-", "\N{MINUS SIGN}")


def _as_text(estimate: Estimate, scale: float, sign: str = "", unit: str = "") -> Context:
    value, interval = "", ""
    if estimate.value is not None:
        value = _written(estimate.value, scale, sign) + unit
        if estimate.interval:
            low, high = (_written(end, scale, sign) for end in estimate.interval)
            interval = _("{low} to {high}").format(low=low, high=high) + unit
    own = {"value": estimate.value, "n": estimate.n, "reason": estimate.reason or ""}
    return own | {"value_text": value, "interval_text": interval}
