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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.statistics import ratios

Floats = NDArray[np.floating]
FEWEST_MODELS = 5
"""Below this many nothing is fitted: two or three models tell their own difference, not one of items."""
FEWEST_ITEMS = 5
ROUNDS, STEPS, DRAWS, AT_ONCE = 30, 4, 1000, 1000
UNKNOWN = -1.0
"""What stands in the place of a score that a model does not have."""
LEAST_SPREAD = 0.05
"""The least standard deviation of items' intercepts and slopes."""


@dataclass(frozen=True, slots=True)
class ItemFit:
    """The fit of each item, shape (J,) and (J, 2) for 95 % intervals: `difficulty`, the share that a model as good as
    the mean misses, and `discrimination`, the difference in share between a model one standard deviation above the mean
    and one below it, negative where better models do worse. `apart` says that its interval excludes 0."""

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
    scored = np.isfinite(scores)
    if scores.shape[0] < FEWEST_MODELS or scores.shape[1] < FEWEST_ITEMS:
        return None
    # items that models scored alike have the same fit: single answers of a corpus have a few hundred patterns
    patterns, which, counts = np.unique(
        np.where(scored, scores, UNKNOWN), axis=1, return_inverse=True, return_counts=True
    )
    weights = counts.astype(float)
    scored = patterns != UNKNOWN
    values = np.where(scored, patterns, 0.0)
    ability = _elsewhere(values, scored, weights)
    if ability is None:
        return None
    mean, cov = _posterior(values, scored, ability, weights)
    estimates = _on_scores(*mean.T)
    ends = _intervals(mean, cov, scores.shape[0] - 1, np.random.default_rng(seed))
    which = which.reshape(-1)
    return ItemFit(estimates[0][which], ends[0][which], estimates[1][which], ends[1][which])


def _intervals(mean: Floats, cov: Floats, freedom: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the ends of difficulty and of discrimination, shape (J, 2), some items at a time."""
    ends = np.empty((len(mean), 2)), np.empty((len(mean), 2))
    root = np.linalg.cholesky(cov)
    for first in range(0, len(mean), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        count = len(mean[part])
        drawn = rng.standard_normal((DRAWS, count, 2)) * np.sqrt(freedom / rng.chisquare(freedom, (DRAWS, count, 1)))
        d, a = np.moveaxis(mean[part] + np.einsum("jkl,njl->njk", root[part], drawn), 2, 0)
        for bounds, values in zip(ends, _on_scores(d, a), strict=True):
            bounds[part] = np.quantile(values, (0.025, 0.975), axis=0).T
    return ends


def mean_by_model(scores: Floats, models: Sequence[int], count: int) -> Floats:
    """Return the mean of what each of `count` models scored on each item, over the times that it was asked: shape
    (models, items), nan where it has no score. `models` has the number of the model of each row of `scores`, shape
    (times, items)."""
    model_numbers = np.asarray(models, dtype=int)
    scored, values = np.isfinite(scores), np.nan_to_num(scores)
    sums, counts = (np.zeros((count, scores.shape[1])) for _ in range(2))
    np.add.at(sums, model_numbers, values)
    np.add.at(counts, model_numbers, scored)
    return ratios(sums, counts)


def _on_scores(d: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Return difficulty and discrimination on the scale of scores."""
    from scipy.special import expit  # takes half a second to load, and every command that checks addresses loads this

    return 1 - expit(d), expit(d + a) - expit(d - a)


def _elsewhere(values: Floats, scored: NDArray[np.bool_], weights: Floats) -> Floats | None:
    """Return how good each model is on all items but one, as standardised log odds of its mean: shape (models, items);
    None where the models are alike. `weights` says how many items each one stands for."""
    from scipy.special import logit

    sums = (values * weights).sum(axis=1, keepdims=True) - values
    counts = (scored * weights).sum(axis=1, keepdims=True) - scored
    odds = logit((sums + 0.5) / (counts + 1.0))
    spread = odds.std(axis=0)
    if (spread < 1e-9).any():
        return None
    standard: Floats = (odds - odds.mean(axis=0)) / spread
    return standard


def _posterior(values: Floats, scored: NDArray[np.bool_], ability: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return mean (J, 2) and covariance (J, 2, 2) of each item's intercept and slope; each stands for as many items as
    `weights` says."""
    from scipy.special import expit, logit

    fractional = bool(((values > 0) & (values < 1))[scored].any())
    items = values.shape[1]
    basis = np.stack([np.ones_like(ability), ability], axis=2)  # (models, items, 2)
    counted = scored * weights
    usual = float(logit(((values * counted).sum() / max(1, counted.sum()) + 0.01) / 1.02))
    centre, spread, dispersion = np.array([usual, 0.5]), np.ones(2), 1.0
    coefficients = np.tile(centre, (items, 1))
    for _ in range(ROUNDS):
        prior = np.diag(1 / spread**2)
        for _ in range(STEPS):
            share = expit(np.einsum("ijk,jk->ij", basis, coefficients))
            weight = np.where(scored, share * (1 - share), 0.0) / dispersion
            slope = np.einsum("ij,ijk->jk", np.where(scored, values - share, 0.0) / dispersion, basis)
            bend = np.einsum("ij,ijk,ijl->jkl", weight, basis, basis)
            step = np.linalg.solve(bend + prior, (slope - (coefficients - centre) @ prior)[..., None])[..., 0]
            coefficients = coefficients + np.clip(step, -2, 2)
        cov = np.linalg.inv(bend + prior)
        centre = np.average(coefficients, axis=0, weights=weights)
        variance = (coefficients - centre) ** 2 + np.diagonal(cov, axis1=1, axis2=2)
        spread = np.maximum(np.sqrt(np.average(variance, axis=0, weights=weights)), LEAST_SPREAD)
        if fractional:
            free = counted.sum() - np.einsum("jkl,jlk,j->", bend, cov, weights)
            residuals = counted * (values - share) ** 2 / np.maximum(share * (1 - share), 1e-6)
            dispersion = float(np.clip(residuals.sum() / max(float(free), 1.0), 1e-3, 2.0))
    return coefficients, cov
