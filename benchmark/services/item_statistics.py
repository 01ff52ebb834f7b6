"""Difficulty and discrimination of each story or question of a leaderboard, and of the items within them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.domain.item_response import Floats, fit_items, mean_by_model
from benchmark.domain.tables import Cell, Cells, Column, Table
from benchmark.models import Dataset, DatasetSample, RunItem, StoryScores
from benchmark.services.asking import all_at_once, sample_of
from benchmark.services.leaderboards import SEED
from benchmark.suites.figures import categories_of, columns_of, scores_by_story
from benchmark.suites.registry import group_named
from benchmark.suites.results import EntrantResults
from core.kept import kept, kept_as
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


AT_ONCE = 100
"""Samples whose answers are read together."""
ItemKey = tuple[int, int]
"""The number of a sample, and the place of an item within it or WHOLE."""


@dataclass(frozen=True, slots=True)
class ItemReport:
    """The items of a leaderboard, those first that tell the `models` apart most."""

    rows: Sequence[Cells]
    """{number, place, category, difficulty, discrimination, apart, mean, scored} of each item: cells with 95 %
    intervals, whether discrimination is told from 0, and the mean score of so many models."""
    models: int
    best: str = ""
    worst: str = ""
    """The keys of the newest entrants of the models with the highest and the lowest mean."""
    why_not: str = ""
    """The reason if there are no items."""


def items_of(
    entrants: Sequence[EntrantResults],
    group: str,
    parse: str,
    metric: str,
    stories: Collection[int] | None,
    finer_in: Dataset | None = None,
) -> ItemReport:
    """Return difficulty and discrimination of the samples in `stories`, all if it is None, by the scores of the models
    among the entrants in a metric group and parse. With `finer_in`, their dataset, of the items within these samples
    (repaired parse).

    A model that was asked several times, with other seeds, prompts or methods, is one model, with the mean of its
    scores: its runs say nothing of how models differ."""
    models = [entrant for entrant in entrants if entrant.kind == "model" and entrant.scores]
    versions = [sorted(model.scores for model in models), group, parse, metric, sorted(stories or ()), bool(finer_in)]

    def computed() -> ItemReport:
        if finer_in is None:
            return _fitted(models, *_sample_scores(models, group, parse, metric, stories))
        ordered = sorted(models, key=lambda model: model.scores)
        places, scores = finer_scores(finer_in, ordered, group)
        keep = np.isin(places[:, 0], list(stories)) if stories is not None else np.full(len(places), True)
        described = group_named(group).finer
        assert described is not None
        chosen = scores[:, keep, described.metrics.index(metric)]
        return _fitted(ordered, chosen, [(number, place) for number, place in places[keep].tolist()], {})

    return kept_as("items", versions, computed)


def _sample_scores(
    models: Sequence[EntrantResults], group: str, parse: str, metric: str, stories: Collection[int] | None
) -> tuple[Floats, list[ItemKey], dict[int, str]]:
    """Return scores of shape (models, samples), the key of each sample that any model has a score of, and the
    categories of samples by number."""
    rows = StoryScores.objects.filter(pk__in=[model.scores for model in models])
    by_key = dict(rows.values_list("pk", "metrics"))
    columns = [columns_of(by_key.get(model.scores, {}).get(group), parse) for model in models]
    by_entrant = [scores_by_story(own, metric) for own in columns]
    scored = {number for by_number in by_entrant for number, score in by_number.items() if score is not None}
    numbers = sorted(number for number in scored if stories is None or number in stories)
    values = [[by_number.get(number) for number in numbers] for by_number in by_entrant]
    table = np.array(values, dtype=float).reshape(len(models), len(numbers))
    categories = {number: name for own in columns if own for number, name in categories_of(own).items()}
    return table, [(number, WHOLE) for number in numbers], categories


def _fitted(
    models: Sequence[EntrantResults], table: Floats, places: Sequence[ItemKey], categories: Mapping[int, str]
) -> ItemReport:
    """Return the items at these places by a table of scores, shape (entrants, items)."""
    names = list(dict.fromkeys(model.name for model in models))
    scores = mean_by_model(table, [names.index(model.name) for model in models], len(names))
    rows, scored = np.isfinite(scores).any(axis=1), np.isfinite(scores).any(axis=0)
    scores, places = scores[:, scored], [places[at] for at in np.flatnonzero(scored).tolist()]
    fit = fit_items(scores[rows], seed=SEED)
    if fit is None:
        return ItemReport([], int(rows.sum()), why_not=FEW_MODELS)
    means, counts = np.nanmean(scores, axis=0), np.isfinite(scores).sum(axis=0)
    item_rows: list[Cells] = [
        {
            "number": number,
            "place": place,
            "category": categories.get(number, ""),
            "difficulty": Cell(float(fit.difficulty[at]), fit.difficulty_interval[at].tolist()),
            "discrimination": Cell(float(fit.discrimination[at]), fit.discrimination_interval[at].tolist()),
            "apart": bool(fit.apart[at]),
            "mean": float(means[at]),
            "scored": int(counts[at]),
        }
        for at, (number, place) in enumerate(places)
    ]
    item_rows.sort(key=lambda row: (-row["discrimination"].value, row["number"], row["place"]))
    newest = {model.name: model.key for model in sorted(models, key=lambda model: model.at)}
    mean_by_key = {newest[names[at]]: float(np.nanmean(scores[at])) for at in np.flatnonzero(rows)}
    best, worst = max(mean_by_key, key=mean_by_key.__getitem__), min(mean_by_key, key=mean_by_key.__getitem__)
    return ItemReport(item_rows, int(rows.sum()), best, worst)


# --- items within samples, such as the propositions of stories


@kept(
    "finer-items",
    depends_on=lambda dataset, entrants, group: [dataset.digest, [entrant.scores for entrant in entrants], group],
)
def finer_scores(dataset: Dataset, entrants: Sequence[EntrantResults], group: str) -> tuple[NDArray[np.int64], Floats]:
    """Return the number of the sample and the place of each finer item, shape (items, 2), and the scores of entrants on
    it in the repaired parse, the mean over repetitions, shape (entrants, items, metrics), nan where none is known."""
    described, ids = group_named(group), [entrant.entrant for entrant in entrants]
    assert described.finer is not None
    of_all = RunItem.objects.filter(entrant__in=ids, step=described.scored, call__isnull=False, unreadable="")
    asked = of_all.order_by().values("sample").distinct()
    samples = list(all_at_once(DatasetSample.objects.filter(dataset=dataset, pk__in=asked)))
    places = [np.empty((0, 2), dtype=np.int64)]
    scores: list[Floats] = [np.empty((len(entrants), 0, len(described.finer.metrics)))]
    for first in range(0, len(samples), AT_ONCE):
        some = samples[first : first + AT_ONCE]
        parses: dict[tuple[int, int], list[Mapping[str, Any]]] = defaultdict(list)
        answered = of_all.filter(sample__in=[sample.pk for sample in some]).order_by("repetition")
        for entrant, sample_id, parsed in answered.values_list("entrant_id", "sample_id", "repaired"):
            if parsed is not None:
                parses[entrant, sample_id].append(parsed)
        for sample in some:
            own = [parses.get((entrant or 0, sample.pk), []) for entrant in ids]
            values = described.finer.scores(
                sample_of(sample), dataset.schema, [parsed for each in own for parsed in each]
            )
            whose = [at for at, each in enumerate(own) for _ in each]
            means = mean_by_model(values.reshape(len(values), -1), whose, len(own))
            scores.append(means.reshape(len(own), *values.shape[1:]))
            places.append(np.array([(sample.number, at) for at in range(scores[-1].shape[1])]).reshape(-1, 2))
    return np.concatenate(places).astype(np.int64), np.concatenate(scores, axis=1)


def item_texts(dataset: Dataset, group: str, places: Sequence[ItemKey]) -> dict[ItemKey, tuple[str, str]]:
    """Return who holds what in each of these items."""
    finer = group_named(group).finer
    assert finer is not None
    rows = DatasetSample.objects.filter(dataset=dataset, number__in={number for number, _ in places})
    texts = {row.number: finer.texts(sample_of(row), dataset.schema) for row in all_at_once(rows)}
    return {(number, at): texts[number][at] for number, at in places}


# --- tables


def item_table(rows: Sequence[Cells], noun: str, group: str, finer_in: Dataset | None = None) -> Table:
    """Return the table of items of a metric group. With `finer_in`, their dataset, they are the items within samples,
    named `noun`, with their texts."""
    finer = group_named(group).finer if finer_in else None
    keys = [(row["number"], row["place"]) for row in rows]
    texts = item_texts(finer_in, group, keys) if finer_in else dict.fromkeys(keys, ("", ""))
    what = [Column(key="category", header=gettext_noop("Category"))]
    if finer:
        named = Column(key="what", header=finer.noun[0].capitalize())
        what = [Column(key="who", header=gettext_noop("Actor")), named]
    shares = {
        "discrimination": gettext_noop("Discrimination"),
        "difficulty": gettext_noop("Difficulty"),
        "mean": gettext_noop("Mean score"),
    }
    return Table(
        title=gettext_noop("What tells models apart"),
        columns=[
            Column(key="number", header=noun.capitalize(), kind="count"),
            *what,
            *(Column(key=key, header=header, unit="%", kind="share") for key, header in shares.items()),
            Column(key="scored", header=gettext_noop("Models"), kind="count"),
        ],
        rows=[row | {"who": texts[key][0], "what": texts[key][1]} for row, key in zip(rows, keys, strict=True)],
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
