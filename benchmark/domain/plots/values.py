"""Metrics of a report as numbers in per cent, and as words."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.drawn import Metric, drawn
from benchmark.domain.tables import Cell
from core.messages import Sentence, labelled, listed, worded


class Percent(NamedTuple):
    """`reason` says why there is no interval, where that is known."""

    value: float
    interval: tuple[float, float] | None = None
    reason: str = ""

    def text(self) -> str:
        ends = f" ({self.interval[0]:z.1f} to {self.interval[1]:z.1f})" if self.interval else ""
        return f"{self.value:z.1f}{ends}"


def percent(metric: Metric) -> Percent | None:
    """Return the metric in per cent, None where there is no value."""
    estimate = drawn(metric)
    if estimate is None or estimate.value is None:
        return None
    ends = estimate.interval
    return Percent(
        100 * estimate.value, (100 * float(ends[0]), 100 * float(ends[1])) if ends else None, estimate.reason or ""
    )


BANDS = ", bands: worst to best case of missing answers"


def bounds_of(metric: Metric) -> tuple[float, float] | None:
    """Return the bounds of a metric in per cent; None where it has none, and where nothing is missing."""
    return percents(metric.bounds) if isinstance(metric, (BoundedEstimate, Cell)) else None


def percents(ends: Sequence[float] | None) -> tuple[float, float] | None:
    if not ends or None in ends or ends[0] == ends[1]:
        return None
    return 100 * float(ends[0]), 100 * float(ends[1])


def value_line(
    name: str, keys: Iterable[str], metrics: Iterable[Percent | None], bounds: Iterable[tuple[float, float] | None] = ()
) -> str:
    """A line of a description: each figure by its key, with its bounds."""
    rows = zip_longest(keys, metrics, bounds)
    return labelled(
        name, listed(listed([worded(key, metric.text()), worst_to_best(ends)]) for key, metric, ends in rows if metric)
    )


def worst_to_best(ends: tuple[float, float] | None) -> str:
    if ends is None:
        return ""
    low, high = (f"{end:.1f}" for end in ends)
    return Sentence("worst to best case {low} to {high}", low=low, high=high)


def ended(note: str) -> str:
    """A note at the end of a caption."""
    return f"; {note}" if note else ""


def barred(metrics: Iterable[Percent | None], line: str = "bar", over: str = "stories") -> str:
    """Return what lines beside marks are, over which units, and why some marks have none: the end of a caption."""
    percents_drawn = [metric for metric in metrics if metric]
    legend = f", {line}s: 95 % intervals over {over}" if any(metric.interval for metric in percents_drawn) else ""
    reasons = dict.fromkeys(metric.reason for metric in percents_drawn if metric.reason and not metric.interval)
    return legend + (f", no {line}: {'; or '.join(reasons)}" if reasons else "")


_NOISE = 1e-6
BEYOND = 2.0
"""Points that an axis may show below 0 and above 100, so that marks at the ends are whole."""


def limits(metrics: Iterable[Percent | None], least: float = 10) -> tuple[float, float]:
    """Return what an axis has to show, at least so many points; two points beyond 0 and 100 at most where the data is
    within."""
    values = [value for metric in metrics if metric for value in (metric.value, *(metric.interval or ()))]
    low, high = min(values, default=0.0), max(values, default=100.0)
    middle, half = (low + high) / 2, max(high - low, least) / 2 * 1.08
    if low < -_NOISE or high > 100 + _NOISE:
        return middle - half, middle + half
    middle = min(max(middle, half - BEYOND), 100 + BEYOND - half) if half < 50 else 50.0
    return max(middle - half, -BEYOND), min(middle + half, 100 + BEYOND)


def sentences(lines: Sequence[str], most: int = 60) -> str:
    """The lines of a description; past `most`, how many more there are."""
    more = [f"And {len(lines) - most} more."] if len(lines) > most else []
    return "\n".join([*lines[:most], *more])
