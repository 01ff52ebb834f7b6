"""One model asked in two ways: its paired difference as a row of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from benchmark.domain.inference import Cases
from benchmark.domain.inference.answered_pairs import Sides, answered_difference
from benchmark.domain.inference.leaderboard import NONE_SCORED
from benchmark.models import Run, StoryScores
from benchmark.services.leaderboards import SEED
from benchmark.suites.figures import KeptScores, cases_by_story, clusters_of
from benchmark.suites.questions import Columns
from benchmark.suites.registry import group_named, units_of_group
from benchmark.suites.results import EntrantResults
from core.statistics import SHARE, Estimate, mean_estimates

Groups = Mapping[str, Sequence[EntrantResults]]
"""A run's ranked entrants by metric group."""
Asked = tuple[int, int]
"""The ids of a run and of an endpoint that it asked."""


@dataclass(frozen=True, slots=True)
class PlacedScores:
    """Where the scores of runs are kept: their ids by run and endpoint."""

    ids: Mapping[Asked, int]

    def read(self) -> dict[Asked, KeptScores]:
        """Return the scores themselves."""
        metrics = dict(StoryScores.objects.filter(pk__in=self.ids.values()).values_list("pk", "metrics"))
        return {asked: KeptScores(metrics[pk]) for asked, pk in self.ids.items() if pk in metrics}


def scores_of_runs(runs: Sequence[Run]) -> PlacedScores:
    """Return where the scores of the runs' models are kept."""
    rows = StoryScores.objects.current().filter(run__in=runs, entrant__isnull=False)
    ids = {(run, endpoint): pk for run, endpoint, pk in rows.values_list("run_id", "entrant__endpoint_id", "pk")}
    return PlacedScores(ids)


def versions_of_sides(run: Run, scores: PlacedScores, groups: Groups, *besides: object) -> list[object]:
    """Return what tells a table of a run's models asked in several ways from any other: the `scores`, how the models of
    each metric group are called, and what else it depends on."""
    labels = [[group, entrant.key, entrant.model] for group, entrants in groups.items() for entrant in entrants]
    return [run.pk, SEED, sorted(scores.ids.values()), *besides, labels]


def common_cases(sides: Sequence[Columns], group: str, among: Set[int] | None = None) -> Cases:
    """Return the cases of both sides over the samples that both were asked about, only those `among` if given. Clusters
    are those of the first side."""
    score = group_named(group).score
    numbers = set.intersection(*(set(side.stories) for side in sides))
    by_side = {str(at): cases_by_story(columns, score) for at, columns in enumerate(sides)}
    return Cases.of(by_side, numbers if among is None else numbers & among, clusters_of(sides[0]))


def paired_sides(cases: Cases, group: str, tests: int = 1) -> Sides:
    """Return the first side less the second over what both answered; `tests` is how many tests the caller corrects
    over."""
    return answered_difference(cases, seed=SEED, tests=tests, unit=units_of_group(group))


def score_estimate(cases: Cases, group: str) -> Estimate:
    """Return the first side's mean with its interval, missing answers at their worst."""
    unit = units_of_group(group)
    [estimate] = mean_estimates(
        cases.worst[:1],
        scale=SHARE,
        seed=SEED,
        unit=unit,
        empty=NONE_SCORED,
        clusters=cases.clusters,
    )
    return score_of(estimate)


def score_of(estimate: Estimate) -> Estimate:
    """Return what rows of methods keep of an estimate: neither its clusters nor its bounds."""
    return Estimate(estimate.value, estimate.n, estimate.interval, reason=estimate.reason)
