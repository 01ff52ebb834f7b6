"""Models across suites and their tables: the main figure of each model in the ranking of every suite, dataset and
answer format, and the correlation of suites over models.

A figure is that of the leaderboard which opens for the dataset: the same runs, stories and conditions. If a model has
several runs, the newest counts. Nothing is averaged over suites or datasets. A ranking is within the conditions of its
leaderboard, so all its models were asked by one method; if rankings differ in it, their titles name it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, groupby

from annotation.models import Project
from benchmark.domain.inference.leaderboard import RANKS_FROM
from benchmark.domain.provenance import EndpointSpec
from benchmark.domain.tables import MISSING, NOTHING, Absent, Cell, Cells, Column, Table, absent_text, share_column
from benchmark.models import AnswerFormat, Run
from benchmark.services.leaderboard_scope import Leaderboard, finished_runs_of, leaderboard_of_runs
from benchmark.services.plans import methods_of
from benchmark.services.reports import reports_of
from benchmark.services.runs import asked_by
from benchmark.suites.groups import MetricGroup
from benchmark.suites.registry import group_named, group_suite, ordered_suites, suite_named
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import in_rank_order, labels_of, score_of
from benchmark.suites.showing.levels import CHANCE_ROW, levels_of
from benchmark.suites.showing.missing import missing_of
from core.digests import text_digest
from core.messages import Sentence, clauses, facts, gettext_noop, labelled, listed, noted
from core.plain import NOT_KEPT
from core.statistics import FEWEST, few
from core.statistics.correlation import Correlation, pearson
from workers.domain.families import FAMILIES

CHANCE = "random"
"""The baseline that draws among what may be answered: its figure in a ranking is the chance level."""
NO_CHANCE = gettext_noop(
    "it is not defined by what may be answered, and no finished run of the baseline “random” answers these questions"
)
ALL, PAIRS, OF_MODEL = "across", "correlations", "model"
"""Names of the table and picture of all models, of the table of correlations, and of the table and picture of one
model."""
METRIC_NOTE = gettext_noop(
    "Figures in per cent, repaired parse; brackets: 95 % intervals over what each suite resamples. As on the "
    "leaderboards; nothing is averaged over suites."
)
RANK_NOTE = Sentence(
    "Rank: with missing answers at their worst, among all rows of that ranking, baselines too; "
    "its brackets, from {ranks_from} rows on: 95 % bootstrap intervals.",
    ranks_from=RANKS_FROM,
)
CHANCE_NOTE = Sentence(
    "{chance_row}: what answers drawn among all that may be answered are expected to come to, "
    "computed from each sample; where that is not defined, what the baseline “random” came to on "
    "the same questions, with its interval and n.",
    chance_row=CHANCE_ROW,
)
NEWEST_NOTE = gettext_noop(
    "Of several finished runs of a model the one that was asked most counts, of those the newest; archived "
    "runs and runs under a control never do. A ranking is over the samples in which its "
    "figure counts most."
)
METHODS_NOTE = gettext_noop(
    "Rankings are by different methods, which their titles name: a model’s row compares methods, too."
)
PAIRED_METHODS_NOTE = gettext_noop(
    "Pairs whose titles name two methods go over methods, too: their r is not of the suites alone."
)
PAIR_NOTE = Sentence(
    "r: Pearson’s correlation of two rankings’ figures, whatever answers are missing, over the "
    "models that both have, from {fewest} on; brackets: 95 % intervals by Fisher’s z. Models of "
    "one family are not independent: the interval and p are over families, from {fewest_2} on. "
    "They are few and no random draw: read the interval first.",
    fewest=FEWEST,
    fewest_2=FEWEST,
)
MOST_RUNS = 3
"""The most titles of runs that the note of a ranking names."""


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


# --- tables
def tables_across(rankings: Sequence[SuiteRanking], model: str = "") -> dict[str, Callable[[], Table]]:
    """Return the tables by name: of all models and of the pairs of rankings, or of one `model`, by its key."""
    if model:
        return {OF_MODEL: partial(table_of_model, rankings, model)}
    tables: dict[str, Callable[[], Table]] = {ALL: partial(table_of_all, rankings)}
    return tables | ({PAIRS: partial(table_of_pairs, rankings)} if len(rankings) > 1 else {})


def table_of_all(rankings: Sequence[SuiteRanking]) -> Table:
    """A row a model, and for each ranking its figure, under `s0`, `s1` and so on, and its rank."""
    columns = [Column(key="model", header=gettext_noop("Model"))]
    rows: list[Cells] = [{"model": name, "key": key} for key, name in models_across(rankings).items()]
    totals: Cells = {"model": CHANCE_ROW}
    runs = []
    for at, ranking in enumerate(rankings):
        named = {"group": ranking.title, "unit": "", "label": gettext_noop("Figure")}
        columns.append(share_column(f"s{at}", ranking.score, digits=1, **named))
        columns.append(Column(key=f"s{at}_rank", header=gettext_noop("Rank"), kind="count", group=ranking.title))
        totals[f"s{at}"] = ranking.chance and replace(ranking.chance, n=None)
        for row in rows:
            if place := ranking.places.get(row["key"]):
                row[f"s{at}"] = place.metric and replace(place.metric, n=None)
                row[f"s{at}_rank"] = Cell(place.rank, place.ranks)
        titles = list(dict.fromkeys(place.run_title for place in ranking.places.values()))
        named_runs = listed(f"“{title}”" for title in titles[:MOST_RUNS])
        if len(titles) > MOST_RUNS:
            named_runs = Sentence("{titles} and {count} more", titles=named_runs, count=len(titles) - MOST_RUNS)
        runs += [labelled(ranking.title, named_runs)] if titles else []
    notes = [METRIC_NOTE, CHANCE_NOTE, *_drawn_levels(rankings), RANK_NOTE, NEWEST_NOTE]
    return Table(
        title=gettext_noop("Models across suites"),
        columns=columns,
        rows=rows,
        totals=[totals],
        lead=[*_method_sentences(rankings, METHODS_NOTE), *_leads(rankings)],
        notes=[*notes, *([Sentence("Runs. {notes}.", notes=clauses(*runs))] if runs else [])],
        ranking=clauses(*(labelled(ranking.title, ranking.within) for ranking in rankings)),
    )


def _drawn_levels(rankings: Sequence[SuiteRanking]) -> list[str]:
    """Name the rankings whose chance level is a baseline's figure, with what it is of."""
    notes = [
        f"{ranking.title} (n = {len(ranking.numbers) if ranking.chance.n is None else ranking.chance.n:,})"
        for ranking in rankings
        if ranking.chance and ranking.drawn
    ]
    text = gettext_noop("{chance_row} of {notes}: the baseline “random”.")
    return [Sentence(text, chance_row=CHANCE_ROW, notes=listed(notes))] if notes else []


def _method_sentences(rankings: Sequence[SuiteRanking], note: str) -> list[str]:
    """Return the note if rankings differ in their method; a suite that asks in one way differs from none."""
    return [note] if len({ranking.method for ranking in rankings if ranking.method and ranking.places}) > 1 else []


def _leads(rankings: Sequence[SuiteRanking]) -> Iterator[str]:
    """Say of each ranking whom it lacks and what it has no chance level for."""
    for ranking in rankings:
        if ranking.withheld:
            yield Sentence("{ranking} is not shown. {withheld}", ranking=ranking.title, withheld=ranking.withheld)
    for ranking in rankings:
        ranked = {place.name for place in ranking.places.values()}
        absent = [absence for absence in ranking.absent if absence.model not in ranked]
        apart = [absence for absence in ranking.absent if absence.model in ranked]
        if absent:
            yield Sentence("Not in {ranking}: {absent}.", ranking=ranking.title, absent=absent_text(absent))
        if apart:
            yield Sentence(
                "{ranking} has other figures, too: {apart}.", ranking=ranking.title, apart=absent_text(apart)
            )
    titles_by_reason: dict[str, list[str]] = {}
    for ranking in rankings:
        if ranking.no_chance and not ranking.withheld:
            titles_by_reason.setdefault(ranking.no_chance, []).append(ranking.title)
    for why, titles in titles_by_reason.items():
        yield Sentence("No chance level in {without}: {why}.", without=listed(titles), why=why)


def table_of_model(rankings: Sequence[SuiteRanking], model: str) -> Table:
    """A row a ranking that the model has a place in: figure, chance level, rank. `at` is the place of the ranking."""
    name = models_across(rankings)[model]
    rows = [
        {"at": at, **_row_of_model(ranking, place)}
        for at, ranking in enumerate(rankings)
        if (place := ranking.places.get(model))
    ]
    having = [ranking for ranking in rankings if model in ranking.places]
    lacking = [ranking for ranking in rankings if model not in ranking.places and not ranking.withheld]
    share = partial(Column, kind="share", digits=1, unit="%")
    columns = [
        Column(key="suite", header=gettext_noop("Suite")),
        Column(key="score", header=gettext_noop("Figure")),
        share(key="value", header=gettext_noop("Value")),
        share(key="worst", header=gettext_noop("Worst case")),
        share(key="best", header=gettext_noop("Best case")),
        share(key="chance", header=gettext_noop("Chance level")),
        Column(key="rank", header=gettext_noop("Rank"), kind="count"),
        Column(key="of", header="Of", kind="count"),
        Column(key="within", header=gettext_noop("Asked and judged")),
        Column(key="dataset", header=gettext_noop("Dataset")),
        Column(key="run", header=gettext_noop("Run")),
    ]
    unranked = [Sentence("{name}: {text}.", name=row["suite"], text=row["why"]) for row in rows if row["why"]]
    return Table(
        title=Sentence("{model} across suites", model=name),
        columns=columns,
        rows=rows,
        lead=[
            *_method_sentences(having, METHODS_NOTE),
            *_not_run(lacking, name),
            *_leads([ranking for ranking in having if ranking.no_chance]),
        ],
        notes=[METRIC_NOTE, CHANCE_NOTE, *_drawn_levels(rankings), RANK_NOTE, *unranked, NEWEST_NOTE],
    )


def _row_of_model(ranking: SuiteRanking, place: Place) -> Cells:
    metric = place.metric or NOTHING
    worst, best = metric.bounds or (metric.value, metric.value)
    # settings of the model's run that are not those of the whole ranking
    common = {*ranking.within.replace(" · ", ", ").split(", "), ""}
    own = [setting for setting in place.own.split(", ") if setting not in common]
    return {
        "suite": ranking.title,
        "dataset": labelled(ranking.dataset, ranking.over),
        "score": ranking.score,
        "value": replace(metric, n=None),
        "worst": worst,
        "best": best,
        "chance": ranking.chance and replace(ranking.chance, n=None),
        "rank": Cell(place.rank, place.ranks),
        "why": place.why,
        "of": ranking.ranked,
        "within": listed([ranking.within, *own]),
        "run": place.run_title,
    }


def _not_run(rankings: Sequence[SuiteRanking], name: str) -> list[str]:
    """Name the rankings that lack the model, with the reason if one is known."""
    notes = []
    for ranking in rankings:
        whys = (absent.why for absent in ranking.absent if name.startswith(absent.model))
        notes.append(noted(ranking.title, next(whys, gettext_noop("no finished run"))))
    return [Sentence("Without a figure in {notes}.", notes=clauses(*notes))] if notes else []


def table_of_pairs(rankings: Sequence[SuiteRanking]) -> Table:
    """A row a pair of rankings: the correlation over models."""
    rows = []
    for first, second in combinations(rankings, 2):
        found = correlation_of(first, second)
        row = {"first": first.title, "second": second.title, "models": found.n, "families": found.clusters}
        rows.append(row | {"r": Cell(found.r, found.interval), "p": found.p, "why": found.reason or MISSING})
    columns = [
        Column(key="first", header=gettext_noop("Suite")),
        Column(key="second", header=gettext_noop("Other suite")),
        Column(key="models", header=gettext_noop("Models"), kind="count"),
        Column(key="families", header=gettext_noop("Families"), kind="count"),
        Column(key="r", header="r", kind="number", digits=3),
        Column(key="p", header="p", kind="number", digits=3),
        *([Column(key="why", header=gettext_noop("Why none"))] if any(row["why"] != MISSING for row in rows) else []),
    ]
    return Table(
        title=gettext_noop("Correlations between suites over models"),
        columns=columns,
        rows=rows,
        lead=_method_sentences(rankings, PAIRED_METHODS_NOTE),
        notes=[PAIR_NOTE, gettext_noop("p: two-sided, of no correlation, not adjusted for the number of pairs.")],
    )
