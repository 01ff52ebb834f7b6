"""Variance splits against known truths, and the closed form against the mixed model."""

from __future__ import annotations

import numpy as np
import pytest

from core.statistics.variance import (
    VarianceSplit,
    _balanced,
    _balanced_crossed,
    _crossed,
    _mixed,
    _rising,
    variance_split,
)


def made(clusters: int, turns: int, *, own: float, noise: float, seed: int, levels=(0.0,), crossed: float = 0.0):
    """(scores, clusters, conditions) with these standard deviations."""
    rng = np.random.default_rng(seed)
    rows = []
    for cluster in range(clusters):
        start = 0.5 + rng.normal(0, own)
        for level, effect in enumerate(levels):
            here = start + effect + rng.normal(0, crossed)
            rows += [(here + rng.normal(0, noise), cluster, level) for _ in range(turns)]
    return [list(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_closed_form_is_the_mixed_model(seed):
    scores, clusters, _ = made(40, 4, own=0.2, noise=0.1, seed=seed)
    values, places = np.array(scores), np.array(clusters)
    assert _balanced(values, places) == pytest.approx(_mixed(values, places), rel=1e-3)


@pytest.mark.parametrize(("own", "crossed"), [(0.2, 0.1), (0.2, 0.0)])
def test_the_closed_form_with_conditions_is_the_mixed_model(own, crossed):
    scores, clusters, levels = made(30, 3, own=own, noise=0.1, seed=2, levels=(0.0, 0.1), crossed=crossed)
    values, places, conditions = (np.array(column) for column in (scores, clusters, levels))
    closed, fitted = (fit(values, places, conditions) for fit in (_balanced_crossed, _crossed))
    assert closed == pytest.approx(fitted, rel=2e-2, abs=2e-4)


def test_mean_squares_that_fall_are_pooled():
    # 6 / 2 = 3 and 2 / 2 = 1 are pooled to 8 / 4 = 2; 9 / 3 = 3 stays
    assert _rising([6, 2, 9], [2, 2, 3]) == [2, 2, 3]
    # 3, 4 and 1 / 2: the last two pool to 9 / 4 < 3, and all to 12 / 5
    assert _rising([3, 8, 1], [1, 2, 2]) == pytest.approx([2.4] * 3)
    assert _rising([1, 2, 3], [1, 1, 1]) == [1, 2, 3]


def test_known_shares_are_found():
    """Of variances .04, .01 (levels .0067 fixed and .0033 crossed) and .01; means of ten data sets of 60 stories."""
    truth = np.array([0.04, np.var([0.0, 0.1, 0.2]) + 0.0033, 0.01])
    found = [
        variance_split(*made(60, 3, own=0.2, noise=0.1, seed=seed, levels=(0.0, 0.1, 0.2), crossed=0.0033**0.5))
        for seed in range(10)
    ]
    shares = np.mean([[one.clusters, one.conditions, one.repetitions] for one in found], axis=0)
    assert shares.sum() == pytest.approx(1) and np.abs(shares - truth / truth.sum()).max() < 0.04


def test_without_conditions_two_shares_sum_to_one():
    scores, clusters, _ = made(50, 5, own=0.1, noise=0.1, seed=4)
    found = variance_split(scores, clusters)
    assert found.conditions is None and found.clusters + found.repetitions == pytest.approx(1)
    assert found.clusters == pytest.approx(0.5, abs=0.15)
    uneven = variance_split(scores[:-1], clusters[:-1])
    assert uneven.clusters == pytest.approx(found.clusters, abs=0.02)


def test_no_difference_between_stories_is_nought_of_them():
    rng = np.random.default_rng(5)
    split = variance_split(rng.normal(0, 1, 300).tolist(), [at % 100 for at in range(300)])
    assert split.clusters < 0.1 and split.repetitions > 0.9
    assert variance_split([0, 1] * 6, [at // 2 for at in range(12)]) == VarianceSplit(12, clusters=0.0, repetitions=1.0)


@pytest.mark.parametrize(
    ("scores", "clusters", "reason"),
    [
        ([1, 0] * 4, [at // 2 for at in range(8)], "a split needs at least 5 clusters"),
        ([1, 0, 1, 0, 1], [0, 1, 2, 3, 4], "nothing was asked twice"),
        ([1.0] * 12, [at // 2 for at in range(12)], "every score is the same"),
    ],
)
def test_what_cannot_be_told_has_a_reason(scores, clusters, reason):
    assert variance_split(scores, clusters) == VarianceSplit(len(scores), reason=reason)
