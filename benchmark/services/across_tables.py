"""Tables and pictures of models across suites."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from benchmark.domain import plots
from benchmark.domain.drawn import Plot
from benchmark.domain.inference.leaderboard import RANKS_FROM
from benchmark.domain.tables import MISSING, NOTHING, Cell, Cells, Column, Table, absent_text, share_column
from benchmark.services.across import Place, SuiteRanking, correlation_of, models_across
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
MOST_RUNS = 3
"""The most titles of runs that the note of a ranking names."""


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


def pictures_across(rankings: Sequence[SuiteRanking], model: str = "") -> dict[str, Picture]:
    """Return the pictures by name: of all models, or of one by its key."""
    if model:
        title = Sentence("{model} across suites", model=models_across(rankings)[model])
        return {OF_MODEL: Picture(title, partial(_of_model, rankings, model, title))}
    return {ALL: Picture(gettext_noop("Models across suites"), partial(_of_all, rankings))}


def _of_all(rankings: Sequence[SuiteRanking]) -> Plot:
    ranked, models = [ranking for ranking in rankings if ranking.places], models_across(rankings)
    suites = []
    for ranking in ranked:
        places = (ranking.places.get(key) for key in models)
        suites.append((ranking.title, [place.metric if place else None for place in places], ranking.chance))
    return plots.models_across(list(models.values()), suites).about(over=_units(ranked))


def _of_model(rankings: Sequence[SuiteRanking], model: str, title: str) -> Plot:
    suites = []
    for ranking in rankings:
        if place := ranking.places.get(model):
            ends = f" [{place.ranks[0]}, {place.ranks[1]}]" if place.ranks else ""
            rank = Sentence("{rank}{ends} of {ranked}", rank=place.rank, ends=ends, ranked=ranking.ranked)
            suites.append((ranking.title, place.metric, ranking.chance, MISSING if place.rank is None else rank))
    return plots.model_across(title, suites).about(over=_units(rankings))


def _units(rankings: Sequence[SuiteRanking]) -> str:
    """Name what is resampled whole in these rankings' suites."""
    return " or ".join(dict.fromkeys(suite_named(group_suite(ranking.group)).cluster[1] for ranking in rankings))
