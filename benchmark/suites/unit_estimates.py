"""Means of what counts once in a figure (a question, a pair, a set), in the worst case, the best case and, where it is
known, as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.estimating import MetricRow, StoryScore, overall_row
from core.messages import gettext_noop
from core.statistics import RESAMPLES, Estimate

_SHARE = "share"


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
    bounds = row.bounds[share]
    apart = bounds if bounds and bounds[0] != bounds[1] else None
    return BoundedEstimate(row.values[share], row.stories, interval, reason=why or None, bounds=apart)


def without_value(estimate: BoundedEstimate, reason: str) -> BoundedEstimate:
    """Return what is left of an estimate that is not to be told, for a `reason`: on how many it rests, and its
    bounds."""
    return replace(estimate, value=None, interval=None, reason=reason)


def with_bounds(estimate: Estimate, bounds: list[float] | None = None) -> BoundedEstimate:
    """Return an estimate with its bounds, where there are any."""
    return BoundedEstimate(
        estimate.value, estimate.n, estimate.interval, estimate.clusters, estimate.reason, bounds=bounds
    )


def _score(unit: Unit) -> StoryScore:
    low, high = unit.bounds or ((0.0, 1.0) if unit.value is None else (unit.value, unit.value))
    values, why = (None, gettext_noop("unreadable")) if unit.value is None else ({_SHARE: unit.value}, "")
    return StoryScore("", {_SHARE: low}, {_SHARE: high}, values, why, cluster=unit.cluster)
