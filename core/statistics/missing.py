"""Intervals of figures of which a part is missing."""

from __future__ import annotations

from core.statistics.intervals import Interval


def spanning(lowest: Interval, highest: Interval) -> Interval:
    """Return the interval from the lower end of the worst case to the upper end of the best; none where either is none.

    Whatever is missing, and for whatever reason, the figure lies between worst and best, so that the interval holds it
    at least as often as an interval of known data does (Horowitz and Manski 2000, "Nonparametric analysis of randomized
    experiments with missing covariate and outcome data", Journal of the American Statistical Association 95(449)).
    """
    (low, why), (high, other) = lowest, highest
    return ([low[0], high[1]], "") if low and high else (None, why or other)
