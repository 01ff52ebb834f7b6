"""Ratios of sums over stories, such as the recall of all gold rows of an order, with intervals over stories.

Stories are resampled whole, and the ratio is taken of each resample's sums; all ratios of one `Pooled` share the
resamples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.domain.bounded_estimates import BoundedEstimate
from core.statistics import (
    FEWEST,
    SHARE,
    Floats,
    Interval,
    Scale,
    harmonics,
    intervals,
    ratios,
    replicated_sums,
    spanning,
)

Ints = NDArray[np.int64]


NO_ROW = "no row of this kind"
DIGITS = 5
"""Decimals of kept ends: a report has thousands."""


@dataclass(frozen=True, slots=True)
class Ratios:
    """k ratios: their values, denominators and numbers of stories, shape (k,), and what they are without each of the
    `clusters` stories in turn, then in each resample, shape (clusters + resamples, k)."""

    values: Floats
    denominators: Floats
    stories: Ints
    replicates: Floats
    clusters: int
    empty: str = NO_ROW
    scale: Scale = SHARE

    def estimates(self) -> list[BoundedEstimate]:
        """Return the ratios, each of the sum of its denominators."""
        estimates = zip(self.values.tolist(), self.denominators.tolist(), self.intervals(), strict=True)
        return [
            _estimate(value if denominator else None, int(denominator), interval)
            for value, denominator, interval in estimates
        ]

    def ends(self) -> tuple[list[list[float] | None], list[str]]:
        """Return ([low, high] of each, None where there is no interval; why, empty where there is one)."""
        ends, reasons = zip(*pairs, strict=True) if (pairs := self.intervals()) else ((), ())
        return list(ends), list(reasons)

    def intervals(self) -> list[Interval]:
        """Return [low, high] of each, or the reason why there is none."""
        computed = intervals(
            self.values,
            self.replicates,
            self.stories,
            clusters=self.clusters,
            scale=self.scale,
            unit="stories",
            empty=self.empty,
        )
        return [(ends and [round(end, DIGITS) for end in ends], why) for ends, why in computed]

    def harmonic(self, other: Ratios) -> Ratios:
        """The harmonic mean of each two, such as F1 of precision and recall; 0 where both are 0. Its n is that of
        `other`."""
        means = [harmonics(*two) for two in ((self.values, other.values), (self.replicates, other.replicates))]
        both = (self.denominators > 0) & (other.denominators > 0)
        denominators, stories = np.where(both, other.denominators, 0), np.minimum(self.stories, other.stories)
        return Ratios(means[0], denominators, stories, means[1], self.clusters)


def _estimate(value: float | None, n: int, interval: Interval) -> BoundedEstimate:
    return BoundedEstimate(value, n, interval[0], reason=interval[1] or None)


@dataclass(frozen=True, slots=True)
class Bounded:
    """Ratios over rows of which some are missing: of the observed ones, and of all with the missing ones at their worst
    and at their best.

    All three are one object where nothing is missing.
    """

    observed: Ratios
    worst: Ratios
    best: Ratios

    def estimates(self) -> list[BoundedEstimate]:
        """Return the estimates, with `bounds` where rows are missing; an interval then goes from the lower end for the
        worst to the upper for the best."""
        estimates = self.observed.estimates()
        if self.worst is self.best:
            return estimates
        ends = map(spanning, self.worst.intervals(), self.best.intervals())
        bounds = zip(self.worst.values.tolist(), self.best.values.tolist(), strict=True)
        return [
            _spanning(estimate, interval, [low, high]) if low < high else estimate
            for estimate, interval, (low, high) in zip(estimates, ends, bounds, strict=True)
        ]

    def harmonic(self, other: Bounded) -> Bounded:
        """Return the harmonic mean of each case with the same case of `other`."""
        ratios = self.observed.harmonic(other.observed)
        if self.worst is self.best and other.worst is other.best:
            return Bounded(ratios, ratios, ratios)
        return Bounded(ratios, self.worst.harmonic(other.worst), self.best.harmonic(other.best))


def _spanning(estimate: BoundedEstimate, interval: Interval, bounds: list[float]) -> BoundedEstimate:
    if not estimate.interval:
        return replace(estimate, bounds=bounds)
    return replace(estimate, bounds=bounds, interval=interval[0], reason=interval[1] or estimate.reason)


@dataclass(frozen=True, slots=True)
class Parts:
    """Places of counts: of what is meant, of the rows that are observed, and of those that are missing, None without
    any."""

    meant: slice
    observed: slice
    missing: slice | None


class Columns:
    """Addends of each story to each of many sums, gathered block by block."""

    def __init__(self, stories: int) -> None:
        self.blocks = [np.empty((stories, 0), dtype=np.float32)]
        self.width = 0

    def add(self, block: NDArray[Any]) -> slice:
        """The place of a block of counts, shape (stories, k) or (stories,)."""
        block = block.astype(np.float32)
        block = block[:, None] if block.ndim == 1 else block
        self.blocks.append(block)
        self.width += block.shape[1]
        return slice(self.width - block.shape[1], self.width)

    def pooled(self, *, seed: int, resamples: int) -> Pooled:
        columns = np.concatenate(self.blocks, axis=1)
        if len(columns) >= FEWEST:
            return Pooled(columns.astype(float), replicated_sums(columns, seed=seed, resamples=resamples))
        return Pooled(columns.astype(float), np.full((len(columns) + 1, self.width), np.nan))


@dataclass(frozen=True, slots=True)
class Pooled:
    """`columns` of shape (stories, k), and their sums without each story and in each resample, shape (stories +
    resamples, k)."""

    columns: Floats
    replicates: Floats

    def ratios(self, numerators: slice, denominators: slice, *, each: int = 1, scale: Scale = SHARE) -> Ratios:
        """Return ratios of sums of columns. A denominator serves `each` numerators in turn, a single one all of
        them."""
        top, bottom = self.columns[:, numerators], np.repeat(self.columns[:, denominators], each, axis=1)
        bottom = np.broadcast_to(bottom, top.shape)
        drawn = ratios(self.replicates[:, numerators], np.repeat(self.replicates[:, denominators], each, axis=1))
        totals = bottom.sum(axis=0)
        return Ratios(ratios(top.sum(axis=0), totals), totals, (bottom > 0).sum(axis=0), drawn, len(top), scale=scale)

    def bounded(self, parts: Parts) -> Bounded:
        """Return the ratios of what is meant in the observed rows, and in all rows with none, or all, of the missing
        ones meant."""
        ratios = self.ratios(parts.meant, parts.observed)
        if parts.missing is None:
            return Bounded(ratios, ratios, ratios)
        worst, best = (self._case(parts, parts.missing, best=best) for best in (False, True))
        return Bounded(ratios, worst, best)

    def _case(self, parts: Parts, missing: slice, *, best: bool) -> Ratios:
        (top, drawn_top), (bottom, drawn_bottom) = self._of(parts.meant), self._of(parts.observed)
        gap, drawn_gap = self._of(missing)
        bottom, drawn_bottom = np.broadcast_to(bottom + gap, top.shape), drawn_bottom + drawn_gap
        top, drawn_top = (top + gap, drawn_top + drawn_gap) if best else (top, drawn_top)
        total = bottom.sum(axis=0)
        return Ratios(
            ratios(top.sum(axis=0), total), total, (bottom > 0).sum(axis=0), ratios(drawn_top, drawn_bottom), len(top)
        )

    def _of(self, part: slice) -> tuple[Floats, Floats]:
        return self.columns[:, part], self.replicates[:, part]
