"""Which stories or questions of a leaderboard tell its models apart: difficulty and discrimination of each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from django.core.cache import cache

from benchmark.domain.item_response import fit_items, mean_by_model
from benchmark.domain.tables import Column, Table
from benchmark.models import StoryScores
from benchmark.services.leaderboards import KEPT_SECONDS, SEED
from benchmark.suites.registry import group_named
from benchmark.suites.shown import EntrantResults
from benchmark.suites.story_scores import categories_of, columns_of, scores_by_story
from core.language import gettext_noop
from core.made_by import made_by

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
    "Nothing is fitted: that takes at least 5 models with figures of the same, at least 5 items, and models that are "
    "not all alike."
)
"""The numbers are FEWEST_MODELS and FEWEST_ITEMS: a sentence that is translated names them itself."""


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A story or question by its number: shares from 0 to 1, with 95 % intervals; `apart` says that discrimination is
    told from 0, `mean` is the mean score of the models, `scored` of how many."""

    number: int
    category: str
    difficulty: float
    difficulty_interval: tuple[float, float]
    discrimination: float
    discrimination_interval: tuple[float, float]
    apart: bool
    mean: float
    scored: int


@dataclass(frozen=True, slots=True)
class ItemReport:
    """The items, those first that tell the `models` apart most; `why_not` says why there are none. `best` and `worst`
    are the keys of the newest entrants of the models with the highest and the lowest mean."""

    rows: tuple[ItemRow, ...]
    models: int
    best: str = ""
    worst: str = ""
    why_not: str = ""


def items_of(
    entrants: Sequence[EntrantResults], stage: str, parse: str, metric: str, stories: Collection[int] | None
) -> ItemReport:
    """Return difficulty and discrimination of the samples in `stories`, all where it is None, by what the models among
    the entrants score on each in a metric group and parse; kept for a while.

    A model that was asked several times, with other seeds, prompts or methods, is one model, with the mean of what it
    scored: its runs say nothing of how models differ."""
    models = [one for one in entrants if one.kind == "model" and one.scores]
    asked = [made_by(), sorted(one.scores for one in models), stage, parse, metric, sorted(stories or ())]
    key = "items:" + hashlib.sha256(json.dumps(asked).encode()).hexdigest()
    found: ItemReport | None = cache.get(key)
    if found is None:
        found = _report(models, stage, parse, metric, stories)
        cache.set(key, found, KEPT_SECONDS)
    return found


def _report(
    models: Sequence[EntrantResults], stage: str, parse: str, metric: str, stories: Collection[int] | None
) -> ItemReport:
    kept = dict(StoryScores.objects.filter(pk__in=[one.scores for one in models]).values_list("pk", "metrics"))
    columns = [columns_of(kept.get(one.scores, {}).get(stage), parse) for one in models]
    by_entrant = [scores_by_story(one, metric) for one in columns]
    scored = {number for of in by_entrant for number, one in of.items() if one is not None}
    numbers = sorted(number for number in scored if stories is None or number in stories)
    table = np.array([[_share(of.get(number)) for number in numbers] for of in by_entrant]).reshape(len(models), -1)
    names = list(dict.fromkeys(one.name for one in models))
    scores = mean_by_model(table, [names.index(one.name) for one in models])
    rows = np.isfinite(scores).any(axis=1)
    fit = fit_items(scores[rows], seed=SEED)
    if fit is None:
        return ItemReport((), int(rows.sum()), why_not=FEW_MODELS)
    categories = {number: name for one in columns if one for number, name in categories_of(one).items()}
    found = [
        ItemRow(
            number, categories.get(number, ""), float(fit.difficulty[at]), _ends(fit.difficulty_interval[at]),
            float(fit.discrimination[at]), _ends(fit.discrimination_interval[at]), bool(fit.apart[at]),
            float(np.nanmean(scores[:, at])), int(np.isfinite(scores[:, at]).sum()),
        )
        for at, number in enumerate(numbers)
    ]  # fmt: skip
    found.sort(key=lambda row: (-row.discrimination, row.number))
    newest = {one.name: one.key for one in sorted(models, key=lambda one: one.at)}
    means = {newest[names[at]]: float(np.nanmean(scores[at])) for at in np.flatnonzero(rows)}
    return ItemReport(
        tuple(found), int(rows.sum()), max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    )


def _share(value: float | None) -> float:
    return np.nan if value is None else value


def _ends(ends: np.ndarray) -> tuple[float, float]:
    return float(ends[0]), float(ends[1])


def item_table(report: ItemReport, stage: str, metric: str, noun: str) -> Table:
    """Return a row for each story or question, those first that tell models apart most."""
    columns = [
        Column(key="number", header=noun.capitalize(), kind="count"),
        Column(key="category", header=gettext_noop("Category")),
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
        rows=[
            {
                "number": row.number, "category": row.category, "discrimination": row.discrimination,
                "apart_ci": list(row.discrimination_interval), "difficulty": row.difficulty,
                "difficulty_ci": list(row.difficulty_interval), "mean": row.mean, "scored": row.scored,
            }
            for row in report.rows
        ],
        notes=[MEANING, OTHERS, SIMULATED],
    )  # fmt: skip


def metrics_of(stage: str) -> dict[str, str]:
    """Return the shares of a metric group that items can be told by, with their names, the ranked one first."""
    group = group_named(stage)
    names = dict.fromkeys([group.score, *group.shares])
    return {name: group.score_title if name == group.score else group.headers.get(name, name) for name in names}
