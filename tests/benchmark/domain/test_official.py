from __future__ import annotations

from dataclasses import replace

import pytest

from benchmark.suites.omnitom import data, released
from benchmark.suites.omnitom.official import score_official, stored_tables
from benchmark.suites.omnitom.parsing.official import MAX_FIELD
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result, stage1_metrics, stage2_metrics
from tests.benchmark.domain.mock_judge import mock_judgement


def counts(total: int, matched: int) -> tuple[int, ...]:
    return (1,) * matched + (0,) * (total - matched)


def same(found: dict, expected: dict) -> None:
    """The vectors have `overall` as a list of one row, and no mean of categories."""
    overall = {name: value for name, value in found["overall"].items() if name != "f1_category_mean"}
    assert [overall] == (expected["overall"] if isinstance(expected["overall"], list) else [expected["overall"]])
    assert found["by_category"] == expected["by_category"]
    assert found["stories"] == expected["stories"]


def test_group_1_figures_by_hand():
    # story 1: P = 1/3, R = 2/2, F1 = 2·(1/3)/(4/3) = 1/2; story 2: P = 0 of no rows, R = 1/2, F1 = 0
    # overall: P 1/6, from the rounded 0.333333 → 0.1666665; R 3/4; F1 1/4
    results = [Stage1Result(1, "A", (0, 2, 0), (1, 3), ("1", "1")), Stage1Result(2, "B ", (), (1, -1), ("1", "1"))]
    found = stage1_metrics(results).as_json()
    assert found["stories"][0] == {
        "story_id": "1", "story_category": "A", "pred_total": "3", "gt_total": "2", "pred_matched": "1",
        "gt_matched": "2", "precision": "0.333333", "recall": "1.000000", "f1": "0.500000",
    }  # fmt: skip
    assert found["overall"]["recall"] == "0.750000"
    assert found["overall"]["f1"] == "0.250000"
    assert [row["story_category"] for row in found["by_category"]] == ["A", "B"]
    # three stories of A at 1/2 and one of B at 0: mean over stories 3/8, over categories 1/4
    found = stage1_metrics([results[0]] * 3 + [results[1]]).as_json()
    assert (found["overall"]["f1"], found["overall"]["f1_category_mean"]) == ("0.375000", "0.250000")


def test_group_2_figures_by_hand():
    # two gold rows. Row 1: all seven right but the last, where gold is "" as well; row 2 has no prediction.
    # six dimensions 1/2, the last 0: overall (6 · 1/2) / 7 = 0.428571
    gold = ("1", "True", "Private", "Implicit", "Epistemic", "Inference", "")
    found = stage2_metrics([Stage2Result(4, "A", (gold, gold), (gold, None))]).as_json()
    story = found["stories"][0]
    assert (story["pairs"], story["matched_pairs"], story["overall_accuracy"]) == ("2", "1", "0.428571")
    assert (story["acc_order"], story["acc_context"]) == ("0.500000", "0.000000")


def test_the_official_arithmetic_of_stage_1(omnitom):
    for case in omnitom("metrics_stage1_arithmetic")["cases"]:
        results = [
            Stage1Result(number, category, counts(pred, pred_hit), counts(gold, gold_hit), ("",) * gold)
            for number, (category, pred, pred_hit, gold, gold_hit) in enumerate(case["stories"], 1)
        ]
        same(stage1_metrics(results).as_json(), case["expected"])


def test_the_official_arithmetic_of_stage_2(omnitom):
    for case in omnitom("metrics_stage2_arithmetic")["cases"]:
        results = []
        for number, (category, rows, wrong) in enumerate(case["stories"], 1):
            said = tuple(tuple("x" if row < many else "a" for many in wrong) for row in range(rows))
            results.append(Stage2Result(number, category, (("a",) * 7,) * rows, said))
        same(stage2_metrics(results).as_json(), case["expected"])


@pytest.mark.parametrize("name", ["e2e_perfect", "e2e_noisy_known"])
def test_the_official_figures_of_whole_runs(omnitom_run, name):
    records, texts, expected = omnitom_run(name)
    found = score_official(records, texts).as_json()
    for group in ("stage1", "stage2"):
        same(found[group], expected[group])
    tables = stored_tables(records, texts)
    for story, parsed in expected["parsed"].items():
        held = tables[int(story)]
        assert [list(row) for row in held.extraction] == parsed["extract"]
        assert [row.cells() for row in held.labels] == parsed["label"]
        for rows, side in zip(held.judged, ("judge_pred", "judge_gt"), strict=True):
            assert [[row.actor, row.belief, str(row.count)] for row in rows] == parsed[side]


def mock_texts(records) -> dict[int, dict[str, str]]:
    """What the official mock backend answers."""
    out = {}
    for record in records:
        extract = data.gold_extraction_table(record)
        rows = stored_tables([record], {record.story_id: {"extract": extract}})[record.story_id].extraction
        judge = mock_judgement([(row.actor, row.belief) for row in rows], record)
        label = data.gold_label_table(record)
        out[record.story_id] = {"extract": extract, "label": label, "judge": judge}
    return out


def test_the_official_mock_backend_to_the_last_file(omnitom_run):
    records, _, expected = omnitom_run("e2e_mock_backend")
    texts = mock_texts(records)
    tables = stored_tables(records, texts)
    for story, told in expected["per_story"].items():
        held = tables[int(story)]
        assert (len(held.extraction), len(held.labels)) == (told["extract_rows"], told["label_rows"])
        assert [[row.count for row in rows] for rows in held.judged] == [told["judge_pred"], told["judge_gt"]]
    exchanges = {
        story: {step: released.Exchange("system", "user", text) for step, text in steps.items()}
        for story, steps in texts.items()
    }
    files = dict([*released.files(records, exchanges), *released.metric_files(score_official(records, texts))])
    assert 1 + len(files) == expected["file_count"]
    for story in ("1", "9013"):
        name = f"story_{int(story):03d}"
        assert (
            sorted(path for path in files if f"{name}." in path or f"{name}_" in path)
            == expected[f"files_for_story_{story}"]
        )
    steps = ("extract", "label", "judge")
    manifest = released.manifest(records, expected["manifest"]["dataset_path"], "mock", steps)
    assert manifest == expected["manifest"]
    assert list(manifest) == expected["manifest_key_order"]
    for name, rows in expected["metrics"].items():
        lines = files[f"metrics/{name}.csv"].decode().split("\r\n")
        assert lines[0] == expected["csv_headers"][name]
        assert lines[1:-1] == [",".join(row.values()) for row in rows]


def test_cells_are_stored_with_one_blank_and_crlf(make_record):
    record = make_record(7, ("Ines", "It rains"))
    calls = {7: {"extract": released.Exchange(" s ", "u", "Ines | It  rains . | 1\n")}}
    files = dict(released.files([record], calls))
    assert sorted(files) == ["extraction/csv/story_007_extract.csv", "extraction/raw/story_007.txt"]
    assert files["extraction/csv/story_007_extract.csv"] == b"actor,belief,order\r\nInes,It rains,1\r\n"


def test_a_step_has_figures_only_with_every_story_of_the_selection(make_record):
    records = [make_record(number, ("Ines", "It rains")) for number in (1, 2)]
    texts = mock_texts(records)
    del texts[2]["judge"]
    found = score_official(records, texts).as_json()
    assert found["stage1"] is None
    assert found["reason"] == {"stage1": "Story 2 has no answer for judge; official scoring needs one of every story."}
    assert found["stage2"]["overall"]["overall_accuracy"] == "1.000000"
    assert score_official(records[:1], texts).as_json()["stage1"]["overall"]["f1"] == "1.000000"


def test_a_field_at_which_the_released_code_aborts_leaves_no_figure(make_record):
    record = make_record(1, ("Ines", "It rains"))
    texts = mock_texts([record])
    texts[1]["label"] += f"\nInes | {'x' * (MAX_FIELD + 1)}" + " | a" * 7
    found = score_official([record], texts).as_json()
    assert found["stage1"]["overall"]["f1"] == "1.000000"
    assert found["stage2"] is None
    assert "Story 1, label: " in found["reason"]["stage2"]
    assert "aborts" in found["reason"]["stage2"]


def test_records_of_one_id_share_the_tables_of_the_first(make_record):
    first, second = make_record(1, ("Ines", "It rains")), make_record(1, ("Bo", "It snows"), ("Bo", "It thaws"))
    found = score_official([first, second], mock_texts([first])).as_json()
    assert [row["gt_total"] for row in found["stage1"]["stories"]] == ["1", "1"]
    assert [row["overall_accuracy"] for row in found["stage2"]["stories"]] == ["1.000000", "0.000000"]


def test_the_whole_benchmark_is_scored(omnitom_run):
    records, texts, _ = omnitom_run("e2e_noisy_known")
    many = [replace(records[number % len(records)], story_id=number) for number in range(895)]
    answers = {record.story_id: texts[records[record.story_id % len(records)].story_id] for record in many}
    assert score_official(many, answers).as_json()["stage1"]["overall"]["stories"] == "895"
