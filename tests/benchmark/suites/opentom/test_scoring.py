"""Answers made elsewhere come to both parses' figures, by the command."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from benchmark.suites.opentom.data import read_opentom
from benchmark.suites.opentom.sampling import sampled


def command(folder, answers, **options) -> str:
    file = folder.parent / "answers.json"
    file.write_text(json.dumps(answers))
    out = StringIO()
    call_command("score_outputs", "opentom", data=folder, answers=file, stdout=out, **options)
    return out.getvalue()


def gold(folder, part: str) -> dict[str, str]:
    return {row.id: row.question.answer for row in sampled(read_opentom(folder), part)}


def test_gold_answers_are_all_right_in_the_repaired_reading(copy_of):
    folder = copy_of()
    for part, places in (("coarse", 20), ("fine", 40)):
        repaired = json.loads(command(folder, gold(folder, part), part=part, json=True))["repaired"]["metrics"]
        genres = {name: metrics for name, metrics in repaired.items() if not name.startswith(("Multi", "Att"))}
        assert [metrics["answers"] for metrics in genres.values()] == [places, 20]
        for name, metrics in repaired.items():
            assert metrics["accuracy"]["value"] == metrics["f1"]["value"] == 1.0 and metrics["unread"] == 0
            assert ("f1_mean_of_kinds" in metrics) == name.startswith("Multi-hop")


def test_repaired_figures_leave_out_what_cannot_be_read_and_say_how_much(copy_of):
    folder = copy_of()
    answers = gold(folder, "coarse")
    first = [name for name in answers if name.endswith("/0")]
    for name in first[:5]:
        answers[name] = {"No": "Yes", "Yes": "No"}[answers[name]]
    for name in first[5:]:
        answers[name] = "He knows."
    scored = json.loads(command(folder, answers, json=True))["repaired"]
    found = scored["metrics"]["Coarse location, first order"]
    # ten of the mover's questions are wrong or unread, all ten of the observer's are right
    assert (found["answers"], found["unread"], found["accuracy"]["n"], found["f1"]["n"]) == (20, 5, 15, 15)
    assert found["accuracy"]["value"] == pytest.approx(10 / 15)
    assert found["accuracy"]["low"] < 10 / 15 < found["accuracy"]["high"]
    assert [scored["answers"][name] for name in first[5:]] == [None] * 5
    assert scored["answers"].keys() == answers.keys()


def test_people_read_both_readings(copy_of):
    folder = copy_of()
    printed = command(folder, gold(folder, "coarse"))
    lines = [line.split() for line in printed.splitlines()]
    assert ["official", "fixed/all,", "printed,", "attitude,", "f1_mean", "1.000000"] in lines
    assert ["repaired", "Attitude,", "f1,", "value", "1.000000"] in lines


@pytest.mark.parametrize(
    ("answers", "options", "told"),
    [
        ({"batch-1/00000000/99": "No"}, {}, "which is not a question of OpenToM's coarse part"),
        ({"batch-6/00000000/0": "No"}, {"part": "fine"}, "which is not a question of OpenToM's fine part"),
        ({"batch-1/00000000/0": 1}, {}, "the answer is not a text"),
        ([], {}, "holds no answers"),
    ],
)
def test_what_is_no_answer_is_refused(copy_of, answers, options, told):
    with pytest.raises(CommandError, match=told):
        command(copy_of(), answers, **options)
