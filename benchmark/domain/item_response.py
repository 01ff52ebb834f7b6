"""Difficulty and discrimination of items: which stories or questions tell models apart.

The model is logistic with random effects of items, of which few scores can say something: a model scores on an item
with log odds d + a·x, where x is how good the model is on all *other* items, standardised over the models, and (d, a)
are drawn from one normal distribution for all items, which is estimated too (empirical Bayes, EM with Laplace's
approximation). `BinomialBayesMixedGLM` of statsmodels is this model, for right and wrong answers alone: it takes no
shares as scores, and fits all items together, of which a suite has thousands. Given x items are independent, so that a
few lines of NumPy fit any number of them. `tests/benchmark/domain/test_item_response.py` holds the two against each
other where both fit.

Scores that are shares count as quasi-binomial, with the dispersion of Pearson's residuals. Intervals are of a t
distribution with as many degrees of freedom as there are models less one: x rests on few models, and intervals of a
normal one are too narrow in simulations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from core.statistics import ratios

Floats = NDArray[np.floating]
FEWEST_MODELS = 5
"""Below this many nothing is fitted: two or three models tell their own difference, not one of items."""
FEWEST_ITEMS = 5
ROUNDS, STEPS, DRAWS = 30, 4, 1000
LEAST_SPREAD = 0.05
"""The least standard deviation of items' intercepts and slopes."""


@dataclass(frozen=True, slots=True)
class ItemFit:
    """Of each item, shape (J,) and (J, 2) for 95 % intervals: `difficulty`, the share that a model as good as the mean
    misses, and `discrimination`, the difference in share between a model one standard deviation above the mean and one
    below it, negative where better models do worse. `apart` says that its interval excludes 0."""

    difficulty: Floats
    difficulty_interval: Floats
    discrimination: Floats
    discrimination_interval: Floats

    @property
    def apart(self) -> NDArray[np.bool_]:
        low, high = self.discrimination_interval.T
        excluded: NDArray[np.bool_] = (low > 0) | (high < 0)
        return excluded


def fit_items(scores: Floats, *, seed: int) -> ItemFit | None:
    """Return difficulty and discrimination of items by `scores`, shares from 0 to 1 of shape (models, items), nan where
    a model has none; None with fewer than FEWEST_MODELS models or FEWEST_ITEMS items, or where all models are alike.
    An item that no model has a score of has those that are usual."""
    known = np.isfinite(scores)
    if scores.shape[0] < FEWEST_MODELS or scores.shape[1] < FEWEST_ITEMS:
        return None
    ability = _elsewhere(scores, known)
    if ability is None:
        return None
    values = np.where(known, scores, 0.0)
    mean, cov = _posterior(values, known, ability)
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky(cov)
    difficulty, discrimination = np.empty((DRAWS, len(mean))), np.empty((DRAWS, len(mean)))
    freedom = scores.shape[0] - 1
    for draw in range(DRAWS):
        drawn = rng.standard_normal((len(mean), 2)) * np.sqrt(freedom / rng.chisquare(freedom, len(mean)))[:, None]
        d, a = (mean + np.einsum("jkl,jl->jk", root, drawn)).T
        difficulty[draw], discrimination[draw] = _told(d, a)
    middle = _told(*mean.T)
    ends = [np.quantile(of, (0.025, 0.975), axis=0).T for of in (difficulty, discrimination)]
    return ItemFit(middle[0], ends[0], middle[1], ends[1])


def mean_by_model(scores: Floats, models: Sequence[int]) -> Floats:
    """Return the mean of what each model scored on each item, over the times that it was asked: shape (models, items),
    nan where it has no score. `models` has the number of the model of each row of `scores`, shape (times, items)."""
    of = np.asarray(models, dtype=int)
    known, values = np.isfinite(scores), np.nan_to_num(scores)
    sums, counts = (np.zeros((of.max(initial=-1) + 1, scores.shape[1])) for _ in range(2))
    np.add.at(sums, of, values)
    np.add.at(counts, of, known)
    return ratios(sums, counts)


def _told(d: Floats, a: Floats) -> tuple[Floats, Floats]:
    return 1 - expit(d), expit(d + a) - expit(d - a)


def _elsewhere(scores: Floats, known: NDArray[np.bool_]) -> Floats | None:
    """Return how good each model is on all items but one, as standardised log odds of its mean: shape (models, items);
    None where the models are alike."""
    values = np.where(known, scores, 0.0)
    sums = values.sum(axis=1, keepdims=True) - values
    counts = known.sum(axis=1, keepdims=True) - known
    odds = logit((sums + 0.5) / (counts + 1.0))
    spread = odds.std(axis=0)
    if (spread < 1e-9).any():
        return None
    standard: Floats = (odds - odds.mean(axis=0)) / spread
    return standard


def _posterior(values: Floats, known: NDArray[np.bool_], ability: Floats) -> tuple[Floats, Floats]:
    """Return mean (J, 2) and covariance (J, 2, 2) of each item's intercept and slope."""
    fractional = bool(((values > 0) & (values < 1))[known].any())
    items = values.shape[1]
    basis = np.stack([np.ones_like(ability), ability], axis=2)  # (models, items, 2)
    centre, spread, dispersion = np.array([float(logit((values[known].mean() + 0.01) / 1.02)), 0.5]), np.ones(2), 1.0
    found = np.tile(centre, (items, 1))
    for _ in range(ROUNDS):
        prior = np.diag(1 / spread**2)
        for _ in range(STEPS):
            share = expit(np.einsum("ijk,jk->ij", basis, found))
            weight = np.where(known, share * (1 - share), 0.0) / dispersion
            slope = np.einsum("ij,ijk->jk", np.where(known, values - share, 0.0) / dispersion, basis)
            bend = np.einsum("ij,ijk,ijl->jkl", weight, basis, basis)
            step = np.linalg.solve(bend + prior, (slope - (found - centre) @ prior)[..., None])[..., 0]
            found = found + np.clip(step, -2, 2)
        cov = np.linalg.inv(bend + prior)
        centre = found.mean(axis=0)
        spread = np.maximum(
            np.sqrt(((found - centre) ** 2).mean(axis=0) + np.diagonal(cov, axis1=1, axis2=2).mean(axis=0)),
            LEAST_SPREAD,
        )
        if fractional:
            free = known.sum() - np.einsum("jkl,jlk->", bend, cov)
            dispersion = _dispersion(values, share, known, float(free))
    return found, cov


def _dispersion(values: Floats, share: Floats, known: NDArray[np.bool_], free: float) -> float:
    residuals = np.where(known, (values - share) ** 2 / np.maximum(share * (1 - share), 1e-6), 0.0)
    return float(np.clip(residuals.sum() / max(free, 1.0), 1e-3, 2.0))
