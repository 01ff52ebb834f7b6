"""Models across suites: the main figure of each model in the ranking of every suite, dataset and answer format, and the
correlation of suites over models.

A figure is that of the leaderboard which opens for the dataset: the same runs, stories and conditions. If a model has
several runs, the newest counts. Nothing is averaged over suites or datasets. A ranking is within the conditions of its
leaderboard, so all its models were asked by one method; if rankings differ in it, their titles name it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import groupby
from operator import or_

from django.db.models import Q

from annotation.models import Project
from benchmark.domain.provenance import EndpointSpec
from benchmark.domain.tables import Absent, Cell
from benchmark.models import AnswerFormat, Run
from benchmark.services.leaderboard_scope import Leaderboard, finished_runs_of, leaderboard_of_runs
from benchmark.services.plans import methods_of
from benchmark.services.reports import reports_of
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A model in a ranking. It is named as `labels_of` names entrants; between suites no settings are shared."""

    name: str
    spec: EndpointSpec = field(default_factory=EndpointSpec, metadata=NOT_KEPT)
    kind: str = "model"
    settings: Mapping[str, str] = field(default_factory=dict)
    family: str = ""
    metric: Cell | None
    """The figure, whose bounds are its worst and best case if anything is missing."""
    rank: int | None = None
    ranks: Sequence[int] | None = None
    why: str = ""
    """The reason why there is no rank, or no interval of it."""
    run: str = ""
    run_title: str = ""
    entrant: int = 0
    own: str = ""
    """The settings that not all entrants of the leaderboard have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRanking:
    """The ranking of a metric group of one suite on one dataset in one answer format."""

    group: str
    title: str = ""
    """A title that no other ranking of the project has."""
    dataset: str
    over: str
    numbers: frozenset[int]
    query: Mapping[str, str]
    within: str
    places: Mapping[str, Place]
    """Places by key of the model."""
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


def models_across(rankings: Sequence[SuiteRanking]) -> dict[str, str]:
    """Return {key: name} of all models with a place, in the order of the first ranking, then the others in the order of
    the next. No two models have one name."""
    models = {key: place for ranking in rankings for key, place in ranking.places.items()}
    names = dict(zip(models, labels_of(list(models.values()))[0], strict=True))

    def ranks(key: str) -> list[float]:
        places = (ranking.places.get(key) for ranking in rankings)
        return [float("inf") if place is None or place.rank is None else place.rank for place in places]

    return {key: names[key] for key in sorted(names, key=lambda key: (ranks(key), names[key]))}


def named_apart(rankings: Sequence[SuiteRanking]) -> list[SuiteRanking]:
    """Return the rankings with names of models that no two of them share, as snapshots keep them."""
    names = models_across(rankings)
    return [
        replace(ranking, places={key: replace(place, name=names[key]) for key, place in ranking.places.items()})
        for ranking in rankings
    ]


def rankings_across(project: Project) -> list[SuiteRanking]:
    """Return the rankings of a project in the order of its suites, the newest dataset first, from stored metrics."""
    runs = finished_runs_of(project)
    reports = reports_of(runs)
    order = ordered_suites(run.suite for run in runs)
    runs.sort(key=lambda run: (order.index(run.suite), -run.dataset.version, run.answer_format, -run.pk))
    rankings = []
    for (suite, _, _), of_leaderboard in groupby(runs, key=lambda run: (run.suite, run.dataset_id, run.answer_format)):
        same, groups = list(of_leaderboard), suite_named(suite).main_groups
        keys = [group.key for group in groups]
        leaderboard = leaderboard_of_runs(same[0].dataset, suite, same, reports, groups=keys)
        for group in groups:
            absent = {
                absence.model: absence.absent_model for absence in leaderboard.absent if absence.group == group.key
            }
            if leaderboard.entrants[group.key] or absent:
                rankings.append(_ranking(group, same[0], leaderboard, list(absent.values())))
    return [replace(ranking, title=title) for ranking, title in zip(rankings, _titles(rankings), strict=True)]


def _ranking(group: MetricGroup, run: Run, leaderboard: Leaderboard, absent: Sequence[Absent]) -> SuiteRanking:
    dataset, entrants = run.dataset, leaderboard.entrants[group.key]
    newest = sorted(entrants, key=lambda entrant: (_asked(entrant), entrant.at), reverse=True)
    models: dict[str, EntrantResults] = {}
    for entrant in newest:
        if entrant.kind == "model":
            models.setdefault(key_of(entrant.name, entrant.spec), entrant)
    levels = levels_of(entrants)
    guessing = next((e for e in newest if e.kind == "baseline" and e.spec.model == CHANCE), None)
    exact = Cell(levels.chance.value, n=levels.chance.n) if levels and levels.chance else None
    chance = exact or (score_of(guessing, "repaired", group.key) if guessing else None)
    chosen, conditions = leaderboard.chosen, leaderboard.rankings[group.key].chosen
    asked = {entrant.run for entrant in models.values()}
    query = {"version": str(dataset.version), "suite": run.suite, "answer_format": run.answer_format}
    return SuiteRanking(
        group=group.key,
        dataset=Sentence(
            "{dataset}, version {version}", dataset=dataset.title or gettext_noop("gold"), version=dataset.version
        ),
        over=chosen.label if chosen else "",
        numbers=chosen.stories if chosen else frozenset(),
        query={**query, "split": chosen.key if chosen else "", **conditions},
        within=facts(AnswerFormat(run.answer_format).label, *conditions.values()),
        places={key: _place(entrant, group.key) for key, entrant in models.items()},
        ranked=len(in_rank_order(entrants, "repaired")),
        chance=chance,
        drawn=chance is not None and exact is None,
        no_chance="" if chance else NO_CHANCE,
        absent=absent,
        method=next((asked_by(fitting) for fitting in leaderboard.fitting if fitting.uid in asked), ""),
    )


def _place(entrant: EntrantResults, group: str) -> Place:
    ranking, missing = entrant.ranking["repaired"], missing_of(entrant, group)
    metric = score_of(entrant, "repaired", group)
    return Place(
        name=entrant.name,
        spec=entrant.spec.identity,
        family=entrant.family,
        metric=metric and replace(metric, bounds=missing.bounds),
        rank=ranking.rank if ranking else None,
        ranks=ranking.ranks if ranking else None,
        why=(ranking and (ranking.reason or ranking.ranks_reason)) or "",
        run=entrant.run,
        run_title=entrant.run_title,
        entrant=entrant.entrant or 0,
        own=entrant.own,
    )


def _asked(entrant: EntrantResults) -> int:
    """The number of samples that it was asked about, but for those that were lost outside, as what an imported file
    does not hold."""
    ranking = entrant.ranking["repaired"]
    return ranking.n - ranking.lost if ranking else 0


def key_of(name: str, spec: EndpointSpec) -> str:
    """Return the key of the model that an entrant of that name and endpoint is."""
    same = {"provider": spec.provider, "model": spec.model, "revision": spec.revision, "options": spec.options}
    return text_digest(json.dumps([name, same], sort_keys=True))[:12]


def name_without_place(project: Project, key: str, rankings: Sequence[SuiteRanking]) -> str:
    """Return the name of a model that ran and is in none of the rankings, as runs of other stories are not. Returns ""
    for any other key."""
    if not key or any(key in ranking.places for ranking in rankings):
        return ""
    entrants = (entrant for run in finished_runs_of(project) for entrant in run.entrants.all())
    return next((entrant.name for entrant in entrants if key_of(entrant.name, entrant.asked_as) == key), "")


def _titles(rankings: Sequence[SuiteRanking]) -> list[str]:
    """Name each ranking by its suite, and by what else tells it from others: its figure, its dataset, its answer
    format; and by its method, unless all are asked by the one that others are compared with."""
    parts, plain = [], True
    for ranking in rankings:
        suite = suite_named(group_suite(ranking.group))
        version = Sentence("version {query}", query=ranking.query["version"])
        parts.append((suite.title, ranking.score, version, AnswerFormat(ranking.query["answer_format"]).label.lower()))
        plain = plain and ranking.method in ("", next(iter(methods_of(suite).values()), ""))
    titles = []
    for ranking, own in zip(rankings, parts, strict=True):
        namesakes = [other for other in parts if other[0] == own[0]]
        title = listed(part for at, part in enumerate(own) if at == 0 or len({other[at] for other in namesakes}) > 1)
        with_method = Sentence("{title} (method: {method})", title=title, method=ranking.method)
        titles.append(title if plain or not ranking.method else with_method)
    return titles


def correlation_of(first: SuiteRanking, second: SuiteRanking) -> Correlation:
    """Return the correlation of the figures of two rankings over the models that both have. Fewer models than an
    interval takes have none, as two always lie on a line. Models of one family are not independent: intervals are over
    families."""
    pairs = [
        (first.places[key].family or key, float(one.value), float(other.value))
        for key in first.places
        if key in second.places
        and (one := first.places[key].metric)
        and (other := second.places[key].metric)
        and one.value is not None
        and other.value is not None
    ]
    families = [family for family, _, _ in pairs]
    if len(pairs) < FEWEST:
        return Correlation(len(pairs), len({*families}), reason=few("models"))
    firsts, seconds = [one for _, one, _ in pairs], [other for _, _, other in pairs]
    return pearson(firsts, seconds, unit="models", clusters=families, cluster_unit=FAMILIES)


def items_behind(rankings: Sequence[SuiteRanking], project: Project) -> Q | None:
    """Return what finds the items with the figures of the rankings. Returns None if nobody has a place."""
    sizes = dict(project.datasets.values_list("version", "stories_count"))
    queries = []
    for ranking in rankings:
        entrants = [place.entrant for place in ranking.places.values() if place.entrant]
        own = Q(entrant__in=entrants, step=group_named(ranking.group).scored)
        if len(ranking.numbers) < sizes[int(ranking.query["version"])]:
            own &= Q(sample__number__in=ranking.numbers)
        queries += [own] if entrants else []
    return reduce(or_, queries) if queries else None
