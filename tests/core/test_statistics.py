"""Figures over clusters: intervals, tests, correlations, and the figure of the highest of several."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import bootstrap, permutation_test, t
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests

from core import statistics
from core.plain import plain
from core.statistics import DIFFERENCE, POSITIVE, REAL, SHARE, Estimate, Sums, few, highest_estimate, spared_p
from core.statistics.correlation import pearson
from core.statistics.intervals import freedom, sparse
from core.statistics.sign_flips import FLIPS

NONE = "no story has a score"
RULES = {"scale": SHARE, "unit": "stories", "empty": NONE}
mean_estimates = partial(statistics.mean_estimates, **RULES)
nan = float("nan")


def interval(value: float, *drawn: float, n: int = 10, scale=SHARE):
    """The ends of a figure's interval and the reason where it has none."""
    told = {"scale": scale, "unit": "stories", "empty": NONE, "clusters": 0}
    [found] = statistics.intervals(np.array([value]), np.array(drawn)[:, None], np.array([n]), **told)
    return found


def test_the_standard_error_is_that_of_scipys_bootstrap_and_of_statsmodels_clustered_errors():
    # with so many clusters and so far from the ends the logit bends nothing and t is normal: value ± 1.98 standard
    # errors
    scores = np.random.default_rng(3).normal(0.5, 0.01, (1, 120))
    [found] = mean_estimates(scores, seed=1, resamples=4000)
    error = (found.interval[1] - found.interval[0]) / 2 / t.ppf(0.975, 119)
    assert error == pytest.approx(bootstrap((scores[0],), np.mean, n_resamples=4000, rng=9).standard_error, rel=0.06)
    clustered = OLS(scores[0], np.ones(120)).fit(cov_type="cluster", cov_kwds={"groups": np.arange(120)}).bse[0]
    assert error == pytest.approx(clustered, rel=0.06)
    assert found.value == pytest.approx(scores.mean()) and found.n == 120
    assert mean_estimates(scores, seed=1, resamples=4000) == [found] != mean_estimates(scores, seed=2, resamples=4000)


def test_an_interval_by_hand():
    # drawn .5 and .9 alike often around .8 of 10 stories: standard deviation .2, times √(10/9); t(9; .975) = 2.26216;
    # margin .47691, and on the logit, whose slope at .8 is 1/(.8 · .2) = 6.25: 1.38629 ± 2.98069
    one = 2.2621572 * (10 / 9) ** 0.5  # margin of a standard deviation of 1
    ends = [expit(logit(0.8) + side * 6.25 * 0.2 * one) for side in (-1, 1)]
    assert interval(0.8, 0.5, 0.9) == (pytest.approx(ends), "")
    # .8 of [0, 1] is .6 of [−1, 1]: all is twice as far
    assert interval(0.6, 0.0, 0.8, scale=DIFFERENCE)[0] == pytest.approx([2 * end - 1 for end in ends])
    # positive figures on their logarithm: 4 · e^(±margin/4); without an end as they are
    assert interval(4.0, 3.0, 5.0, scale=POSITIVE)[0] == pytest.approx([4 * math.exp(s * one / 4) for s in (-1, 1)])
    assert interval(4.0, 3.0, 5.0, scale=REAL)[0] == pytest.approx([4 - one, 4 + one])


def test_a_figure_needs_five_stories_for_an_interval_and_nothing_is_resampled_for_fewer(monkeypatch):
    rows = np.array([[0.2, nan, 0.6, 0.1, 0.3, 0.9], [nan, nan, nan, 0.5, nan, nan], [nan] * 6])
    partly, one, none = mean_estimates(rows, seed=1)  # missing scores are left out
    assert partly.value == pytest.approx(0.42) and partly.n == 5 and len(partly.interval) == 2
    assert (one, none) == (Estimate(0.5, 1, reason=few("stories")), Estimate(None, 0, reason=NONE))
    assert mean_estimates(np.empty((0, 0)), seed=1) == [] and few("stories") == "an interval needs at least 5 stories"
    monkeypatch.setitem(statistics.mean_estimates.__globals__, "replicated_means", None)
    for count in (1, 2, 3, 4):
        [found] = mean_estimates(np.linspace(0.2, 0.8, count)[None], seed=1)
        assert (found.interval, found.reason, found.n) == (None, few("stories"), count)
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
    assert freedom(np.array([[0.0], [nan], [0.5], [-0.5]]), np.array([2])) == pytest.approx([1])
    # s² of a sample varies as σ⁴ · 2/df does; of the Laplace distribution (kurtosis 6) with n = 400: 2/(3/400 + 2/399)
    # = 159.8
    rng = np.random.default_rng(5)
    variances = rng.laplace(size=(20_000, 400)).var(axis=1, ddof=1)
    freedoms = freedom(rng.laplace(size=(400, 500)), np.full(500, 400))
    assert 2 / (variances.var() / variances.mean() ** 2) == pytest.approx(np.median(freedoms), rel=0.1)


def test_alike_is_not_certain():
    # 5 stories of .81: with 95 % confidence at most 1 − .05^(1/5) = .4507 of all stories differ, and these are worth 0
    # or 1: .81 · .5493 = .4449 and .81 + .19 · .4507 = .8956; of perfect scores [.5493, 1]
    assert statistics.unseen_share(5) == pytest.approx(0.4507, abs=5e-5)
    assert statistics.unseen_share(100) == pytest.approx(3 / 100, rel=0.02)  # the rule of three
    alike, perfect = mean_estimates(np.array([[0.81] * 5, [1.0] * 5]), seed=1)
    assert alike.interval == pytest.approx([0.4449, 0.8956], abs=1e-4)
    assert perfect.interval == pytest.approx([0.5493, 1], abs=1e-4)
    nothing_bounds_a_count = "all stories are alike, and nothing bounds those that were not seen"
    assert interval(7.0, *[7.0] * 20, n=9, scale=POSITIVE) == (None, nothing_bounds_a_count)


def test_an_interval_needs_a_figure_in_nearly_all_resamples():
    drawn = np.random.default_rng(1).normal(0.5, 0.1, 100)
    assert interval(0.5, *[nan] * 6, *drawn[6:], n=9) == (None, sparse("stories"))
    assert interval(0.5, *[nan] * 5, *drawn[5:], n=9)[0] is not None


def covering(rows: np.ndarray, truth: float) -> float:
    ends = np.array([one.interval for one in mean_estimates(rows, seed=4, resamples=1000)])
    return float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())


def test_intervals_over_stories_cover_the_truth_and_those_over_propositions_do_not():
    """400 times 60 stories of 25 propositions, whose chance of being right differs by story."""
    rng = np.random.default_rng(20)
    right = (rng.random((400, 60, 25)) < rng.beta(3, 2, (400, 60, 1))).astype(float)  # their mean is 3 / (3 + 2)
    assert covering(right.mean(axis=2), 3 / 5) >= 0.93
    # beta(3, 2) varies by 6/(25·6) = 0.04 between stories, 0.2 within: the design effect 1 + 24·0.04/0.24 = 5
    # makes intervals over propositions √5 too narrow: 2·Φ(1.96/√5) − 1 = 0.62
    assert 0.5 < covering(right.reshape(400, -1), 3 / 5) < 0.75
    # 95 % of 1,000 has a standard error of √(1000 · .95 · .05) = 6.9; plain percentile tails hold 82 % of 5 stories
    for a, b in [(4, 2), (9, 1)]:
        for stories in [5, 10, 21, 100]:
            scores = np.random.default_rng(stories).beta(a, b, (1000, stories))
            assert 0.92 <= covering(scores, a / (a + b)) <= 0.98, (a, b, stories)


def test_resamples_of_many_clusters_are_the_same_kept_or_not(monkeypatch):
    columns = np.random.default_rng(2).random((40, 3))
    plainly = statistics.replicated_sums(columns, seed=3, resamples=50)
    for name in ("DRAWS_AT_ONCE", "BLOCK", "DRAWS_KEPT"):  # in parts of ten resamples, then kept in bytes, then not
        monkeypatch.setattr(f"core.statistics.bootstrap.{name}", 400)
        assert np.allclose(statistics.replicated_sums(columns, seed=3, resamples=50), plainly, rtol=1e-14, atol=0), name


def test_one_figure_of_sums_is_the_mean_of_its_rows_and_has_the_same_reasons():
    told = partial(statistics.estimate_of, measure=lambda sums: statistics.ratios(sums[:, 0], sums[:, 1]), **RULES)
    scores = np.random.default_rng(4).integers(0, 2, 30).astype(float)
    [expected] = mean_estimates(scores[None], seed=7, resamples=400)
    assert told(np.column_stack([scores, np.ones(30)]), n=30, seed=7, resamples=400) == expected
    fewer = Estimate(0.5, 12, reason=few("stories"))
    assert told(np.array([[1.0, 2.0]] * 6), n=12, seed=7, clusters=4) == fewer
    for empty in (np.zeros((6, 2)), np.zeros((0, 2))):
        assert told(empty, n=0, seed=7) == Estimate(None, 0, reason=NONE)
    assert statistics.interval_of(0.5, None, 0, clusters=6, **RULES) == (None, NONE)


def test_an_estimate_is_kept_with_what_there_is_of_it_and_read_as_it_was():
    kept = {"value": 0.5, "n": 12, "interval": [0.4, 0.6]}
    without = {"value": None, "n": 0, "interval": None, "clusters": 3, "reason": few("stories")}
    estimates = [Estimate(0.5, 12, (0.4, 0.6)), Estimate(None, 0, clusters=3, reason=few("stories"))]
    assert [[*plain(estimate).items()] for estimate in estimates] == [[*kept.items()], [*without.items()]]
    assert [plain(Estimate.from_json(of)) for of in (kept, without)] == [kept, without]


def test_a_p_value_is_below_five_per_cent_where_the_interval_leaves_out_no_difference():
    """Also where all clusters are alike, of which few say little."""
    for spread in [0.0, 0.02, 0.4]:
        for count in [5, 8, 20, 60]:
            moves = spread * np.random.default_rng(1).normal(size=count) / count
            of = {"count": count, "most": count - 1, "scale": DIFFERENCE}
            apart = set()
            for value in np.linspace(-0.9, 0.9, 37):
                ends, _ = statistics.linear_interval(value, moves, unit="stories", **of)
                p = statistics.linear_p(value, moves, **of)
                assert 0 <= p <= 1 and (p < 0.05) == (ends[0] > 0 or ends[1] < 0), (value, ends, p)
                apart.add(p < 0.05)
            assert apart == {True, False}


# --- sign flips and Holm


def test_sign_flips_by_hand():
    # differences 1, 2, 3: of 8 sign patterns only +++ and −−− reach |6| → 2/8
    # 1, −1 and a zero, which no flip moves: every pattern reaches |0| → 1; all zero: 1; nothing: undefined
    rows = np.array([[1, 2, 3], [1, -1, 0], [0, 0, 0], [nan] * 3])
    assert statistics.sign_flip_p(rows, seed=1) == [0.25, 1.0, 1.0, None]
    # 3, 2, −1 → |4|; +++ 6, ++− 4, +−+ 2, +−− 0 and their mirrors → 4/8
    assert statistics.sign_flip_p(np.array([[3.0, nan, 2, -1]]), seed=1) == [0.5]
    # 0.1 + 0.2 − 0.3 is not quite 0 in floating point, yet all 8 patterns are at least as extreme as 0
    assert statistics.sign_flip_p(np.array([[0.1, 0.2, -0.3]]), seed=1) == [1.0]
    # 40 differences of 1: no drawn pattern reaches 40, so (0 + 1) / (9,999 + 1)
    assert statistics.sign_flip_p(np.ones((1, 40)), seed=1) == [1e-4]
    # 1,520 tests: 1,520 / (flips + 1) has to be at most 0.05 / 4 → flips + 1 = 121,600
    assert [statistics.flips_for(tests) for tests in (1520, 190, 3)] == [121_599, 15_199, FLIPS]
    assert statistics.caution(30, "stories") == ""
    assumes = "with fewer than 30 stories the sign-flip test assumes"
    assert statistics.caution(29, "stories").startswith(assumes)


def test_sign_flips_agree_with_scipys_permutation_test():
    for stories in [9, 14, 15, 40]:
        exact = stories <= 14
        rows = np.random.default_rng(stories).normal(0.3, 1, (3, stories))
        how = {"permutation_type": "samples", "n_resamples": 2**14 if exact else 20_000}
        for row, found in zip(rows, statistics.sign_flip_p(rows, seed=5), strict=True):
            told = permutation_test((row,), np.mean, rng=1, **how).pvalue
            # exact on both sides up to 14; beyond, the standard errors of two drawn shares, four times over
            near = 4 * (max(told, 1e-3) * (1 - told) * (1 / 20_000 + 1 / FLIPS)) ** 0.5
            assert found == pytest.approx(told, abs=1e-12 if exact else near)


def test_holm_by_hand_and_as_statsmodels_has_it():
    # sorted 0.01, 0.02, 0.03 → 3·0.01 = 0.03, max(0.03, 2·0.02) = 0.04, max(0.04, 0.03) = 0.04; None does not count
    assert statistics.holm([0.03, None, 0.01, 0.02]) == pytest.approx([0.04, None, 0.03, 0.04])
    assert [statistics.holm(p) for p in ([], [None], [0.9, 0.8])] == [[], [None], [1.0, 1.0]]
    p = list(np.random.default_rng(2).beta(0.3, 3, 40))
    np.testing.assert_allclose(statistics.holm(p), multipletests(p, method="holm")[1])


# --- correlations


def test_a_correlation_by_hand_and_why_there_is_none():
    # deviations -2 -1 0 1 2 and -1 -2 1 0 2: 2 + 2 + 0 + 0 + 4 = 8, over the root of 10 · 10
    result = pearson([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], unit="models")
    assert result.r == pytest.approx(0.8) and result.n == 5 and not result.reason
    # Fisher: artanh 0.8 = 1.0986, with 1.96 / √(5 - 3) = 1.3859 to either side
    assert result.interval == pytest.approx((-0.2796, 0.9862), abs=1e-4)
    # t = 0.8 · √3 / 0.6 = 2.3094 at 3 degrees of freedom
    assert result.p == pytest.approx(0.1041, abs=1e-4)
    for first, second, r, reason in [
        ([1, 2, 3, 4], [2, 1, 4, 3], 0.6, "an interval needs at least 5 models"),
        ([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], 1.0, "all models lie on one line"),
        ([1, 2, 3, 4, 5], [7] * 5, None, "one of the two is the same everywhere"),
        ([], [], None, "a correlation needs at least 3 models"),
        ([1, 2], [1, 2], None, "a correlation needs at least 3 models"),
    ]:
        found = pearson(first, second, unit="models")
        assert found.r == (r and pytest.approx(r)) and (found.interval, found.p, found.n) == (None, None, len(first))
        assert found.reason == reason


def test_units_of_one_cluster_count_as_one():
    first, second = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.5], [1.0, 3.0, 2.0, 5.0, 4.0, 6.0, 7.0]
    over = pearson(first, second, unit="models", clusters=[*"abcdeff"], cluster_unit="families")
    alone = pearson(first, second, unit="models")
    assert (over.n, over.clusters, alone.clusters) == (7, 6, 7) and over.r == alone.r
    # the jackknife by hand: Fisher's z without each family; 6 of them, so that its variance is 5/6 of the squares
    kept = [[at for at, cluster in enumerate("abcdeff") if cluster != name] for name in "abcdef"]
    z = [math.atanh(pearson([first[i] for i in of], [second[i] for i in of], unit="models").r) for of in kept]
    reach = 2.570582 * (5 / 6 * sum((one - sum(z) / 6) ** 2 for one in z)) ** 0.5  # t of 5 degrees of freedom
    expected = [math.tanh(math.atanh(over.r) - reach), math.tanh(math.atanh(over.r) + reach)]
    assert over.interval == pytest.approx(expected, abs=1e-5)
    # a cluster of each unit is what units are anyway
    assert pearson(first, second, unit="models", clusters=list(range(7)), cluster_unit="families") == alone


def test_too_few_clusters_have_no_interval_and_say_so():
    for first, second, clusters, reason in [
        ([1, 2, 3, 4, 5, 6], [1, 3, 2, 5, 4, 6], "abcddd", "an interval needs at least 5 families"),
        (
            [1, 2, 3, 4, 5, 9, 9.5],
            [1, 2, 3, 4, 5, 1, 2],
            "abcdeff",
            "without one of the families all models lie on one line",
        ),
        (
            [1, 1, 1, 1, 1, 9, 8],
            [1, 2, 3, 4, 5, 1, 2],
            "abcdeff",
            "without one of the families one of the two is the same everywhere",
        ),
    ]:
        found = pearson(first, second, unit="models", clusters=[*clusters], cluster_unit="families")
        assert found.r is not None and found.interval is found.p is None and found.clusters == len({*clusters})
        assert found.reason == reason


# --- the highest of several, without what it owes to luck


def highest(values: np.ndarray):
    """The estimate of the highest column of scores, a row a cluster."""
    known = np.isfinite(values)
    sums = Sums(np.nan_to_num(values), known.astype(float))
    return highest_estimate(sums, sums, n=len(values), seed=1, **RULES)


def test_the_optimism_is_how_far_the_highest_of_a_resample_is_above_its_figure():
    drawn = np.array([[0.9, 0.5], [0.6, 0.7], [nan, 0.8], [nan, nan]])
    # highest of each resample: .9 of the first, .7 and .8 of the second; in the data they have .7 and .6
    assert statistics.optimism(drawn, drawn, np.array([0.7, 0.6])) == pytest.approx((0.2 + 0.1 + 0.2) / 3)
    # chosen by one figure and told by another
    other = statistics.optimism(drawn[:2], np.array([[0.4, 0.0], [0.0, 0.3]]), np.array([0.3, 0.1]))
    assert other == pytest.approx(0.15)
    assert statistics.optimism(drawn[3:], drawn[3:], np.array([0.7, 0.6])) == 0.0


def test_who_is_far_ahead_keeps_its_figure_and_who_is_one_of_equals_loses_some():
    rng = np.random.default_rng(3)
    ahead = np.column_stack([0.9 + 0.01 * rng.random(30), 0.2 + 0.01 * rng.random(30)])
    found = highest(ahead)
    # the same one is the highest of every resample, whose mean is its own
    assert found.value == pytest.approx(ahead[:, 0].mean(), abs=1e-3) and found.interval[0] < found.value
    equals = rng.random((30, 8))
    found, means = highest(equals), equals.mean(axis=0)
    assert 0.5 < found.value < means.max() - 0.02 and found.interval[0] < found.value < means.max() < found.interval[1]
    # the upper end is that of the figure as it is, the lower one lies as far below as luck goes
    [plainly] = mean_estimates(equals.T[[means.argmax()]], seed=1)
    assert found.interval[1] == pytest.approx(plainly.interval[1])
    assert found.interval[0] < plainly.interval[0] - 0.02
    for alone in (np.full((8, 1), 0.5), np.column_stack([np.full(8, 0.5), np.full(8, nan)])):
        assert highest(alone) is None, "one alone was not chosen"
    found = highest(np.array([[0.9, 0.4], [0.8, 0.5], [0.7, 0.6]]))
    assert found.interval is None and "at least 5 stories" in found.reason and found.value == pytest.approx(0.8)


def test_missing_shares_and_bounds_decide_what_is_shown():
    alike = [statistics.are_alike(*of) for of in ((0.1, [0.0, 0.2]), (0.11, [-0.1, 0.3]), (0.0, None))]
    assert alike == [True, False, False]
    # alike: the p of the answered pairs; unlike: the largest, if all signs are one
    assert spared_p([0.2, -0.1, 0.3], [0.01, 0.5, 0.001], True) == 0.01
    assert spared_p([0.2, 0.1, 0.3], [0.01, 0.04, 0.001], False) == 0.04
    for means in ([0.2, -0.1, 0.3], [0.2, 0.0, 0.3], [0.0, 0.1, 0.3], [-0.2, 0.1, 0.3]):
        assert spared_p(means, [0.01, 0.04, 0.001], False) == 1.0, means
    assert spared_p([nan, 0.1, 0.3], [None, 0.04, 0.001], False) is None
