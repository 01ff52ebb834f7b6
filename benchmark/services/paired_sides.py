"""One model asked in two ways: its paired difference as a row of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from benchmark.domain.inference import Cases, paired_differences
from benchmark.models import Run, StoryScores
from benchmark.services.leaderboards import SEED
from benchmark.suites.asked import Columns
from benchmark.suites.registry import group_named, units_of_group
from benchmark.suites.story_scores import cases_by_story, clusters_of, columns_of
from core.statistics import SHARE, holm, mean_estimates, mean_of

Row = dict[str, Any]
Scores = tuple[dict[tuple[int, int], int], Any]


def scores_of_runs(runs: Sequence[Run]) -> Scores:
    """Return the ids of the scores by (run id, endpoint id), and what reads them by id."""
    rows = StoryScores.objects.filter(run__in=runs, entrant__isnull=False)
    keys = {(run, endpoint): pk for run, endpoint, pk in rows.values_list("run_id", "entrant__endpoint_id", "pk")}
    return keys, lambda: dict(StoryScores.objects.filter(pk__in=keys.values()).values_list("pk", "metrics"))


def side_of(metrics: Mapping[str, Any] | None, group: str, parse: str) -> Columns | None:
    """Return the scores of one metric group and parse, None where there are none."""
    return columns_of((metrics or {}).get(group), parse)


def common_cases(sides: Sequence[Columns], stage: str, among: Set[int] | None = None) -> Cases:
    """Return the cases of both sides over the samples that both were asked about, of those `among` where it is given;
    the first side says their clusters."""
    score = group_named(stage).score
    numbers = set.intersection(*(set(side.stories) for side in sides))
    by_side = {str(at): cases_by_story(columns, score) for at, columns in enumerate(sides)}
    return Cases.of(by_side, numbers if among is None else numbers & among, clusters_of(sides[0]))


def paired_row(cases: Cases, stage: str, tests: int = 0) -> Row:
    """Return {means, value, interval[, reason], n, answered, p, bounds, missing} of the first side less the second,
    missing answers at their worst; `bounds` is where the difference can be, `missing` how many samples have no score on
    either side, `tests` over how many the caller adjusts."""
    [pair] = paired_differences(cases, seed=SEED, tests=tests, unit=units_of_group(stage))
    means = [float(mean) if cases.stories else None for mean in mean_of(cases.worst)]
    best = [float(mean) if cases.stories else None for mean in mean_of(cases.best)]
    return {
        "means": means,
        **{name: pair[name] for name in ("value", "interval", "reason", "n", "answered", "p") if name in pair},
        "bounds": None if None in means else [means[0] - best[1], best[0] - means[1]],
        "missing": [int(count) for count in cases.missing] if cases.stories else [0, 0],
    }


def score_estimate(cases: Cases, stage: str) -> dict[str, Any]:
    """Return {value, interval[, reason], n} of the first side's mean, missing answers at their worst."""
    unit = units_of_group(stage)
    [estimate] = mean_estimates(
        cases.worst[:1], scale=SHARE, seed=SEED, unit=unit, empty="no sample has a score", clusters=cases.clusters
    )
    return {name: estimate[name] for name in ("value", "interval", "reason", "n") if name in estimate}


def adjusted(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with `p_adjusted`, by Holm's correction over all of them that have a p."""
    return [row | {"p_adjusted": value} for row, value in zip(rows, holm([row["p"] for row in rows]), strict=True)]
