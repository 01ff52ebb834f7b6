"""Macro F1 by hand, alone, as a difference, and as a mean of two kinds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from benchmark.suites.opentom.measure import gap_of
from benchmark.suites.opentom.metrics import (
    Answer,
    full_precision,
    macro_bounds,
    macro_difference,
    macro_estimate,
    macro_mean,
    mean_and_deviation,
    metrics,
    printed,
    unfaithful_rates,
)
from benchmark.suites.opentom.parsing import COARSE, FINE, UNREADABLE
from benchmark.suites.questions import Sample
from tests.benchmark.suites.opentom.small import answers_of as told
from tests.benchmark.suites.opentom.small import asked

PAIRS = [(1, 1), (1, 1), (1, 2), (2, 2), (2, 1), (2, 3)]
# label 1: 2 hits, 3 in gold, 3 answered: 4/6; label 2: 1 hit, 3 in gold, 2 answered: 2/5; label 3: no hit, none in
# gold: 0
F1 = float((Fraction(4, 6) + Fraction(2, 5) + 0) / 3)


def test_what_is_not_read_or_has_no_gold_is_left_out():
    estimate = macro_estimate(told(*PAIRS, (1, UNREADABLE), (2, None), (None, 1)), seed=1)
    assert estimate.value == pytest.approx(F1) and estimate.n == 6 and estimate.clusters == 6
    low, high = estimate.interval
    assert low < F1 < high
    assert macro_estimate(told((1, UNREADABLE)), seed=1).value is None


def test_bounds_take_what_is_not_read_as_wrong_where_it_costs_most_and_as_right():
    # label 1: 1 hit, 2 in gold, 1 answered; label 2: 1 hit, 1 in gold, 1 answered. The unreadable one is of label 1: as
    # an answer 2 it leaves 2/3 and 2/3
    found = macro_estimate(told((1, 1), (2, 2), (1, UNREADABLE)), seed=1)
    assert found.value == 1 and found.n == 2 and found.bounds == pytest.approx([2 / 3, 1])
    assert macro_estimate(told(*PAIRS), seed=1).bounds is None and macro_bounds(told((None, 1))) is None
    nothing = macro_estimate(told((1, None), (2, UNREADABLE)), seed=1)
    assert nothing.value is None and nothing.bounds == [0, 1]
    both = macro_mean([told((1, 1)), told((1, UNREADABLE), (1, 1))], seed=1)
    assert both.value == 1 and both.bounds == pytest.approx([(1 + 2 / 4) / 2, 1])


def test_a_difference_and_a_mean_are_of_two_f1s():
    # all six right: F1 1; both answered with the commoner label of 4 to 2: 8/10 and 0
    right, common = told(*[(1, 1)] * 3, *[(2, 2)] * 3), told(*[(1, 1)] * 4, *[(2, 1)] * 2)
    assert macro_estimate(common, seed=1).value == pytest.approx(0.4)
    assert macro_difference(common, right, seed=1).value == pytest.approx(-0.6)
    mean = macro_mean([right, common], seed=1)
    assert mean.value == pytest.approx(0.7) and mean.n == 12 and mean.clusters == 6
    assert macro_mean([right, []], seed=1).value is None


def test_the_kinds_of_multi_hop_pooled_are_another_figure_than_their_mean():
    """Labels 1 and 2 mean other things in each kind: pooled, hits of the one make up for the other."""
    fullness, accessibility = told((1, 1), (2, 1)), told((1, 2), (2, 2))
    # each: labels 1 and 2 with 2/3 and 0, so 1/3; pooled: each label 1 hit of 2 in gold and 2 answered, so 1/2
    assert macro_mean([fullness, accessibility], seed=1).value == pytest.approx(1 / 3)
    assert macro_estimate([*fullness, *accessibility], seed=1).value == pytest.approx(1 / 2)


def test_pairs_that_are_not_read_or_missing_are_bounds_of_the_unfaithful_rate():
    def pairs(first: int, count: int, coarse: int | None, fine: int | None, missing: bool = False) -> list[Answer]:
        each = range(first, first + count)
        labels = ((COARSE, coarse, False), (FINE, fine, missing))
        return [Answer(asked(at, kind), 1, label, lacking) for at in each for kind, label, lacking in labels]

    # a yes and the original place, a yes and the other one, one half that is not read, one half without an answer
    rates = unfaithful_rates(
        [*pairs(0, 6, 1, 1), *pairs(6, 2, 1, 2), *pairs(8, 1, UNREADABLE, 1), *pairs(9, 1, 1, None, True)], 1
    )
    first = rates["first"]
    assert [first.pairs, first.unreadable, first.unfaithful, first.missing] == [9, 1, 2, 1]
    assert first.of_all.value == pytest.approx(2 / 9) and first.of_all.bounds == [0.2, 0.4]
    assert first.of_valid.value == 0.25 and first.of_valid.bounds == [0.2, 0.4]
    low, high = first.of_all.interval
    assert low < 2 / 9 < high and first.of_valid.interval


def test_a_sample_of_narratives_without_an_answer_leaves_no_share_of_what_was_left_out():
    """As a run of the first narratives makes it: no question of the genre is asked of some sample."""
    sample = asked(0, "attitude", type="attitude")
    answers = [(0, Answer(sample, 1, 1)), (0, Answer(sample, 1, UNREADABLE))]
    by_genre = metrics([*answers, (1, Answer(asked(1, COARSE), 1, 1))])
    assert by_genre["attitude"].corrupted is None and mean_and_deviation(by_genre["attitude"].f1) == (None, None)
    assert printed(by_genre)["attitude"]["corrupted_percent"] is None
    assert full_precision(by_genre)["attitude"]["corrupted_rate"] is None
    assert metrics(answers)["attitude"].corrupted == 0.5


def test_the_gap_counts_each_question_once_whoever_it_is_of_and_however_often_it_was_asked():
    views = [
        Sample(key=f"{at}/{who}", cluster=str(at), content={"perspective": who}, gold={})
        for at in range(6)
        for who in ("mover", "observer", "narrator")
    ]
    answers = [Answer(sample, at % 2, turn) for at, sample in enumerate(views) for turn in range(2)]
    assert gap_of(answers, seed=1).n == 18
    assert gap_of([*answers, Answer(replace(views[0], key="unreadable"), 1, None)], seed=1).n == 18
