"""Intervals of figures that are sums over clusters, from how far each cluster moves them: the limit that the cluster
bootstrap of such a figure has, without drawing a resample."""

import numpy as np

from core.statistics.bootstrap import Floats
from core.statistics.intervals import FEWEST, LEVEL, Interval, Scale, few, freedom, t_quantile, unmoved

_NO_SPREAD = 1e-9


def linear_error(moves: Floats) -> float:
    """Return the standard error of a figure that each cluster moves so far, shape (clusters,)."""
    return float(np.sqrt((moves**2).sum()))


def linear_freedom(moves: Floats, most: int) -> float:
    """Return the degrees of freedom of that standard error, `most` of them at most."""
    n = len(moves)
    return min(float(most), float(freedom(moves[:, None], np.array([max(n, 2)]))[0])) if n else 0.0


def linear_interval(value: float, moves: Floats, *, count: int, most: int, scale: Scale, unit: str) -> Interval:
    """Return the 95 % interval of a figure that each cluster moves so far, shape (clusters,).

    It rests on `count` clusters, none being given of fewer than five, and has `most` degrees of freedom at most.
    """
    if count < FEWEST:
        return None, few(unit)
    error = linear_error(moves)
    if error <= _NO_SPREAD * _size(value, scale):
        return unmoved(value, count, scale, unit)
    margin = float(t_quantile((1 + LEVEL) / 2, np.array([linear_freedom(moves, most)]))[0]) * error
    low, high = scale.around(np.array([value]), np.array([margin]))
    return [float(low[0]), float(high[0])], ""


def linear_p(value: float, moves: Floats, *, count: int, most: int, scale: Scale) -> float:
    """Return the two-sided p value of a difference that could be none, with the very interval of `linear_interval`:
    below .05 where that leaves out 0.

    Where all clusters are alike and the range has ends, it is by the rule of three: the chance that of `count` clusters
    none is of a kind that would bring the mean to 0.
    """
    from scipy.special import stdtr

    error = linear_error(moves)
    if error <= _NO_SPREAD * _size(value, scale):
        if abs(value) <= _NO_SPREAD or np.isinf(scale.high):
            return 1.0
        return float((1 - value / (value - (scale.low if value > 0 else scale.high))) ** count)
    distance = abs(value)
    if np.isfinite(scale.high):
        share, none = (value - scale.low) / (scale.high - scale.low), -scale.low / (scale.high - scale.low)
        if not 0 < share < 1:
            return 0.0
        distance = abs(np.log(share / (1 - share)) - np.log(none / (1 - none)))
        error /= (scale.high - scale.low) * share * (1 - share)
    return float(2 * stdtr(linear_freedom(moves, most), -distance / error))


def _size(value: float, scale: Scale) -> float:
    return abs(value) if np.isinf(scale.high) else scale.high - scale.low
