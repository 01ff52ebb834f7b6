"""Correlation of two figures over the same units, which may be alike within clusters.

Units of one cluster tell less than so many others do. The standard error is then that of a jackknife, which leaves out
each cluster in turn, on Fisher's z, with a t quantile of as many degrees of freedom as there are clusters less one:
with five to twenty clusters it holds the truth in about 95 %, where Fisher's interval over units holds it in 80 to 88 %
(`python bench/correlations.py`).
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from core.messages import Sentence, word
from core.statistics.bootstrap import Floats
from core.statistics.intervals import FEWEST, LEVEL, few, t_quantile

FEWEST_POINTS = 3
"""Two points always lie on a line."""
_NEARLY_ONE = 1 - 1e-9


def too_few_points(unit: str) -> str:
    """Return why there is no correlation over so few units."""
    return Sentence("a correlation needs at least {fewest_points} {unit}", fewest_points=FEWEST_POINTS, unit=word(unit))


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r of `n` pairs, from -1 to 1, its interval by Fisher's z transformation and its two-sided p value.
    `clusters` is the number of independent ones. `reason` says why one of them is None, empty where none is."""

    n: int
    clusters: int
    r: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    reason: str = ""


def pearson(
    first: Sequence[float],
    second: Sequence[float],
    *,
    unit: str,
    clusters: Sequence[Hashable] = (),
    cluster_unit: str = "",
) -> Correlation:
    """Return the correlation of two figures of the same units, whose name in the plural is `unit`: none over fewer than
    three or where one of them does not vary, and without interval and p value where the units are fewer than five or
    all lie on a line.

    `clusters` says which cluster each unit is of, if not every unit is its own, and `cluster_unit` what clusters are
    called in the plural. Fewer than five of them give no interval.
    """
    n, count = len(first), len({*clusters}) if clusters else len(first)
    if n < FEWEST_POINTS:
        return Correlation(n, count, reason=too_few_points(unit))
    if len({*first}) < 2 or len({*second}) < 2:
        return Correlation(n, count, reason="one of the two is the same everywhere")
    from scipy import stats  # takes a second to load, and every process loads this module

    result = stats.pearsonr(first, second)
    r = float(result.statistic)
    if n < FEWEST:
        return Correlation(n, count, r, reason=few(unit))
    if math.isclose(abs(r), 1.0):
        return Correlation(n, count, r, reason=Sentence("all {unit} lie on one line", unit=word(unit)))
    if count < n:
        return _over_clusters(np.array([first, second], dtype=float), r, clusters, unit, cluster_unit)
    low, high = result.confidence_interval(LEVEL)
    return Correlation(n, count, r, (float(low), float(high)), float(result.pvalue))


def _over_clusters(values: Floats, r: float, clusters: Sequence[Hashable], unit: str, cluster_unit: str) -> Correlation:
    """The correlation r of two rows of values, with an interval over the clusters that the columns are of."""
    names = list(dict.fromkeys(clusters))
    n, count = values.shape[1], len(names)
    if count < FEWEST:
        return Correlation(n, count, r, reason=few(cluster_unit))
    at = np.array([names.index(name) for name in clusters])
    parts = [values[:, at != number] for number in range(count)]
    if any((part.max(axis=1) == part.min(axis=1)).any() or part.shape[1] < FEWEST_POINTS for part in parts):
        why = Sentence(
            "without one of the {cluster_unit} one of the two is the same everywhere", cluster_unit=cluster_unit
        )
        return Correlation(n, count, r, reason=why)
    left_out = np.array([float(np.asarray(np.corrcoef(part))[0, 1]) for part in parts])
    if (np.abs(left_out) > _NEARLY_ONE).any():
        why = Sentence(
            "without one of the {cluster_unit} all {unit} lie on one line", cluster_unit=cluster_unit, unit=word(unit)
        )
        return Correlation(n, count, r, reason=why)
    from scipy.special import stdtr

    z, moved = math.atanh(r), np.arctanh(left_out)
    error = math.sqrt((count - 1) / count * float(((moved - moved.mean()) ** 2).sum()))
    reach = float(t_quantile((1 + LEVEL) / 2, np.array([count - 1]))[0]) * error
    p = float(2 * stdtr(count - 1, -abs(z) / error)) if error else float(z == 0)
    return Correlation(n, count, r, (math.tanh(z - reach), math.tanh(z + reach)), p)
