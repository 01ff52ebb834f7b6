"""Means of what counts once in a figure (a question, a pair, a set), in the worst case, the best case and, where it is
known, as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmark.domain.estimating import StoryScore, overall_row
from core.statistics import RESAMPLES

_SHARE = "share"


class Unit(NamedTuple):
    """One that counts: its cluster, what it is worth from 0 to 1, None where that is not known, and the [lowest,
    highest] that it could be worth, its value or anything where these are not given."""

    cluster: str
    value: float | None
    bounds: tuple[float, float] | None = None


def unit_estimate(units: Sequence[Unit], seed: int, clusters: str) -> dict[str, Any]:
    """Return the mean of the units that are known with its interval over `clusters`, {"value", "interval", "n"[,
    "reason"][, "bounds"]}: bounds take each unit at its lowest and at its highest."""
    row = overall_row([_score(unit) for unit in units], (_SHARE,), seed=seed, resamples=RESAMPLES, unit=clusters)
    interval, why = row.intervals[_SHARE]
    bounds = row.bounds[_SHARE]
    estimate: dict[str, Any] = {"value": row.values[_SHARE], "interval": interval, "n": row.stories}
    if why:
        estimate["reason"] = why
    return estimate | ({"bounds": bounds} if bounds and bounds[0] != bounds[1] else {})


def _score(unit: Unit) -> StoryScore:
    low, high = unit.bounds or ((0.0, 1.0) if unit.value is None else (unit.value, unit.value))
    values, why = (None, "not read") if unit.value is None else ({_SHARE: unit.value}, "")
    return StoryScore("", {_SHARE: low}, {_SHARE: high}, values, why, cluster=unit.cluster)
