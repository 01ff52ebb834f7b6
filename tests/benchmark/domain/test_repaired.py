"""Figures of the forgiving parse: what is missing is left out of estimates and bounded, whatever is missing; and
estimates as reports keep them. The large form of what a judge leaves out is bench/judging.py."""

import json
from random import Random
from statistics import mean

import pytest

from bench.judging import JUDGES, Skipping, bounded, is_within, sample, tallied, truth
from benchmark.domain.asked_again import AskedAgain
from benchmark.domain.bounded_estimates import BoundedEstimate, kept_estimates
from benchmark.suites.figures import repaired_columns, repaired_metrics, scores_by_story
from benchmark.suites.measuring import scored_shares
from benchmark.suites.omnitom.analyses import stage1_analyses
from benchmark.suites.omnitom.data import gold_extraction_table, gold_label_table
from benchmark.suites.omnitom.repaired import score_repaired, stage1_report, stage1_score, stage1_scores, stage2_report
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result
from benchmark.suites.questions import Columns, Outcome, Sample
from benchmark.suites.reasons import NO_ANSWER, NO_GOLD, NO_JUDGEMENT, UNREADABLE, questions_unanswered
from core.plain import plain, read_as
from core.statistics import Estimate
from judge.domain.corrections import CorrectedRow, CorrectedScore, Correction
from tests.benchmark.domain.mock_judge import mock_judgement

GOLD = ("1", "True", "Private", "Implicit", "Epistemic", "Inference", "Neutral")


def perfect(record) -> dict[str, str]:
    judge = mock_judgement([(row.actor, row.belief) for row in record.shown_rows], record)
    return {"extract": gold_extraction_table(record), "label": gold_label_table(record), "judge": judge}


def complete(number: int, predicted: tuple, gold: tuple, **more) -> Stage1Result:
    more = {"gold_orders": ("1",) * len(gold), "pred_orders": ("1",) * len(predicted)} | more
    return Stage1Result(number, "A", predicted, gold, **more)


def overall_of(results: list[Stage1Result]) -> dict:
    return stage1_report(results, resamples=200)["overall"]


# --- whole runs
def test_a_perfect_model_is_perfect_and_clean_records_give_the_official_figures(omnitom_run):
    records, texts, _ = omnitom_run("e2e_perfect")  # the nastiest
    found = score_repaired(records, texts, resamples=200)
    json.dumps(found, allow_nan=False)
    for group, shares in (("stage1", ("precision", "recall", "f1")), ("stage2", ("overall_accuracy", "acc_order"))):
        overall = found[group]["overall"]
        assert (overall["stories"], overall["unreadable"], overall["undefined"]) == (46, 0, 1)
        for name in shares:
            assert overall[name] == 1 and overall["bounds"][name] == [1, 1]
            # 46 perfect stories: with 95 % confidence at most 1 − .05^(1/46) of all are of another kind
            assert overall["interval"][name] == pytest.approx([0.05 ** (1 / 46), 1])
    records, texts, expected = omnitom_run("e2e_noisy_known")
    first, again, other = (score_repaired(records, texts, seed=seed, resamples=200) for seed in (1, 1, 2))
    for group in ("stage1", "stage2"):
        overall, told = first[group]["overall"], expected[group]["overall"]
        for name, value in (told if isinstance(told, dict) else told[0]).items():
            assert overall[name] == pytest.approx(float(value), abs=1e-6)
        for name, (low, high) in overall["interval"].items():
            assert 0 < low < overall[name] < high < 1
    # the seed decides the interval alone
    assert first == again
    assert first["stage1"]["overall"]["interval"] != other["stage1"]["overall"]["interval"]
    assert first["stage1"]["overall"]["f1"] == other["stage1"]["overall"]["f1"]


def test_why_a_story_is_unreadable(make_record):
    records = [make_record(number, ("Ines", "It rains"), ("Bo", "It snows")) for number in range(1, 6)]
    records.append(make_record(6, ("", "nobody")))
    texts = {record.story_id: perfect(record) for record in records}
    texts[2] = {"label": "I cannot."}
    texts[3]["extract"] = "No beliefs."
    texts[4]["judge"] = "Fine."
    texts[5]["judge"] = texts[5]["judge"].replace("Bo,It snows,1\n", "", 1)
    found = score_repaired(records, texts, resamples=50)
    reasons = {group: [row.get("reason") for row in found[group]["stories"]] for group in ("stage1", "stage2")}
    assert reasons == {
        "stage1": [None, NO_ANSWER, UNREADABLE, NO_JUDGEMENT, None, NO_GOLD],
        "stage2": [None, UNREADABLE, None, None, None, NO_GOLD],
    }
    assert found["stage1"]["stories"][4]["unjudged"] == {"predicted": 1, "gold": 0}
    assert found["stage1"]["overall"]["f1"] == 1 and found["stage1"]["overall"]["unreadable"] == 3
    # a group that nobody answered has a reason and no figures
    found = score_repaired(records[:1], {1: {"label": texts[1]["label"]}}, resamples=50)
    assert found["stage1"] is None and found["reason"] == {"stage1": "No story has an answer for extract."}
    assert found["stage2"]["overall"]["overall_accuracy"] == 1


def test_an_empty_table_says_nothing_and_is_not_missing_and_what_is_no_table_cannot_be_read(make_record):
    record = make_record(1, ("Ines", "It rains"))

    def scored(extract: str, label: str) -> dict:
        texts = {1: {"extract": extract, "judge": "Nothing to judge.", "label": label}}
        return score_repaired([record], texts, resamples=50)

    heads = (
        "Here it is.\n\nActor | Belief | Order\n--- | --- | ---",
        "| Actor | Belief | Order | Truth-Status |\n|---|---|---|---|",
    )
    for extract, label in (('{"rows": []}',) * 2, ("```json\n[]\n```",) * 2, heads):
        found = scored(extract, label)
        for group, name in (("stage1", "f1"), ("stage1", "recall"), ("stage2", "overall_accuracy")):
            overall = found[group]["overall"]
            assert (overall["stories"], overall["unreadable"], overall[name]) == (1, 0, 0), extract
    for text in ("", "No beliefs.", '{"rows": [{}]}', "{}", '{"rows": null}', "a | b | c"):
        found = scored(text, text)
        assert [found[group]["stories"][0]["reason"] for group in ("stage1", "stage2")] == [UNREADABLE] * 2, text


# --- bounds by hand
def test_a_story_that_cannot_be_read_is_left_out_and_bounded():
    # story 1: P 1/2, R 1, F1 = 2·(1/2)/(3/2) = 2/3; story 2 unreadable → F1 from 0 to 1
    # story 3: one of two predicted rows unjudged: P 1/2 to 1, R 1, F1 2/3 to 1
    # estimate of story 3: P 1 of the one judged row, R 1, F1 1; of both stories (2/3 + 1)/2 = 5/6
    # bounds of F1 (2/3 + 0 + 2/3)/3 = 4/9 and (2/3 + 1 + 1)/3 = 8/9
    results = [
        Stage1Result(1, "A", (1, 0), (1,), ("1",)),
        Stage1Result(2, "B", (), (None,), ("1",), UNREADABLE),
        Stage1Result(3, "A", (2, None), (1,), ("1",)),
    ]
    found = stage1_report(results, seed=3, resamples=100)
    overall, stories = found["overall"], found["stories"]
    assert (overall["stories"], overall["unreadable"], found["seed"]) == (2, 1, 3)
    assert overall["unreadable_reasons"] == {UNREADABLE: 1}
    assert overall["unjudged"] == {"stories": 1, "predicted": 1, "gold": 0}
    assert overall["f1"] == pytest.approx(5 / 6) and overall["bounds"]["f1"] == pytest.approx([4 / 9, 8 / 9])
    assert stories[1]["f1"] is None and stories[1]["bounds"]["f1"] == [0, 1]
    assert stories[2]["f1"] == 1 and stories[2]["bounds"]["f1"] == pytest.approx([2 / 3, 1])
    assert stories[2]["unjudged"] == {"predicted": 1, "gold": 0}
    # categories: A 2/3 to (2/3 + 1)/2 = 5/6, B 0 to 1 → their mean 1/3 to 11/12
    assert overall["bounds"]["f1_category_mean"] == pytest.approx([1 / 3, 11 / 12])
    first, second = found["by_category"]
    assert (first["story_category"], second["story_category"]) == ("A", "B")
    assert (second["f1"], second["reason"]) == (None, "no usable sample")
    # a judge that was asked all the same about an extraction that cannot be read found no gold row in it: F1 from 0 to
    # 1, not 0; with a perfect story (0 + 1)/2 to 1
    unread = Stage1Result(2, "A", (), (0,), ("1",), UNREADABLE)
    found = stage1_report([Stage1Result(1, "A", (1,), (1,), ("1",)), unread])
    assert found["overall"]["f1"] == 1 and found["overall"]["bounds"]["f1"] == [0.5, 1]
    assert found["stories"][1]["bounds"] == {"precision": [0, 1], "recall": [0, 1], "f1": [0, 1]}


def test_labels_outside_the_set_are_wrong_and_gold_outside_it_is_undefined():
    # order: gold "1", "1" → said "1", "9": 1/2. truth status: gold legal in row 1 only, said "" there: 0 of 1.
    # the other five: 2 of 2. Overall (1/2 + 0 + 5) / 7
    gold = (GOLD, (GOLD[0], "Perhaps", *GOLD[2:]))
    said = ((GOLD[0], "", *GOLD[2:]), ("9", "True", *GOLD[2:]))
    results = [Stage2Result(1, "A", gold, said), Stage2Result(2, "A", gold, (None, None), UNREADABLE)]
    report = stage2_report(results)
    story = report["stories"][0]
    assert (story["acc_order"], story["acc_truth-status"], story["acc_context"]) == (0.5, 0, 1)
    assert story["overall_accuracy"] == pytest.approx(5.5 / 7)
    assert report["overall"]["bounds"]["overall_accuracy"] == pytest.approx([5.5 / 14, 12.5 / 14])
    nowhere = stage2_report([Stage2Result(1, "A", ((*GOLD[:6], "?"),), (GOLD,))])["overall"]
    assert nowhere["acc_context"] is None and nowhere["bounds"]["acc_context"] is None


def test_rows_that_a_judge_left_out_keep_estimates_inside_their_bounds():
    """Long stories are hard, and the judge leaves one row of each out: dropped, they left .62 beside bounds around
    .57."""
    easy = [complete(at, (1, 1, 1, 0, 0, 1, 0, 1), (1, 1, 1, 0, 0, 1, 0, 1)) for at in range(10)]  # F1 5/8
    hard = [complete(at, (None, *(1,) * 10, *(0,) * 9), (1,) * 10 + (0,) * 10) for at in range(10, 20)]
    overall = overall_of(easy + hard)
    # hard: P 10/19 of the judged rows, 10/20 to 11/20; R 1/2; F1 2·(10/19)/2/(10/19 + 1/2) = 20/39, .5 to 22/42
    low, high = (0.625 + 0.5) / 2, (0.625 + 22 / 42) / 2
    assert overall["bounds"]["f1"] == pytest.approx([low, high])
    assert overall["f1"] == pytest.approx((0.625 + 20 / 39) / 2) and low < overall["f1"] < high < 0.625
    assert (overall["stories"], overall["unreadable"]) == (20, 0)
    assert overall["unjudged"] == {"stories": 10, "predicted": 10, "gold": 0}
    assert overall["interval"]["f1"][0] < low and overall["interval"]["f1"][1] > high
    # a side without a count has as many matches as the other:
    # P 3/4 → three of six gold rows: R 1/2, F1 2·(3/8)/(5/4) = 3/5; worst R 0, best R 1: F1 2·(3/4)/(7/4) = 6/7
    score = stage1_score(complete(1, (1, 1, 1, 0), (None,) * 6))
    assert score.estimate == pytest.approx({"precision": 0.75, "recall": 0.5, "f1": 0.6})
    assert (score.worst["f1"], score.best["f1"]) == pytest.approx((0, 6 / 7))
    # three predicted rows match, and there are two gold rows: both
    assert stage1_score(complete(1, (1, 1, 1, 0), (None,) * 2)).estimate["recall"] == 1
    # R 1/2 of four: two of the five predicted ones
    assert stage1_score(complete(1, (None,) * 5, (1, 1, 0, 0))).estimate["precision"] == pytest.approx(0.4)
    # pooled: of order 1 one of two judged gold rows matches, one is missing: 1/2, from 1/3 to 2/3
    results = [complete(1, (2, None), (1, 0, None)), complete(2, (0,), (0,), gold_orders=("0",), pred_orders=("0",))]
    found = plain(stage1_analyses(results, resamples=50))
    recall, counts = found["kinds"]["1"]["recall"], found["match_counts"]
    assert (recall["value"], recall["n"], recall["bounds"]) == (0.5, 2, pytest.approx([1 / 3, 2 / 3]))
    assert "bounds" not in found["kinds"]["0"]["recall"]
    # one of two judged rows has count 2: 1/2, from 1/3 to 2/3
    assert counts["unjudged"] == 1 and counts["rows"]["total"] == 2
    assert counts["shares"]["2"]["bounds"] == pytest.approx([1 / 3, 2 / 3])


def test_a_story_that_nobody_judged_widens_the_interval_and_an_unreadable_one_does_not():
    judged = [complete(at, (1, 0), (1, at % 2)) for at in range(12)]
    alone = overall_of(judged)
    unreadable = overall_of([*judged, complete(20, (), (None, None), unreadable="no readable row")])
    unjudged = overall_of([*judged, complete(20, (None, None), (None, None), unreadable=NO_JUDGEMENT)])
    assert unreadable["interval"] == alone["interval"] and "unjudged" not in unreadable
    assert unreadable["bounds"] == unjudged["bounds"] and unreadable["f1"] == unjudged["f1"] == alone["f1"]
    low, high = unjudged["interval"]["f1"]
    assert low < alone["interval"]["f1"][0] and high > alone["interval"]["f1"][1]
    assert unjudged["unjudged"] == {"stories": 1, "predicted": 2, "gold": 2}


# --- whatever a judge skips
def test_every_estimate_lies_inside_its_bounds():
    """At the level of the story, the category, all stories, and rows pooled by kind; on a selection of stories too."""
    for seed in range(16):
        rng = Random(seed)
        judge = Skipping(*(rng.random() * most for most in (0.3, 0.6, 0.6, 0.8, 0.3)))
        for results in sample(seed, rng.randrange(1, 30), judge)[1:]:
            report = stage1_report(results, resamples=20)
            assert [one for one in bounded(results, report) if not is_within(*one)] == []
            columns = read_as(Columns, plain(repaired_columns(stage1_scores(results), "stage1")))  # as they are kept
            again = repaired_metrics(columns, set(columns.stories), "stage1", seed=1, resamples=20)
            assert again.told(report["stories"]) == report
            assert scores_by_story(columns, "f1") == {row["story_id"]: row["f1"] for row in report["stories"]}


def test_the_interval_holds_the_truth_when_skips_tell_something():
    known = truth(stories=20_000)
    for name in ("by length", "by difficulty", "by both"):
        found = tallied(JUDGES[name], 40, 40, known, resamples=200)
        assert found.outside == 0 and all(found.sample_held), name
        assert mean(found.covered) >= 0.95 and mean(found.after) >= 0.85, name
    # with every row judged it is the interval of the estimate
    found = tallied(JUDGES["none"], 30, 30, known, resamples=200)
    assert found.covered == found.of_estimate and 0.85 <= mean(found.covered) < 1
    # what the wide interval is for: the naive one is sure of a figure that is too high where hard rows are avoided
    found = tallied(Skipping(always=0.02, unmatched=0.3), 100, 30, known, resamples=200)
    assert mean(found.of_estimate) < 0.5 and all(found.covered)


# --- answers of several shares each, and estimates as they are kept
def test_shares_are_means_over_repetitions_and_bounds_take_in_what_is_missing():
    scored = scored_shares(("a", "b"), lambda outcome, parse: getattr(outcome, parse))
    asked, unreadable = Sample("1", "1", {}, {}, category="c"), Outcome("step", None, None, unreadable="unreadable")

    def answer(a, b, official=True) -> Outcome:
        return Outcome("step", {"a": a, "b": b} if official else None, {"a": a, "b": b})

    # read: a = 1 and 0.5, b = 0 and undefined; unreadable: 0 to 1
    result = scored(asked, [answer(1.0, 0.0), answer(0.5, None, official=False), unreadable])
    assert result.official == {"a": 1.0, "b": 0.0} and not result.reason
    assert result.estimate == {"a": 0.75, "b": 0.0}
    assert result.worst == {"a": 0.5, "b": 0.0} and result.best == {"a": 2.5 / 3, "b": 0.5}
    result = scored(asked, [Outcome("step", None, None, without="the call failed")])
    assert result.official is None and result.reason == "its only question has no answer"
    assert (result.worst, result.best) == ({"a": 0.0, "b": 0.0}, {"a": 1.0, "b": 1.0})
    assert result.estimate is None and result.unreadable == "the call failed"
    result = scored(asked, [unreadable])
    assert result.official == {"a": None, "b": None} and result.unreadable == "unreadable"
    assert [questions_unanswered(missing, of) for missing, of in ((0, 1), (1, 3), (2, 3))] == [
        "", "1 of its 3 questions has no answer", "2 of its 3 questions have no answer"
    ]  # fmt: skip


def test_estimates_come_back_from_reports_key_by_key():
    kept = {"value": None, "n": 0, "interval": None, "clusters": 2, "reason": "few", "bounds": [0.0, 1.0]}
    whole = BoundedEstimate(0.5, 4, (0.4, 0.6), incomplete=3)
    assert [*plain(BoundedEstimate.from_json(kept)).items()] == [*kept.items()]
    assert [*plain(whole).items()] == [("value", 0.5), ("n", 4), ("interval", [0.4, 0.6]), ("incomplete", 3)]
    assert kept_estimates({"f1": plain(whole)}) == {"f1": BoundedEstimate.from_json(plain(whole))}
    # a corrected score has its reason also where there is none
    kept = {"value": 0.5, "interval": [0.4, 0.6], "reason": None, "n": 4}
    correction = Correction(study="s", scores={"f1": CorrectedScore(0.5, (0.4, 0.6), None, 4)})
    assert [*plain(correction)["scores"]["f1"].items()] == [*kept.items()]
    assert plain(read_as(Correction, plain(correction))) == plain(correction)
    model = {"key": "m", "model": "m", "kind": "model", "entrant": 1, "run": "r"}
    assert plain(read_as(CorrectedRow, model | {"corrected": {"f1": kept}}).corrected["f1"]) == kept
    # a row of a method is read with its score or without
    row = AskedAgain(**model, title="plain", way="plain", score=Estimate(0.5, 4, [0.4, 0.6]))
    assert plain(row)["score"] == {"value": 0.5, "n": 4, "interval": [0.4, 0.6]}
    assert read_as(AskedAgain, plain(row)).score == row.score
    assert read_as(AskedAgain, plain(row) | {"score": None}).score is None
