from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import bootstrap, t
from statsmodels.regression.linear_model import OLS

from core import statistics
from core.statistics import DIFFERENCE, POSITIVE, REAL, SHARE, Estimate, few, intervals, unseen_share
from core.statistics.intervals import freedom, sparse

NONE = "no story has a score"
mean_estimates = partial(statistics.mean_estimates, scale=SHARE, unit="stories", empty=NONE)


def test_the_standard_error_is_that_of_scipys_bootstrap_and_of_statsmodels_clustered_errors():
    # with so many clusters and so far from the ends the logit bends nothing and t is normal: value ± 1.98 standard
    # errors
    scores = np.random.default_rng(3).normal(0.5, 0.01, (1, 120))
    [found] = mean_estimates(scores, seed=1, resamples=4000)
    drawn = bootstrap((scores[0],), np.mean, n_resamples=4000, rng=9).standard_error
    low, high = found.interval
    assert (high - low) / 2 / t.ppf(0.975, 119) == pytest.approx(drawn, rel=0.06)
    clustered = OLS(scores[0], np.ones(120)).fit(cov_type="cluster", cov_kwds={"groups": np.arange(120)}).bse[0]
    assert (high - low) / 2 / t.ppf(0.975, 119) == pytest.approx(clustered, rel=0.06)
    assert found.value == pytest.approx(scores.mean()) and found.n == 120
    assert mean_estimates(scores, seed=1, resamples=4000) == [found]
    assert mean_estimates(scores, seed=2, resamples=4000) != [found]


def test_an_interval_by_hand():
    # drawn .5 and .9 alike often around .8 of 10 stories: standard deviation .2, times √(10/9); t(9; .975) = 2.26216;
    # margin .47691, and on the logit, whose slope at .8 is 1/(.8 · .2) = 6.25: 1.38629 ± 2.98069
    [(ends, why)] = intervals(
        np.array([0.8]), np.array([[0.5], [0.9]]), np.array([10]), clusters=0, scale=SHARE, unit="stories", empty=NONE
    )
    margin = 2.2621572 * 0.2 * (10 / 9) ** 0.5
    assert (ends, why) == (pytest.approx([expit(logit(0.8) - 6.25 * margin), expit(logit(0.8) + 6.25 * margin)]), "")
    # .8 of [0, 1] is .6 of [−1, 1]: all is twice as far
    [(twice, _)] = intervals(
        np.array([0.6]),
        np.array([[0.0], [0.8]]),
        np.array([10]),
        clusters=0,
        scale=DIFFERENCE,
        unit="stories",
        empty=NONE,
    )
    assert twice == pytest.approx([2 * end - 1 for end in ends])
    # positive figures on their logarithm: 4 · e^(±margin/4), where the standard deviation is 1; without an end as they
    # are
    for scale, expected in (
        (POSITIVE, 4 * np.exp(np.array([-1, 1]) * 2.2621572 * (10 / 9) ** 0.5 / 4)),
        (REAL, 4 + np.array([-1, 1]) * 2.2621572 * (10 / 9) ** 0.5),
    ):
        [(found, _)] = intervals(
            np.array([4.0]),
            np.array([[3.0], [5.0]]),
            np.array([10]),
            clusters=0,
            scale=scale,
            unit="stories",
            empty=NONE,
        )
        assert found == pytest.approx(list(expected))


def test_nothing_is_resampled_for_figures_of_too_few_clusters(monkeypatch):
    monkeypatch.setitem(mean_estimates.func.__globals__, "replicated_means", None)
    found = mean_estimates(np.array([[1, 0, 0.5, 1], [np.nan] * 4]), seed=1)
    assert found == [Estimate(0.625, 4, reason=few("stories")), Estimate(None, 0, reason=NONE)]
    with pytest.raises(TypeError):
        mean_estimates(np.array([[1, 0, 0.5, 1, 0]]), seed=1)


def test_degrees_of_freedom_fall_with_what_few_clusters_make_of_the_spread():
    # kurtosis 1: all clusters move the figure alike far, and 9 remain; nine at −.1 and one at .9: Σu² = .9, Σu⁴ = .657,
    # kurtosis 10 · .657/.81 = 8.1111, 2/(.51111 + 2/9) = 2.73, and four at least
    even, one = np.tile([-0.1, 0.1], 5), np.array([-0.1] * 9 + [0.9])
    assert freedom(np.column_stack([even, one]), np.array([10, 10])) == pytest.approx([9, 4])
    laplace = np.array([*np.full(26, 0.0), -3, -1, 1, 3])  # Σu² = 20, Σu⁴ = 164: kurtosis 30 · 164/400 = 12.3
    assert freedom(laplace[:, None], np.array([30])) == pytest.approx([2 / (9.3 / 30 + 2 / 29)])
    # who has no part in a figure moves it by nothing; what is undefined without one cluster does not count
    assert freedom(np.array([[0.0], [np.nan], [0.5], [-0.5]]), np.array([2])) == pytest.approx([1])


def test_the_degrees_of_freedom_are_those_of_the_samples_variance():
    # s² of a sample varies as σ⁴ · 2/df does; of the Laplace distribution (kurtosis 6) with n = 400: 2/(3/400 + 2/399)
    # = 159.8
    rng = np.random.default_rng(5)
    variances = rng.laplace(size=(20_000, 400)).var(axis=1, ddof=1)
    freedoms = freedom(rng.laplace(size=(400, 500)), np.full(500, 400))
    assert 2 / (variances.var() / variances.mean() ** 2) == pytest.approx(np.median(freedoms), rel=0.1)


def test_missing_scores_are_left_out_and_what_is_undefined_says_why():
    nan = np.nan
    rows = np.array([[0.2, nan, 0.6, 0.1, 0.3, 0.9], [nan, nan, nan, 0.5, nan, nan], [nan] * 6])
    partly, one, none = mean_estimates(rows, seed=1)
    assert partly.value == pytest.approx(0.42) and partly.n == 5 and len(partly.interval) == 2
    assert one == Estimate(0.5, 1, reason=few("stories"))
    assert none == Estimate(None, 0, reason=NONE)
    assert mean_estimates(np.empty((0, 0)), seed=1) == []


def test_no_interval_below_five_stories():
    for stories in [1, 2, 3, 4]:
        [found] = mean_estimates(np.linspace(0.2, 0.8, stories)[None], seed=1)
        assert found.interval is None and found.reason == "an interval needs at least 5 stories"


def test_alike_is_not_certain():
    # 5 stories of .81: with 95 % confidence at most 1 − .05^(1/5) = .4507 of all stories differ, and these are worth 0
    # or 1: .81 · .5493 = .4449 and .81 + .19 · .4507 = .8956; of perfect scores [.5493, 1]
    assert unseen_share(5) == pytest.approx(0.4507, abs=5e-5)
    assert unseen_share(100) == pytest.approx(3 / 100, rel=0.02)  # the rule of three
    alike, perfect = mean_estimates(np.array([[0.81] * 5, [1.0] * 5]), seed=1)
    assert alike.interval == pytest.approx([0.4449, 0.8956], abs=1e-4)
    assert perfect.interval == pytest.approx([0.5493, 1], abs=1e-4)
    # nothing bounds what a count could be
    [(ends, why)] = intervals(
        np.array([7.0]), np.full((20, 1), 7.0), np.array([9]), clusters=0, scale=POSITIVE, unit="stories", empty=NONE
    )
    assert ends is None and why == "all stories are alike, and nothing bounds those that were not seen"


def test_an_interval_needs_a_figure_in_nearly_all_resamples():
    drawn = np.random.default_rng(1).normal(0.5, 0.1, (100, 2))
    drawn[:6, 0] = drawn[:5, 1] = np.nan
    six, five = intervals(
        np.array([0.5, 0.5]), drawn, np.array([9, 9]), clusters=0, scale=SHARE, unit="stories", empty=NONE
    )
    assert six == (None, sparse("stories")) and five[0] is not None


def clustered(stories: int, repetitions: int) -> tuple[np.ndarray, float]:
    """Right or wrong for 25 propositions a story whose chance of being right differs by story: (runs, stories, 25)."""
    rng = np.random.default_rng(20)
    chance = rng.beta(3, 2, (repetitions, stories, 1))  # its mean is 3 / (3 + 2)
    return (rng.random((repetitions, stories, 25)) < chance).astype(float), 3 / 5


def covering(rows: np.ndarray, truth: float) -> float:
    ends = np.array([one.interval for one in mean_estimates(rows, seed=4, resamples=1000)])
    return float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())


def test_intervals_over_stories_cover_the_truth_and_those_over_propositions_do_not():
    right, truth = clustered(stories=60, repetitions=400)
    assert covering(right.mean(axis=2), truth) >= 0.93
    # beta(3, 2) varies by 6/(25·6) = 0.04 between stories, 0.2 within: the design effect 1 + 24·0.04/0.24 = 5
    # makes intervals over propositions √5 too narrow: 2·Φ(1.96/√5) − 1 = 0.62
    assert 0.5 < covering(right.reshape(400, -1), truth) < 0.75


def test_intervals_of_few_stories_cover_the_truth():
    for alpha_beta in [(4, 2), (9, 1)]:
        for stories in [5, 10, 21, 100]:
            # 95 % of 1,000 with a standard error of √(1000 · .95 · .05) = 6.9; plain percentile tails hold 82 % of 5
            # stories here
            scores = np.random.default_rng(stories).beta(*alpha_beta, (1000, stories))
            assert 0.92 <= covering(scores, alpha_beta[0] / sum(alpha_beta)) <= 0.98


def test_resamples_of_many_clusters_are_the_same_kept_or_not(monkeypatch):
    columns = np.random.default_rng(2).random((40, 3))
    few_clusters = statistics.replicated_sums(columns, seed=3, resamples=50)
    monkeypatch.setattr("core.statistics.bootstrap.DRAWS_AT_ONCE", 400)
    monkeypatch.setattr("core.statistics.bootstrap.BLOCK", 400)  # ten resamples
    kept_in_bytes = statistics.replicated_sums(columns, seed=3, resamples=50)
    monkeypatch.setattr("core.statistics.bootstrap.DRAWS_KEPT", 400)
    assert np.allclose(kept_in_bytes, few_clusters, rtol=1e-14, atol=0)
    assert np.allclose(statistics.replicated_sums(columns, seed=3, resamples=50), few_clusters, rtol=1e-14, atol=0)
