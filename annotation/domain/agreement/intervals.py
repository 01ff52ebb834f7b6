"""Intervals by cluster bootstrap over stories: the propositions of one story are not independent.

On a simulated grid of 40 stories × 25 propositions the 95 % interval of alpha is three times too narrow when cells are
resampled (specification "Statistics").
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
Interval = tuple[float, float]

RESAMPLES = 1000
LEVEL = 0.95


def story_interval(sums: Floats, statistic: Statistic, *, seed: int, resamples: int = RESAMPLES) -> Interval | None:
    """95 % percentile interval of a statistic of story sums.

    `sums` has shape (stories, m): what each story adds to the m sums that `statistic` takes, an array of shape (…, m)
    → (…). None for fewer than two stories or where the statistic is undefined in a resample.
    """
    stories = len(sums)
    if stories < 2:
        return None

    def of_indices(indices: NDArray, axis: int = -1) -> Floats:
        indices = indices.astype(np.int64)
        flat = indices.reshape(-1, stories)
        offsets = np.arange(len(flat))[:, None] * stories
        weights = np.bincount((flat + offsets).ravel(), minlength=flat.size).reshape(flat.shape)
        return statistic(weights @ sums).reshape(indices.shape[:-1])

    result = bootstrap(
        (np.arange(stories),),
        of_indices,
        n_resamples=resamples,
        confidence_level=LEVEL,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    if not np.isfinite([result.low, result.high]).all():
        return None
    return float(result.low), float(result.high)


def per_story(story: NDArray[np.int64], values: Floats) -> Floats:
    """Sums `values` of shape (cells, m) within each story: shape (stories, m)."""
    _, at = np.unique(story, return_inverse=True)
    out = np.zeros((int(at.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(out, at, values)
    return out


def strict_sums(counts: NDArray[np.int64]) -> Floats:
    """Per cell: does it agree, and one."""
    agree = counts.max(axis=1, initial=0) == counts.sum(axis=1)
    return np.column_stack([agree, np.ones(len(counts))]).astype(float)


def strict_of(sums: Floats) -> Floats:
    return sums[..., 0] / sums[..., 1]


def alpha_sums(counts: NDArray[np.int64]) -> Floats:
    """Per cell: its diagonal of the coincidence matrix, then its pairable votes by label (Krippendorff 2018, 12.3)."""
    votes = counts.sum(axis=1)
    weight = np.where(votes >= 2, 1 / np.maximum(votes - 1, 1), 0)
    diagonal = (counts * (counts - 1)).sum(axis=1) * weight
    return np.column_stack([diagonal, np.where(votes[:, None] >= 2, counts, 0)])


def alpha_of(sums: Floats) -> Floats:
    """Krippendorff's nominal alpha from summed `alpha_sums`; nan where all votes are one label."""
    n = sums[..., 1:].sum(axis=-1)
    expected = n**2 - (sums[..., 1:] ** 2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - (n - 1) * (n - sums[..., 0]) / expected, np.nan)
