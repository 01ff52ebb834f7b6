"""Figures of which a part is missing: their intervals, and when a difference is shown in spite of it.

A difference that is read as an effect must not be made by missing answers. It is taken over the pairs that were
answered on both sides, and its test goes by what is missing:

- where as much is missing on both sides (`are_alike`), the test is that of the answered pairs;
- else the difference has to hold with one strict sign at both bounds too: with all that is missing at its worst on the
  first side and at its best on the second, and the other way round. Its p is the largest of the three, and 1 where the
  signs differ. Whatever is missing, and for whatever reason, one of the bounds lies at least as near to zero as the
  truth, so that this test keeps its level (an intersection-union test, Berger 1982).
"""

from collections.abc import Sequence

import numpy as np

from core.messages import gettext_noop
from core.statistics.intervals import Interval

MOST_APART = 0.1
"""Missing shares of two sides that lie further apart are not alike, however few samples they are of."""
MISSING_RULE = gettext_noop(
    "Missing shares are alike where their difference is at most ten points and its 95 % interval holds 0. Where they "
    "are not alike, a difference is shown only if it is significant with the same sign at both bounds: its p is then "
    "the largest of the three."
)
"""The rule in words, for the notes of tables."""
_ROUNDING = 1e-12


def are_alike(difference: float, interval: Sequence[float] | None) -> bool:
    """Return whether as much is missing on both sides, from the difference of the missing shares and its interval.
    Without an interval it is not known, and so they are not."""
    if interval is None or abs(difference) > MOST_APART + _ROUNDING:
        return False
    return interval[0] <= 0 <= interval[1]


def spared_p(means: Sequence[float], p: Sequence[float | None], alike: bool) -> float | None:
    """Return the p of a difference from the means and the p of its answered pairs and of both bounds, in this order;
    None without answered pairs."""
    answered, *at_bounds = p
    if answered is None or alike or np.isnan(means[0]):
        return None if np.isnan(means[0]) else answered
    signs = {0.0 if abs(mean) <= _ROUNDING else float(np.sign(mean)) for mean in means}
    if len(signs) > 1 or 0.0 in signs:
        return 1.0
    return max([answered, *(bound for bound in at_bounds if bound is not None)])


def spanning(lowest: Interval, highest: Interval) -> Interval:
    """Return the interval from the lower end of the worst case to the upper end of the best; none where either is none.

    Whatever is missing, and for whatever reason, the figure lies between worst and best, so that the interval holds it
    at least as often as an interval of known data does (Horowitz and Manski 2000, "Nonparametric analysis of randomized
    experiments with missing covariate and outcome data", Journal of the American Statistical Association 95(449)).
    """
    (low, why), (high, other) = lowest, highest
    return ([low[0], high[1]], "") if low and high else (None, why or other)
