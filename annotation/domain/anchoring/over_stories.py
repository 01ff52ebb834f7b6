"""The hypotheses of the alternative annotator test, tested over stories: cells of one story are not independent.

A model that seldom fails, but then on a whole story, shows no such failure in few stories, and their spread knows
nothing of it. By the rule of three up to 1 − .05^(1/n) of all stories may be of a kind of which none is among n: the
model beats an annotator only if so many stories, all lost, would not make it as much worse as the hypothesis says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.domain.anchoring.alternative_annotator import AlternativeAnnotator, wins
from core.messages import gettext_noop
from core.statistics import (
    FEWEST,
    SHARE,
    Estimate,
    Floats,
    estimate_of,
    few,
    linear_error,
    linear_freedom,
    ratios,
    unseen_share,
)

Ints = NDArray[np.int64]
NO_ITEMS = gettext_noop("no cells that a model and at least two annotators labelled blind")


@dataclass(frozen=True, slots=True)
class OverStories:
    """The test over stories. `advantage` is the mean over annotators of the share of cells where the model is at least
    as near to the others as they are; `winning_rate` the share of annotators that the model beats, None with a `reason`
    where too few annotators or stories make it."""

    advantage: Estimate
    winning_rate: float | None
    reason: str | None = None

    @property
    def passes(self) -> bool | None:
        """Return whether the model beats at least half of the annotators."""
        return None if self.winning_rate is None else self.winning_rate >= 0.5


def alternative_annotator_over_stories(
    published: AlternativeAnnotator, labels: Ints, model: Ints, story: Ints, *, seed: int
) -> OverStories:
    """Return the outcome of a `published` test of these labels, shape (items, annotators), and this model's, shape
    (items,), with the same hypotheses over stories. `story` numbers the story of each item from 0 on.

    Each hypothesis is a one-sided t test of the mean difference with a story-clustered standard error, and Benjamini
    and Yekutieli's correction is that of the published test. What no story shows is held against its own 5 %: it is one
    and the same risk for all annotators.
    """
    places = [Place.of(labels, model, row.annotator, story) for row in published.annotators if row.reason is None]
    advantage = _advantage(places, seed)
    if published.winning_rate is None:
        return OverStories(advantage, None, published.reason)
    if min(place.stories for place in places) < FEWEST:
        return OverStories(advantage, None, few("stories"))
    from scipy.stats import false_discovery_control

    corrected = false_discovery_control([place.p(published.epsilon) for place in places], method="by")
    beaten = [
        max(float(p), place.unseen_p(published.epsilon)) <= published.q
        for p, place in zip(corrected, places, strict=True)
    ]
    return OverStories(advantage, float(np.mean(beaten)))


@dataclass(frozen=True, slots=True)
class Place:
    """The model in the place of one annotator, by story: the cells, those where the model is at least as near to the
    others, and those where the annotator is less those where the model is."""

    cells: Floats
    won: Floats
    lost: Floats

    @classmethod
    def of(cls, labels: Ints, model: Ints, annotator: int, story: Ints) -> Place:
        use, of_model, of_human = wins(labels, model, annotator)
        columns = np.stack([np.ones(len(of_model)), of_model, of_human.astype(float) - of_model], axis=1)
        sums = np.zeros((int(story.max(initial=-1)) + 1, 3))
        np.add.at(sums, story[use], columns)
        return cls(*sums.T)

    @property
    def stories(self) -> int:
        return int((self.cells > 0).sum())

    def _mean(self, epsilon: float) -> float:
        return float(self.lost.sum() / self.cells.sum()) - epsilon

    def p(self, epsilon: float) -> float:
        """The one-sided p of a mean difference below `epsilon`."""
        from scipy.special import stdtr

        mean, n = self._mean(epsilon), self.stories
        moves = (self.lost - (mean + epsilon) * self.cells)[self.cells > 0] / self.cells.sum() * (n / (n - 1)) ** 0.5
        error = linear_error(moves)
        return float(stdtr(linear_freedom(moves, n - 1), mean / error)) if error else float(mean >= 0)

    def unseen_p(self, epsilon: float) -> float:
        """The chance that none of the stories is lost as a whole where so many of all are that the mean difference is
        `epsilon`."""
        mean = self._mean(epsilon)
        return 1.0 if mean >= 0 else float((1 + mean / (1 - epsilon - mean)) ** self.stories)


def _advantage(places: Sequence[Place], seed: int) -> Estimate:
    """The mean over annotators of the share of cells won, with its interval, which reaches as far as stories of a kind
    that was not seen may take it."""
    if not places:
        return Estimate(None, 0, reason=NO_ITEMS)
    sums = np.stack([*(place.won for place in places), *(place.cells for place in places)], axis=1)
    used = sums[sums[:, len(places) :].any(axis=1)]
    estimate = estimate_of(
        used, _mean_share, n=int(used[:, len(places) :].sum()), scale=SHARE, unit="stories", empty=NO_ITEMS, seed=seed
    )
    if estimate.value is None or estimate.interval is None:
        return estimate
    unseen, (low, high) = unseen_share(len(used)), estimate.interval
    ends = [min(low, (1 - unseen) * estimate.value), max(high, estimate.value + unseen * (1 - estimate.value))]
    return Estimate(estimate.value, estimate.n, ends)


def _mean_share(sums: Floats) -> Floats:
    won, cells = np.split(sums, 2, axis=1)
    means: Floats = ratios(won, cells).mean(axis=1)
    return means
