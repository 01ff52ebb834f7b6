from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from benchmark.domain.inference import (
    DEFAULT_SD,
    Answered,
    Case,
    Cases,
    difference_sd,
    leaderboard,
    letters,
    paired_differences,
    right_or_wrong_sd,
    smallest_difference,
)
from benchmark.domain.inference.power import NO_SPREAD, TOO_FEW, TOO_MANY_TESTS
from core.plain import plain
from core.statistics import few, holm, sign_flip_p, unseen_share
from core.statistics.sign_flips import FLIPS
from tests.benchmark.domain.test_ranking import letters_in


def cases(*rows: list[float], names: str = "ABCDEFGH") -> Cases:
    """nan is a refusal."""
    held = {
        name: {at: Case(0, 1, None) if np.isnan(one) else Case.scored(one) for at, one in enumerate(row)}
        for name, row in zip(names, rows, strict=False)
    }
    return Cases.of(held, set(range(len(rows[0]))))


def test_pairs_are_compared_on_the_same_stories_with_missing_answers_at_their_worst():
    nan = np.nan
    found = paired_differences(cases([0.9, 0.8, nan], [0.5, 0.2, 1.0], [nan, nan, 0.1]), seed=1)
    by_pair = {one.first + one.second: one for one in found}
    # A − B: (0.4 + 0.6 − 1) / 3 = 0; both answered two stories: (0.4 + 0.6) / 2
    assert by_pair["AB"].value == pytest.approx(0) and (by_pair["AB"].n, by_pair["AB"].p) == (3, 1.0)
    assert by_pair["AB"].answered == Answered(pytest.approx(0.5), 2)
    # B − C: (0.5 + 0.2 + 0.9) / 3; signs: +++ and −−− of 8 → 1/4. A and C answered no story both
    assert by_pair["BC"].value == pytest.approx(1.6 / 3) and by_pair["BC"].p == 0.25
    assert by_pair["AC"].answered == Answered(None, 0)
    # A − C: 0.9, 0.8, −0.1 → |1.6|; +++ 1.8, ++− 1.6 and their mirrors → 4/8. Holm over three: 3 · 0.25, then 1
    assert by_pair["AC"].value == pytest.approx(1.6 / 3) and by_pair["AC"].p == 0.5
    assert [by_pair[pair].p_adjusted for pair in ("BC", "AC", "AB")] == [0.75, 1.0, 1.0]
    assert paired_differences(cases([0.1, 0.2]), seed=1) == []


def test_each_category_is_compared_on_its_own_stories_and_adjusted_with_all():
    # A − B is 0.5 on stories 0 and 1 of category x, −0.3 on 2 of y: overall (0.5 + 0.5 − 0.3) / 3
    rows = cases([0.9, 0.8, 0.1], [0.4, 0.3, 0.4])
    found = paired_differences(rows, seed=1, categories={0: "x", 1: "x", 2: "y"})
    by_category = {one.category: one for one in found}
    assert [one.category for one in found] == ["", "x", "y"]
    assert [one.n for one in found] == [3, 2, 1]
    assert [one.value for one in found] == pytest.approx([0.7 / 3, 0.5, -0.3])
    # signs: overall |0.7| is reached by +++, ++− (1.3, 0.7) and their mirrors → 4/8; x by ++ and −− → 2/4; y by both →
    # 1
    assert [one.p for one in found] == [0.5, 0.5, 1.0]
    # Holm over three tests: 3 · 0.5 → 1
    assert [one.p_adjusted for one in found] == [1.0, 1.0, 1.0]
    assert by_category["y"].interval is None and by_category["y"].reason == few("stories")
    # one category is all stories once more, and no second test
    assert len(paired_differences(rows, seed=1, categories=dict.fromkeys(range(3), "x"))) == 1


def test_the_patterns_of_the_categories_add_up_to_those_of_all_stories():
    """40 stories in two categories: each drawn p is near that of a test of its stories alone."""
    rng = np.random.default_rng(4)
    rows = cases(*(rng.normal(shift, 1, 40) for shift in (0.3, 0.0, 0.1)))
    categories = {story: "x" if story < 25 else "y" for story in range(40)}
    found = paired_differences(rows, seed=2, categories=categories)
    assert len(found) == 3 * 3
    for one in found:
        held = [story for story in rows.stories if one.category in ("", categories[story])]
        a, b = (rows.worst[rows.models.index(side)][held] for side in (one.first, one.second))
        [alone] = sign_flip_p((a - b)[None], seed=9)
        # two shares of 9,999 drawn patterns each, four standard errors
        near = 4 * (max(alone, 1e-3) * (1 - alone) * 2 / FLIPS) ** 0.5
        assert one.p == pytest.approx(alone, abs=near) and one.value == pytest.approx((a - b).mean())
    np.testing.assert_allclose([one.p_adjusted for one in found], holm([one.p for one in found]))


def test_letters_rest_on_tests_that_are_adjusted_over_the_categories_too():
    # 9 stories on which A is better by 0.1 to 0.18: p = 2/2⁹ = 1/256 overall. Alone it is below 0.05. With a test of
    # each of 9 categories of one story, whose p is 1, Holm takes 10 · 1/256 = 0.039; with a third model like B there
    # are 3 · 10 tests, and 30 · 1/256 = 0.117 shows nothing any more
    rows = [[0.5 + 0.01 * at for at in range(9)], [0.4] * 9, [0.4] * 9]
    categories = {story: f"c{story}" for story in range(9)}
    two = leaderboard(cases(*rows[:2]), seed=1, categories=categories)
    assert two.pairs[0].p_adjusted == pytest.approx(10 / 256) and two.tests == 10
    assert [one.group for one in two.models] == ["a", "b"]
    three = leaderboard(cases(*rows), seed=1, categories=categories)
    assert three.pairs[0].p_adjusted == pytest.approx(30 / 256) and three.tests == 30
    # nine stories, all of one sign: 2^-8 = 1/256 is the smallest p that there can be
    assert three.no_letters and not two.no_letters
    assert [one.group for one in three.models] == [None, None, None]
    assert [one.group for one in leaderboard(cases(*rows), seed=1).models] == ["a", "b", "b"]


def apart(named: dict, first, second) -> bool:
    """Whether two models share no letter."""
    return not letters_in(named[first]) & letters_in(named[second])


def test_letters_by_hand():
    # A > C only: groups {A, B} and {B, C}
    assert letters("ABC", [("C", "A")]) == {"A": "a", "B": "ab", "C": "b"}
    assert letters("ABC", []) == {"A": "a", "B": "a", "C": "a"}
    assert letters("ABC", combinations("ABC", 2)) == {"A": "a", "B": "b", "C": "c"}
    # B differs from A and from C, which do not differ: no letter skips B, so that the three share one
    assert letters("ABC", [("A", "B"), ("B", "C")]) == {"A": "a", "B": "a", "C": "a"}
    assert letters([], []) == {} and letters(["A"], []) == {"A": "a"}
    # each differs from those three places on: A to C, B to D, C to E
    wide = [(a, b) for a, b in combinations("ABCDE", 2) if ord(b) - ord(a) > 2]
    assert letters("ABCDE", wide) == {"A": "a", "B": "ab", "C": "a–c", "D": "bc", "E": "c"}
    # 30 models that all differ: the 27th starts the alphabet again
    many = letters(range(30), combinations(range(30), 2))
    assert (many[25], many[26]) == ("z", "a2") and apart(many, 0, 26)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 8).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.sampled_from(list(combinations(range(n), 2)) or [(0, 0)])))
    )
)
def test_models_without_a_common_letter_differ_and_so_does_every_pair_around_them(case):
    n, different = case
    different -= {(0, 0)}
    named = letters(range(n), different)
    around = {
        (a, b) for a, b in combinations(range(n), 2) if {(i, j) for i in range(a + 1) for j in range(b, n)} <= different
    }
    assert {pair for pair in combinations(range(n), 2) if apart(named, *pair)} == around
    used = [letters_in(one) for one in named.values()]
    assert all(used) and set().union(*used) == set(range(max(map(max, used)) + 1))


def test_the_leaderboard_puts_all_together():
    rng = np.random.default_rng(8)
    hard = rng.normal(0, 0.15, 200)
    rows = [0.6 + hard + rng.normal(0, 0.1, 200) for _ in range(2)] + [
        0.3 + hard + rng.normal(0, 0.1, 200),
        [np.nan] * 200,
    ]
    found = leaderboard(cases(*rows), seed=3)
    json.dumps(plain(found), allow_nan=False)
    assert [one.group for one in found.models] == ["a", "a", "b", "c"]
    nothing = {
        "model": "D",
        "value": 0.0,
        "n": 200,
        "interval": [0.0, unseen_share(200)],
        "best": 1.0,
        "missing": 200,
        "lost": 0,
    }
    assert plain(found.models[-1]) == {**nothing, "rank": 4, "ranks": None, "group": "c", "against": {}}
    top, bottom = found.models[0], found.models[2]
    # the stories' difficulty (0.15) is common: a paired difference has a standard deviation of 0.1·√2, not 0.18·√2
    pair = next(one for one in found.pairs if (one.first, one.second) == (top.model, bottom.model))
    assert np.diff(pair.interval) == pytest.approx(2 * 1.96 * 0.1 * 2**0.5 / 200**0.5, rel=0.15)
    assert (found.seed, found.flips) == (3, FLIPS) and "seed 3" in found.method and "Holm" in found.method
    assert leaderboard(cases(*rows[::-1], names="DCBA"), seed=3) == found


def test_models_of_one_score_come_by_name():
    found = leaderboard(cases([0.5, 0.5], [0.5, 0.5], [0.7, 0.7], names="ZYX"), seed=1)
    assert [(one.model, one.rank) for one in found.models] == [("X", 1), ("Y", 2), ("Z", 2)]


def test_the_smallest_difference_is_that_of_the_paired_t_test():
    for stories, tests in ((10, 1), (100, 1), (895, 1), (895, 190)):
        told = TTestPower().solve_power(nobs=stories, power=0.8, alpha=0.05 / tests) * 0.3
        found = smallest_difference(stories, 0.3, tests=tests)
        assert found.difference == pytest.approx(told, rel=1e-3)
    # 895 stories, normal approximation: (1.9600 + 0.8416) · 0.3 / √895 = 0.0281
    assert smallest_difference(895, 0.3).difference == pytest.approx(0.0281, abs=1e-4)


def test_without_earlier_runs_a_stated_default_is_used():
    # a third at 0, the rest even on [0, 1]: E x² = 2/3 · 1/3, (E x)² = (1/3)² → 2/9 − 1/9 = 1/9 each, √(2/9) for two
    assert pytest.approx((2 / 9) ** 0.5) == DEFAULT_SD
    found = smallest_difference(895)
    assert found.sd_is_default and found.sd == DEFAULT_SD
    # (1.9600 + 0.8416) · 0.4714 / √895 = 0.0441, a trifle more by t
    assert found.difference == pytest.approx(0.0441, abs=1e-4)
    assert smallest_difference(1).reason == TOO_FEW and smallest_difference(1).difference is None
    assert smallest_difference(50, 0.0).reason == NO_SPREAD
    # twelve stories of one sign: p = 2/4,096; times 102 tests that is 0.0498, times 103 tests 0.0503
    assert smallest_difference(12, 0.3, tests=102).difference > 0
    assert smallest_difference(12, 0.3, tests=103).reason == TOO_MANY_TESTS
    with pytest.raises(ValueError, match="cannot be planned"):
        smallest_difference(50, 0.3, power=1.0)


def test_a_story_with_one_question_is_right_or_wrong():
    # 0 or 1 with even chances: a variance of 1/4 each, 1/2 for two models, which is more than 2/9
    assert right_or_wrong_sd([1] * 40) == pytest.approx(0.5**0.5)
    # two questions: chances spread evenly, 1/12, and a half of 1/4 − 1/12 left to chance; or 1/9 + 1/18: both 1/6
    assert right_or_wrong_sd([2, 2]) == pytest.approx((2 / 6) ** 0.5)
    # one and three: 1/m is 2/3 on average, so that it is the larger of 1/12 + 1/9 = 7/36 and 1/9 + 2/27 = 5/27
    assert right_or_wrong_sd([1, 3]) == pytest.approx((2 * 7 / 36) ** 0.5)
    assert right_or_wrong_sd([10_000]) == pytest.approx(DEFAULT_SD, abs=1e-3)
    found = smallest_difference(400, default_sd=right_or_wrong_sd([1] * 400))
    # (1.9600 + 0.8416) · 0.7071 / √400 = 0.0991, a trifle more by t
    assert found.sd_is_default and found.difference == pytest.approx(0.0992, abs=2e-4)
    assert smallest_difference(400, 0.3, default_sd=0.7) == smallest_difference(400, 0.3)


def test_the_smallest_difference_of_one_question_a_story_is_found():
    for stories in [60, 400]:
        rng = np.random.default_rng(stories)
        named = smallest_difference(stories, default_sd=right_or_wrong_sd([1] * stories)).difference
        first, second = (rng.binomial(1, 0.5 + side * named / 2, (1000, stories)) for side in (1, -1))
        p = np.array(sign_flip_p((first - second).astype(float), seed=1, flips=999))
        # four in five, or a few less: sums of whole numbers come in steps
        assert 0.7 <= (p <= 0.05).mean() <= 0.86
        # the default of shares, which are unimodal, names a difference that is found in less than every second run
        apart = smallest_difference(stories).difference
        first, second = (rng.binomial(1, 0.5 + side * apart / 2, (1000, stories)) for side in (1, -1))
        p = np.array(sign_flip_p((first - second).astype(float), seed=1, flips=999))
        assert (p <= 0.05).mean() < 0.55


def test_the_spread_of_earlier_differences_is_pooled():
    # A − B: 0, 0.2, 0.4 → squares 0.08 of 2 degrees; A − C: −0.1, 0.1, missing → 0.02 of 1; B − C: −0.1, −0.1 → 0 of 1
    # √((0.08 + 0.02 + 0) / 4) = √0.025
    first, second = {1: 0.4, 2: 0.6, 3: 0.8}, {3: 0.4, 2: 0.4, 1: 0.4}
    assert difference_sd({"A": first, "B": second, "C": {1: 0.5, 2: 0.5, 3: None}}) == pytest.approx(0.025**0.5)
    assert difference_sd({"A": first}) is None and difference_sd({"A": first, "B": {1: 0.1}}) is None


def test_the_smallest_difference_is_found_four_times_in_five():
    for stories, skewed in [(25, False), (60, False), (895, True)]:
        rng = np.random.default_rng(stories)
        shift = smallest_difference(stories, 0.3).difference
        # an exponential less its mean has a standard deviation of 1, as the normal has
        noise = rng.exponential(size=(1500, stories)) - 1 if skewed else rng.normal(size=(1500, stories))
        p = np.array(sign_flip_p(shift + 0.3 * noise, seed=1, flips=1999))
        # the standard error of a share of 0.8 in 1,500 is 0.01
        assert (p <= 0.05).mean() == pytest.approx(0.8, abs=0.04)
        # and without a difference the test says so: 0.05, standard error 0.006
        null = np.array(sign_flip_p(0.3 * noise, seed=1, flips=1999))
        assert (null <= 0.05).mean() == pytest.approx(0.05, abs=0.02)
