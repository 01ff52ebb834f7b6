"""Percentile intervals of many means by one cluster bootstrap over stories.

The same interval as `anchoring.estimates`, with one matrix product for all means in the place of one for each: a
leaderboard of 20 models has 190 differences beside its 20 scores. Percentile rather than BCa, because that is what the
repaired reading reports and one figure must not have two intervals; a mean over stories is nearly unbiased and nearly
symmetric, so BCa would move the ends little, and it is undefined for a model that is right everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    known = np.isfinite(rows)
    counts = known.sum(axis=1)
    low, high = _ends(rows, known, seed=seed, resamples=resamples)
    found = zip(mean_of(rows), counts, low, high, strict=True)
    return [_estimate(float(mean), int(n), [float(a), float(b)], empty) for mean, n, a, b in found]


def _estimate(mean: float, n: int, ends: list[float], empty: str) -> Estimate:
    if n < 2:
        return {"value": mean if n else None, "n": n, "interval": None, "reason": ONE_STORY if n else empty}
    if not np.isfinite(ends).all():
        return {"value": mean, "n": n, "interval": None, "reason": SPARSE}
    return {"value": mean, "n": n, "interval": ends}


def _ends(rows: Floats, known: NDArray[np.bool_], *, seed: int, resamples: int) -> tuple[Floats, Floats]:
    """Lower and upper end of each row, shape (k,); nan where a resample drew no story that the row knows."""
    k, stories = rows.shape
    if not k or not stories:
        return np.full(k, np.nan), np.full(k, np.nan)
    columns = np.concatenate([np.where(known, rows, 0), known]).T
    return tuple(ends_of(ratios(*np.split(resampled_sums(columns, seed=seed, resamples=resamples), 2, axis=1))))


def ends_of(drawn: Floats) -> Floats:
    """Lower and upper end of what was drawn, shape (resamples, k) → (2, k); nan where a resample has no value."""
    tail = (1 - LEVEL) / 2
    return np.quantile(drawn, (tail, 1 - tail), axis=0)


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


@lru_cache(maxsize=2)
def _kept_weights(seed: int, resamples: int, stories: int) -> NDArray[np.float32]:
    """A report sums hundreds of times over the same resamples, of all its stories and of the usable ones."""
    return _weights(np.random.default_rng(seed), resamples, stories).astype(np.float32)


def _weights(rng: np.random.Generator, resamples: int, stories: int) -> Floats:
    """How often each resample drew each story, shape (resamples, stories)."""
    flat = rng.integers(stories, size=(resamples, stories)) + np.arange(resamples)[:, None] * stories
    return np.bincount(flat.ravel(), minlength=flat.size).reshape(flat.shape).astype(float)
