"""Intervals of many means by one cluster bootstrap over stories: all means share the resampled stories and one matrix product.

An interval has the ends of an expanded percentile interval (Hesterberg 2015, "What teachers should know about the bootstrap",
The American Statistician 69(4), section 5.3). The plain percentile interval is too narrow for few stories twice over: resamples
spread by sqrt((n - 1) / n) too little, and normal quantiles stand where t quantiles belong. So sqrt(n / (n - 1)) · t(n - 1)
takes the place of the normal quantile. Of 2,000 seeded samples of 70 stories (the 12 figures of tests/benchmark/
test_interval_coverage.py, standard error of each share 0.5 points) plain intervals held the truth in 92.9 to 94.9 %, 94.0 %
on average, expanded ones in 93.8 to 95.4 %, 94.6 %, and BCa in 92.7 to 95.3 %, 94.1 %.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from annotation.domain.agreement.intervals import LEVEL
from annotation.domain.anchoring.estimates import DRAWS_AT_ONCE, ONE_STORY, RESAMPLES
from benchmark.domain.inference.aligned import Floats, mean_of

NO_STORY = "no story has a score"
SPARSE = "too few stories: some resamples have no score"

Estimate = dict[str, Any]
"""{"value", "n", "interval"}: a mean, its number of stories and [low, high] of 95 %; with a `reason` where any is None."""


def mean_estimates(rows: Floats, *, seed: int, resamples: int = RESAMPLES, empty: str = NO_STORY) -> list[Estimate]:
    """The mean of each row of `rows`, shape (k, stories), nan where missing; all rows share the resampled stories.

    `empty` is the reason of a row without any score.
    """
    means, counts = mean_of(rows), np.isfinite(rows).sum(axis=1)
    found = intervals(resampled_means(rows.T, seed=seed, resamples=resamples), counts, empty=empty)
    return [
        {"value": float(mean) if n else None, "n": int(n), "interval": interval} | ({"reason": why} if why else {})
        for mean, n, (interval, why) in zip(means, counts, found, strict=True)
    ]


def resampled_means(columns: Floats, *, seed: int, resamples: int) -> Floats:
    """The mean of what is known of each column, shape (stories, k), in each resample of the stories: shape (resamples, k).

    nan where none of a column's stories was drawn.
    """
    known = np.isfinite(columns)
    if not known.size:
        return np.full((resamples, columns.shape[1]), np.nan)
    both = np.hstack([np.where(known, columns, 0), known])
    return ratios(*np.split(resampled_sums(both, seed=seed, resamples=resamples), 2, axis=1))


def ratios(numerators: Floats, denominators: Floats) -> Floats:
    """Element by element, nan where there is nothing to divide by."""
    wanted = np.broadcast_shapes(numerators.shape, denominators.shape)
    return np.divide(numerators, denominators, out=np.full(wanted, np.nan), where=np.asarray(denominators) > 0)


def resampled_sums(columns: Floats, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Sums over the stories of each resample, which all columns share: shape (stories, k) → (resamples, k).

    Columns of single precision are summed in it: exact for counts up to 16 millions, in half the time.
    """
    stories, k = columns.shape
    if resamples * stories <= DRAWS_AT_ONCE:
        return (_kept_weights(seed, resamples, stories) @ columns).astype(float)
    rng = np.random.default_rng(seed)
    sums = np.empty((resamples, k))
    step = max(1, DRAWS_AT_ONCE // stories)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        sums[start : start + size] = _weights(rng, size, stories) @ columns
    return sums


@lru_cache(maxsize=12)
def _kept_weights(seed: int, resamples: int, stories: int) -> NDArray[np.float32]:
    """A report sums hundreds of times over the same resamples: of its stories, of the usable ones, of those of each category."""
    return _weights(np.random.default_rng(seed), resamples, stories).astype(np.float32)


def intervals(
    means: Floats, counts: NDArray[np.int64], *, empty: str = NO_STORY
) -> list[tuple[list[float] | None, str]]:
    """([low, high] or None, the reason without one) of each column of resampled `means`, shape (resamples, k).

    `counts` says how many stories each column's figure rests on, shape (k,).
    """
    tails = _tails(np.maximum(counts, 2))
    found: list[tuple[list[float] | None, str]] = []
    for drawn, n, tail in zip(np.sort(means, axis=0).T, counts, tails, strict=True):
        if n < 2:
            found.append((None, ONE_STORY if n else empty))
        elif np.isfinite(drawn[-1]):  # nan is sorted last
            found.append((_ends(drawn, float(tail)), ""))
        else:
            found.append((None, SPARSE))
    return found


def _tails(n: NDArray[np.int64]) -> Floats:
    """The share of resamples beyond either end, for a figure of n stories: 2.5 % for many, less for few."""
    return norm.cdf(np.sqrt(n / (n - 1)) * t.ppf((1 - LEVEL) / 2, n - 1))


def _ends(ordered: Floats, tail: float) -> list[float]:
    """Both quantiles of an ordered sample, interpolated as NumPy does by default."""
    at = np.array([tail, 1 - tail]) * (len(ordered) - 1)
    below = np.floor(at).astype(int)
    above = np.minimum(below + 1, len(ordered) - 1)
    return (ordered[below] + (at - below) * (ordered[above] - ordered[below])).tolist()


def _weights(rng: np.random.Generator, resamples: int, stories: int) -> Floats:
    """How often each resample drew each story, shape (resamples, stories)."""
    flat = rng.integers(stories, size=(resamples, stories)) + np.arange(resamples)[:, None] * stories
    return np.bincount(flat.ravel(), minlength=flat.size).reshape(flat.shape).astype(float)


def method(*, seed: int, resamples: int) -> str:
    """How the intervals are made, in words."""
    return (
        f"expanded percentile interval (t quantile), {LEVEL:.0%}, cluster bootstrap over stories, {resamples} resamples, "
        f"seed {seed}"
    )
