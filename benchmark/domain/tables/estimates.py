"""Figures as several keys of a row. New tables have a `Cell` under one key instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.report_rows import ReportRow
from benchmark.domain.tables.table import Cell, Cells, Column, Row, share_column
from core.statistics import Estimate


def metric_of(metrics: ReportRow, name: str) -> Cell:
    """Return the figure `name` of a report's row."""
    return metrics.cell(name)


def interval_of(key: str, metrics: ReportRow, name: str) -> Row:
    """Return what a table's row holds under `key`: the interval of the figure `name` of a report's row, or why there is
    none."""
    ends = metrics.interval_of(name)
    return {key: ends} if ends else {key: None, f"{key}_reason": metrics.cell(name).reason}


def estimated(key: str, header: str, **more: Any) -> Column:
    """A share with its interval and n, in a row that holds `estimate(key, …)`."""
    return share_column(
        key, header, **{"unit": "", "interval": f"{key} interval", "n": f"{key} n", "bounds": f"{key} bounds"} | more
    )


def estimate(key: str, metric: Estimate | Cell | float | None) -> Cells:
    """Return what a row holds of an estimate or the figure of a report's row, with its bounds where it has any, or of a
    bare number."""
    if isinstance(metric, Estimate):
        bounds = metric.bounds if isinstance(metric, BoundedEstimate) else None
        return _cells(key, metric.value, metric.interval, metric.reason, metric.n, bounds)
    if isinstance(metric, Cell):
        return _cells(key, metric.value, metric.interval, metric.reason, bounds=metric.bounds)
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
