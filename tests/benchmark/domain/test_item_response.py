"""Difficulty and discrimination of items: known truth, an oracle, and where nothing is fitted."""

import numpy as np
import pytest
from scipy.special import expit

from bench.item_response import simulated
from benchmark.domain.item_response import _elsewhere, _posterior, fit_items

pytestmark = pytest.mark.once


def test_intervals_hold_the_truth_where_models_and_stories_are_few():
    """6 models × 21 items, 25 data sets: 525 items; bench/item_response.py has the large form."""
    for answers, least in [(12, 0.9), (1, 0.84)]:
        rng, hard, apart = np.random.default_rng(7), [], []
        for turn in range(25):
            scores, difficulty, discrimination = simulated(rng, 6, 21, answers)
            fit = fit_items(scores, seed=turn)
            for held, truth, ends in (
                (hard, difficulty, fit.difficulty_interval),
                (apart, discrimination, fit.discrimination_interval),
            ):
                held += list((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        assert np.mean(hard) > least and np.mean(apart) > least


def test_what_tells_models_apart_comes_first():
    """Items 0 to 4 rise with ability, 5 to 9 do not, 10 to 14 fall."""
    rng, ability = np.random.default_rng(3), np.linspace(-1, 1, 12)
    slopes = np.repeat([2.0, 0.0, -2.0, 1.0], [5, 5, 5, 25])
    fit = fit_items(rng.binomial(20, expit(ability[:, None] * slopes)) / 20, seed=1)
    rising, flat, falling = (fit.discrimination[at : at + 5] for at in (0, 5, 10))
    assert rising.min() > flat.max() and flat.min() > falling.max()
    assert fit.apart[:5].all() and fit.apart[10:15].all()
    assert (fit.discrimination_interval[:5, 0] > 0).all() and (fit.discrimination_interval[10:15, 1] < 0).all()
    assert fit.difficulty == pytest.approx(np.full(40, 0.5), abs=0.15)


def test_items_that_models_scored_alike_have_one_fit():
    """Right and wrong answers of six models have at most 64 patterns, whatever number of items there are."""
    rng, ability = np.random.default_rng(5), np.linspace(-1.5, 1.5, 6)
    scores = (rng.random((6, 3000)) < expit(ability[:, None] * rng.normal(1, 0.5, 3000))).astype(float)
    fit = fit_items(scores, seed=1)
    _, which, counts = np.unique(scores, axis=1, return_inverse=True, return_counts=True)
    assert len(counts) <= 64 and len(fit.difficulty) == 3000
    assert len({*zip(which.ravel(), fit.discrimination, strict=True)}) == len(counts)
    known, once = np.isfinite(scores), np.ones(3000)
    each, _ = _posterior(scores, known, _elsewhere(scores, known, once), once)
    assert fit.difficulty == pytest.approx(1 - expit(each[:, 0]), abs=1e-6)


def test_it_is_the_mixed_model_of_statsmodels():
    """Which takes right and wrong, one row an answer, and fits by variational Bayes: means are near ours, not the
    same."""
    from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

    scores, _, _ = simulated(np.random.default_rng(11), 12, 20, 1)
    known, once = np.isfinite(scores), np.ones(20)
    ability = _elsewhere(scores, known, once)
    ours, _ = _posterior(scores, known, ability, once)
    x, intercepts = ability.ravel(), np.eye(20)[np.tile(np.arange(20), 12)]
    effects = np.hstack([intercepts, intercepts * x[:, None]])
    fixed = np.column_stack([np.ones_like(x), x])
    fitted = BinomialBayesMixedGLM(scores.ravel(), fixed, effects, np.repeat([0, 1], 20), vcp_p=1, fe_p=10).fit_vb()
    theirs = fitted.fe_mean + fitted.vc_mean.reshape(2, 20).T
    assert np.corrcoef(ours[:, 0], theirs[:, 0])[0, 1] > 0.97
    assert np.corrcoef(ours[:, 1], theirs[:, 1])[0, 1] > 0.9
    assert ours.mean(axis=0) == pytest.approx(theirs.mean(axis=0), abs=0.3)


def test_a_fit_is_finite_and_nothing_is_fitted_of_few_models_items_or_models_that_are_alike():
    rng = np.random.default_rng(1)
    for scores in (rng.random((4, 30)), rng.random((9, 4)), np.tile(rng.random(30), (6, 1))):
        assert fit_items(scores, seed=1) is None
    # a model without a score, and an item that all get right
    scores = np.random.default_rng(2).random((6, 12)).round()
    scores[0, 3], scores[:, 5] = np.nan, 1.0
    fit = fit_items(scores, seed=1)
    for found in (fit.difficulty, fit.discrimination, fit.difficulty_interval, fit.discrimination_interval):
        assert np.isfinite(found).all()
    assert fit.difficulty[5] < np.median(fit.difficulty)
    assert fit.difficulty_interval[5, 0] > 0  # six right answers do not say that nobody can miss it
