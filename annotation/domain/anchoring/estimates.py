"""Shares and medians with intervals over stories; all estimates of one table share the resamples."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.plain import WHERE_THERE_IS_ONE
from core.statistics import (
    DIFFERENCE,
    FEWEST,
    POSITIVE,
    REAL,
    SHARE,
    Interval,
    Scale,
    few,
    first_by_second,
    interval_of,
    replicated_sums,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]

BINS = 256


def numbered(story: Ints) -> tuple[Ints, int]:
    """Return the stories numbered from 0, and how many there are."""
    names, codes = np.unique(story, return_inverse=True)
    return codes.reshape(-1), len(names)


@dataclass(frozen=True)
class Share:
    """Share of the rows `of` that are `hits`, as story sums of shape (stories, 2); `empty`: why there are none."""

    sums: Floats
    empty: str

    @classmethod
    def of(cls, story: Ints, stories: int, hits: Bools, counted: Bools, empty: str) -> Share:
        columns = [np.bincount(story[rows], minlength=stories) for rows in (hits & counted, counted)]
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

    def measure(self, sums: Floats) -> Floats:
        """Return the share of each row of sums, shape (r, 2) → (r,)."""
        return first_by_second(sums)


class Mean(Share):
    """Mean of `hits` over those that count, such as rows a table: a share that has no upper end."""


@dataclass(frozen=True)
class Median:
    """Median of a column, from counts by story and bin, `sums` of shape (stories, bins).

    Bins hold equal numbers of rows; up to `BINS` distinct values the resampled median is exact, beyond that it is
    interpolated within its bin. `value` is always exact.
    """

    value: float
    sums: Floats
    low: Floats
    high: Floats
    empty: str

    @classmethod
    def of(cls, story: Ints, stories: int, values: Floats, empty: str) -> Median:
        finite = np.isfinite(values)
        story, values = story[finite], values[finite]
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
        return int(self.sums.sum(dtype=np.float64))

    @property
    def stories(self) -> int:
        return int(self.sums.any(axis=1).sum())

    def measure(self, sums: Floats) -> Floats:
        """Return the median of each row of counts, shape (r, bins) → (r,); of an even number, the mean of the middle
        two."""
        up_to = np.cumsum(sums, axis=1)
        half = up_to[:, -1] / 2
        lower = (up_to < half[:, None]).sum(axis=1)
        upper = np.minimum((up_to <= half[:, None]).sum(axis=1), len(self.low) - 1)
        rows, inside = np.arange(len(sums)), sums[np.arange(len(sums)), lower]
        missing = half - (up_to[rows, lower] - inside)
        part = np.divide(missing, inside, out=np.zeros(len(sums)), where=inside > 0)
        middle = self.low[lower] + part * (self.high[lower] - self.low[lower])
        median = np.where(upper > lower, (middle + self.low[upper]) / 2, middle)
        return np.where(half > 0, median, np.nan)


Quantity = Share | Median


@dataclass(frozen=True, slots=True)
class Estimate:
    """A quantity or a difference over `n` rows of so many `stories`, and [low, high]; `reason` says why either is
    None."""

    value: float | None
    n: int
    stories: int
    interval: list[float] | None
    reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


def estimates(
    quantities: Mapping[str, Quantity],
    differences: Mapping[str, tuple[str, str]],
    *,
    paired: Set[str] = frozenset(),
    stories: int,
    seed: int,
    resamples: int,
) -> dict[str, Estimate]:
    """Return each quantity and each difference (first minus second).

    `n` of a difference is that of both parts, of a `paired` one (two readings of the same rows) that of one. `interval`
    is [low, high] (`core.statistics`); an undefined value or interval has its `reason`.
    """
    drawn = _drawn(quantities, seed=seed, resamples=resamples) if stories >= FEWEST else None
    results = {}
    for name in [*quantities, *differences]:
        names = differences.get(name, (name,))
        parts = [quantities[part] for part in names]
        replicates = None if drawn is None else drawn[names[0]] - sum(drawn[other] for other in names[1:])
        n = parts[0].n if name in paired else sum(part.n for part in parts)
        results[name] = _estimate(parts, replicates, stories, n)
    return results


def _drawn(quantities: Mapping[str, Quantity], *, seed: int, resamples: int) -> dict[str, Floats]:
    """Return each quantity without each of the stories in turn, then in every resample of them, shape (stories +
    resamples,)."""
    return {
        name: quantity.measure(replicated_sums(quantity.sums, seed=seed, resamples=resamples))
        for name, quantity in quantities.items()
    }


def _estimate(parts: list[Quantity], replicates: Floats | None, clusters: int, n: int) -> Estimate:
    empty = next((part.empty for part in parts if not part.n), "")
    stories = min(part.stories for part in parts)
    value = None if empty else parts[0].value - sum(part.value for part in parts[1:])
    interval: Interval = None, empty or few("stories")
    if value is not None:
        interval = interval_of(
            value, replicates, stories, clusters=clusters, scale=_scale(parts), unit="stories", empty=empty
        )
    ends, why = interval
    return Estimate(value, n, stories, ends, why or None)


def _scale(parts: list[Quantity]) -> Scale:
    if isinstance(parts[0], Share) and not isinstance(parts[0], Mean):
        return SHARE if len(parts) == 1 else DIFFERENCE
    return POSITIVE if len(parts) == 1 else REAL
