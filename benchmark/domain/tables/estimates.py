"""Figures of a report as cells of a table: the value, its interval or why there is none, on how many it rests, and its
bounds.

A report's row is {name: figure, "interval": {name: [low, high]}, "reasons": {name: why there is none}, "bounds": {name:
[worst, best]}, "stories": n}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NotRequired, TypedDict

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.tables.table import Cells, Column, Row
from core.statistics import FEWEST, Estimate, few


class RowMetric(TypedDict):
    """A figure of a report's row, officially a text, with its interval, or the `reason` why there is none, and where it
    can be where anything is missing."""

    value: float | str | None
    interval: list[float] | None
    reason: NotRequired[str]
    bounds: NotRequired[list[float]]


def metric_of(metrics: Mapping[str, Any], name: str) -> RowMetric:
    """Return the figure `name` of a report's row."""
    interval = interval_of("interval", metrics, name)
    result: RowMetric = {"value": metrics.get(name), "interval": interval["interval"]}
    if why := interval.get("interval_reason"):
        result["reason"] = why
    bounds = (metrics.get("bounds") or {}).get(name)
    if bounds and bounds[0] != bounds[1]:
        result["bounds"] = bounds
    return result


def interval_of(key: str, metrics: Mapping[str, Any], name: str) -> Row:
    """Return what a table's row holds under `key`: the interval of the figure `name` of a report's row, or why there is
    none."""
    ends = (metrics.get("interval") or {}).get(name)
    return {key: ends} if ends else {key: None, f"{key}_reason": _no_interval(metrics, name)}


def _no_interval(metrics: Mapping[str, Any], name: str) -> str | None:
    """Reports that were frozen before figures kept their reasons have one for the whole row, or none."""
    reasons, stories = metrics.get("reasons") or {}, int(metrics.get("stories") or 0)
    return reasons.get(name) or metrics.get("reason") or (few("stories") if 0 < stories < FEWEST else None)


def worst_of(metrics: Mapping[str, Any], name: str) -> Any:
    """The figure `name` of a report's row with what is missing at its worst; None where nothing is said of that."""
    return ((metrics.get("bounds") or {}).get(name) or (None,))[0]


def share_column(key: str, header: str, **more: Any) -> Column:
    """A share in per cent, of which the highest is best; `more` are other fields of the column."""
    return Column(key=key, header=header, **{"unit": "%", "kind": "share", "best": "high", **more})


def estimated(key: str, header: str, **more: Any) -> Column:
    """A share with its interval and n, in a row that holds `estimate(key, …)`."""
    return share_column(
        key, header, **{"unit": "", "interval": f"{key} interval", "n": f"{key} n", "bounds": f"{key} bounds"} | more
    )


def estimate(key: str, metric: Estimate | RowMetric | float | None) -> Cells:
    """Return what a row holds of an estimate or the figure of a report's row, with its bounds where it has any, or of a
    bare number."""
    if isinstance(metric, Estimate):
        bounds = metric.bounds if isinstance(metric, BoundedEstimate) else None
        return _cells(key, metric.value, metric.interval, metric.reason, metric.n, bounds)
    if isinstance(metric, Mapping):
        return _cells(key, metric["value"], metric["interval"], metric.get("reason"), bounds=metric.get("bounds"))
    return _cells(key, metric)


def _cells(
    key: str,
    value: float | str | None,
    interval: Sequence[float] | None = None,
    reason: str | None = None,
    n: int | None = None,
    bounds: Sequence[float] | None = None,
) -> Cells:
    return {
        key: value,
        f"{key} interval": interval,
        **({} if interval else {f"{key} interval_reason": reason}),
        f"{key} n": n,
        f"{key} bounds": bounds,
    }


def with_what_is_known(columns: Iterable[Column], rows: Sequence[Row]) -> list[Column]:
    """Columns lose an interval and a worst case that no row has."""

    def if_filled(key: str) -> str:
        return key if any(row.get(name) is not None for row in rows for name in (key, f"{key}_reason")) else ""

    return [replace(column, interval=if_filled(column.interval), worst=if_filled(column.worst)) for column in columns]
