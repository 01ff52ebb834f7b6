"""The one interval method of the product: 95 % intervals of any figure from its resampled values, over clusters.

The standard error of a cluster bootstrap, times sqrt(n / (n − 1)) because resamples of n clusters spread by so much too
little, times a t quantile, as Hesterberg expands percentile tails ("What teachers should know about the bootstrap", The
American Statistician 69(4), 2015, section 5.3). Its degrees of freedom are n − 1, and fewer where few clusters make
most of the spread, since a standard error is then itself little known: those for which a chi-square variable varies as
the variance of values of such kurtosis does (Satterthwaite 1946, "An approximate distribution of estimates of variance
components", Biometrics Bulletin 2(6)), but at least four. Both ends are found on the logit of the figure's range and
taken back (the delta method), so that an interval near the end of the range is longer on the other side, where the
truth is, and never leaves the range.

Expanded percentile tails alone lack that length: with 10 clusters and an agreement of .93 they hold the truth in 88 %,
these intervals in 94 % (`python bench/intervals.py`, tables in docs/statistics.md).

Where every cluster has the same figure nothing is spread, which does not make it certain: with 95 % confidence a share
of at most 1 − .05^(1/n) of all clusters differs (the rule of three: about 3 / n), and the interval reaches as far as
these could move the figure.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from core.messages import Sentence, word
from core.plain import WHERE_THERE_IS_ONE, read_as
from core.statistics.bootstrap import RESAMPLES, Clusters, Floats, by_cluster, mean_of, ratios, replicated_means

LEVEL = 0.95
FEWEST = 5
"""No interval is given of fewer clusters."""
LEAST_DEFINED = 0.95
"""The share of resamples in which a figure must be defined; fewer would be another sample."""
LEAST_FREEDOM = 4
"""Degrees of freedom; with fewer, one cluster that differs would make an interval that says nothing."""
_NO_SPREAD = 1e-9
"""Rounding of sums is not spread; a part of the figure's size or range."""

Interval = tuple[list[float] | None, str]
"""[low, high], or None and the reason why there is none."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, how many it is of, and [low, high] of 95 %. `clusters` is how many it rests on, where these are more
    than one value each; `reason` says why there is no figure or no interval."""

    value: float | None
    n: int
    interval: Sequence[float] | None = None
    clusters: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """Return the estimate that was kept."""
        return read_as(cls, kept)


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a figure; an end of it may be infinite."""

    low: float
    high: float

    def around(self, value: Floats, margin: Floats) -> tuple[Floats, Floats]:
        """`value` ± `margin`, both ends found where the range has no ends: on its logit, its logarithm or as it is."""
        if np.isinf(self.high) and np.isinf(self.low):
            return value - margin, value + margin
        if np.isinf(self.high):
            above = value - self.low
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                factor = np.exp(margin / above)
                return self.low + above / factor, self.low + above * factor
        width = self.high - self.low
        share = (value - self.low) / width
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            middle, reach = np.log(share / (1 - share)), margin / width / (share * (1 - share))
            return self.low + width / (1 + np.exp(reach - middle)), self.low + width / (1 + np.exp(-middle - reach))


SHARE = Scale(0, 1)
DIFFERENCE = Scale(-1, 1)
"""The scale of a difference of two shares; chance-corrected coefficients have the same range."""
POSITIVE = Scale(0, np.inf)
REAL = Scale(-np.inf, np.inf)


def mean_estimates(
    rows: Floats,
    *,
    scale: Scale,
    seed: int,
    unit: str,
    empty: str,
    resamples: int = RESAMPLES,
    clusters: Clusters | None = None,
) -> list[Estimate]:
    """The mean of each row of `rows`, shape (k, n), nan where missing; all rows share the resampled clusters.

    `clusters` numbers the cluster of each of the n, from 0 on; without it every one is its own, and with it an estimate
    also has `clusters`, how many it rests on. `unit` is what the clusters are called, in the plural; `empty` is the
    reason of a row without any figure.
    """
    means, counts = mean_of(rows), np.isfinite(rows).sum(axis=1)
    units = clusters_known(rows.T, clusters)
    ends = too_few(units, unit=unit, empty=empty)
    if ends is None:
        replicates = replicated_means(rows.T, seed=seed, resamples=resamples, clusters=clusters)
        drawn_from = len(replicates) - resamples
        ends = intervals(means, replicates, units, clusters=drawn_from, scale=scale, unit=unit, empty=empty)
    return [
        Estimate(float(mean) if n else None, int(n), bounds, None if clusters is None else int(on), reason=why or None)
        for mean, n, on, (bounds, why) in zip(means, counts, units, ends, strict=True)
    ]


def clusters_known(columns: Floats, clusters: Clusters | None) -> NDArray[np.int64]:
    """Return how many clusters of each column, shape (n, k), have a value that is known: shape (k,)."""
    counts: NDArray[np.int64] = (by_cluster(np.isfinite(columns).astype(float), clusters) > 0).sum(axis=0)
    return counts


def intervals(
    values: Floats,
    replicates: Floats,
    counts: NDArray[np.int64],
    *,
    clusters: int,
    scale: Scale,
    unit: str,
    empty: str,
    strata: Clusters | None = None,
) -> list[Interval]:
    """Return ([low, high] or None, the reason without one) of each of k figures.

    `values` has shape (k,), `counts` how many clusters each rests on, shape (k,). `replicates` is what they are without
    each of the `clusters` in turn and then in each resample, shape (clusters + resamples, k), nan where undefined. All
    are on one `scale`. `strata` numbers the stratum that each cluster was drawn in, if there are several: what strata
    differ by is then no spread.
    """
    if none := too_few(counts, unit=unit, empty=empty):
        return none
    n = np.maximum(counts, 2)
    left_out, drawn = replicates[:clusters], replicates[clusters:]
    defined, spread = _spread(drawn)
    error = spread * np.sqrt(n / (n - 1))
    free = freedom(values - left_out, n)
    if strata is not None:
        within = _within(values - left_out, strata)
        error = error * _shrunk(within, values - left_out)
        free = np.minimum(freedom(within, n), np.maximum(n - strata.max() - 1, 1))
    low, high = scale.around(values, t_quantile((1 + LEVEL) / 2, free) * error)
    size = np.abs(values) if np.isinf(scale.high) else np.full(len(values), scale.high - scale.low)
    enough = defined / len(drawn) >= LEAST_DEFINED
    alike = error <= _NO_SPREAD * size
    bounds: list[Interval] = []
    columns = (column.tolist() for column in (values, counts, enough, alike, low, high))
    for value, count, known_enough, same, *ends in zip(*columns, strict=True):
        if count < FEWEST:
            bounds.append((None, few(unit) if count else empty))
        elif not known_enough:
            bounds.append((None, sparse(unit)))
        elif same:
            bounds.append(unmoved(value, count, scale, unit))
        else:
            bounds.append((ends, ""))
    return bounds


def _within(influences: Floats, strata: Clusters) -> Floats:
    """Return how far each cluster moves k figures, shape (clusters, k), around the mean of its stratum, with what makes
    up for means that are estimated."""
    moves = np.nan_to_num(influences)
    sizes = np.bincount(strata).astype(float)[:, None]
    middles = by_cluster(moves, strata) / sizes
    within: Floats = (moves - middles[strata]) * np.sqrt(sizes / np.maximum(sizes - 1, 1))[strata]
    return within


def _shrunk(within: Floats, influences: Floats) -> Floats:
    """Return by how much strata make the standard errors of k figures smaller, or larger where they are small."""
    moves = np.nan_to_num(influences)
    n = len(moves)
    whole = ((moves - moves.mean(axis=0)) ** 2).sum(axis=0) * n / max(n - 1, 1)
    shrunk: Floats = np.where(whole > 0, np.sqrt(ratios((within**2).sum(axis=0), whole)), 1.0)
    return shrunk


def too_few(counts: NDArray[np.int64], *, unit: str, empty: str) -> list[Interval] | None:
    """Return why none of k figures has an interval, where each rests on too few of the `counts` clusters, shape (k,);
    None where one has enough. What is not needed then need not be resampled."""
    return None if (counts >= FEWEST).any() else [(None, few(unit) if count else empty) for count in counts.tolist()]


def freedom(influences: Floats, n: NDArray[np.int64]) -> Floats:
    """Degrees of freedom of the standard errors of k figures that rest on `n` clusters each, shape (k,).

    `influences` is how far each cluster moves each figure, shape (clusters, k): 0 or nan where it has no part in it.
    """
    moves = np.nan_to_num(influences)
    squared = moves**2
    squares, fourths = squared.sum(axis=0), (squared * squared).sum(axis=0)
    kurtosis = np.divide(n * fourths, squares**2, out=np.full(len(n), 3.0), where=squares > 0)
    free: Floats = 2 / (np.maximum(kurtosis - 3, 0) / n + 2 / (n - 1))
    return np.clip(free, np.minimum(LEAST_FREEDOM, n - 1), n - 1)


def _spread(drawn: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return how many values of each column are known, and their standard deviation, nan where none is."""
    finite = np.isfinite(drawn)
    if finite.all():
        n = np.full(drawn.shape[1], len(drawn))
        return n, np.sqrt(((drawn - drawn.sum(axis=0) / n) ** 2).sum(axis=0) / n)
    n = finite.sum(axis=0)
    means = ratios(np.where(finite, drawn, 0).sum(axis=0), n)
    return n, np.sqrt(ratios(np.where(finite, (drawn - means) ** 2, 0).sum(axis=0), n))


def unseen_share(n: int) -> float:
    """The largest share of all clusters, with 95 % confidence, of a kind of which none is among n: 1 − .05^(1/n), about
    3 / n."""
    return 1 - math.pow(1 - LEVEL, 1 / n)


def unmoved(value: float, n: int, scale: Scale, unit: str) -> Interval:
    """Return the interval of a figure that is the same in all `n` clusters, by the rule of three."""
    if np.isinf(scale.high):
        return None, Sentence("all {unit} are alike, and nothing bounds those that were not seen", unit=word(unit))
    unseen = unseen_share(n)
    return [value - unseen * (value - scale.low), value + unseen * (scale.high - value)], ""


def tails(n: NDArray[np.int64]) -> Floats:
    """The share of resamples beyond either end where quantiles of resamples are wanted, as of ranks: 2.5 % for many
    clusters, less for few.

    The tails of an expanded percentile interval (Hesterberg 2015).
    """
    from scipy.special import ndtr

    shares: Floats = ndtr(np.sqrt(n / (n - 1)) * t_quantile((1 - LEVEL) / 2, n - 1))
    return shares


def t_quantile(share: float, freedom: Floats | NDArray[np.int64]) -> Floats:
    """The quantile of Student's t distribution, below which lies `share` of it."""
    from scipy.special import stdtrit  # not scipy.stats, which takes a second and fifty megabytes

    quantiles: Floats = stdtrit(freedom, share)
    return quantiles


def few(unit: str) -> str:
    """Return why there is no interval of so few clusters."""
    return Sentence("an interval needs at least {fewest} {unit}", fewest=FEWEST, unit=word(unit))


def sparse(unit: str) -> str:
    """Return why there is no interval where too many resamples miss every cluster that has a figure."""
    missing = f"{1 - LEAST_DEFINED:.0%}"
    return Sentence(
        "too few {unit} have what is counted: more than {missing} of resamples have none",
        unit=word(unit),
        missing=missing,
    )


def method(*, seed: int, unit: str, resamples: int = RESAMPLES) -> str:
    """Return how the intervals are made, in words."""
    return Sentence(
        "{level} intervals: t quantile, standard error of a cluster bootstrap over {unit} "
        "({resamples} resamples, seed {seed}), degrees of freedom by kurtosis, on the logit of the "
        "figure's range; rule of three where all {unit_2} are alike; none of fewer than {fewest} "
        "{unit_3}",
        level=f"{LEVEL:.0%}",
        unit=word(unit),
        resamples=resamples,
        seed=seed,
        unit_2=word(unit),
        fewest=FEWEST,
        unit_3=word(unit),
    )
