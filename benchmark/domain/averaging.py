"""Means of printed figures, as the released scorers of benchmarks print them: texts of six decimals."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean

from core.plain import Json
from judge.domain.text import normalise_space

Row = Mapping[str, str | None]
"""Printed figures; None where a figure is of nothing."""


@dataclass(frozen=True, slots=True)
class PrintedMeans:
    """Printed means of some stories by metric. `stories` counts those that have a figure; `category` is theirs with its
    spaces normalised, empty over all."""

    stories: int
    means: Row
    category: str = ""

    def as_json(self) -> Json:
        named = {"story_category": self.category} if self.category else {}
        return {**named, "stories": str(self.stories), **self.means}


@dataclass(frozen=True, slots=True)
class Averages:
    """Printed means over all stories, and over those of each category."""

    overall: PrintedMeans
    by_category: Sequence[PrintedMeans]

    def as_json(self) -> Json:
        return {"overall": self.overall.as_json(), "by_category": [row.as_json() for row in self.by_category]}


@dataclass(frozen=True, slots=True)
class StoryMetrics:
    """The figures of one story by name, as texts or as numbers, with whatever else its printed row has."""

    number: int
    row: Mapping[str, str | float | None]


@dataclass(frozen=True, slots=True)
class StoryAverages:
    """Means, and the figures of each story."""

    averages: Averages
    stories: Sequence[StoryMetrics]

    def as_json(self) -> Json:
        return {**self.averages.as_json(), "stories": [dict(story.row) for story in self.stories]}


def six(value: float) -> str:
    return f"{value:.6f}"


def averages(
    rows: Sequence[tuple[str, Mapping[str, str | float | None]]], shares: Sequence[str], mean_of: str = ""
) -> Averages:
    """Means from each story's category, verbatim, and its printed figures, as texts or as numbers; `overall` also has
    the mean of the categories' means of the share `mean_of`, as `<share>_category_mean`.

    Categories stand in the order of their verbatim names, of which two can read alike; what has none is in no row of
    one. `stories` counts those that have a figure, as official scoring leaves out others.
    """
    groups: dict[str, list[Mapping[str, str | float | None]]] = defaultdict(list)
    for category, row in rows:
        groups[category].append(row)
    overall = _means([row for _, row in rows], shares)
    by_category = [_means(groups[category], shares, normalise_space(category)) for category in sorted(groups)]
    if mean_of:
        mean_of_categories = _mean([row.means[mean_of] for row in by_category])
        overall = replace(overall, means={**overall.means, f"{mean_of}_category_mean": mean_of_categories})
    return Averages(overall, [row for row in by_category if row.category])


def _means(rows: Sequence[Mapping[str, str | float | None]], shares: Sequence[str], category: str = "") -> PrintedMeans:
    counted = [row for row in rows if any(row[name] is not None for name in shares)]
    return PrintedMeans(len(counted), {name: _mean([row[name] for row in rows]) for name in shares}, category)


def _mean(printed: Sequence[str | float | None]) -> str | None:
    """The exact mean of printed figures, printed, without those that official scoring leaves out; None where it leaves
    out all."""
    counted = [float(metric) for metric in printed if metric is not None]
    return six(mean(counted)) if counted else None if printed else six(0)
