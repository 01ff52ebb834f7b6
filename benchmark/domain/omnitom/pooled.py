"""Ratios of sums over stories, such as the recall of all gold rows of an order, with intervals over stories.

Stories are resampled whole, and the ratio is taken of each resample's sums; all ratios of one `Stories` share the resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.domain.anchoring.estimates import ONE_STORY
from benchmark.domain.inference.bootstrap import SPARSE, ends_of, ratios, resampled_sums

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
        found = zip(self.values.tolist(), self.of.tolist(), self.ends(), self.stories, strict=True)
        return [self._estimate(value, int(of), ends, stories) for value, of, ends, stories in found]

    def _estimate(self, value: float, of: int, ends: list[float] | None, stories: float) -> Estimate:
        if not of:
            return {"value": None, "n": 0, "interval": None, "reason": self.empty}
        reason = {} if ends else {"reason": ONE_STORY if stories < 2 else SPARSE}
        return {"value": value, "n": of, "interval": ends, **reason}

    def ends(self) -> list[list[float] | None]:
        """[low, high] of each, None where there is no interval."""
        if not self.drawn.size:
            return [None] * len(self.values)
        ends = ends_of(self.drawn).round(DIGITS).T
        known = np.isfinite(ends).all(axis=1) & (self.stories > 1)
        return [pair if one else None for pair, one in zip(ends.tolist(), known, strict=True)]

    def harmonic(self, other: Ratios) -> Ratios:
        """The harmonic mean of each two, such as F1 of precision and recall; 0 where both are 0. Its n is that of `other`."""
        means = [_harmonic(*two) for two in ((self.values, other.values), (self.drawn, other.drawn))]
        both = (self.of > 0) & (other.of > 0)
        return Ratios(means[0], np.where(both, other.of, 0), np.minimum(self.stories, other.stories), means[1])


def _harmonic(one: Floats, other: Floats) -> Floats:
    sums = one + other
    return np.divide(2 * one * other, sums, out=np.where(np.isnan(sums), np.nan, 0.0), where=sums > 0)


@dataclass(frozen=True)
class Stories:
    """`columns` has what each story adds to each sum, shape (stories, k)."""

    columns: Floats
    seed: int
    resamples: int
    drawn: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        columns = self.columns
        enough = len(columns) > 1
        found = (
            resampled_sums(columns, seed=self.seed, resamples=self.resamples)
            if enough
            else np.empty((0, columns.shape[1]))
        )
        object.__setattr__(self, "drawn", found)

    def ratios(self, numerators: Sequence[int] | slice, denominators: Sequence[int] | slice) -> Ratios:
        """Of sums of columns; a denominator alone serves all numerators."""
        top, bottom = self.columns[:, numerators], self.columns[:, denominators]
        bottom = np.broadcast_to(bottom, top.shape)
        drawn = ratios(self.drawn[:, numerators], self.drawn[:, denominators])
        of = bottom.sum(axis=0)
        return Ratios(ratios(top.sum(axis=0), of), of, (bottom > 0).sum(axis=0), drawn)
