"""The figure of the highest of several, without what it owes to luck."""

from __future__ import annotations

import numpy as np
import pytest

from core.statistics import SHARE, Sums, are_alike, highest_estimate, mean_estimates, optimism, spared_p

nan = float("nan")


def told(values: np.ndarray, seed: int = 1):
    """The estimate of the highest column of scores, a row a cluster."""
    known = np.isfinite(values)
    sums = Sums(np.nan_to_num(values), known.astype(float))
    return highest_estimate(sums, sums, n=len(values), scale=SHARE, seed=seed, unit="stories", empty="none")


def test_the_optimism_is_how_far_the_highest_of_a_resample_is_above_its_figure():
    drawn = np.array([[0.9, 0.5], [0.6, 0.7], [nan, 0.8], [nan, nan]])
    # highest of each resample: .9 of the first, .7 and .8 of the second; in the data they have .7 and .6
    assert optimism(drawn, drawn, np.array([0.7, 0.6])) == pytest.approx((0.2 + 0.1 + 0.2) / 3)
    # chosen by one figure and told by another
    assert optimism(drawn[:2], np.array([[0.4, 0.0], [0.0, 0.3]]), np.array([0.3, 0.1])) == pytest.approx(0.15)
    assert optimism(drawn[3:], drawn[3:], np.array([0.7, 0.6])) == 0.0


def test_one_alone_was_not_chosen():
    assert told(np.full((8, 1), 0.5)) is None
    assert told(np.column_stack([np.full(8, 0.5), np.full(8, nan)])) is None


def test_who_is_far_ahead_keeps_its_figure_and_who_is_one_of_equals_loses_some():
    rng = np.random.default_rng(3)
    ahead = np.column_stack([0.9 + 0.01 * rng.random(30), 0.2 + 0.01 * rng.random(30)])
    found = told(ahead)
    # the same one is the highest of every resample, whose mean is its own
    assert found.value == pytest.approx(ahead[:, 0].mean(), abs=1e-3) and found.interval[0] < found.value
    equals = rng.random((30, 8))
    found, highest = told(equals), equals.mean(axis=0).max()
    assert 0.5 < found.value < highest - 0.02 and found.interval[0] < found.value < highest < found.interval[1]
    # the upper end is that of the figure as it is, the lower one lies as far below as luck goes
    [plain] = mean_estimates(
        equals.T[[equals.mean(axis=0).argmax()]], scale=SHARE, seed=1, unit="stories", empty="none"
    )
    assert found.interval[1] == pytest.approx(plain.interval[1]) and found.interval[0] < plain.interval[0] - 0.02


def test_few_clusters_have_a_figure_and_no_interval():
    found = told(np.array([[0.9, 0.4], [0.8, 0.5], [0.7, 0.6]]))
    assert found.interval is None and "at least 5 stories" in found.reason
    assert found.value == pytest.approx(0.8)  # the same one is the highest of every resample


def test_missing_shares_and_bounds_decide_what_is_shown():
    assert are_alike(0.1, [0.0, 0.2]) and not are_alike(0.11, [-0.1, 0.3]) and not are_alike(0.0, None)
    # alike: the p of the answered pairs; unlike: the largest, if all signs are one
    assert spared_p([0.2, -0.1, 0.3], [0.01, 0.5, 0.001], True) == 0.01
    assert spared_p([0.2, 0.1, 0.3], [0.01, 0.04, 0.001], False) == 0.04
    for means in ([0.2, -0.1, 0.3], [0.2, 0.0, 0.3], [0.0, 0.1, 0.3], [-0.2, 0.1, 0.3]):
        assert spared_p(means, [0.01, 0.04, 0.001], False) == 1.0, means
    assert spared_p([nan, 0.1, 0.3], [None, 0.04, 0.001], False) is None
