"""Thoughts in answers, over HTTP, in imported files and in score_outputs: what is left is read, and the ledger keeps
the thought. That what is behind a thought is the text without it tests/workers/providers/test_reading.py shows."""

import json

import pytest
from django.core.management import call_command

from benchmark.models import RunItem
from benchmark.services.reports import scores_of
from benchmark.suites.omnitom.labels import DIMENSIONS
from benchmark.suites.registry import suite_named
from core.incoming.thoughts import without_thoughts
from tests.benchmark.evaluation import OracleWorld, generated
from tests.benchmark.test_imported_answers import MODEL, bring, cast  # noqa: F401 fixtures
from tests.benchmark.tiny_copies import RIGHT
from tests.marked import MARKS, UNCLOSED
from workers.models import Call
from workers.providers.contract import UNCLOSED as WITHIN_REASONING

SKILLS = {"model": {"recall": 0.8, "invented": 0.2, "accuracy": dict.fromkeys(DIMENSIONS, 0.8)}, "judge": {}}


@pytest.mark.django_db(transaction=True)
def test_a_server_that_leaves_thoughts_in_the_text_scores_as_one_that_does_not(tmp_path, server):
    world = OracleWorld(tmp_path, generated(4), server, SKILLS)
    table = "Actor | Belief | Order\nworld | a draft | 0"
    for answer_format, draft in (("text", table), ("structured", '{"rows": [{"id": 1, "order": "0"}]}')):
        plain = world.run(answer_format=answer_format)
        server.control(before=f"<think>\n{draft}\nNo.\n</think>\n")
        thinking = world.run(answer_format=answer_format, max_tokens=4_001)
        server.control(before="")
        assert scores_of(thinking) == scores_of(plain)
        calls = Call.objects.filter(items__job=thinking.job)
        assert calls.exists() and {call.reasoning for call in calls} == {f"{draft}\nNo."}
        assert not any("think>" in call.answer for call in calls)


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_imported_answers_leave_their_thoughts_at_the_door(bring):  # noqa: F811
    thoughts = {f"sum-{at}": form for at, form in enumerate(MARKS.values())}
    answers = {
        name: thoughts.get(name, UNCLOSED["think"]).format(thought="1 or 2", answer=right)
        for name, right in RIGHT.items()
    }
    bring(answers, *MODEL)
    items = {item.sample.key: item for item in RunItem.objects.select_related("sample", "call")}
    assert {key: item.call.answer for key, item in items.items()} == {
        name: without_thoughts(text) for name, text in answers.items()
    }
    for name, item in items.items():
        assert "1 or 2" in item.call.reasoning and (item.call.problem == WITHIN_REASONING) == (name not in thoughts)
        expected = (1.0, False) if name in thoughts else (None, True)
        assert (item.repaired_score, bool(item.unreadable)) == expected, name


def _scored(suite: str, data, answers, tmp_path, **options) -> dict:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(answers))
    return suite_named(suite).released.score(data, file, **options).as_json()


DATA = {
    "opentom": "data/OpenToM", "fantom": "vectors/fantom/fantom_mini.json", "percept-tomi": "data/Percept-ToMi",
    "percept-fantom": "vectors/fantom/fantom_mini.json", "tombench": "data/ToMBench",
}  # fmt: skip
CASES = [
    ("opentom", lambda vectors: vectors["runs"]["coarse"]["random_seed23"]),
    ("fantom", lambda vectors: next(run for name, run in vectors["models"].items() if "random" in name)),
    ("percept-tomi", lambda vectors: vectors["perc_inf"]["random_seed13"]),
    ("percept-tomi", lambda vectors: vectors["qa"]["omniscient"]),
    ("percept-fantom", lambda vectors: _first_of_each_part(vectors["perc_inf"]["random_seed17"])),
    ("percept-fantom", lambda vectors: vectors["qa"]["random_seed7"]),
    ("tombench", lambda vectors: vectors["runs"]["en"]["random_seed29"]),
]


def _first_of_each_part(case: dict) -> dict:
    return {"model_answers": {part: texts[0] for part, texts in case["model_answers_by_part"].items()}}


def test_score_outputs_reads_the_file_officially_and_the_rest_repaired(shared, tmp_path):
    forms = list(MARKS.values())
    for name, case in CASES:
        vectors = (shared / "vectors" / name.replace("-", "") / "vectors.json").read_text()
        answers = case(json.loads(vectors))["model_answers"]
        options = {"perceivers": str(shared / "data" / "Percept-FANToM")} if name == "percept-fantom" else {}
        marked = {
            key: forms[at % len(forms)].format(thought='no, yes, [[B]], [{"a": ["b"]}], basket, box', answer=text)
            for at, (key, text) in enumerate(answers.items())
        }
        plain, thinking = (
            _scored(name, shared / DATA[name], texts, tmp_path, **options)
            for texts in ({key: text.strip() for key, text in answers.items()}, marked)
        )
        assert thinking["repaired"] == plain["repaired"], name
        assert thinking["official"] != plain["official"], name


def test_score_outputs_of_omnitom_does_the_same_and_parse_outputs_reads_the_text_as_it_stands(tmp_path, capsys):
    data = tmp_path / "records.jsonl"
    belief = {"actor": "Ines", "belief": "It rains", "labels": {"order": "1"}}
    data.write_text(json.dumps({"story_id": 7, "story_category": "Hinting", "story": "It rains.", "beliefs": [belief]}))
    labels = "Actor | Belief | Order\nInes | It rains | 1"
    thought = "<think>\nInes | It rains | 2 | a | b | c | d | e | f\n</think>\n"
    row = "Ines | It rains | 1 | a | b | c | d | e | f"
    plain, thinking, unclosed = (
        _scored("omnitom", data, {"7": {"label": text, "extract": labels}}, tmp_path)
        for text in (row, thought + row, thought.replace("</think>", "") + row)
    )
    assert thinking["repaired"] == plain["repaired"]
    assert thinking["official"] != plain["official"]
    assert unclosed["repaired"]["stage2"]["stories"][0]["unreadable"]
    file = tmp_path / "texts.jsonl"
    file.write_text(json.dumps({"id": 1, "text": "<think>Bo | a draft | 1\n</think>Ines | It rains | 1"}))
    call_command("parse_outputs", "extract", file)
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 2
