"""Answers scored as the released code scores them, figure by figure."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmark.methods.perceptom import perceived_by, perceptions_of
from benchmark.suites.percept_tomi.data import believed_place, load, track
from benchmark.suites.percept_tomi.scoring import score_answers
from core.statistics.correlation import pearson

ASKED = ("oracle", "omniscient", "random_seed11", "sloppy", "unparseable")
PERCEIVING = ("oracle", "omniscient", "random_seed13", "unparseable")


@pytest.fixture(scope="module")
def vectors(shared: Path) -> dict[str, Any]:
    return json.loads((shared / "vectors" / "percepttomi" / "vectors.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def samples(shared: Path):
    """The samples by key; the copy is read once for all answers."""
    copy = load(shared / "data" / "Percept-ToMi")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmark.suites.percept_tomi.scoring.load", lambda folder: copy)
        yield {sample.key: sample for sample in copy.samples}


def scored(answers, tmp_path, **options):
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(answers))
    return score_answers(Path("copy"), file, **options).as_json()


def test_answers_are_scored_as_by_the_released_code(vectors, samples, tmp_path):
    for model in ASKED:
        run = vectors["qa"][model]
        official = scored(run["model_answers"], tmp_path)["official"]
        assert official["answers"] == run["expected_parsed"] and official["excluded"] == run["excluded"]
        assert official["metrics"] == run["expected_metrics"]
        assert official["metrics_raw"] == run["expected_metrics_raw"]


def test_perceptions_are_scored_as_by_the_released_code_given_the_models_answers(vectors, samples, tmp_path):
    for model in PERCEIVING:
        run = vectors["perc_inf"][model]
        official = scored(run["model_answers"], tmp_path)["official"]
        assert official["answers"] == run["expected_parsed_json"]
        expected = {name: value for name, value in run["model_responses"].items() if name != "official_script_error"}
        metrics = official["metrics"]
        assert metrics.pop("per_story_accuracy") == pytest.approx(expected.pop("per_story_accuracy"))
        assert {*metrics.pop("excluded")} == {*expected.pop("excluded")} and metrics == expected


def test_an_empty_name_is_nobody_in_the_repaired_reading_and_half_an_array_is_no_whole_one(vectors, samples, tmp_path):
    answers = vectors["perc_inf"]["oracle"]["model_answers"]
    repaired = scored(answers, tmp_path)["repaired"]["metrics"]["overall"]
    assert (repaired["perception_accuracy"], repaired["perception_recall"], repaired["unreadable"]) == (1.0, 1.0, 0)
    half = {name: json.dumps(json.loads(text)[: len(json.loads(text)) // 2]) for name, text in answers.items()}
    reports = scored(half, tmp_path)
    assert reports["official"]["metrics"]["by_scenario"]["true belief"]["acc"] > 0.95
    assert reports["repaired"]["metrics"]["overall"]["perception_recall"] < 0.6


def test_perspectives_are_those_of_the_released_code(vectors, samples):
    for model in PERCEIVING:
        answers, run = vectors["perc_inf"][model]["model_answers"], vectors["perceptom"][model]
        assert {name for name, text in answers.items() if perceptions_of(text) is None} == {*run["skipped"]}
        assert {*answers} - {*run["skipped"]} == {*run["prompt_2_sha256_first16"]}
        for name, prompt in run["prompt_2"].items():
            scenes = perceived_by(perceptions_of(answers[name]) or [], samples[name].content["people"])
            assert f"{' '.join(scenes).rstrip('.')}." == prompt.split("\n\n")[1]


def test_correlations_are_those_of_the_papers_table(vectors):
    scenarios, tasks = ("true belief", "false belief"), ("perception", "perception-to-belief", "ToM")
    held = vectors["pearson_from_paper_table5"]
    for name, expected in held["pearson"].items():
        data, scenario, pair = name.split("/")
        at = 3 * scenarios.index(scenario)
        rows = held["table"][data].values()
        first, second = ([row[at + tasks.index(task)] for row in rows] for task in pair.split("~"))
        result = pearson(first, second, unit="models")
        assert (result.r, result.p) == pytest.approx((expected["r"], expected["p_two_sided"]), abs=1e-9)
        assert result.n == expected["n"] and result.interval[0] < result.r < result.interval[1]


def test_the_tracker_agrees_with_the_annotation(samples):
    differing, answers, sentences = [], [], 0
    for sample in samples.values():
        scenes = track(sample.content["sentences"])
        for number, (scene, names) in enumerate(zip(scenes, sample.gold["perceivers"], strict=True), start=1):
            sentences += 1
            if {*scene.perceivers} != {*names} - {""}:
                differing.append((sample.key, number))
        if believed_place(scenes, sample.content["thing"], *sample.content["people"]) != sample.gold["answer"]:
            answers.append(sample.key)
    assert len(samples) == 600 and 1 - len(differing) / sentences >= 0.98, differing
    assert ("125", 9) in differing and len(answers) <= 1, answers


def test_every_question_has_two_containers_and_the_counts_of_the_paper(samples):
    assert all(len(sample.content["containers"]) == 2 for sample in samples.values())
    assert len({sample.cluster for sample in samples.values()}) == 529
    types = Counter(sample.gold["raw_type"] for sample in samples.values())
    assert types["first_order_0_tom"] == types["second_order_1_no_tom"] == 75
