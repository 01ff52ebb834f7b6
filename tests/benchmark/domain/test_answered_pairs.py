"""Interpreted differences: over the pairs that were answered on both sides, and shown only if missing answers cannot
have made them."""

from __future__ import annotations

import numpy as np
import pytest

from bench.controls import MISSING, World, found
from benchmark.domain.flips import repeated_scores, repeated_statements
from benchmark.domain.inference import Case, Cases
from benchmark.domain.inference.answered_pairs import MissingShares, answered_difference
from core.statistics import spanning

MISS = Case(0.0, 1.0, None)


def sides(first: list[float | None], second: list[float | None], clusters: list[str] | None = None) -> Cases:
    named = {
        name: {at: MISS if score is None else Case.scored(score) for at, score in enumerate(scores)}
        for name, scores in (("first", first), ("second", second))
    }
    return Cases.of(named, set(range(len(first))), dict(enumerate(clusters)) if clusters else None)


def test_only_pairs_with_both_scores_are_in_the_difference():
    means, difference = answered_difference(sides([1, 1, 0, 0.5, None, 1], [0, 1, 0, 1, 1, None]), seed=1)
    # pairs 0 to 3: differences 1, 0, 0 and -.5, so (1 - .5) / 4
    assert (difference.value, difference.n, difference.asked) == (0.125, 4, 6)
    # (1 + 1 + 0 + .5) / 4 and (0 + 1 + 0 + 1) / 4
    assert means == (0.625, 0.5)
    assert difference.missing == [1, 1] and (difference.shares.first, difference.shares.second) == (1 / 6, 1 / 6)
    # of six: .5 from the pairs, pair 4 between 0 - 1 and 1 - 1, pair 5 between 1 - 1 and 1 - 0
    assert difference.bounds == pytest.approx([(0.5 - 1) / 6, (0.5 + 1) / 6])
    # four pairs, of which two differ: 2 of the 4 sign patterns reach |.5|, all of them do
    assert difference.interval is None and difference.p == 1.0


def test_nothing_in_common_is_no_difference_and_stays_a_row():
    difference = answered_difference(sides([1, None, 1], [None, 1, None]), seed=1)[1]
    assert (difference.value, difference.n, difference.asked, difference.p) == (None, 0, 3, None)
    assert (
        difference.missing == [1, 2]
        and difference.verdict == "–"
        and difference.bounds == pytest.approx([-1 / 3, 2 / 3])
    )
    assert answered_difference(Cases.of({"a": {}, "b": {}}, set()), seed=1)[1].asked == 0


def test_a_difference_that_missing_answers_alone_make_is_not_shown():
    """The case that was misread: a model answers alike both ways, and a fifth of it is unreadable under the control."""
    published = [float(at % 2) for at in range(200)]
    controlled = [None if at % 5 == 1 else score for at, score in enumerate(published)]
    difference = answered_difference(sides(published, controlled), seed=1)[1]
    assert difference.value == 0.0 and difference.n == 160 and difference.shares.second == 0.2
    assert not difference.shares.alike and difference.p == 1.0
    # at its worst it would have been 20 of 200 lower
    assert difference.bounds == pytest.approx([-0.1, 0.1])


def test_unlike_missing_shares_need_a_significant_sign_at_both_bounds():
    published = [1.0] * 60
    for lost, shown in ((6, True), (50, True), (56, False)):
        controlled = [None if at < lost else 0.0 for at in range(60)]
        difference = answered_difference(sides(published, controlled), seed=1)[1]
        assert difference.value == 1.0 and not difference.shares.alike
        assert difference.bounds == pytest.approx([1 - lost / 60, 1.0])
        # at the lower bound 60 - lost differences of 1 are left: 2 / 2^4 is no proof of anything
        assert (difference.p < 0.05) is shown, lost
    # two thirds right instead of all, at least a quarter lower whatever was lost
    controlled = [None if at < 14 else float(at % 3 > 0) for at in range(60)]
    difference = answered_difference(sides(published, controlled), seed=1)[1]
    assert difference.value > 0.3 and difference.bounds[0] > 0.2 and difference.p < 0.05
    # of unlike signs at the bounds nothing is shown, whatever the pairs say
    controlled = [None if at < 45 else 0.0 for at in range(60)]
    difference = answered_difference(sides([0.0] * 25 + [1.0] * 35, controlled), seed=1)[1]
    assert difference.value == 1.0 and difference.bounds[0] < 0 < difference.bounds[1] and difference.p == 1.0


def test_missing_shares_are_alike_within_their_interval_and_ten_points():
    for share, interval, alike in (
        (0.0, [0.0, 0.0], True),
        (0.04, [-0.02, 0.1], True),
        (0.04, [0.01, 0.07], False),
        (-0.12, [-0.3, 0.05], False),
        (0.1, [0.0, 0.2], True),
        (0.0, None, False),
    ):
        assert MissingShares(0.1 + share, 0.1, share, interval).alike is alike, (share, interval)
    # below five stories there is no interval: only what lacks as much on both sides is alike
    few = answered_difference(sides([1, None, 0], [1, None, 0]), seed=1)[1]
    assert few.shares.alike and few.shares.difference == 0
    assert not answered_difference(sides([1, None, 0], [None, 1, 0]), seed=1)[1].shares.alike


def test_a_part_that_is_missing_counts_as_that_part():
    partly = Case(0.25, 0.75, 0.5)
    cases = Cases.of(
        {"a": dict.fromkeys(range(8), partly), "b": dict.fromkeys(range(8), Case.scored(0.5))}, set(range(8))
    )
    difference = answered_difference(cases, seed=1)[1]
    assert difference.shares.difference == 0.5 and not difference.shares.alike and difference.missing == [0, 0]
    assert difference.value == 0.0 and difference.open_bounds == [-0.25, 0.25]


def test_clusters_are_flipped_whole():
    # ten stories of three questions, all of a story one way: sign patterns of ten, not of thirty
    first, second = [1.0] * 30, [0.0] * 18 + [1.0] * 12
    names = [str(at // 3) for at in range(30)]
    assert answered_difference(sides(first, second, names), seed=1)[1].p == 2 / 2**6
    assert answered_difference(sides(first, second), seed=1)[1].p < 0.001


def test_no_memory_is_seldom_taken_for_memory():
    for world in MISSING:
        of = found(world._replace(stories=60, questions=3, remembered=0.0), repetitions=40, seed=1, flips=999)
        # of 40 data sets 2 are expected at most; 7 are beyond chance (p below .004)
        assert of.shown <= 6, world


def test_memory_is_shown_with_as_much_missing_on_both_sides():
    world = World(100, 5, 0.4, missing=(0.1, 0.1))
    assert found(world, repetitions=20, seed=1, flips=999).shown >= 16
    assert found(world._replace(missing=(0.0, 0.0)), repetitions=20, seed=1, flips=999).shown >= 18


def test_answers_and_scores_that_flip_are_two_measures():
    first = {1: 1.0, 2: 1.0, 3: 0.0, 4: 0.5, 5: None, 6: 1.0}
    by_score = repeated_scores(first, {1: 0.0, 2: 1.0, 3: 0.0, 4: 1.0, 5: 1.0})
    # four have both scores, two of them the same; the largest difference comes first
    assert by_score == (0.5, [1, 4], [1, 2, 3, 4])
    # two wrong answers are another answer with the same score
    by_answer = repeated_statements({1: "A", 3: "B", 4: "C"}, {1: "D", 3: "C", 4: "C"}, {1, 3, 4, 5})
    assert by_answer[0] == pytest.approx(1 / 3) and by_answer[1] == [1, 3]
    assert repeated_scores({1: None}, {1: 1.0})[0] is None


def test_bench_worlds_have_clusters_of_unequal_sizes():
    _, _, clusters = World(40, 4, 0.0).draw(np.random.default_rng(1))
    sizes = np.bincount(clusters)
    assert len(sizes) == 40 and sizes.min() < 3 < sizes.max()


def test_an_interval_over_both_bounds_needs_both():
    assert spanning(([0.1, 0.2], ""), ([0.3, 0.6], "")) == ([0.1, 0.6], "")
    assert spanning(([0.1, 0.2], ""), (None, "few stories")) == (None, "few stories")
    assert spanning((None, "few stories"), ([0.3, 0.6], "")) == (None, "few stories")
