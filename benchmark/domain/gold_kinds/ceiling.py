"""The ceiling: how well an annotator who is left out scores against gold made of the others' votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.domain.anchoring import gold_from_blind
from benchmark.domain.gold_kinds.cells import NOTHING, UNIT, Cells, Floats, Ints, right
from core.messages import gettext_noop
from core.statistics import DIFFERENCE, SHARE, Estimate, mean_estimates, ratios

NO_GOLD = gettext_noop("no cell has gold made of at least two other annotators’ votes")


@dataclass(frozen=True, slots=True)
class Beside:
    """A model on the very cells and the very gold on which annotators were left out; `difference` is its score less
    theirs, story by story."""

    score: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The score of left-out annotators together, of each by name, and of models beside them; `cells` counts a cell once
    for each annotator who is left out of it."""

    people: Estimate
    annotators: Mapping[str, Estimate]
    models: Mapping[str, Beside]
    cells: int


def ceiling(cells: Cells, votes: Ints, models: Mapping[str, Ints], dimension: int | None, *, seed: int) -> Ceiling:
    """Return the ceiling by these votes, all or blind ones, shape (C, annotators), over one dimension or all.

    For each annotator who voted on a cell, its gold is the label of more than half of at least two others; the
    annotator, and a model in the same place, is right or wrong by it. A score is the mean over stories of the share of
    what is right there.
    """
    inside = cells.in_dimension(dimension)
    golds = [_gold_without(votes, at, inside) for at in range(votes.shape[1])]
    own = [right(votes[None, :, at], gold) for at, gold in enumerate(golds)]
    people = _together(cells, own)
    shares = {
        name: _together(cells, [_paired(right(labels, gold), mine) for gold, mine in zip(golds, own, strict=True)])
        for name, labels in models.items()
    }
    rows = np.array([people, *(cells.by_story(values) for values in own), *shares.values()])
    scores = mean_estimates(rows, scale=SHARE, seed=seed, unit=UNIT, empty=NO_GOLD)
    apart = np.array([values - people for values in shares.values()]).reshape(len(shares), len(cells.stories))
    differences = mean_estimates(apart, scale=DIFFERENCE, seed=seed, unit=UNIT, empty=NO_GOLD)
    each, of_models = scores[1 : 1 + len(own)], scores[1 + len(own) :]
    return Ceiling(
        people=scores[0],
        annotators=dict(zip(cells.annotators, each, strict=True)),
        models={name: Beside(*pair) for name, *pair in zip(shares, of_models, differences, strict=True)},
        cells=sum(int(np.isfinite(values).sum()) for values in own),
    )


def _gold_without(votes: Ints, annotator: int, inside: np.ndarray) -> Ints:
    others = gold_from_blind(np.delete(votes, annotator, axis=1))[0]
    return np.where(inside & (votes[:, annotator] != NOTHING), others, NOTHING)


def _paired(values: Floats, beside: Floats) -> Floats:
    return np.where(np.isfinite(beside), values, np.nan)


def _together(cells: Cells, each: list[Floats]) -> Floats:
    """Return the share of what is right in each story over all who are left out."""
    counts = sum((cells.sums(np.isfinite(values).astype(float)) for values in each), np.zeros(len(cells.stories)))
    hits = sum((cells.sums(np.nan_to_num(values)) for values in each), np.zeros(len(cells.stories)))
    return ratios(hits, counts)
