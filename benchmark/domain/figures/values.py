"""Figures of a report as numbers in per cent, and as words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Number = float | str | None
"""A fraction, or its text as official scoring writes it."""
Figure = Number | Mapping[str, Any]
"""A number, or {"value": number, "interval": [low, high] or None}."""


class Percent(NamedTuple):
    value: float
    interval: tuple[float, float] | None = None

    def said(self) -> str:
        ends = f" ({self.interval[0]:.1f} to {self.interval[1]:.1f})" if self.interval else ""
        return f"{self.value:.1f}{ends}"


def percent(figure: Figure) -> Percent | None:
    """None where there is no value."""
    held = figure if isinstance(figure, Mapping) else {"value": figure}
    value, ends = held.get("value"), held.get("interval")
    if value in (None, ""):
        return None
    return Percent(100 * float(value), (100 * float(ends[0]), 100 * float(ends[1])) if ends else None)


def limits(figures: Iterable[Percent | None], least: float = 10) -> tuple[float, float]:
    """What an axis has to show, at least so many points, within 0 and 100 where the data is."""
    known = [one for figure in figures if figure for one in (figure.value, *(figure.interval or ()))]
    low, high = min(known, default=0.0), max(known, default=100.0)
    middle, half = (low + high) / 2, max(high - low, least) / 2 * 1.08
    low, high = min(low, middle - half), max(high, middle + half)
    return (max(low, -2.0), min(high, 102.0)) if known and min(known) >= 0 and max(known) <= 100 else (low, high)


def sentences(lines: Sequence[str], most: int = 60) -> str:
    """The lines of a description; past `most`, how many more there are."""
    more = [f"And {len(lines) - most} more."] if len(lines) > most else []
    return "\n".join([*lines[:most], *more])
