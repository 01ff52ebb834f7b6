"""Shares and medians with intervals by cluster bootstrap over stories; all estimates of one table share the resamples.

`agreement.intervals.story_interval` draws anew for every statistic and takes sums only; a report of many shares and
medians over hundreds of stories needs one draw for all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import DegenerateDataWarning, bootstrap

from annotation.domain.agreement.intervals import LEVEL

Ints = NDArray[np.int64]
Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]

RESAMPLES = 2000
BINS = 256
DRAWS_AT_ONCE = 4_000_000
ONE_STORY = "an interval needs at least two stories"
SPARSE = "too few stories: some resamples have no vote to count"


def numbered(story: Ints) -> tuple[Ints, int]:
    """The same stories numbered from 0, and how many they are."""
    names, codes = np.unique(story, return_inverse=True)
    return codes.reshape(-1), len(names)


@dataclass(frozen=True)
class Share:
    """Share of the rows `of` that are `hits`, as story sums of shape (stories, 2); `empty`: why there are none."""

    sums: Floats
    empty: str

    @classmethod
    def of(cls, story: Ints, stories: int, hits: Bools, of: Bools, empty: str) -> Share:
        columns = [np.bincount(story[rows], minlength=stories) for rows in (hits & of, of)]
        return cls(np.column_stack(columns).astype(np.float32), empty)

    @property
    def n(self) -> int:
        return int(self.sums[:, 1].sum(dtype=np.float64))

    @property
    def stories(self) -> int:
        return int((self.sums[:, 1] > 0).sum())

    @property
    def value(self) -> float:
        return float(self.sums[:, 0].sum(dtype=np.float64)) / self.n if self.n else np.nan

    def resampled(self, weights: Floats) -> Floats:
        """Shape (resamples,), from how often each resample drew each story, shape (resamples, stories)."""
        hits, of = (weights @ self.sums).T.astype(np.float64)
        return np.divide(hits, of, out=np.full(len(hits), np.nan), where=of > 0)


@dataclass(frozen=True)
class Median:
    """Median of a column, from counts by story and bin, shape (stories, bins).

    Bins hold equal numbers of rows; up to `BINS` distinct values the resampled median is exact, beyond that it is
    interpolated within its bin. `value` is always exact.
    """

    value: float
    counts: Floats
    low: Floats
    high: Floats
    empty: str

    @classmethod
    def of(cls, story: Ints, stories: int, values: Floats, empty: str) -> Median:
        known = np.isfinite(values)
        story, values = story[known], values[known]
        if not len(values):
            return cls(np.nan, np.zeros((stories, 1), dtype=np.float32), np.zeros(1), np.zeros(1), empty)
        ordered = np.sort(values)
        last = np.linspace(0, len(ordered) - 1, BINS + 1).astype(np.int64) if len(ordered) > BINS else slice(None)
        high = np.unique(ordered[last])
        low = ordered[np.searchsorted(ordered, np.concatenate([[-np.inf], high[:-1]]), side="right")]
        flat = story * len(high) + np.searchsorted(high, values)
        counts = np.bincount(flat, minlength=stories * len(high)).reshape(stories, -1)
        return cls(float(np.median(ordered)), counts.astype(np.float32), low, high, empty)

    @property
    def n(self) -> int:
        return int(self.counts.sum(dtype=np.float64))

    @property
    def stories(self) -> int:
        return int(self.counts.any(axis=1).sum())

    def resampled(self, weights: Floats) -> Floats:
        """Shape (resamples,); of an even number of rows, the mean of the middle two."""
        counts = weights @ self.counts
        up_to = np.cumsum(counts, axis=1, dtype=np.float64)
        half = up_to[:, -1] / 2
        lower = (up_to < half[:, None]).sum(axis=1)
        upper = np.minimum((up_to <= half[:, None]).sum(axis=1), len(self.low) - 1)
        rows, inside = np.arange(len(counts)), counts[np.arange(len(counts)), lower]
        missing = half - (up_to[rows, lower] - inside)
        part = np.divide(missing, inside, out=np.zeros(len(counts)), where=inside > 0)
        middle = self.low[lower] + part * (self.high[lower] - self.low[lower])
        median = np.where(upper > lower, (middle + self.low[upper]) / 2, middle)
        return np.where(half > 0, median, np.nan)


Quantity = Share | Median


def estimates(
    quantities: Mapping[str, Quantity],
    differences: Mapping[str, tuple[str, str]],
    *,
    paired: Set[str] = frozenset(),
    stories: int,
    seed: int,
    resamples: int,
    fewest: int = 2,
) -> dict[str, dict]:
    """Each quantity and each difference (first minus second) as {value, n, stories, interval[, reason]}.

    `n` of a difference is that of both parts, of a `paired` one (two readings of the same rows) that of one. `interval`
    is [low, high], 95 %, percentile, and None for an estimate from fewer than `fewest` stories; an undefined value or
    interval has its `reason`.
    """

    def statistic(weights: Floats) -> Floats:
        drawn = {name: quantity.resampled(weights) for name, quantity in quantities.items()}
        return np.stack([*drawn.values(), *(drawn[a] - drawn[b] for a, b in differences.values())])

    enough = stories >= max(2, fewest)
    low, high = _bootstrap(statistic, stories, seed=seed, resamples=resamples) if enough else (None, None)
    out = {}
    for at, name in enumerate([*quantities, *differences]):
        interval = [float(low[at]), float(high[at])] if enough and np.isfinite([low[at], high[at]]).all() else None
        parts = [quantities[part] for part in differences.get(name, (name,))]
        out[name] = _estimate(parts, interval, max(2, fewest))
        if name in paired:
            out[name]["n"] = parts[0].n
    return out


def few_stories(fewest: int) -> str:
    return ONE_STORY if fewest == 2 else f"an interval needs at least {fewest} stories"


def _estimate(parts: list[Quantity], interval: list[float] | None, fewest: int) -> dict:
    empty = next((part.empty for part in parts if not part.n), None)
    stories = min(part.stories for part in parts)
    out = {
        "value": None if empty else parts[0].value - sum(part.value for part in parts[1:]),
        "n": sum(part.n for part in parts),
        "stories": stories,
        "interval": interval if stories >= fewest else None,
    }
    if out["interval"] is None:
        out["reason"] = empty or (few_stories(fewest) if stories < fewest else SPARSE)
    return out


def _bootstrap(statistic: Callable[[Floats], Floats], stories: int, *, seed: int, resamples: int):
    """Lower and upper ends, each of shape (k,), of a statistic of weights (resamples, stories) → (k, resamples)."""

    def of_indices(indices: NDArray, axis: int = -1) -> Floats:
        flat = indices.astype(np.int64).reshape(-1, stories)
        flat += np.arange(len(flat))[:, None] * stories
        weights = np.bincount(flat.ravel(), minlength=flat.size).reshape(flat.shape).astype(np.float32)
        return statistic(weights).reshape(-1, *indices.shape[:-1])

    with warnings.catch_warnings():
        # An end that is nan is reported with its reason.
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return bootstrap(
            (np.arange(stories),),
            of_indices,
            n_resamples=resamples,
            batch=max(1, min(resamples, DRAWS_AT_ONCE // stories)),
            confidence_level=LEVEL,
            method="percentile",
            vectorized=True,
            rng=np.random.default_rng(seed),
        ).confidence_interval


def method(*, seed: int, resamples: int) -> str:
    return f"percentile interval, {LEVEL:.0%}, cluster bootstrap over stories, {resamples} resamples, seed {seed}"
