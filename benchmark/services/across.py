"""Models across suites: the main figure of each model in the ranking of every suite, dataset and answer format, and the
correlation of suites over models.

A figure is that of the leaderboard which opens for the dataset: the same runs, stories and conditions. If a model has
several runs, the newest counts. Nothing is averaged over suites or datasets. A ranking is within the conditions of its
leaderboard, so all its models were asked by one method; if rankings differ in it, their titles name it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations, groupby
from operator import or_
from typing import NamedTuple

from django.db.models import Q

from annotation.models import Project
from benchmark.domain.provenance import EndpointSpec
from benchmark.domain.tables import Absent, Cell
from benchmark.models import AnswerFormat, Dataset, Run
from benchmark.services.leaderboard_scope import Leaderboard, finished_runs_of, leaderboard_of_runs
from benchmark.services.plans import methods_of
from benchmark.services.reports import RunMetrics, reports_of
from benchmark.services.runs import asked_by
from benchmark.suites.groups import MetricGroup
from benchmark.suites.registry import group_named, group_suite, ordered_suites, suite_named
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import in_rank_order, labels_of, score_of
from benchmark.suites.showing.levels import levels_of
from benchmark.suites.showing.missing import missing_of
from core.digests import text_digest
from core.messages import Sentence, facts, gettext_noop, listed
from core.plain import NOT_KEPT
from core.statistics import FEWEST, few
from core.statistics.correlation import Correlation, pearson
from workers.domain.families import FAMILIES

CHANCE = "random"
"""The baseline that draws among what may be answered: its figure in a ranking is the chance level."""
NO_CHANCE = gettext_noop(
    "it is not defined by what may be answered, and no finished run of the baseline “random” answers these questions"
)


class AcrossModel(NamedTuple):
    """A model of any number of suites: its key in addresses, and a name that no other model has."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Place:
    """A model in a ranking."""

    metric: Cell | None
    """The figure, whose bounds are its worst and best case if anything is missing."""
    rank: int | None
    ranks: Sequence[int] | None
    why: str
    """The reason why there is no rank, or no interval of it."""
    run: str
    run_title: str
    entrant: int
    settings: str


@dataclass(frozen=True, slots=True)
class RankedModel:
    """A model as `labels_of` takes it. Between suites no settings are shared."""

    name: str
    spec: EndpointSpec = field(default_factory=EndpointSpec, metadata=NOT_KEPT)
    kind: str = "model"
    settings: Mapping[str, str] = field(default_factory=dict)
    family: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRanking:
    """The ranking of a metric group of one suite on one dataset in one answer format."""

    group: str
    title: str
    """A title that no other ranking of the project has."""
    dataset: str
    over: str
    numbers: frozenset[int]
    query: Mapping[str, str]
    within: str
    places: Mapping[str, Place]
    models: Mapping[str, RankedModel]
    """Places and models by key of the model."""
    ranked: int
    """The number of rows that have a rank, baselines included."""
    chance: Cell | None
    """The score to be expected by chance."""
    drawn: bool = False
    """True if that is the figure of the baseline `CHANCE`, which has an interval."""
    no_chance: str
    absent: Sequence[Absent]
    withheld: str = ""
    """The reason why its reader may not see it. Nobody has a place then."""
    method: str = ""
    """The method of all its models, "" if the suite has only one."""

    @property
    def score(self) -> str:
        return group_named(self.group).score_title

    @property
    def split(self) -> str:
        return self.query.get("split", "")


def models_across(rankings: Sequence[SuiteRanking]) -> list[AcrossModel]:
    """Return all models with a place, in the order of the first ranking, then the others in the order of the next."""
    models = {key: model for ranking in rankings for key, model in ranking.models.items()}
    labels = labels_of(list(models.values()))
    names = dict(zip(models, labels.models, strict=True))

    def order(place: Place | None) -> float:
        return float("inf") if place is None or place.rank is None else place.rank

    ordered = sorted(names, key=lambda key: ([order(ranking.places.get(key)) for ranking in rankings], names[key]))
    return [AcrossModel(key, names[key]) for key in ordered]


def named_apart(rankings: Sequence[SuiteRanking]) -> list[SuiteRanking]:
    """Return the rankings with names of models that no two of them share, as snapshots keep them."""
    names = {model.key: model.name for model in models_across(rankings)}
    return [
        replace(ranking, models={key: replace(model, name=names[key]) for key, model in ranking.models.items()})
        for ranking in rankings
    ]


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


def _ranking(
    group: MetricGroup,
    dataset: Dataset,
    answer_format: str,
    leaderboard: Leaderboard,
    absent: Sequence[Absent],
) -> SuiteRanking:
    entrants = leaderboard.entrants[group.key]
    newest = sorted(entrants, key=lambda entrant: (_asked(entrant), entrant.at), reverse=True)
    models: dict[str, EntrantResults] = {}
    for entrant in newest:
        if entrant.kind == "model":
            models.setdefault(key_of(entrant), entrant)
    levels = levels_of(entrants)
    guessing = next((e for e in newest if e.kind == "baseline" and e.spec.model == CHANCE), None)
    exact = Cell(levels.chance.value, n=levels.chance.n) if levels and levels.chance else None
    chance = exact or (score_of(guessing, "repaired", group.key) if guessing else None)
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
        places={key: _place(entrant, group.key) for key, entrant in models.items()},
        models={
            key: RankedModel(entrant.name, entrant.spec.identity, family=entrant.family)
            for key, entrant in models.items()
        },
        ranked=len(in_rank_order(entrants, "repaired")),
        chance=chance,
        drawn=chance is not None and exact is None,
        no_chance="" if chance else NO_CHANCE,
        absent=absent,
        method=next((asked_by(run) for run in leaderboard.fitting if run.uid in asked), ""),
    )


def _place(entrant: EntrantResults, group: str) -> Place:
    ranking, metric = entrant.ranking["repaired"], score_of(entrant, "repaired", group)
    missing = missing_of(entrant, group)
    return Place(
        metric=metric and replace(metric, bounds=[missing.low, missing.high] if missing.low != missing.high else None),
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


def items_behind(rankings: Sequence[SuiteRanking], project: Project) -> Q | None:
    """Return what finds the items with the figures of the rankings; None where nobody has a place."""
    sizes = dict(project.datasets.values_list("version", "stories_count"))
    queries = []
    for ranking in rankings:
        entrants = [place.entrant for place in ranking.places.values() if place.entrant]
        own = Q(entrant__in=entrants, step=group_named(ranking.group).scored)
        if len(ranking.numbers) < sizes[int(ranking.query["version"])]:
            own &= Q(sample__number__in=ranking.numbers)
        queries += [own] if entrants else []
    return reduce(or_, queries) if queries else None
