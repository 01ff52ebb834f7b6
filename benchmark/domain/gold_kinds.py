"""Gold by how it came about: scores on each kind of it, whether ranks change, how far labels moved, and the ceiling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotation.domain.anchoring.alternative_annotator import (
    AlternativeAnnotator,
    OverStories,
    alternative_annotator_over_stories,
    alternative_annotator_test,
)
from annotation.domain.anchoring.gold import FEWEST_BLIND_VOTES, gold_from_blind
from benchmark.domain.bounded_estimates import BoundedEstimate
from core.messages import gettext_noop
from core.plain import Json
from core.statistics import (
    DIFFERENCE,
    FEWEST,
    RESAMPLES,
    SHARE,
    Estimate,
    Scale,
    estimate_of,
    few,
    first_by_second,
    intervals,
    mean_estimates,
    mean_of,
    ratios,
    replicated_means,
    resampled_means,
    sparse,
    tails,
)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.floating]
NOTHING = -1
"""The code of a missing label: no vote, no suggestion, no gold of this kind, no answer."""
UNLABELLED = 1_000_000
"""The code of a cell that an answer leaves without a label, or with one outside the schema: a wrong label."""
UNIT = "stories"
NO_CELLS = gettext_noop("no cells of this kind")
NO_GOLD = gettext_noop("no cell has gold made of at least two other annotators’ votes")
NO_PAIRS = gettext_noop("no cells that have both labels")
NO_KIND = gettext_noop("no model has a score on gold of this kind")
FEWEST_MODELS = gettext_noop("an order needs at least two models with a score")
ALL_TIED = gettext_noop("all models have the same score")
LEAST_DEFINED = 0.95
EPSILON = 0.15
"""The paper's allowance for skilled annotators: what a model may lose and still be worth its price."""
LEVEL = 0.05
SHIFT = Scale(-2, 2)
_TIE = 1e-12


class Kind(StrEnum):
    """A kind of gold. BLIND is made again from blind votes; BESIDE is all gold on the cells that have BLIND gold.

    UNKNOWN is made again from blind votes and from those that may be blind, and BESIDE_UNKNOWN is all gold on its
    cells. Neither exists if all is known."""

    ALL = "all"
    BLIND = "blind"
    BESIDE = "beside"
    UNKNOWN = "unknown"
    BESIDE_UNKNOWN = "beside-unknown"
    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    ADJUDICATED = "adjudicated"
    IMPORTED = "imported"


_SAME_CELLS = {Kind.BLIND: Kind.BESIDE, Kind.UNKNOWN: Kind.BESIDE_UNKNOWN}
REFERENCE: dict[Kind, Kind] = {kind: _SAME_CELLS.get(kind, Kind.ALL) for kind in Kind if kind != Kind.ALL}
"""The gold that a kind is compared with: gold of the same cells if its labels differ, else all gold."""


class Move(StrEnum):
    """A step from one label of a cell to a later one. UNDECIDED is from at least two votes to no majority."""

    TO_MAJORITY = "suggested-majority"
    TO_BLIND = "suggested-blind"
    UNDECIDED = "votes-none"
    TO_GOLD = "majority-gold"
    ALL_THE_WAY = "suggested-gold"


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of published gold, one per row, every column of shape (C,). Labels are codes within their dimension."""

    story: Ints
    """The place of the story in `stories`."""
    row: Ints
    """The proposition within its story."""
    dimension: Ints
    """The place of the dimension in `dimensions`."""
    gold: Ints
    method: NDArray[np.str_]
    """How the gold label was settled."""
    suggested: Ints
    """The label that a model had proposed before people voted."""
    votes: Ints
    blind_votes: Ints
    unknown_votes: Ints
    """Votes, blind ones and those that may be blind: shape (C, annotators)."""
    stories: tuple[int, ...]
    dimensions: tuple[str, ...]
    annotators: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.story)

    def in_dimension(self, dimension: int | None) -> Bools:
        """Return a mask of the cells of a dimension, of all if it is None."""
        return np.ones(len(self), dtype=bool) if dimension is None else self.dimension == dimension

    def majority(self) -> Ints:
        """Return the label of more than half of the votes of each cell, if there are at least two."""
        return gold_from_blind(self.votes)[0]

    @property
    def perhaps_blind(self) -> Ints:
        """Votes that are or may be blind: shape (C, annotators)."""
        return np.where(self.blind_votes != NOTHING, self.blind_votes, self.unknown_votes)

    @property
    def is_all_known(self) -> bool:
        """Return whether it is known of every vote if it is blind."""
        return bool((self.unknown_votes == NOTHING).all())

    def by_kind(self) -> Mapping[Kind, Ints]:
        """Return the gold label of each cell by kind of gold, NOTHING for a cell of another kind."""
        blind = gold_from_blind(self.blind_votes)[0]
        unknown = np.full(len(self), NOTHING) if self.is_all_known else gold_from_blind(self.perhaps_blind)[0]
        by_method = {
            kind: np.where(self.method == kind.value, self.gold, NOTHING)
            for kind in (Kind.UNANIMOUS, Kind.MAJORITY, Kind.ADJUDICATED, Kind.IMPORTED)
        }
        remade = {Kind.BLIND: blind, Kind.UNKNOWN: unknown}
        beside = {_SAME_CELLS[kind]: np.where(gold >= 0, self.gold, NOTHING) for kind, gold in remade.items()}
        return {Kind.ALL: self.gold, **remade, **beside, **by_method}

    def by_story(self, values: Floats) -> Floats:
        """Return the mean of the known values in each story: shape (stories,), nan without any."""
        finite = np.isfinite(values)
        return ratios(self.sums(np.where(finite, values, 0.0)), self.sums(finite.astype(float)))

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the values over each story: shape (stories,)."""
        sums: Floats = np.bincount(self.story, weights=values, minlength=len(self.stories)).astype(float)
        return sums


def right(predicted: Ints, gold: Ints) -> Floats:
    """Return whether a model is right on each cell, as a mean over its repetitions: shape (C,).

    `predicted` has shape (repetitions, C). nan without gold or without an answer.
    """
    answered = (predicted != NOTHING) & (gold >= 0)
    hits = ((predicted == gold) & answered).sum(axis=0).astype(float)
    return ratios(hits, answered.sum(axis=0).astype(float))


# --- scores ---

Scores = Mapping[str, Mapping[Kind, BoundedEstimate]]
"""Accuracy by model and kind of gold: the mean over stories of the share of right cells. `bounds` are where it lies
whatever unreadable answers would have said."""


def story_scores(cells: Cells, predicted: Ints, gold: Ints, dimension: int | None = None) -> Floats:
    """Return the share of right cells of each story, shape (stories,). nan without an answer or such gold."""
    return cells.by_story(right(predicted, np.where(cells.in_dimension(dimension), gold, -1)))


def kind_scores(
    cells: Cells, models: Mapping[str, Ints], golds: Mapping[Kind, Ints], dimension: int | None, *, seed: int
) -> Scores:
    """Return the scores over one dimension or all. Repetitions count as their mean."""
    names = [(model, kind) for model in models for kind in golds]
    if not names:
        return {}
    by_story = np.array([story_scores(cells, models[model], golds[kind], dimension) for model, kind in names])
    estimates = mean_estimates(by_story, scale=SHARE, seed=seed, unit=UNIT, empty=NO_CELLS)
    scores: dict[str, dict[Kind, BoundedEstimate]] = {model: {} for model in models}
    for (model, kind), estimate, values in zip(names, estimates, by_story, strict=True):
        with_gold = np.unique(cells.story[cells.in_dimension(dimension) & (golds[kind] >= 0)])
        known, bounds = values[with_gold], None
        if not np.isfinite(known).all():  # what is missing is wrong, or right
            bounds = [float(mean_of(np.nan_to_num(known, nan=filled)[None])[0]) for filled in (0.0, 1.0)]
        scores[model][kind] = BoundedEstimate(
            estimate.value, estimate.n, estimate.interval, estimate.clusters, estimate.reason, bounds=bounds
        )
    return scores


def in_order(scores: Scores, kind: Kind = Kind.ALL) -> list[str]:
    """Return the models by their score, the best first and those without one last."""
    values = {model: by_kind[kind].value for model, by_kind in scores.items()}
    return sorted(scores, key=lambda model: (values[model] is None, -(values[model] or 0.0)))


# --- order ---


Order = tuple[Estimate, Sequence[Json]]
"""Kendall's tau-b of the scores of `n` models on a kind of gold and on the gold compared with, and {first, second,
lead, behind, shift} of each pair that swaps: the lead of `first` on the gold compared with, that of `second` on this
kind, and the estimate of how far the difference moved. An interval without 0 says that the kind of gold made it."""


def tau_b(first: Floats, second: Floats) -> Floats:
    """Return Kendall's tau-b of each row, shape (r, k) → (r,): 1 for the same order, −1 for its reverse. nan if all
    scores of either side are tied or one is missing."""
    left, right = (list(side) for side in zip(*combinations(range(first.shape[1]), 2), strict=True))
    gaps = [np.nan_to_num(side[:, left] - side[:, right]) for side in (first, second)]
    a, b = (np.where(np.abs(gap) <= _TIE, 0.0, np.sign(gap)) for gap in gaps)  # rounding is a tie
    untied = np.sqrt((a != 0).sum(axis=1) * (b != 0).sum(axis=1))
    missing = np.isnan(first).any(axis=1) | np.isnan(second).any(axis=1)
    out: Floats = np.full(len(first), np.nan)
    np.divide((a * b).sum(axis=1), untied, out=out, where=(untied > 0) & ~missing)
    return out


def order(before: Mapping[str, Floats], after: Mapping[str, Floats], *, seed: int, resamples: int = RESAMPLES) -> Order:
    """Compare the order of models by their scores of stories on two kinds of gold, shape (stories,) each, nan for a
    story without a score.

    Both kinds share the resampled stories. Tau takes few values, so its ends are quantiles of the resamples with the
    tails of an expanded percentile interval, as of ranks.
    """
    models = tuple(name for name in before if np.isfinite(before[name]).any() and np.isfinite(after[name]).any())
    if len(models) < 2:
        some = any(np.isfinite(values).any() for values in after.values())
        return Estimate(None, len(models), reason=FEWEST_MODELS if some else NO_KIND), ()
    sides = [np.array([by_model[name] for name in models]) for by_model in (before, after)]
    means = [mean_of(side)[None] for side in sides]
    return _tau(sides, means, seed, resamples), _swaps(models, sides, means, seed)


def _tau(sides: list[Floats], means: list[Floats], seed: int, resamples: int) -> Estimate:
    models = len(sides[0])
    value = float(tau_b(*means)[0])
    if np.isnan(value):
        return Estimate(None, models, reason=ALL_TIED)
    stories = int(np.isfinite(sides[1]).any(axis=0).sum())
    if stories < FEWEST:
        return Estimate(value, models, clusters=stories, reason=few(UNIT))
    drawn = resampled_means(np.vstack(sides).T, seed=seed, resamples=resamples)
    taus = tau_b(*np.split(drawn, 2, axis=1))
    taus = taus[np.isfinite(taus)]
    if len(taus) < LEAST_DEFINED * resamples:
        return Estimate(value, models, clusters=stories, reason=sparse(UNIT))
    tail = float(tails(np.array([stories]))[0])
    low, high = np.quantile(taus, [tail, 1 - tail])
    return Estimate(value, models, [float(min(low, value)), float(max(high, value))], stories)


def _swaps(models: tuple[str, ...], sides: list[Floats], means: list[Floats], seed: int) -> list[Json]:
    swaps, signs = [], np.array([-1.0, 1.0, 1.0, -1.0])  # the last two columns' difference less that of the first two
    for left, right in combinations(range(len(models)), 2):
        lead, after = (float(mean[0, left] - mean[0, right]) for mean in means)
        if min(abs(lead), abs(after)) <= _TIE or lead * after > 0:
            continue
        first, second = (left, right) if lead > 0 else (right, left)
        columns = np.array([side[at] for side in sides for at in (first, second)]).T
        value = np.array([mean_of(columns.T) @ signs])
        replicates = (replicated_means(columns, seed=seed, resamples=RESAMPLES) @ signs)[:, None]
        stories = np.array([int(np.isfinite(columns[:, 2:]).all(axis=1).sum())])
        [(ends, why)] = intervals(
            value, replicates, stories, clusters=len(columns), scale=SHIFT, unit=UNIT, empty=NO_KIND
        )
        shift = Estimate(float(value[0]), int(stories[0]), ends, reason=why or None)
        leads = {"lead": abs(lead), "behind": abs(after), "shift": shift}
        swaps.append({"first": models[first], "second": models[second], **leads})
    return swaps


# --- moves ---


def moves(cells: Cells, dimension: int | None, *, seed: int) -> dict[Move, Estimate]:
    """Return the share of cells whose label changed at each step, of the `n` that have both labels, over one dimension
    or all.

    The majority is the label of more than half of at least two votes; the majority of blind votes is a step of its own.
    """
    majority, blind = cells.majority(), gold_from_blind(cells.blind_votes)[0]
    voted = (cells.votes >= 0).sum(axis=1) >= FEWEST_BLIND_VOTES
    pairs = {
        Move.TO_MAJORITY: (cells.suggested, majority),
        Move.TO_BLIND: (cells.suggested, blind),
        Move.UNDECIDED: (np.where(voted, 1, -1), np.where(majority >= 0, 1, 0)),
        Move.TO_GOLD: (majority, cells.gold),
        Move.ALL_THE_WAY: (cells.suggested, cells.gold),
    }
    inside, estimates = cells.in_dimension(dimension), {}
    for move, (before, after) in pairs.items():
        both = inside & (before >= 0) & (after >= 0)
        changed = both & (before != after)
        sums = np.stack([cells.sums(changed.astype(float)), cells.sums(both.astype(float))], axis=1)
        estimates[move] = estimate_of(
            sums, first_by_second, n=int(both.sum()), scale=SHARE, unit=UNIT, empty=NO_PAIRS, seed=seed,
            clusters=int((sums[:, 1] > 0).sum()),
        )  # fmt: skip
    return estimates


# --- the ceiling ---


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Scores of left-out annotators against gold of the others' votes."""

    people: Estimate
    annotators: Mapping[str, Estimate]
    models: Mapping[str, tuple[Estimate, Estimate]]
    """The score of a model on the same cells and gold, and its difference from `people`, story by story."""
    cells: int
    """The number of cells, each counted once per annotator who is left out of it."""


def ceiling(cells: Cells, votes: Ints, models: Mapping[str, Ints], dimension: int | None, *, seed: int) -> Ceiling:
    """Return the ceiling by these votes, all or blind ones, shape (C, annotators), over one dimension or all.

    For each annotator who voted on a cell, its gold is the label of more than half of at least two others; the
    annotator, and a model in the same place, is right or wrong by it. A score is the mean over stories of the share of
    right cells.
    """
    inside, golds = cells.in_dimension(dimension), []
    for at in range(votes.shape[1]):
        others = gold_from_blind(np.delete(votes, at, axis=1))[0]
        golds.append(np.where(inside & (votes[:, at] != NOTHING), others, NOTHING))
    own = [right(votes[None, :, at], gold) for at, gold in enumerate(golds)]
    people = _together(cells, own)
    shares = {
        name: _together(
            cells,
            [np.where(np.isfinite(mine), right(labels, gold), np.nan) for gold, mine in zip(golds, own, strict=True)],
        )
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
        models=dict(zip(shares, zip(of_models, differences, strict=True), strict=True)),
        cells=sum(int(np.isfinite(values).sum()) for values in own),
    )


def _together(cells: Cells, each: list[Floats]) -> Floats:
    """Return the share of right cells in each story over all left-out annotators."""
    counts = sum((cells.sums(np.isfinite(values).astype(float)) for values in each), np.zeros(len(cells.stories)))
    hits = sum((cells.sums(np.nan_to_num(values)) for values in each), np.zeros(len(cells.stories)))
    return ratios(hits, counts)


def standing_in(cells: Cells, votes: Ints, model: Ints, *, seed: int) -> tuple[AlternativeAnnotator, OverStories]:
    """Test whether a model, shape (C,), represents the annotators as well as each of them does, on these votes, shape
    (C, annotators). Return the published test, which takes cells as independent, and the one over stories."""
    published = alternative_annotator_test(votes, model, epsilon=EPSILON, q=LEVEL)
    return published, alternative_annotator_over_stories(published, votes, model, cells.story, seed=seed)
