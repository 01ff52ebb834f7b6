"""Test of whether a model may stand in for an annotator: the alternative annotator test, and the same over stories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.domain.anchoring import AlternativeAnnotator, alternative_annotator_test, wins
from benchmark.domain.gold_kinds.cells import UNIT, Cells, Floats, Ints
from core.language import gettext_noop
from core.statistics import FEWEST, SHARE, Estimate, estimate_of, linear_error, linear_freedom, ratios

EPSILON = 0.15
"""The paper's allowance for skilled annotators: what a model may lose and still be worth its price."""
LEVEL = 0.05
NO_ITEMS = gettext_noop("no cells that a model and at least two annotators labelled blind")


@dataclass(frozen=True, slots=True)
class StandingIn:
    """The test as published takes cells as independent; `over_stories` is the winning rate of the same hypotheses
    tested over stories, None where too few annotators or stories make it. `advantage` is the mean over annotators of
    the share of cells where the model is at least as near to the others as they are, with its interval."""

    published: AlternativeAnnotator
    advantage: Estimate
    over_stories: float | None

    @property
    def passes(self) -> bool | None:
        """Return whether the model beats at least half of the annotators over stories."""
        return None if self.over_stories is None else self.over_stories >= 0.5


def standing_in(cells: Cells, votes: Ints, model: Ints, *, seed: int) -> StandingIn:
    """Test whether a model, shape (C,), represents the annotators as well as each of them does, on these votes, blind
    ones or those that may be, shape (C, annotators).

    Over stories each hypothesis is a one-sided t test of the cells' mean difference with story-clustered standard
    error; Benjamini and Yekutieli's correction is that of the test as published.
    """
    published = alternative_annotator_test(votes, model, epsilon=EPSILON, q=LEVEL)
    tested = [row.annotator for row in published.annotators if row.reason is None]
    used = [wins(votes, model, annotator) for annotator in tested]
    counts = [_by_story(cells, use, np.ones(len(won))) for use, won, _ in used]
    won = [_by_story(cells, use, won.astype(float)) for use, won, _ in used]
    sums = np.stack([*won, *counts], axis=1) if used else np.zeros((len(cells.stories), 0))
    advantage = estimate_of(
        sums, _mean_share, n=int(sum(len(of_model) for _, of_model, _ in used)), scale=SHARE, unit=UNIT, empty=NO_ITEMS,
        seed=seed, clusters=int(sum(counts, np.zeros(len(cells.stories))).astype(bool).sum()),
    )  # fmt: skip
    if published.winning_rate is None:
        return StandingIn(published, advantage, None)
    ps = [_p(cells, use, lost.astype(float) - of_model) for use, of_model, lost in used]
    return StandingIn(published, advantage, _winning_rate(ps))


def _by_story(cells: Cells, use: np.ndarray, values: Floats) -> Floats:
    sums: Floats = np.bincount(cells.story[use], weights=values, minlength=len(cells.stories)).astype(float)
    return sums


def _mean_share(sums: Floats) -> Floats:
    won, counts = np.split(sums, 2, axis=1)
    if not won.shape[1]:
        return np.full(len(sums), np.nan)
    means: Floats = ratios(won, counts).mean(axis=1)
    return means


def _p(cells: Cells, use: np.ndarray, differences: Floats) -> float | None:
    """Return the one-sided p of a mean difference below EPSILON, over stories; None of too few."""
    from scipy.special import stdtr

    shifted = differences - EPSILON
    mean, stories = float(shifted.mean()), np.unique(cells.story[use])
    if len(stories) < FEWEST:
        return None
    moves = _by_story(cells, use, shifted - mean)[stories] / len(shifted) * np.sqrt(len(stories) / (len(stories) - 1))
    error = linear_error(moves)
    if not error:
        return float(mean >= 0)
    return float(stdtr(linear_freedom(moves, len(stories) - 1), mean / error))


def _winning_rate(ps: list[float | None]) -> float | None:
    from scipy.stats import false_discovery_control

    defined = [p for p in ps if p is not None]
    if len(defined) < len(ps):
        return None
    return float(np.mean(false_discovery_control(defined, method="by") <= LEVEL))
