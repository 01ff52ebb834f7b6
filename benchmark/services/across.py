"""Models across suites: the main figure of each in the ranking of every suite, dataset and answer format, and how
suites go together over models.

A figure is that of the leaderboard which opens for the dataset: the same runs, stories and conditions. Of several runs
of one model the newest counts there. Nothing is averaged over suites or datasets.

A ranking is within the conditions of its leaderboard, so that all its models were asked by one method: ranks and
intervals never mix any. Two rankings can differ in it, and then each says its own in its title, which heads of columns,
files, pictures and snapshots have; so a correlation that goes over methods too shows that it does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby
from typing import NamedTuple

from annotation.models import Project
from benchmark.domain.drawn import RankedRow
from benchmark.domain.provenance import EndpointSpec
from benchmark.domain.tables import Absent
from benchmark.models import AnswerFormat, Dataset, Run
from benchmark.services.leaderboard_scope import Leaderboard, finished_runs_of, leaderboard_of_runs
from benchmark.services.plans import methods_of
from benchmark.services.plot_data import leaderboard_rows
from benchmark.services.reports import reports_of
from benchmark.services.run_metrics import RunMetrics
from benchmark.services.runs import asked_by
from benchmark.services.suite_rankings import AcrossModel, ExactLevel, Place, RankedModel, SuiteRanking
from benchmark.suites.groups import MetricGroup
from benchmark.suites.registry import group_suite, ordered_suites, suite_named
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.levels import levels_of
from benchmark.suites.showing.ranking import in_rank_order
from core.digests import text_digest
from core.messages import Sentence, facts, gettext_noop, listed
from core.statistics import FEWEST, few
from core.statistics.correlation import Correlation, pearson
from workers.domain.families import FAMILIES

CHANCE = "random"
"""The baseline that draws among what may be answered: its figure in a ranking is the chance level."""
NO_CHANCE = gettext_noop(
    "it is not defined by what may be answered, and no finished run of the baseline “random” answers these questions"
)


def rankings_across(project: Project) -> list[SuiteRanking]:
    """Return the rankings of a project in the order of its suites, the newest dataset first, from stored metrics."""
    runs = finished_runs_of(project)
    reports = reports_of(runs)
    order = ordered_suites(run.suite for run in runs)
    leaderboards = sorted(
        runs, key=lambda run: (order.index(run.suite), -run.dataset.version, run.answer_format, -run.pk)
    )
    rankings = [
        ranking
        for (_, _, _), of_leaderboard in groupby(
            leaderboards, key=lambda run: (run.suite, run.dataset_id, run.answer_format)
        )
        for ranking in _rankings(list(of_leaderboard), reports)
    ]
    return [replace(ranking, title=title) for ranking, title in zip(rankings, _titles(rankings), strict=True)]


def _rankings(runs: list[Run], reports: Mapping[int, RunMetrics]) -> Iterator[SuiteRanking]:
    dataset, suite, answer_format = runs[0].dataset, suite_named(runs[0].suite), runs[0].answer_format
    groups = suite.main_groups
    keys = [group.key for group in groups]
    leaderboard = leaderboard_of_runs(dataset, suite.name, runs, reports, groups=keys)
    for group in groups:
        absent = {absence.model: absence.absent_model for absence in leaderboard.absent if absence.group == group.key}
        if leaderboard.entrants[group.key] or absent:
            yield _ranking(group, dataset, answer_format, leaderboard, list(absent.values()))


def _by_chance(entrants: Sequence[EntrantResults]) -> ExactLevel | None:
    """Return what the score of a ranking is expected to be by chance, as a run of these very samples has it."""
    levels = levels_of(entrants)
    chance = levels.chance if levels else None
    return ExactLevel(chance.value, chance.n) if chance else None


def _ranking(
    group: MetricGroup,
    dataset: Dataset,
    answer_format: str,
    leaderboard: Leaderboard,
    absent: Sequence[Absent],
) -> SuiteRanking:
    entrants = leaderboard.entrants[group.key]
    rows = dict(zip((entrant.key for entrant in entrants), leaderboard_rows(entrants, group.key), strict=True))
    newest = sorted(entrants, key=lambda entrant: (_asked(entrant), entrant.at), reverse=True)
    models: dict[str, EntrantResults] = {}
    for entrant in newest:
        if entrant.kind == "model":
            models.setdefault(key_of(entrant), entrant)
    guessing = next((entrant for entrant in newest if _guesses(entrant)), None)
    chance = _by_chance(entrants) or (rows[guessing.key].repaired if guessing else None)
    chosen, conditions = leaderboard.chosen, leaderboard.rankings[group.key].chosen
    asked = {entrant.run for entrant in models.values()}
    return SuiteRanking(
        group=group.key,
        title="",
        dataset=Sentence(
            "{dataset}, version {version}", dataset=dataset.title or gettext_noop("gold"), version=dataset.version
        ),
        over=chosen.label if chosen else "",
        numbers=chosen.stories if chosen else frozenset(),
        query={
            "version": str(dataset.version),
            "suite": group_suite(group.key),
            "answer_format": answer_format,
            "split": chosen.key if chosen else "",
        }
        | conditions,
        within=facts(AnswerFormat(answer_format).label, *conditions.values()),
        places={key: _place(entrant, rows[entrant.key]) for key, entrant in models.items()},
        models={
            key: RankedModel(entrant.name, entrant.spec.identity, family=entrant.family)
            for key, entrant in models.items()
        },
        ranked=len(in_rank_order(entrants, "repaired")),
        chance=chance,
        no_chance="" if chance else NO_CHANCE,
        absent=absent,
        method=next((asked_by(run) for run in leaderboard.fitting if run.uid in asked), ""),
    )


def _place(entrant: EntrantResults, row: RankedRow) -> Place:
    ranking = entrant.ranking["repaired"]
    return Place(
        metric=row.repaired,
        bounds=row.bounds,
        rank=ranking and ranking.rank,
        ranks=ranking and ranking.ranks,
        why=(ranking and (ranking.reason or ranking.ranks_reason)) or "",
        run=entrant.run,
        run_title=entrant.run_title,
        entrant=entrant.entrant or 0,
        settings=entrant.own,
    )


def _asked(entrant: EntrantResults) -> int:
    """The number of samples that it was asked about, but for those that were lost outside, as what an imported file
    does not hold."""
    ranking = entrant.ranking["repaired"]
    return ranking.n - ranking.lost if ranking else 0


def _guesses(entrant: EntrantResults) -> bool:
    return entrant.kind == "baseline" and entrant.spec.model == CHANCE


def key_of(entrant: EntrantResults) -> str:
    """Return the key of the model that an entrant is."""
    return _key(entrant.name, entrant.spec)


def _key(name: str, spec: EndpointSpec) -> str:
    same = {"provider": spec.provider, "model": spec.model, "revision": spec.revision, "options": spec.options}
    identity = json.dumps([name, same], sort_keys=True)
    return text_digest(identity)[:12]


def model_without_place(project: Project, key: str, rankings: Sequence[SuiteRanking]) -> AcrossModel | None:
    """Return the model of that key where it ran and stands in none of the rankings, as runs of other stories do not;
    None else."""
    if not key or any(key in ranking.models for ranking in rankings):
        return None
    entrants = (entrant for run in finished_runs_of(project) for entrant in run.entrants.all())
    return next(
        (AcrossModel(key, entrant.name) for entrant in entrants if _key(entrant.name, entrant.asked_as) == key), None
    )


def _titles(rankings: Sequence[SuiteRanking]) -> list[str]:
    """Name each ranking by its suite, and by what else tells it from others: its figure, its dataset, its answer
    format; and by its method, unless all are asked by the one that others are held against."""
    parts = [_parts(ranking) for ranking in rankings]
    by_method = any(ranking.method and ranking.method != _first_method(ranking) for ranking in rankings)
    titles = []
    for ranking, own in zip(rankings, parts, strict=True):
        namesakes = [other for other in parts if other[0] == own[0]]
        telling = [part for at, part in enumerate(own) if at == 0 or len({other[at] for other in namesakes}) > 1]
        title = listed(telling)
        titles.append(
            Sentence("{title} (method: {method})", title=title, method=ranking.method)
            if by_method and ranking.method
            else title
        )
    return titles


def _first_method(ranking: SuiteRanking) -> str:
    return next(iter(methods_of(suite_named(group_suite(ranking.group))).values()), "")


def _parts(ranking: SuiteRanking) -> tuple[str, str, str, str]:
    return (
        suite_named(group_suite(ranking.group)).title,
        ranking.score,
        Sentence("version {query}", query=ranking.query["version"]),
        AnswerFormat(ranking.query["answer_format"]).label.lower(),
    )


class SuitePair(NamedTuple):
    """Two rankings with the correlation of their figures over the models that both have."""

    first: SuiteRanking
    second: SuiteRanking
    correlation: Correlation


def pairs_across(rankings: Sequence[SuiteRanking]) -> list[SuitePair]:
    """Return every two rankings; fewer models than an interval takes have no correlation, as two always lie on a
    line. Models of one family are not independent: intervals are over families."""
    return [SuitePair(first, second, _correlation(first, second)) for first, second in combinations(rankings, 2)]


def _correlation(first: SuiteRanking, second: SuiteRanking) -> Correlation:
    values = {
        key: (first_value, other)
        for key in first.places
        if (first_value := _value(first, key)) is not None and (other := _value(second, key)) is not None
    }
    families = [first.models[key].family or key for key in values]
    if len(values) < FEWEST:
        return Correlation(len(values), len({*families}), reason=few("models"))
    return pearson(
        [first_value for first_value, _ in values.values()],
        [other for _, other in values.values()],
        unit="models",
        clusters=families,
        cluster_unit=FAMILIES,
    )


def _value(ranking: SuiteRanking, key: str) -> float | None:
    place = ranking.places.get(key)
    value = place.metric.value if place and place.metric else None
    return None if value is None else float(value)
