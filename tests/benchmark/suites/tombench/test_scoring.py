"""Answers made elsewhere come to the official figures, by the command."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.benchmark.suites.tombench.test_vectors import RUNS


def scored(shared, tmp_path, answers, *options) -> dict:
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    out = StringIO()
    data = shared / "data" / "ToMBench"
    options = {"data": data, "answers": tmp_path / "answers.json", "json": True, "stdout": out} | dict(options)
    call_command("score_outputs", "tombench", **options)
    return json.loads(out.getvalue())


def test_the_official_answers_and_figures(vectors, shared, tmp_path):
    for language, model in RUNS:
        run = vectors["runs"][language][model]
        official = scored(shared, tmp_path, run["model_answers"], ("language", language))["official"]
        assert official == {"answers": run["expected_parsed"], "metrics": run["expected_metrics"]}


def test_the_repaired_reading_says_what_it_could_not_read(vectors, shared, tmp_path):
    repaired = scored(shared, tmp_path, vectors["runs"]["en"]["unparseable"]["model_answers"])["repaired"]
    assert (repaired["metrics"]["overall"], repaired["metrics"]["unparsed"]) == (None, 94)
    assert repaired["metrics"]["bounds"] == [0.0, 1.0] and {*repaired["metrics"]["tasks"].values()} == {None}
    assert set(repaired["answers"].values()) == {None}


def test_a_letter_that_is_not_offered_is_wrong_and_two_letters_are_no_choice(shared, tmp_path):
    answers = {
        "False Belief Task/0/0": "E",
        "False Belief Task/1/0": "Answer: A, C",
        "False Belief Task/2/0": "[[A]][[B]]",
    }
    repaired = scored(shared, tmp_path, answers)["repaired"]
    assert repaired["answers"] == dict(zip(answers, ("E", None, None), strict=True))
    assert (repaired["metrics"]["overall"], repaired["metrics"]["unparsed"]) == (0.0, 2)


def test_what_is_no_answer_to_a_question_is_refused(shared, tmp_path):
    for name in ("False Belief Task/600/0", "False Belief Task/0/5", "Other/0/0", "nonsense"):
        with pytest.raises(CommandError, match="there is no question"):
            scored(shared, tmp_path, {name: "[[A]]"})
    with pytest.raises(CommandError, match="is not a text"):
        scored(shared, tmp_path, {"False Belief Task/0/0": 3})


def test_people_read_the_figures(vectors, shared, tmp_path):
    (tmp_path / "answers.json").write_text(json.dumps(vectors["runs"]["en"]["oracle"]["model_answers"]))
    out = StringIO()
    data = shared / "data" / "ToMBench"
    call_command("score_outputs", "tombench", data=data, answers=tmp_path / "answers.json", stdout=out)
    assert "False Belief Task" in out.getvalue() and "1.000000" in out.getvalue()
