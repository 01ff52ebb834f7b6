"""Means of what counts once in a figure (a question, a pair, a set), in the worst case, the best case and, where it is
known, as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, NotRequired, cast

from benchmark.domain.estimating import MetricRow, StoryScore, overall_row
from core.statistics import RESAMPLES, Estimate

_SHARE = "share"


class BoundedEstimate(Estimate):
    """An estimate, with what it would be if all that is missing or was not read were worth least and most; without
    `bounds` where nothing is. `incomplete` is the number of sets that it leaves out, of which only a part was asked."""

    bounds: NotRequired[list[float]]
    incomplete: NotRequired[int]


class Unit(NamedTuple):
    """One that counts: its cluster, what it is worth from 0 to 1, None where that is not known, and the [lowest,
    highest] that it could be worth, its value or anything where these are not given."""

    cluster: str
    value: float | None
    bounds: tuple[float, float] | None = None


def unit_estimate(units: Sequence[Unit], seed: int, clusters: str) -> BoundedEstimate:
    """Return the mean of the units that are known with its interval over `clusters`; bounds take each unit at its
    lowest and at its highest."""
    row = overall_row([_score(unit) for unit in units], (_SHARE,), seed=seed, resamples=RESAMPLES, unit=clusters)
    return estimate_of_row(row, _SHARE)


def estimate_of_row(row: MetricRow, share: str) -> BoundedEstimate:
    """Return one share of a row over stories, with bounds where they are apart."""
    interval, why = row.intervals[share]
    estimate: BoundedEstimate = {"value": row.values[share], "interval": interval, "n": row.stories}
    if why:
        estimate["reason"] = why
    if (bounds := row.bounds[share]) and bounds[0] != bounds[1]:
        estimate["bounds"] = bounds
    return estimate


def with_bounds(estimate: Estimate, bounds: list[float] | None = None) -> BoundedEstimate:
    """Return an estimate with its bounds, where there are any."""
    return cast(BoundedEstimate, {**estimate, "bounds": bounds} if bounds else {**estimate})


def _score(unit: Unit) -> StoryScore:
    low, high = unit.bounds or ((0.0, 1.0) if unit.value is None else (unit.value, unit.value))
    values, why = (None, "not read") if unit.value is None else ({_SHARE: unit.value}, "")
    return StoryScore("", {_SHARE: low}, {_SHARE: high}, values, why, cluster=unit.cluster)
