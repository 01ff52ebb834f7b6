from __future__ import annotations

import json

import pytest

from benchmark.suites.omnitom.data import gold_extraction_table, gold_label_table
from benchmark.suites.omnitom.repaired import (
    NO_ANSWER,
    NO_JUDGEMENT,
    UNREADABLE,
    score_repaired,
    stage1_report,
    stage2_report,
)
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result
from benchmark.suites.reasons import NO_GOLD
from tests.benchmark.domain.mock_judge import mock_judgement

GOLD = ("1", "True", "Private", "Implicit", "Epistemic", "Inference", "Neutral")


def perfect(record) -> dict[str, str]:
    rows = [(row.actor, row.belief) for row in record.shown_rows]
    return {
        "extract": gold_extraction_table(record),
        "label": gold_label_table(record),
        "judge": mock_judgement(rows, record),
    }


def test_a_perfect_model_is_perfect_on_the_nastiest_records(omnitom_run):
    records, texts, _ = omnitom_run("e2e_perfect")
    found = score_repaired(records, texts, resamples=200).as_json()
    json.dumps(found, allow_nan=False)
    for group, shares in (("stage1", ("precision", "recall", "f1")), ("stage2", ("overall_accuracy", "acc_order"))):
        overall = found[group]["overall"]
        assert (overall["stories"], overall["unreadable"], overall["undefined"]) == (46, 0, 1)
        for name in shares:
            assert overall[name] == 1
            assert overall["bounds"][name] == [1, 1]
            # 46 perfect stories: with 95 % confidence at most 1 − .05^(1/46) of all are of another kind
            assert overall["interval"][name] == pytest.approx([0.05 ** (1 / 46), 1])


def test_clean_records_give_the_official_figures(omnitom_run):
    records, texts, expected = omnitom_run("e2e_noisy_known")
    found = score_repaired(records, texts, resamples=200).as_json()
    for group in ("stage1", "stage2"):
        overall, told = found[group]["overall"], expected[group]["overall"]
        for name, value in (told if isinstance(told, dict) else told[0]).items():
            assert overall[name] == pytest.approx(float(value), abs=1e-6)
        for name, (low, high) in overall["interval"].items():
            assert 0 < low < overall[name] < high < 1


def test_an_extraction_that_cannot_be_read_had_everything_at_best():
    # a judge that was asked all the same found no gold row in it: F1 from 0 to 1, not 0; with a perfect story (0 + 1)/2
    # to 1
    found = stage1_report(
        [Stage1Result(1, "A", (1,), (1,), ("1",)), Stage1Result(2, "A", (), (0,), ("1",), UNREADABLE)]
    ).as_json()
    assert found["overall"]["f1"] == 1 and found["overall"]["bounds"]["f1"] == [0.5, 1]
    assert found["stories"][1]["bounds"] == {"precision": [0, 1], "recall": [0, 1], "f1": [0, 1]}


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
    found = stage1_report(results, seed=3, resamples=100).as_json()
    overall = found["overall"]
    assert (overall["stories"], overall["unreadable"]) == (2, 1)
    assert overall["unreadable_reasons"] == {UNREADABLE: 1}
    assert overall["unjudged"] == {"stories": 1, "predicted": 1, "gold": 0}
    assert overall["f1"] == pytest.approx(5 / 6)
    assert overall["bounds"]["f1"] == pytest.approx([4 / 9, 8 / 9])
    assert found["stories"][2]["f1"] == 1 and found["stories"][2]["bounds"]["f1"] == pytest.approx([2 / 3, 1])
    assert found["stories"][2]["unjudged"] == {"predicted": 1, "gold": 0}
    # categories: A 2/3 to (2/3 + 1)/2 = 5/6, B 0 to 1 → their mean 1/3 to 11/12
    assert overall["bounds"]["f1_category_mean"] == pytest.approx([1 / 3, 11 / 12])
    assert [row["story_category"] for row in found["by_category"]] == ["A", "B"]
    assert found["by_category"][1]["f1"] is None
    assert found["by_category"][1]["reason"] == "no usable sample"
    assert found["stories"][1]["f1"] is None
    assert found["stories"][1]["bounds"]["f1"] == [0, 1]
    assert found["seed"] == 3


def test_labels_outside_the_set_are_wrong_and_gold_outside_it_is_undefined():
    # order: gold "1", "1" → said "1", "9": 1/2. truth status: gold legal in row 1 only, said "" there: 0 of 1.
    # the other five: 2 of 2. Overall (1/2 + 0 + 5) / 7
    gold = (GOLD, (GOLD[0], "Perhaps", *GOLD[2:]))
    said = ((GOLD[0], "", *GOLD[2:]), ("9", "True", *GOLD[2:]))
    results = [Stage2Result(1, "A", gold, said), Stage2Result(2, "A", gold, (None, None), UNREADABLE)]
    report = stage2_report(results).as_json()
    story = report["stories"][0]
    assert (story["acc_order"], story["acc_truth-status"], story["acc_context"]) == (0.5, 0, 1)
    assert story["overall_accuracy"] == pytest.approx(5.5 / 7)
    assert report["overall"]["bounds"]["overall_accuracy"] == pytest.approx([5.5 / 14, 12.5 / 14])
    nowhere = stage2_report([Stage2Result(1, "A", ((*GOLD[:6], "?"),), (GOLD,))]).as_json()["overall"]
    assert nowhere["acc_context"] is None
    assert nowhere["bounds"]["acc_context"] is None


def test_why_a_story_is_unreadable(make_record):
    records = [make_record(number, ("Ines", "It rains"), ("Bo", "It snows")) for number in range(1, 6)]
    records.append(make_record(6, ("", "nobody")))
    texts = {record.story_id: perfect(record) for record in records}
    texts[2] = {"label": "I cannot."}
    texts[3]["extract"] = "No beliefs."
    texts[4]["judge"] = "Fine."
    texts[5]["judge"] = texts[5]["judge"].replace("Bo,It snows,1\n", "", 1)
    found = score_repaired(records, texts, resamples=50).as_json()
    reasons = [row.get("reason") for row in found["stage1"]["stories"]]
    assert reasons == [None, NO_ANSWER, UNREADABLE, NO_JUDGEMENT, None, NO_GOLD]
    assert found["stage1"]["stories"][4]["unjudged"] == {"predicted": 1, "gold": 0}
    assert [row.get("reason") for row in found["stage2"]["stories"]] == [None, UNREADABLE, None, None, None, NO_GOLD]
    assert found["stage1"]["overall"]["f1"] == 1
    assert found["stage1"]["overall"]["unreadable"] == 3


def test_an_empty_table_says_nothing_and_is_not_missing(make_record):
    """Nothing is found and no label given: F1 and accuracy are 0, whatever the judge makes of it."""
    record = make_record(1, ("Ines", "It rains"))
    heads = (
        "Here it is.\n\nActor | Belief | Order\n--- | --- | ---",
        "| Actor | Belief | Order | Truth-Status |\n|---|---|---|---|",
    )
    for extract, label in (('{"rows": []}',) * 2, ("```json\n[]\n```",) * 2, heads):
        texts = {1: {"extract": extract, "judge": "Nothing to judge.", "label": label}}
        found = score_repaired([record], texts, resamples=50).as_json()
        for group, name in (("stage1", "f1"), ("stage1", "recall"), ("stage2", "overall_accuracy")):
            overall = found[group]["overall"]
            assert (overall["stories"], overall["unreadable"], overall[name]) == (1, 0, 0), extract


def test_what_is_no_table_says_something_that_cannot_be_read(make_record):
    record = make_record(1, ("Ines", "It rains"))
    for text in ("", "No beliefs.", '{"rows": [{}]}', "{}", '{"rows": null}', "a | b | c"):
        texts = {1: {"extract": text, "judge": "Nothing to judge.", "label": text}}
        found = score_repaired([record], texts, resamples=50).as_json()
        assert [found[group]["stories"][0]["reason"] for group in ("stage1", "stage2")] == [UNREADABLE] * 2, text


def test_a_group_that_nobody_answered_has_a_reason_and_no_figures(make_record):
    record = make_record(1, ("Ines", "It rains"))
    found = score_repaired([record], {1: {"label": perfect(record)["label"]}}, resamples=50).as_json()
    assert found["stage1"] is None
    assert found["reason"] == {"stage1": "No story has an answer for extract."}
    assert found["stage2"]["overall"]["overall_accuracy"] == 1


def test_the_seed_decides_the_interval(omnitom_run):
    records, texts, _ = omnitom_run("e2e_noisy_known")
    first, again, other = (score_repaired(records, texts, seed=seed, resamples=200).as_json() for seed in (1, 1, 2))
    assert first == again
    assert first["stage1"]["overall"]["interval"] != other["stage1"]["overall"]["interval"]
    assert first["stage1"]["overall"]["f1"] == other["stage1"]["overall"]["f1"]
