"""Difficulty and discrimination of each story or question of a leaderboard, and of the items within them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.domain.item_response import Floats, fit_items, mean_by_model
from benchmark.domain.tables import Cells, Column, Table
from benchmark.models import Dataset, StoryScores
from benchmark.services.finer_items import ItemKey, finer_scores, texts_of
from benchmark.services.leaderboards import SEED
from benchmark.suites.figures import KeptScores, categories_of, scores_by_story
from benchmark.suites.registry import group_named
from benchmark.suites.results import EntrantResults
from core.kept import kept_as
from core.messages import gettext_noop

SIMULATED = gettext_noop(
    "In simulations of 6 models and 21 stories the intervals of 95 % hold the truth in 98 % (difficulty) and 94 % "
    "(discrimination) of stories of 12 answers each, and in 91 % and 90 % of single questions: those are too narrow."
)
MEANING = gettext_noop(
    "Difficulty: the share that a model as good as the mean misses. Discrimination: by how much a model one standard "
    "deviation above the mean scores higher than one as far below it; negative where better models do worse."
)
OTHERS = gettext_noop("How good a model is, is what it scores on all others. Brackets: 95 % intervals.")
FEW_MODELS = gettext_noop(
    "Nothing is fitted: that takes at least 5 models that were asked and judged alike, at least 5 items, and models "
    "that are not all alike."
)
"""The numbers are FEWEST_MODELS and FEWEST_ITEMS: a sentence that is translated names them itself."""
WHOLE = -1
"""The place of an item that is a whole sample."""


@dataclass(frozen=True, slots=True)
class ItemReport:
    """The items of a leaderboard, those first that tell the `models` apart most."""

    rows: Sequence[Cells]
    """{number, place, category, difficulty, difficulty_ci, discrimination, apart_ci, apart, mean, scored} of each: the
    number of the sample and the place of an item within it or WHOLE, shares with 95 % intervals, whether discrimination
    is told from 0, and the mean score of so many models."""
    models: int
    best: str = ""
    worst: str = ""
    """The keys of the newest entrants of the models with the highest and the lowest mean."""
    why_not: str = ""
    """The reason if there are no items."""


def items_of(
    entrants: Sequence[EntrantResults], group: str, parse: str, metric: str, stories: Collection[int] | None
) -> ItemReport:
    """Return difficulty and discrimination of the samples in `stories`, all where it is None, by what the models among
    the entrants score on each in a metric group and parse; kept for a while.

    A model that was asked several times, with other seeds, prompts or methods, is one model, with the mean of what it
    scored: its runs say nothing of how models differ."""
    models = [entrant for entrant in entrants if entrant.kind == "model" and entrant.scores]
    asked = [sorted(model.scores for model in models), group, parse, metric, sorted(stories or ())]
    return kept_as("items", asked, lambda: _report(models, group, parse, metric, stories))


def finer_items_of(
    dataset: Dataset, entrants: Sequence[EntrantResults], group: str, metric: str, stories: Collection[int] | None
) -> ItemReport:
    """Return `items_of` for the items within samples of a metric group that has them, such as propositions: repaired
    parse, by one of their metrics."""
    models = sorted(
        (entrant for entrant in entrants if entrant.kind == "model" and entrant.scores),
        key=lambda entrant: entrant.scores,
    )
    asked = [[model.scores for model in models], group, metric, sorted(stories or ())]

    def fitted() -> ItemReport:
        finer = group_named(group).finer
        assert finer is not None
        scores = finer_scores(dataset, models, group).among(stories)
        places = list(zip(scores.numbers.tolist(), scores.places.tolist(), strict=True))
        return _fitted(models, scores.scores[..., finer.metrics.index(metric)], places, {})

    return kept_as("finer-report", asked, fitted)


def _report(
    models: Sequence[EntrantResults], group: str, parse: str, metric: str, stories: Collection[int] | None
) -> ItemReport:
    rows = StoryScores.objects.filter(pk__in=[model.scores for model in models]).values_list("pk", "metrics")
    kept = {pk: KeptScores(metrics) for pk, metrics in rows}
    columns = [kept.get(model.scores, KeptScores()).columns(group, parse) for model in models]
    by_entrant = [scores_by_story(story_columns, metric) for story_columns in columns]
    scored = {number for by_number in by_entrant for number, score in by_number.items() if score is not None}
    numbers = sorted(number for number in scored if stories is None or number in stories)
    values = [[by_number.get(number) for number in numbers] for by_number in by_entrant]
    table = np.array(values, dtype=float).reshape(len(models), len(numbers))
    categories = {
        number: name
        for story_columns in columns
        if story_columns
        for number, name in categories_of(story_columns).items()
    }
    return _fitted(models, table, [(number, WHOLE) for number in numbers], categories)


def _fitted(
    models: Sequence[EntrantResults], table: Floats, places: Sequence[ItemKey], categories: Mapping[int, str]
) -> ItemReport:
    """Return the items at these places by a table of scores, shape (entrants, items)."""
    names = list(dict.fromkeys(model.name for model in models))
    scores = mean_by_model(table, [names.index(model.name) for model in models], len(names))
    rows, scored = np.isfinite(scores).any(axis=1), np.isfinite(scores).any(axis=0)
    scores, places = scores[:, scored], [place for place, has_score in zip(places, scored, strict=True) if has_score]
    fit = fit_items(scores[rows], seed=SEED)
    if fit is None:
        return ItemReport([], int(rows.sum()), why_not=FEW_MODELS)
    means, counts = np.nanmean(scores, axis=0), np.isfinite(scores).sum(axis=0)
    item_rows = [
        {
            "number": number,
            "place": place,
            "category": categories.get(number, ""),
            "difficulty": float(fit.difficulty[at]),
            "difficulty_ci": fit.difficulty_interval[at].tolist(),
            "discrimination": float(fit.discrimination[at]),
            "apart_ci": fit.discrimination_interval[at].tolist(),
            "apart": bool(fit.apart[at]),
            "mean": float(means[at]),
            "scored": int(counts[at]),
        }
        for at, (number, place) in enumerate(places)
    ]
    item_rows.sort(key=lambda row: (-row["discrimination"], row["number"], row["place"]))
    newest = {model.name: model.key for model in sorted(models, key=lambda model: model.at)}
    mean_by_key = {newest[names[at]]: float(np.nanmean(scores[at])) for at in np.flatnonzero(rows)}
    best, worst = max(mean_by_key, key=mean_by_key.__getitem__), min(mean_by_key, key=mean_by_key.__getitem__)
    return ItemReport(item_rows, int(rows.sum()), best, worst)


def item_table(report: ItemReport, noun: str, *, dataset: Dataset | None = None, group: str = "") -> Table:
    """Return a row for each item, those first that tell models apart most. With a `dataset` and its `group` they are
    the items within samples, named `noun`, with their texts."""
    finer = group_named(group).finer if dataset else None
    texts = texts_of(dataset, group, [(row["number"], row["place"]) for row in report.rows]) if dataset else {}
    heads = [
        dict(zip(("who", "what"), texts.get((row["number"], row["place"]), ("", "")), strict=True))
        for row in report.rows
    ]
    what = (
        [Column(key="who", header=gettext_noop("Actor")), Column(key="what", header=finer.noun[0].capitalize())]
        if finer
        else [Column(key="category", header=gettext_noop("Category"))]
    )
    columns = [
        Column(key="number", header=noun.capitalize(), kind="count"),
        *what,
        Column(
            key="discrimination", header=gettext_noop("Discrimination"), unit="%", kind="share", interval="apart_ci"
        ),
        Column(key="difficulty", header=gettext_noop("Difficulty"), unit="%", kind="share", interval="difficulty_ci"),
        Column(key="mean", header=gettext_noop("Mean score"), unit="%", kind="share"),
        Column(key="scored", header=gettext_noop("Models"), kind="count"),
    ]
    return Table(
        title=gettext_noop("What tells models apart"),
        columns=columns,
        rows=[row | {"who": who, "what": text} for row, (who, text) in zip(report.rows, heads, strict=True)],
        notes=[MEANING, OTHERS, SIMULATED],
    )


def metrics_of(group: str) -> dict[str, str]:
    """Return the shares of a metric group that items can be told by, with their names, the ranked one first."""
    described = group_named(group)
    names = dict.fromkeys([described.score, *described.shares])
    return {
        name: described.score_title if name == described.score else described.headers.get(name, name) for name in names
    }


def finer_metrics_of(group: str) -> dict[str, str]:
    """Return the shares that the items within samples can be told by, with their names; empty without such items."""
    described = group_named(group)
    names = metrics_of(group)
    return {name: names[name] for name in described.finer.metrics} if described.finer else {}
