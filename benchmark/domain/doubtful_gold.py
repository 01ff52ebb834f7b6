"""Doubtful gold: labels against which good models agree, the least credible first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.domain.agreement.aggregation import dawid_skene
from benchmark.domain.gold_kinds import NOTHING, UNLABELLED, Bools, Cells, Floats, Ints, right
from core.statistics import ratios

GOOD = 0.6
"""The share of a dimension's gold on other stories that a model must agree with to be heard on a story."""
FAMILIES = 3
"""How many families must agree against gold, where as many are heard in the dimension."""
FEWEST_FAMILIES = 2
"""Below this many, nobody agrees with anybody: no cell is doubted."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A gold label that good models agree against: `cell` is its place among the cells, `label` the code that
    `against` of the `heard` families give, in order of their names, `credible` the probability that gold is right if
    families err independently of one another: an order more than a probability, as models err together."""

    cell: int
    label: int
    against: tuple[str, ...]
    heard: int
    credible: float


def doubts(
    cells: Cells, predicted: Mapping[str, Ints], families: Mapping[str, str]
) -> tuple[list[Doubt], list[int], list[int]]:
    """Return the gold labels against which good models agree, the least credible first, with how many families were
    heard in each dimension and how many had to agree, 0 where there were too few to doubt anything.

    `predicted` has each model's codes, shape (repetitions, C); `families` names the family of every model that may be
    heard, so that baselines are left out of it. A model is heard on a story where it agrees with at least GOOD of
    its dimension's gold on all other stories, and a family once, through its model that agrees most. A cell is doubted
    where more than half of the families heard on it, and at least FAMILIES of them or all where the dimension has
    fewer, give one label that is not gold. How credible its gold is follows from Dawid and Skene's model of the
    families and gold as one more annotator, fitted to each dimension by itself.
    """
    names = sorted(name for name in predicted if name in families)
    kin = sorted({families[name] for name in names})
    heard = np.full((len(kin), len(cells)), NOTHING, dtype=np.int64)
    best = np.full((len(kin), len(cells)), -np.inf)
    for name in names:
        labels, agrees = usual_label(predicted[name]), agreement_elsewhere(cells, predicted[name])
        at = kin.index(families[name])
        better = (labels != NOTHING) & (agrees >= GOOD) & (agrees > best[at])
        heard[at, better], best[at, better] = labels[better], agrees[better]
    doubted, counts, needs = [], [], []
    for dimension in range(len(cells.dimensions)):
        use = np.flatnonzero(cells.in_dimension(dimension) & (cells.gold >= 0) & (heard != NOTHING).any(axis=0))
        count = int((heard[:, use] != NOTHING).any(axis=1).sum())
        needed = min(FAMILIES, count) if count >= FEWEST_FAMILIES else 0
        doubted += _doubted(cells.gold[use], heard[:, use], use, needed, kin) if needed else []
        counts.append(count)
        needs.append(needed)
    listed = sorted(doubted, key=lambda doubt: (doubt.credible, -len(doubt.against), doubt.cell))
    return listed, counts, needs


def usual_label(predicted: Ints) -> Ints:
    """Return what a model says of each cell most often, the earliest of several: shape (C,), NOTHING where it gives no
    label of the schema."""
    usable = (predicted != NOTHING) & (predicted != UNLABELLED)
    counts = np.stack([((predicted == turn) & usable).sum(axis=0) for turn in predicted])
    counts = np.where(usable, counts, 0)
    first = counts.argmax(axis=0)
    columns = np.arange(predicted.shape[1])
    return np.where(counts[first, columns] > 0, predicted[first, columns], NOTHING)


def agreement_elsewhere(cells: Cells, predicted: Ints) -> Floats:
    """Return the share of the gold of a cell's dimension that a model agrees with on all stories but the cell's: shape
    (C,), nan where no other story has any."""
    hits = right(predicted, cells.gold)
    finite = np.isfinite(hits)
    shape = len(cells.stories), len(cells.dimensions)
    place = np.ravel_multi_index((cells.story, cells.dimension), shape)
    sums, counts = (
        np.bincount(place[finite], weights=values[finite], minlength=shape[0] * shape[1]).reshape(shape)
        for values in (hits, finite.astype(float))
    )
    elsewhere = ratios(sums.sum(axis=0) - sums, counts.sum(axis=0) - counts)
    shares: Floats = elsewhere.ravel()[place]
    return shares


def _doubted(gold: Ints, heard: Ints, places: Ints, needed: int, kin: Sequence[str]) -> list[Doubt]:
    """Return the doubts of one dimension, whose cells lie at `places`; `heard` has shape (families, cells), in the
    order of `kin`."""
    labels = int(max(gold.max(), heard.max())) + 1
    votes = np.stack([(heard == label).sum(axis=0) for label in range(labels)])
    label, against, voting = votes.argmax(axis=0), votes.max(axis=0), votes.sum(axis=0)
    doubted: Bools = (label != gold) & (against >= needed) & (2 * against > voting)
    if not doubted.any():
        return []
    # the probability that each gold label is right, with gold as one more annotator
    labelled = np.vstack([gold, heard])
    labelled = labelled[(labelled != NOTHING).any(axis=1)]
    annotator, cell = np.nonzero(labelled != NOTHING)
    truth, _ = dawid_skene(cell, annotator, labelled[annotator, cell], labels)
    credible: Floats = truth[np.arange(len(gold)), gold]
    return [
        Doubt(
            int(places[at]),
            int(label[at]),
            tuple(kin[int(family)] for family in np.flatnonzero(heard[:, at] == label[at])),
            int(voting[at]),
            float(credible[at]),
        )
        for at in np.flatnonzero(doubted)
    ]
