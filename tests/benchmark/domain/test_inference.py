from __future__ import annotations

import json
from itertools import combinations
from re import findall

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from annotation.domain.agreement.intervals import story_interval
from annotation.domain.anchoring.estimates import ONE_STORY
from benchmark.domain.inference import (
    DEFAULT_SD,
    Aligned,
    difference_sd,
    holm,
    leaderboard,
    letters,
    mean_estimates,
    paired_differences,
    sign_flip_p,
    smallest_difference,
)
from benchmark.domain.inference.bootstrap import NO_STORY, resampled_means
from benchmark.domain.inference.paired import FLIPS, NO_COMMON_STORY, flips_for
from benchmark.domain.inference.power import NO_SPREAD, TOO_FEW, TOO_MANY_TESTS


def aligned(*rows: list[float], names: str = "ABCDEFGH") -> Aligned:
    return Aligned(tuple(names[: len(rows)]), tuple(range(len(rows[0]))), np.array(rows, dtype=float))


def test_scores_are_aligned_by_story_and_what_is_lacking_is_missing():
    found = Aligned.of({"A": {7: 0.5, 3: None}, "B": {3: 1.0}})
    assert (found.models, found.stories) == (("A", "B"), (3, 7))
    np.testing.assert_array_equal(found.scores, [[np.nan, 0.5], [1.0, np.nan]])
    assert Aligned.of({}).scores.shape == (0, 0)
    with pytest.raises(ValueError, match="occurs twice"):
        Aligned(("A", "A"), (), np.empty((2, 0)))
    with pytest.raises(ValueError, match="2 models, 1 stories"):
        Aligned(("A", "B"), (1,), np.empty((1, 2)))


def test_an_interval_is_that_of_scipys_bootstrap():
    # the ends move by less than a tenth of the interval's width when other resamples are drawn
    scores = np.random.default_rng(3).beta(4, 2, (1, 120))
    [found] = mean_estimates(scores, seed=1, resamples=4000)
    told = story_interval(scores.T, lambda sums: sums[..., 0] / 120, seed=9, resamples=4000)
    assert found["interval"] == pytest.approx(told, abs=(told[1] - told[0]) / 10)
    assert found["value"] == pytest.approx(scores.mean()) and found["n"] == 120
    assert mean_estimates(scores, seed=1, resamples=4000) == [found]
    assert mean_estimates(scores, seed=2, resamples=4000) != [found]


def test_an_interval_is_wider_than_the_percentile_interval_for_few_stories():
    # n = 10: sqrt(10/9) · t(9; 0.025) = 1.05409 · 2.26216 = 2.38453, and Φ(−2.38453) = 0.00855 in the place of 0.025
    scores = np.random.default_rng(3).beta(4, 2, (1, 10))
    [found] = mean_estimates(scores, seed=1, resamples=4000)
    means = resampled_means(scores.T, seed=1, resamples=4000)[:, 0]
    assert found["interval"] == pytest.approx(np.quantile(means, [0.00855, 1 - 0.00855]), abs=1e-4)
    assert found["interval"][0] < np.quantile(means, 0.025) and found["interval"][1] > np.quantile(means, 0.975)
    # two stories: sqrt(2) · t(1; 0.025) = 1.41421 · 12.7062 = 17.97, beyond which nothing lies: the extremes
    [two] = mean_estimates(np.array([[0.2, 0.6]]), seed=1)
    assert two["interval"] == pytest.approx([0.2, 0.6])


def test_missing_scores_are_left_out_and_what_is_undefined_says_why():
    nan = np.nan
    rows = np.array([[0.2, nan, 0.6, nan], [nan, nan, nan, 0.5], [nan] * 4, [1.0, 1.0, 1.0, 1.0]])
    partly, one, none, perfect = mean_estimates(rows, seed=1)
    # (0.2 + 0.6) / 2; of 4⁴ = 256 resamples 2⁴ = 16 hold neither known story, so the interval is undefined
    assert partly["value"] == pytest.approx(0.4) and partly["n"] == 2 and "too few stories" in partly["reason"]
    assert one == {"value": 0.5, "n": 1, "interval": None, "reason": ONE_STORY}
    assert none == {"value": None, "n": 0, "interval": None, "reason": NO_STORY}
    assert perfect == {"value": 1.0, "n": 4, "interval": [1.0, 1.0]}
    assert mean_estimates(np.empty((0, 0)), seed=1) == []


def clustered(stories: int, repetitions: int) -> tuple[np.ndarray, float]:
    """Right or wrong for 25 propositions a story whose chance of being right differs by story: (runs, stories, 25)."""
    rng = np.random.default_rng(20)
    chance = rng.beta(3, 2, (repetitions, stories, 1))  # its mean is 3 / (3 + 2)
    return (rng.random((repetitions, stories, 25)) < chance).astype(float), 3 / 5


def covering(rows: np.ndarray, truth: float) -> float:
    ends = np.array([one["interval"] for one in mean_estimates(rows, seed=4, resamples=1000)])
    return float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())


def test_intervals_over_stories_cover_the_truth_and_those_over_propositions_do_not():
    right, truth = clustered(stories=60, repetitions=400)
    assert covering(right.mean(axis=2), truth) >= 0.93
    # beta(3, 2) varies by 6/(25·6) = 0.04 between stories, 0.2 within: the design effect 1 + 24·0.04/0.24 = 5
    # makes intervals over propositions √5 too narrow: 2·Φ(1.96/√5) − 1 = 0.62
    assert 0.5 < covering(right.reshape(400, -1), truth) < 0.75


def test_sign_flips_by_hand():
    # differences 1, 2, 3: of 8 sign patterns only +++ and −−− reach |6| → 2/8
    # 1, −1 and a zero, which no flip moves: every pattern reaches |0| → 1; all zero: 1; nothing: undefined
    rows = np.array([[1, 2, 3], [1, -1, 0], [0, 0, 0], [np.nan] * 3])
    assert sign_flip_p(rows, seed=1) == [0.25, 1.0, 1.0, None]
    # 3, 2, −1 → |4|; +++ 6, ++− 4, +−+ 2, +−− 0 and their mirrors → 4/8
    assert sign_flip_p(np.array([[3.0, np.nan, 2, -1]]), seed=1) == [0.5]
    # 0.1 + 0.2 − 0.3 is not quite 0 in floating point, yet all 8 patterns are at least as extreme as 0
    assert sign_flip_p(np.array([[0.1, 0.2, -0.3]]), seed=1) == [1.0]


@pytest.mark.parametrize("stories", [9, 14, 15, 40])
def test_sign_flips_agree_with_scipys_permutation_test(stories):
    rows = np.random.default_rng(stories).normal(0.3, 1, (3, stories))
    for row, found in zip(rows, sign_flip_p(rows, seed=5), strict=True):
        told = permutation_test(
            (row,), np.mean, permutation_type="samples", n_resamples=2**14 if stories <= 14 else 20_000, rng=1
        ).pvalue
        # exact on both sides up to 14; beyond, the standard errors of two drawn shares, four times over
        near = 4 * (max(told, 1e-3) * (1 - told) * (1 / 20_000 + 1 / FLIPS)) ** 0.5
        assert found == pytest.approx(told, abs=1e-12 if stories <= 14 else near)


def test_the_smallest_p_is_never_nought_and_leaves_room_for_holm():
    # 40 differences of 1: no drawn pattern reaches 40, so (0 + 1) / (9,999 + 1)
    assert sign_flip_p(np.ones((1, 40)), seed=1) == [1e-4]
    # 1,520 tests: 1,520 / (flips + 1) has to be at most 0.05 / 4 → flips + 1 = 121,600
    assert flips_for(1520) == 121_599 and flips_for(190) == 15_199 and flips_for(3) == FLIPS


def test_holm_by_hand_and_as_statsmodels_has_it():
    # sorted 0.01, 0.02, 0.03 → 3·0.01 = 0.03, max(0.03, 2·0.02) = 0.04, max(0.04, 0.03) = 0.04; None does not count
    assert holm([0.03, None, 0.01, 0.02]) == pytest.approx([0.04, None, 0.03, 0.04])
    assert holm([]) == [] and holm([None]) == [None] and holm([0.9, 0.8]) == [1.0, 1.0]
    p = list(np.random.default_rng(2).beta(0.3, 3, 40))
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1])


def test_pairs_are_compared_on_their_common_stories():
    nan = np.nan
    found = paired_differences(aligned([0.9, 0.8, nan], [0.5, 0.2, 1.0], [nan, nan, 0.1]), seed=1)
    by_pair = {one["first"] + one["second"]: one for one in found}
    # A − B: (0.4 + 0.6) / 2 on two stories; ++ and −− of 4 patterns → 1/2; B − C: one story, 0.9; A and C share none
    assert by_pair["AB"]["value"] == pytest.approx(0.5) and (by_pair["AB"]["n"], by_pair["AB"]["p"]) == (2, 0.5)
    assert by_pair["BC"]["value"] == pytest.approx(0.9) and by_pair["BC"]["reason"] == ONE_STORY
    nothing = {"value": None, "n": 0, "interval": None, "reason": NO_COMMON_STORY, "p": None, "p_adjusted": None}
    assert by_pair["AC"] == {"first": "A", "second": "C", "category": "", **nothing}
    # Holm over the two pairs that have a p: 2 · 0.5 and 1
    assert [by_pair[pair]["p_adjusted"] for pair in ("AB", "BC")] == [1.0, 1.0]
    assert paired_differences(aligned([0.1, 0.2]), seed=1) == []


def test_each_category_is_compared_on_its_own_stories_and_adjusted_with_all():
    # A − B is 0.5 on stories 0 and 1 of category x, −0.3 on 2 of y: overall (0.5 + 0.5 − 0.3) / 3
    rows = aligned([0.9, 0.8, 0.1], [0.4, 0.3, 0.4])
    found = paired_differences(rows, seed=1, categories={0: "x", 1: "x", 2: "y"})
    by_category = {one["category"]: one for one in found}
    assert [one["category"] for one in found] == ["", "x", "y"]
    assert [one["n"] for one in found] == [3, 2, 1]
    assert [one["value"] for one in found] == pytest.approx([0.7 / 3, 0.5, -0.3])
    # signs: overall |0.7| is reached by +++, ++− (1.3, 0.7) and their mirrors → 4/8; x by ++ and −− → 2/4; y by both → 1
    assert [one["p"] for one in found] == [0.5, 0.5, 1.0]
    # Holm over three tests: 3 · 0.5 → 1
    assert [one["p_adjusted"] for one in found] == [1.0, 1.0, 1.0]
    assert by_category["y"]["interval"] is None and by_category["y"]["reason"] == ONE_STORY
    # one category is all stories once more, and no second test
    assert len(paired_differences(rows, seed=1, categories=dict.fromkeys(range(3), "x"))) == 1


def test_the_patterns_of_the_categories_add_up_to_those_of_all_stories():
    """40 stories in two categories: each drawn p is near that of a test of its stories alone."""
    rng = np.random.default_rng(4)
    rows = aligned(*(rng.normal(shift, 1, 40) for shift in (0.3, 0.0, 0.1)))
    categories = {story: "x" if story < 25 else "y" for story in range(40)}
    found = paired_differences(rows, seed=2, categories=categories)
    assert len(found) == 3 * 3
    for one in found:
        held = [story for story in rows.stories if one["category"] in ("", categories[story])]
        a, b = (rows.scores[rows.models.index(one[side])][held] for side in ("first", "second"))
        [alone] = sign_flip_p((a - b)[None], seed=9)
        # two shares of 9,999 drawn patterns each, four standard errors
        near = 4 * (max(alone, 1e-3) * (1 - alone) * 2 / FLIPS) ** 0.5
        assert one["p"] == pytest.approx(alone, abs=near) and one["value"] == pytest.approx((a - b).mean())
    np.testing.assert_allclose([one["p_adjusted"] for one in found], holm([one["p"] for one in found]))


def test_letters_rest_on_tests_that_are_adjusted_over_the_categories_too():
    # 9 stories on which A is better by 0.1 to 0.18: p = 2/2⁹ = 1/256 overall. Alone it is below 0.05. With a test of each of 9
    # categories of one story, whose p is 1, Holm takes 10 · 1/256 = 0.039; with a third model like B there are 3 · 10 tests,
    # and 30 · 1/256 = 0.117 shows nothing any more
    rows = [[0.5 + 0.01 * at for at in range(9)], [0.4] * 9, [0.4] * 9]
    categories = {story: f"c{story}" for story in range(9)}
    two = leaderboard(aligned(*rows[:2]), seed=1, categories=categories)
    assert two["pairs"][0]["p_adjusted"] == pytest.approx(10 / 256) and two["tests"] == 10
    assert [one["group"] for one in two["models"]] == ["a", "b"]
    three = leaderboard(aligned(*rows), seed=1, categories=categories)
    assert three["pairs"][0]["p_adjusted"] == pytest.approx(30 / 256) and three["tests"] == 30
    # nine stories, all of one sign: 2^-8 = 1/256 is the smallest p that there can be
    assert three["too_few"] and not two["too_few"]
    assert [one["group"] for one in three["models"]] == ["a", "a", "a"]
    assert [one["group"] for one in leaderboard(aligned(*rows), seed=1)["models"]] == ["a", "b", "b"]


def apart(named: dict, first, second) -> bool:
    """Whether two models share no letter; a letter of the second turn has its number with it."""
    return not set(findall(r"[a-z]\d*", named[first])) & set(findall(r"[a-z]\d*", named[second]))


def test_letters_by_hand():
    # A > C only: groups {A, B} and {B, C}
    assert letters("ABC", [("C", "A")]) == {"A": "a", "B": "ab", "C": "b"}
    assert letters("ABC", []) == {"A": "a", "B": "a", "C": "a"}
    assert letters("ABC", combinations("ABC", 2)) == {"A": "a", "B": "b", "C": "c"}
    # Piepho 2004: not only neighbours share a letter; B differs from A and C, which do not differ
    assert letters("ABC", [("A", "B"), ("B", "C")]) == {"A": "a", "B": "b", "C": "a"}
    assert letters([], []) == {} and letters(["A"], []) == {"A": "a"}
    # 30 models that all differ: the 27th starts the alphabet again
    many = letters(range(30), combinations(range(30), 2))
    assert (many[25], many[26]) == ("z", "a2") and apart(many, 0, 26)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 8).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.sampled_from(list(combinations(range(n), 2)) or [(0, 0)])))
    )
)
def test_two_models_share_a_letter_unless_they_differ_and_no_letter_is_spare(case):
    n, different = case
    different -= {(0, 0)}
    named = letters(range(n), different)
    assert {pair for pair in combinations(range(n), 2) if apart(named, *pair)} == different
    used = [frozenset(one for one in named if letter in named[one]) for letter in set("".join(named.values()))]
    assert not any(a < b for a in used for b in used) and all(named.values())


def test_the_leaderboard_puts_all_together():
    rng = np.random.default_rng(8)
    hard = rng.normal(0, 0.15, 200)
    rows = [0.6 + hard + rng.normal(0, 0.1, 200) for _ in range(2)] + [
        0.3 + hard + rng.normal(0, 0.1, 200),
        [np.nan] * 200,
    ]
    found = leaderboard(aligned(*rows), seed=3)
    json.dumps(found, allow_nan=False)
    assert [one["group"] for one in found["models"]] == ["a", "a", "b", None]
    assert found["models"][-1] == {
        "model": "D",
        "value": None,
        "n": 0,
        "interval": None,
        "reason": NO_STORY,
        "group": None,
    }
    top, bottom = found["models"][0], found["models"][2]
    # the stories' difficulty (0.15) is common: a paired difference has a standard deviation of 0.1·√2, not 0.18·√2
    pair = next(one for one in found["pairs"] if (one["first"], one["second"]) == (top["model"], bottom["model"]))
    assert np.diff(pair["interval"]) == pytest.approx(2 * 1.96 * 0.1 * 2**0.5 / 200**0.5, rel=0.15)
    assert (found["seed"], found["flips"]) == (3, FLIPS) and "seed 3" in found["method"] and "Holm" in found["method"]
    assert leaderboard(aligned(*rows[::-1], names="DCBA"), seed=3) == found


def test_models_of_one_score_come_by_name():
    found = leaderboard(aligned([0.5, 0.5], [0.5, 0.5], [0.7, 0.7], names="ZYX"), seed=1)
    assert [one["model"] for one in found["models"]] == ["X", "Y", "Z"]


def test_the_smallest_difference_is_that_of_the_paired_t_test():
    for stories, tests in ((10, 1), (100, 1), (895, 1), (895, 190)):
        told = TTestPower().solve_power(nobs=stories, power=0.8, alpha=0.05 / tests) * 0.3
        found = smallest_difference(stories, 0.3, tests=tests)
        assert found["difference"] == pytest.approx(told, rel=1e-3)
    # 895 stories, normal approximation: (1.9600 + 0.8416) · 0.3 / √895 = 0.0281
    assert smallest_difference(895, 0.3)["difference"] == pytest.approx(0.0281, abs=1e-4)


def test_without_earlier_runs_a_stated_default_is_used():
    # a third at 0, the rest even on [0, 1]: E x² = 2/3 · 1/3, (E x)² = (1/3)² → 2/9 − 1/9 = 1/9 each, √(2/9) for two
    assert pytest.approx((2 / 9) ** 0.5) == DEFAULT_SD
    found = smallest_difference(895)
    assert found["sd_is_default"] and found["sd"] == DEFAULT_SD
    # (1.9600 + 0.8416) · 0.4714 / √895 = 0.0441, a trifle more by t
    assert found["difference"] == pytest.approx(0.0441, abs=1e-4)
    assert smallest_difference(1)["reason"] == TOO_FEW and smallest_difference(1)["difference"] is None
    assert smallest_difference(50, 0.0)["reason"] == NO_SPREAD
    # twelve stories of one sign: p = 2/4,096; times 102 tests that is 0.0498, times 103 tests 0.0503
    assert smallest_difference(12, 0.3, tests=102)["difference"] > 0
    assert smallest_difference(12, 0.3, tests=103)["reason"] == TOO_MANY_TESTS
    with pytest.raises(ValueError, match="cannot be planned"):
        smallest_difference(50, 0.3, power=1.0)


def test_the_spread_of_earlier_differences_is_pooled():
    # A − B: 0, 0.2, 0.4 → squares 0.08 of 2 degrees; A − C: −0.1, 0.1, missing → 0.02 of 1; B − C: −0.1, −0.1 → 0 of 1
    # √((0.08 + 0.02 + 0) / 4) = √0.025 from 3 + 2 + 2 differences
    found = difference_sd(aligned([0.4, 0.6, 0.8], [0.4, 0.4, 0.4], [0.5, 0.5, np.nan]))
    assert found == {"sd": pytest.approx(0.025**0.5), "pairs": 3, "stories": 7}
    assert difference_sd(aligned([0.1, 0.2]))["sd"] is None


@pytest.mark.parametrize(("stories", "skewed"), [(25, False), (60, False), (895, True)])
def test_the_smallest_difference_is_found_four_times_in_five(stories, skewed):
    rng = np.random.default_rng(stories)
    shift = smallest_difference(stories, 0.3)["difference"]
    # an exponential less its mean has a standard deviation of 1, as the normal has
    noise = rng.exponential(size=(1500, stories)) - 1 if skewed else rng.normal(size=(1500, stories))
    p = np.array(sign_flip_p(shift + 0.3 * noise, seed=1, flips=1999))
    # the standard error of a share of 0.8 in 1,500 is 0.01
    assert (p <= 0.05).mean() == pytest.approx(0.8, abs=0.04)
    # and without a difference the test says so: 0.05, standard error 0.006
    null = np.array(sign_flip_p(0.3 * noise, seed=1, flips=1999))
    assert (null <= 0.05).mean() == pytest.approx(0.05, abs=0.02)
