"""Answers made elsewhere come to both parses' figures, by the command."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from benchmark.suites.opentom.data import load, named_questions
from benchmark.suites.opentom.parsing import OUTSIDE

REASONED = "Una moved it, so no. Is it there, yes or no?\nTherefore, the answer is {0}."
"""An answer by chain of thought whose reasoning has other labels in it."""


def command(folder, answers, **options) -> str:
    file = folder.parent / "answers.json"
    file.write_text(json.dumps(answers))
    out = StringIO()
    call_command("score_outputs", "opentom", data=folder, answers=file, stdout=out, **options)
    return out.getvalue()


def scored(folder, answers, **options) -> dict:
    return json.loads(command(folder, answers, json=True, **options))


def gold(folder, part: str) -> dict[str, str]:
    return {name: sample.gold["answer"] for name, sample in named_questions(load(folder).samples, part).items()}


def test_right_answers_and_others_by_part(copy_of):
    folder = copy_of()
    for part, places in (("coarse", 20), ("fine", 40)):
        answers = gold(folder, part)
        repaired = scored(folder, answers, part=part)["repaired"]["metrics"]
        genres = [metrics["answers"] for name, metrics in repaired.items() if not name.startswith(("Multi", "Att"))]
        assert genres == [places, 20]
        for name, metrics in repaired.items():
            assert metrics["accuracy"]["value"] == metrics["f1"]["value"] == 1.0 and metrics["unreadable"] == 0
            assert ("f1_mean_of_kinds" in metrics) == name.startswith("Multi-hop")
        others = scored(folder, dict.fromkeys(answers, "The aquarium"), part=part)["repaired"]
        assert {metrics["f1"]["value"] for metrics in others["metrics"].values()} == {0.0}
        assert {*others["answers"].values()} == {OUTSIDE}


def test_repaired_figures_leave_out_what_cannot_be_read_and_say_how_much(copy_of):
    folder = copy_of()
    answers = gold(folder, "coarse")
    first = [name for name in answers if name.endswith("/0")]
    for name in first[:5]:
        answers[name] = {"No": "Yes", "Yes": "No"}[answers[name]]
    for name in first[5:]:
        answers[name] = "He knows."
    repaired = scored(folder, answers)["repaired"]
    found = repaired["metrics"]["Coarse location, first order"]
    # ten of the mover's questions are wrong or unreadable, all ten of the observer's are right
    assert (found["answers"], found["unreadable"], found["accuracy"]["n"], found["f1"]["n"]) == (20, 5, 15, 15)
    assert found["accuracy"]["value"] == pytest.approx(10 / 15)
    assert found["accuracy"]["low"] < 10 / 15 < found["accuracy"]["high"]
    assert [repaired["answers"][name] for name in first[5:]] == [None] * 5
    assert repaired["answers"].keys() == answers.keys()


def test_answers_by_chain_of_thought_are_read_after_their_reasoning(copy_of, tmp_path):
    folder = copy_of()
    answers = {name: REASONED.format(text) for name, text in gold(folder, "coarse").items()}
    after = scored(folder, answers, cot=True)
    for metrics in after["repaired"]["metrics"].values():
        assert (metrics["accuracy"]["value"], metrics["unreadable"]) == (1.0, 0)
    printed = after["official"]["metrics"]["fixed/all"]["printed"]
    assert {metrics["f1_mean"] for metrics in printed.values()} == {1.0}
    whole = scored(folder, answers)
    assert whole["official"]["answers"] != after["official"]["answers"]
    assert whole["repaired"]["metrics"]["Coarse location, first order"]["unreadable"] == 20
    with pytest.raises(CommandError, match="tombench has no option --cot"):
        call_command("score_outputs", "tombench", data=tmp_path, answers=tmp_path, cot=True)


def test_people_read_both_readings_and_what_is_no_answer_is_refused(copy_of):
    folder = copy_of()
    lines = [line.split() for line in command(folder, gold(folder, "coarse")).splitlines()]
    assert ["official", "fixed/all,", "printed,", "attitude,", "f1_mean", "1.000000"] in lines
    assert ["repaired", "Attitude,", "f1,", "value", "1.000000"] in lines
    for answers, options, told in (
        ({"batch-1/00000000/99": "No"}, {}, "which is not a question of OpenToM's coarse part"),
        ({"batch-6/00000000/0": "No"}, {"part": "fine"}, "which is not a question of OpenToM's fine part"),
        ({"batch-1/00000000/0": 1}, {}, "the answer is not a text"),
        ([], {}, "holds no answers"),
    ):
        with pytest.raises(CommandError, match=told):
            command(folder, answers, **options)
