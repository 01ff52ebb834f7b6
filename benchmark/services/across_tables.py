"""Tables and pictures of models across suites."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from benchmark.domain import plots
from benchmark.domain.drawn import MetricOfSuite, Plot, SuiteMetrics
from benchmark.domain.inference.leaderboard import RANKS_FROM
from benchmark.domain.tables import MISSING, NOTHING, Cell, Cells, Column, Row, Table, absent_text, share_column
from benchmark.services.across import AcrossModel, Place, SuiteRanking, models_across, pairs_across
from benchmark.services.plot_data import Picture
from benchmark.suites.registry import group_suite, suite_named
from benchmark.suites.showing.levels import CHANCE_ROW
from core.messages import Sentence, clauses, gettext_noop, labelled, listed, noted
from core.statistics import FEWEST

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


def tables_across(rankings: Sequence[SuiteRanking], model: AcrossModel | None = None) -> dict[str, Callable[[], Table]]:
    """Return the tables by name: of all models and of the pairs of rankings, and where one `model` is chosen of it
    alone."""
    if model:
        return {OF_MODEL: partial(table_of_model, rankings, model)}
    tables = {ALL: partial(table_of_all, rankings)}
    return tables | ({PAIRS: partial(table_of_pairs, rankings)} if len(rankings) > 1 else {})


def table_of_all(rankings: Sequence[SuiteRanking]) -> Table:
    """A row a model, and for each ranking its figure and its rank."""
    columns = [Column(key="model", header=gettext_noop("Model"))]
    by_key = {f"s{at}": ranking for at, ranking in enumerate(rankings)}
    rows = [_row_across(model, by_key) for model in models_across(rankings)]
    totals: Cells = {"model": CHANCE_ROW}
    for key, ranking in by_key.items():
        columns += _columns(key, ranking)
        totals[key] = ranking.chance and replace(ranking.chance, n=None)
    return Table(
        title=gettext_noop("Models across suites"),
        columns=columns,
        rows=rows,
        totals=[totals],
        lead=[*_method_sentences(rankings, METHODS_NOTE), *_leads(rankings)],
        notes=[METRIC_NOTE, CHANCE_NOTE, *_drawn_levels(rankings), RANK_NOTE, NEWEST_NOTE, *_run_sentences(rankings)],
        ranking=clauses(*(labelled(ranking.title, ranking.within) for ranking in rankings)),
    )


def _columns(key: str, ranking: SuiteRanking) -> list[Column]:
    named = {"group": ranking.title, "unit": "", "label": gettext_noop("Figure")}
    rank = Column(key=f"{key}_rank", header=gettext_noop("Rank"), kind="count", group=ranking.title)
    return [share_column(key, ranking.score, digits=1, **named), rank]


def _row_across(model: AcrossModel, rankings: Mapping[str, SuiteRanking]) -> Cells:
    row: Cells = {"model": model.name, "key": model.key}
    for key, ranking in rankings.items():
        if place := ranking.places.get(model.key):
            row |= {key: place.metric and replace(place.metric, n=None), f"{key}_rank": Cell(place.rank, place.ranks)}
    return row


def _drawn_levels(rankings: Sequence[SuiteRanking]) -> list[str]:
    """Name the rankings whose chance level is a baseline's figure, with what it is of."""
    notes = [
        f"{ranking.title} (n = {len(ranking.numbers) if ranking.chance.n is None else ranking.chance.n:,})"
        for ranking in rankings
        if ranking.chance and ranking.drawn
    ]
    return (
        [Sentence("{chance_row} of {notes}: the baseline “random”.", chance_row=CHANCE_ROW, notes=listed(notes))]
        if notes
        else []
    )


MOST_RUNS = 3


def _run_sentences(rankings: Sequence[SuiteRanking]) -> list[str]:
    """Say of which runs the figures of each ranking are."""
    notes = []
    for ranking in rankings:
        titles = list(dict.fromkeys(place.run_title for place in ranking.places.values()))
        named = listed(f"“{title}”" for title in titles[:MOST_RUNS])
        if len(titles) > MOST_RUNS:
            named = Sentence("{titles} and {count} more", titles=named, count=len(titles) - MOST_RUNS)
        if named:
            notes.append(labelled(ranking.title, named))
    return [Sentence("Runs. {notes}.", notes=clauses(*notes))] if notes else []


def _method_sentences(rankings: Sequence[SuiteRanking], note: str) -> list[str]:
    """Return the note where rankings differ in their method; a suite that asks in one way differs from none."""
    return [note] if len({ranking.method for ranking in rankings if ranking.method and ranking.places}) > 1 else []


def _leads(rankings: Sequence[SuiteRanking]) -> list[str]:
    """Say of each ranking whom it lacks and what it has no chance level for."""
    leads = [
        Sentence("{ranking} is not shown. {withheld}", ranking=ranking.title, withheld=ranking.withheld)
        for ranking in rankings
        if ranking.withheld
    ]
    leads += [lead for ranking in rankings for lead in _absent(ranking)]
    without = [ranking for ranking in rankings if ranking.no_chance and not ranking.withheld]
    reasons = dict.fromkeys(ranking.no_chance for ranking in without)
    return leads + [
        Sentence(
            "No chance level in {without}: {why}.",
            without=listed(ranking.title for ranking in without if ranking.no_chance == why),
            why=why,
        )
        for why in reasons
    ]


def _absent(ranking: SuiteRanking) -> Iterator[str]:
    """Say whom a ranking lacks, and apart from them who stands in it and has figures under other conditions, too."""
    ranked = {model.name for model in ranking.models.values()}
    absent = [absence for absence in ranking.absent if absence.model not in ranked]
    apart = [absence for absence in ranking.absent if absence.model in ranked]
    if absent:
        yield Sentence("Not in {ranking}: {absent}.", ranking=ranking.title, absent=absent_text(absent))
    if apart:
        yield Sentence("{ranking} has other figures, too: {apart}.", ranking=ranking.title, apart=absent_text(apart))


def table_of_model(rankings: Sequence[SuiteRanking], model: AcrossModel) -> Table:
    """A row a ranking that the model stands in: figure, chance level, rank."""
    rows = [
        _row_of_model(at, ranking, place)
        for at, ranking in enumerate(rankings)
        if (place := ranking.places.get(model.key))
    ]
    lacking = [ranking for ranking in rankings if model.key not in ranking.places and not ranking.withheld]
    names = {row["suite"] for row in rows}
    share = partial(Column, kind="share", digits=1)
    columns = [
        Column(key="suite", header=gettext_noop("Suite")),
        Column(key="score", header=gettext_noop("Figure")),
        share(key="value", header=gettext_noop("Value"), unit="%"),
        share(key="worst", header=gettext_noop("Worst case"), unit="%"),
        share(key="best", header=gettext_noop("Best case"), unit="%"),
        share(key="chance", header=gettext_noop("Chance level"), unit="%"),
        Column(key="rank", header=gettext_noop("Rank"), kind="count"),
        Column(key="of", header="Of", kind="count"),
        Column(key="within", header=gettext_noop("Asked and judged")),
        Column(key="dataset", header=gettext_noop("Dataset")),
        Column(key="run", header=gettext_noop("Run")),
    ]
    return Table(
        title=Sentence("{model} across suites", model=model.name),
        columns=columns,
        rows=rows,
        lead=[
            *_method_sentences([ranking for ranking in rankings if model.key in ranking.places], METHODS_NOTE),
            *_not_run(lacking, model),
            *_leads([ranking for ranking in rankings if ranking.title in names and ranking.no_chance]),
        ],
        notes=[METRIC_NOTE, CHANCE_NOTE, *_drawn_levels(rankings), RANK_NOTE, *_unranked(rows), NEWEST_NOTE],
    )


def _row_of_model(at: int, ranking: SuiteRanking, place: Place) -> Cells:
    metric = place.metric or NOTHING
    worst, best = metric.bounds or (metric.value, metric.value)
    return {
        "at": at,
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
        "within": listed([ranking.within, *_own_settings(ranking, place)]),
        "run": place.run_title,
    }


def _own_settings(ranking: SuiteRanking, place: Place) -> list[str]:
    """The settings of the model's run that are not those of the whole ranking."""
    common = {*ranking.within.replace(" · ", ", ").split(", "), ""}
    return [setting for setting in place.settings.split(", ") if setting not in common]


def _unranked(rows: Sequence[Row]) -> list[str]:
    return [Sentence("{name}: {text}.", name=row["suite"], text=row["why"]) for row in rows if row["why"]]


def _not_run(rankings: Sequence[SuiteRanking], model: AcrossModel) -> list[str]:
    """Name the rankings that lack the model, with the reason where one is known."""
    notes = []
    for ranking in rankings:
        names = {absent.model: absent.why for absent in ranking.absent}
        why = next((why for name, why in names.items() if model.name.startswith(name)), gettext_noop("no finished run"))
        notes.append(noted(ranking.title, why))
    return [Sentence("Without a figure in {notes}.", notes=clauses(*notes))] if notes else []


def table_of_pairs(rankings: Sequence[SuiteRanking]) -> Table:
    """A row a pair of rankings: the correlation over models."""
    rows = [
        {
            "first": pair.first.title,
            "second": pair.second.title,
            "models": pair.correlation.n,
            "families": pair.correlation.clusters,
            "r": Cell(pair.correlation.r, pair.correlation.interval),
            "p": pair.correlation.p,
            "why": pair.correlation.reason or MISSING,
        }
        for pair in pairs_across(rankings)
    ]
    columns = [
        Column(key="first", header=gettext_noop("Suite")),
        Column(key="second", header=gettext_noop("Other suite")),
        Column(key="models", header=gettext_noop("Models"), kind="count"),
        Column(key="families", header=gettext_noop("Families"), kind="count"),
        Column(key="r", header="r", kind="number", digits=3),
        Column(key="p", header="p", kind="number", digits=3),
        *([Column(key="why", header=gettext_noop("Why none"))] if any(row["why"] != MISSING for row in rows) else []),
    ]
    notes = [PAIR_NOTE, gettext_noop("p: two-sided, of no correlation, not adjusted for the number of pairs.")]
    return Table(
        title=gettext_noop("Correlations between suites over models"),
        columns=columns,
        rows=rows,
        lead=_method_sentences(rankings, PAIRED_METHODS_NOTE),
        notes=notes,
    )


def pictures_across(rankings: Sequence[SuiteRanking], model: AcrossModel | None = None) -> dict[str, Picture]:
    """Return the pictures by name: of all models, or of one where it is chosen."""
    if model:
        title = Sentence("{model} across suites", model=model.name)
        return {OF_MODEL: Picture(title, partial(_of_model, rankings, model, title))}
    return {ALL: Picture(gettext_noop("Models across suites"), partial(_of_all, rankings))}


def _of_all(rankings: Sequence[SuiteRanking]) -> Plot:
    ranked, models = [ranking for ranking in rankings if ranking.places], models_across(rankings)
    suites = [
        SuiteMetrics(
            title=ranking.title,
            metrics=[_drawn(ranking.places.get(model.key)) for model in models],
            chance=ranking.chance,
        )
        for ranking in ranked
    ]
    return plots.models_across([model.name for model in models], suites).about(over=_units(ranked))


def _of_model(rankings: Sequence[SuiteRanking], model: AcrossModel, title: str) -> Plot:
    suites = [
        MetricOfSuite(title=ranking.title, metric=_drawn(place), chance=ranking.chance, rank=_ranks(place, ranking))
        for ranking in rankings
        if (place := ranking.places.get(model.key))
    ]
    return plots.model_across(title, suites).about(over=_units(rankings))


def _units(rankings: Sequence[SuiteRanking]) -> str:
    """Name what is resampled whole in these rankings' suites."""
    return " or ".join(dict.fromkeys(suite_named(group_suite(ranking.group)).cluster[1] for ranking in rankings))


def _drawn(place: Place | None) -> Cell | None:
    return place.metric if place else None


def _ranks(place: Place, ranking: SuiteRanking) -> str:
    if place.rank is None:
        return MISSING
    ends = f" [{place.ranks[0]}, {place.ranks[1]}]" if place.ranks else ""
    return Sentence("{rank}{ends} of {ranked}", rank=place.rank, ends=ends, ranked=ranking.ranked)
