"""Ratios of sums over stories, such as the recall of all gold rows of an order, with intervals over stories.

Stories are resampled whole, and the ratio is taken of each resample's sums; all ratios of one `Pooled` share the resamples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.domain.inference.bootstrap import intervals, ratios, resampled_sums

Floats = NDArray[np.float64]
Estimate = dict[str, Any]
"""{"value", "n", "interval"}: a ratio, what it is of (the sum of its denominators) and [low, high] of 95 %; with a `reason` where any
is None."""

NO_ROW = "no row of this kind"
DIGITS = 5
"""Decimals of kept ends: a report has thousands."""


@dataclass(frozen=True, slots=True)
class Ratios:
    """k ratios: their values, denominators and numbers of stories, shape (k,), and what was drawn, shape (resamples, k)."""

    values: Floats
    of: Floats
    stories: Floats
    drawn: Floats
    empty: str = NO_ROW

    def estimates(self) -> list[Estimate]:
        found = zip(self.values.tolist(), self.of.tolist(), self._intervals(), strict=True)
        return [
            {"value": value if of else None, "n": int(of), "interval": ends} | ({"reason": why} if why else {})
            for value, of, (ends, why) in found
        ]

    def ends(self) -> list[list[float] | None]:
        """[low, high] of each, None where there is no interval."""
        return [ends for ends, _ in self._intervals()]

    def _intervals(self) -> list[tuple[list[float] | None, str]]:
        """With the reason of each that is None."""
        found = intervals(self.drawn, self.stories, empty=self.empty)
        return [(ends and [round(end, DIGITS) for end in ends], why) for ends, why in found]

    def harmonic(self, other: Ratios) -> Ratios:
        """The harmonic mean of each two, such as F1 of precision and recall; 0 where both are 0. Its n is that of `other`."""
        means = [_harmonic(*two) for two in ((self.values, other.values), (self.drawn, other.drawn))]
        both = (self.of > 0) & (other.of > 0)
        return Ratios(means[0], np.where(both, other.of, 0), np.minimum(self.stories, other.stories), means[1])


def _harmonic(one: Floats, other: Floats) -> Floats:
    sums = one + other
    return np.divide(2 * one * other, sums, out=np.where(np.isnan(sums), np.nan, 0.0), where=sums > 0)


class Columns:
    """What each story adds to each of many sums, gathered block by block."""

    def __init__(self, stories: int) -> None:
        self.blocks = [np.empty((stories, 0), dtype=np.float32)]
        self.width = 0

    def add(self, block: NDArray) -> slice:
        """The place of a block of counts, shape (stories, k) or (stories,)."""
        block = block.astype(np.float32)
        block = block[:, None] if block.ndim == 1 else block
        self.blocks.append(block)
        self.width += block.shape[1]
        return slice(self.width - block.shape[1], self.width)

    def pooled(self, *, seed: int, resamples: int) -> Pooled:
        columns = np.concatenate(self.blocks, axis=1)
        enough = len(columns) > 1
        drawn = resampled_sums(columns, seed=seed, resamples=resamples) if enough else np.full((1, self.width), np.nan)
        return Pooled(columns.astype(float), drawn)


@dataclass(frozen=True, slots=True)
class Pooled:
    """`columns` of shape (stories, k), and their sums in each resample, shape (resamples, k)."""

    columns: Floats
    drawn: Floats

    def ratios(self, numerators: slice, denominators: slice, *, each: int = 1) -> Ratios:
        """Of sums of columns. A denominator serves `each` numerators in turn, a single one all of them."""
        top, bottom = self.columns[:, numerators], np.repeat(self.columns[:, denominators], each, axis=1)
        bottom = np.broadcast_to(bottom, top.shape)
        drawn = ratios(self.drawn[:, numerators], np.repeat(self.drawn[:, denominators], each, axis=1))
        of = bottom.sum(axis=0)
        return Ratios(ratios(top.sum(axis=0), of), of, (bottom > 0).sum(axis=0), drawn)
