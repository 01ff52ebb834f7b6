"""Scores of models on each kind of gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.domain.gold_kinds.cells import UNIT, Cells, Floats, Ints, Kind, right
from core.messages import gettext_noop
from core.statistics import SHARE, Estimate, mean_estimates, mean_of

NO_CELLS = gettext_noop("no cells of this kind")


@dataclass(frozen=True, slots=True)
class KindScore:
    """The accuracy of a model on one kind of gold: the mean over stories of the share of right cells. `cells` are those
    of the kind, `bounds` where the score lies whatever unreadable answers would have said."""

    estimate: Estimate
    cells: int
    bounds: tuple[float, float] | None


def story_scores(cells: Cells, predicted: Ints, gold: Ints, dimension: int | None = None) -> Floats:
    """Return the share of right cells of each story, nan of one without an answer or without such gold: (stories,)."""
    gold_inside = np.where(cells.in_dimension(dimension), gold, -1)
    return cells.by_story(right(predicted, gold_inside))


def kind_scores(
    cells: Cells, models: Mapping[str, Ints], golds: Mapping[Kind, Ints], dimension: int | None, *, seed: int
) -> dict[str, dict[Kind, KindScore]]:
    """Return the scores of each model by kind of gold, over one dimension or all; repetitions count as their mean."""
    names = [(model, kind) for model in models for kind in golds]
    by_story = np.array([story_scores(cells, models[model], golds[kind], dimension) for model, kind in names])
    if not names:
        return {}
    estimates = mean_estimates(by_story, scale=SHARE, seed=seed, unit=UNIT, empty=NO_CELLS)
    inside = cells.in_dimension(dimension)
    scores: dict[str, dict[Kind, KindScore]] = {model: {} for model in models}
    for (model, kind), estimate, values in zip(names, estimates, by_story, strict=True):
        of_kind = inside & (golds[kind] >= 0)
        with_gold = np.unique(cells.story[of_kind])
        scores[model][kind] = KindScore(estimate, int(of_kind.sum()), _bounds(values[with_gold]))
    return scores


def _bounds(values: Floats) -> tuple[float, float] | None:
    """Return the mean with what is missing wrong and right; None where nothing is."""
    if not len(values) or np.isfinite(values).all():
        return None
    low, high = mean_of(np.stack([np.nan_to_num(values, nan=worst) for worst in (0.0, 1.0)]))
    return float(low), float(high)


def in_order(scores: Mapping[str, Mapping[Kind, KindScore]], kind: Kind = Kind.ALL) -> Sequence[str]:
    """Return the models by their score, the best first; those without one last."""

    def place(model: str) -> tuple[bool, float]:
        value = scores[model][kind].estimate.value
        return value is None, -(value or 0.0)

    return sorted(scores, key=place)
