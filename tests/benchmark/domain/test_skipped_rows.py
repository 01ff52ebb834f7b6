"""Rows that a judge leaves out: estimates stay inside their bounds, and intervals hold the truth. The large form is
bench/judging.py."""

from __future__ import annotations

from random import Random
from statistics import mean

import pytest

from bench.judging import JUDGES, Skipping, bounded, is_within, sample, tallied, truth
from benchmark.suites.figures import repaired_columns, repaired_metrics, scores_by_story
from benchmark.suites.omnitom.analyses import stage1_analyses
from benchmark.suites.omnitom.repaired import stage1_report, stage1_score
from benchmark.suites.omnitom.results import Stage1Result
from benchmark.suites.questions import Columns
from benchmark.suites.reasons import NO_JUDGEMENT
from core.plain import plain, read_as


def complete(number: int, predicted: tuple, gold: tuple, **more) -> Stage1Result:
    more = {"gold_orders": ("1",) * len(gold), "pred_orders": ("1",) * len(predicted)} | more
    return Stage1Result(number, "A", predicted, gold, **more)


def test_the_reported_failure():
    """Long stories are hard, and the judge leaves one row of each out: dropped, they left .62 beside bounds around
    .57."""
    easy = [complete(at, (1, 1, 1, 0, 0, 1, 0, 1), (1, 1, 1, 0, 0, 1, 0, 1)) for at in range(10)]  # F1 5/8
    hard = [complete(at, (None, *(1,) * 10, *(0,) * 9), (1,) * 10 + (0,) * 10) for at in range(10, 20)]
    overall = stage1_report(easy + hard, resamples=200).as_json()["overall"]
    # hard: P 10/19 of the judged rows, 10/20 to 11/20; R 1/2; F1 2·(10/19)/2/(10/19 + 1/2) = 20/39, .5 to 22/42
    low, high = (0.625 + 0.5) / 2, (0.625 + 22 / 42) / 2
    assert overall["bounds"]["f1"] == pytest.approx([low, high])
    assert overall["f1"] == pytest.approx((0.625 + 20 / 39) / 2)
    assert not low <= 0.625 <= high, "the mean of the stories that are judged to the last row lies outside"
    assert low < overall["f1"] < high
    assert (overall["stories"], overall["unreadable"]) == (20, 0)
    assert overall["unjudged"] == {"stories": 10, "predicted": 10, "gold": 0}
    assert overall["interval"]["f1"][0] < low and overall["interval"]["f1"][1] > high


def test_a_side_without_a_count_has_as_many_matches_as_the_other():
    # P 3/4 → three of six gold rows: R 1/2, F1 2·(3/8)/(5/4) = 3/5; worst R 0, best R 1: F1 2·(3/4)/(7/4) = 6/7
    score = stage1_score(complete(1, (1, 1, 1, 0), (None,) * 6))
    assert score.estimate == pytest.approx({"precision": 0.75, "recall": 0.5, "f1": 0.6})
    assert (score.worst["f1"], score.best["f1"]) == pytest.approx((0, 6 / 7))
    # three predicted rows match, and there are two gold rows: both
    assert stage1_score(complete(1, (1, 1, 1, 0), (None,) * 2)).estimate["recall"] == 1
    # R 1/2 of four: two of the five predicted ones
    assert stage1_score(complete(1, (None,) * 5, (1, 1, 0, 0))).estimate["precision"] == pytest.approx(0.4)


def test_a_story_that_nobody_judged_widens_the_interval_and_an_unreadable_one_does_not():
    judged = [complete(at, (1, 0), (1, at % 2)) for at in range(12)]
    alone = stage1_report(judged, resamples=200).as_json()["overall"]
    unreadable = complete(20, (), (None, None), unreadable="no readable row")
    unjudged = complete(20, (None, None), (None, None), unreadable=NO_JUDGEMENT)
    first, second = (
        stage1_report([*judged, one], resamples=200).as_json()["overall"] for one in (unreadable, unjudged)
    )
    assert first["interval"] == alone["interval"] and "unjudged" not in first
    assert first["bounds"] == second["bounds"] and first["f1"] == second["f1"] == alone["f1"]
    low, high = second["interval"]["f1"]
    assert low < alone["interval"]["f1"][0] and high > alone["interval"]["f1"][1]
    assert second["unjudged"] == {"stories": 1, "predicted": 2, "gold": 2}


def test_every_estimate_lies_inside_its_bounds():
    """At the level of the story, the category, all stories, and rows pooled by kind; on a selection of stories too."""
    for seed in range(16):
        rng = Random(seed)
        judge = Skipping(*(rng.random() * most for most in (0.3, 0.6, 0.6, 0.8, 0.3)))
        for results in sample(seed, rng.randrange(1, 30), judge)[1:]:
            reported = stage1_report(results, resamples=20)
            report = reported.as_json()
            assert [one for one in bounded(results, report) if not is_within(*one)] == []
            columns = read_as(Columns, plain(repaired_columns(reported.stories, "stage1")))  # as they are kept
            again = repaired_metrics(columns, set(columns.stories), "stage1", seed=1, resamples=20)
            assert again == reported.report
            assert scores_by_story(columns, "f1") == {row["story_id"]: row["f1"] for row in report["stories"]}


def test_the_interval_holds_the_truth_when_skips_tell_something():
    for name in ("by length", "by difficulty", "by both"):
        found = tallied(JUDGES[name], 40, 40, truth(stories=20_000), resamples=200)
        assert found.outside == 0 and all(found.sample_held), name
        assert mean(found.covered) >= 0.95 and mean(found.after) >= 0.85, name


def test_with_every_row_judged_it_is_the_interval_of_the_estimate():
    found = tallied(JUDGES["none"], 30, 30, truth(stories=20_000), resamples=200)
    assert found.covered == found.of_estimate and 0.85 <= mean(found.covered) < 1


def test_the_judged_rows_alone_do_not_hold_the_truth_where_the_judge_avoids_hard_rows():
    """What the wide interval is for: the naive one is sure of a figure that is too high."""
    found = tallied(Skipping(always=0.02, unmatched=0.3), 100, 30, truth(stories=20_000), resamples=200)
    assert mean(found.of_estimate) < 0.5 and all(found.covered)


def test_pooled_rows_have_bounds_where_rows_are_missing():
    # order 1 gold: one of two judged rows matches, one row is missing: 1/2, from 1/3 to 2/3
    results = [complete(1, (2, None), (1, 0, None)), complete(2, (0,), (0,), gold_orders=("0",), pred_orders=("0",))]
    found = plain(stage1_analyses(results, resamples=50))
    recall = found["kinds"]["1"]["recall"]
    assert (recall["value"], recall["n"], recall["bounds"]) == (0.5, 2, pytest.approx([1 / 3, 2 / 3]))
    assert "bounds" not in found["kinds"]["0"]["recall"]
    counts = found["match_counts"]
    assert counts["unjudged"] == 1 and counts["rows"]["total"] == 2
    # one of two judged rows has count 2: 1/2, from 1/3 to 2/3
    assert counts["shares"]["2"]["bounds"] == pytest.approx([1 / 3, 2 / 3])
