"""Estimates as the pages on suggestions and drafts write them: value and interval, in per cent, points, seconds or
numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.domain.anchoring.estimates import Estimate
from annotation.domain.anchoring.report import Largest


@dataclass(frozen=True, slots=True)
class EstimateText:
    """An estimate, with its value and its interval as the page has them; both empty where there is no value."""

    estimate: Estimate
    value_text: str = ""
    interval_text: str = ""

    @property
    def value(self) -> float | None:
        return self.estimate.value

    @property
    def n(self) -> int:
        return self.estimate.n

    @property
    def reason(self) -> str:
        return self.estimate.reason or ""


@dataclass(frozen=True, slots=True)
class LargestText:
    """The largest shift that is not excluded, with its value as the page has it; empty where there is no value."""

    largest: Largest
    value_text: str = ""

    @property
    def reason(self) -> str:
        return self.largest.reason or ""


Write = Callable[[float], str]
"""Writes a value without its unit."""


def share_text(estimate: Estimate) -> EstimateText:
    """Return a share with its text in per cent."""
    return _as_text(estimate, _scaled(100), "\u202f%")


def shift_text(estimate: Estimate) -> EstimateText:
    """Return a difference of shares with its text in percentage points."""
    return _as_text(estimate, _scaled(100, "+"), _points())


def largest_text(largest: Largest) -> LargestText:
    """Return the largest shift with its text in percentage points."""
    return LargestText(largest, "" if largest.value is None else f"{_scaled(100, '+')(largest.value)}{_points()}")


def seconds_text(milliseconds: Estimate) -> EstimateText:
    """Return a time with its text in seconds."""
    return _as_text(milliseconds, _scaled(0.001), "\u202fs")


def number_text(estimate: Estimate, *, signed: bool = False) -> EstimateText:
    """Return an estimate with its text as a number of rows or minutes."""
    return _as_text(estimate, _scaled(1, "+z" if signed else "z"))


def _points() -> str:
    return f"\u202f{_('points')}"


def _scaled(scale: float, sign: str = "") -> Write:
    def text(value: float) -> str:
        return f"{value * scale:{sign}.1f}".replace("-", "\N{MINUS SIGN}")

    return text


def _as_text(estimate: Estimate, text: Write, unit: str = "") -> EstimateText:
    if estimate.value is None:
        return EstimateText(estimate)
    interval = ""
    if estimate.interval:
        low, high = map(text, estimate.interval)
        interval = _("{low} to {high}").format(low=low, high=high) + unit
    return EstimateText(estimate, f"{text(estimate.value)}{unit}", interval)
