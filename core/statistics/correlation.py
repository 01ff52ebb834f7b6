"""Correlation of two figures over the same units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.statistics.intervals import FEWEST, LEVEL, few

FEWEST_POINTS = 3
"""Two points always lie on a line."""


def too_few_points(unit: str) -> str:
    """Return why there is no correlation over so few units."""
    return f"a correlation needs at least {FEWEST_POINTS} {unit}"


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r of `n` pairs, from -1 to 1, its interval by Fisher's z transformation and its two-sided p value.
    `reason` says why one of them is None, empty where none is."""

    n: int
    r: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    reason: str = ""


def pearson(first: Sequence[float], second: Sequence[float], *, unit: str) -> Correlation:
    """Return the correlation of two figures of the same units, whose name in the plural is `unit`: none over fewer than
    three or where one of them does not vary, and without interval and p value where the units are fewer than five or
    all lie on a line."""
    n = len(first)
    if n < FEWEST_POINTS:
        return Correlation(n, reason=too_few_points(unit))
    if len({*first}) < 2 or len({*second}) < 2:
        return Correlation(n, reason="one of the two is the same everywhere")
    from scipy import stats  # takes a second to load, and every process loads this module

    result = stats.pearsonr(first, second)
    r = float(result.statistic)
    if n < FEWEST:
        return Correlation(n, r, reason=few(unit))
    if math.isclose(abs(r), 1.0):
        return Correlation(n, r, reason=f"all {unit} lie on one line")
    low, high = result.confidence_interval(LEVEL)
    return Correlation(n, r, (float(low), float(high)), float(result.pvalue))
