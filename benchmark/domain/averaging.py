"""Means of printed figures, as the released scorers of benchmarks print them: texts of six decimals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, TypedDict

from judge.domain.text import normalise_space

Row = dict[str, str | None]
"""Printed figures; None where a figure is of nothing."""


class Averages(TypedDict):
    """Printed means over all stories, and over those of each category in a row each."""

    overall: Row
    by_category: list[Row]


class StoryAverages(Averages):
    """Means, and the row of each story: its number as `story_id`, and its figures, as texts or as numbers."""

    stories: Sequence[Mapping[str, str | float | None]]


def six(value: float) -> str:
    return f"{value:.6f}"


def averages(rows: Sequence[tuple[str, Mapping[str, Any]]], shares: Sequence[str], mean_of: str = "") -> Averages:
    """Means from each story's category, verbatim, and its printed figures, as texts or as numbers; `overall` also has
    the mean of the categories' means of the share `mean_of`, as `<share>_category_mean`.

    Categories stand in the order of their verbatim names, of which two can read alike; what has none is in no row of
    one. `stories` counts those that have a figure, as official scoring leaves out others.
    """
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for category, row in rows:
        groups[category].append(row)
    overall = _means([row for _, row in rows], shares)
    by_category = [
        {"story_category": normalise_space(category), **_means(groups[category], shares)} for category in sorted(groups)
    ]
    if mean_of:
        overall[f"{mean_of}_category_mean"] = _mean([row[mean_of] for row in by_category])
    return {"overall": overall, "by_category": [row for row in by_category if row["story_category"]]}


def _means(rows: Sequence[Mapping[str, Any]], shares: Sequence[str]) -> Row:
    counted = [row for row in rows if any(row[name] is not None for name in shares)]
    return {"stories": str(len(counted)), **{name: _mean([row[name] for row in rows]) for name in shares}}


def _mean(printed: Sequence[str | float | None]) -> str | None:
    """The exact mean of printed figures, printed, without those that official scoring leaves out; None where it leaves
    out all."""
    counted = [float(metric) for metric in printed if metric is not None]
    return six(mean(counted)) if counted else None if printed else six(0)
