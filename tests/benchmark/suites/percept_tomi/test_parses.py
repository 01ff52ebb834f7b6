"""Copies that are refused, answers as both parses take them, prompts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmark.suites.copies import BadImport
from benchmark.suites.perceiving.asking import METHODS
from benchmark.suites.perceiving.perceptions import ACCURACY, RECALL, WHOLE
from benchmark.suites.percept_tomi import data
from benchmark.suites.percept_tomi.data import load
from benchmark.suites.percept_tomi.parsing import (
    NONE,
    SEVERAL,
    named_place,
    official_right,
    official_shares,
    repaired_shares,
)
from benchmark.suites.percept_tomi.steps import parse, request
from benchmark.suites.questions import Question
from benchmark.suites.reasons import REFUSED, UNKNOWING
from benchmark.suites.settings import Settings
from tests.benchmark.suites.percept_tomi import own

CHANGED = {
    "qTypeRaw": ("third_order", "Percept-ToMi.csv, line 2, qTypeRaw: it is 'third_order' beside"),
    "story": ("['a' for _ in 'bc']", "line 2, story: it is .*; expected a Python list"),
    "perceivers": ("[['Bo']]", "line 2, perceivers: their number is 1; expected 7"),
    "story_with_perceivers": ("[{'a': ['b']}]", "line 2, story_with_perceivers: it differs"),
    "cands": ("[1]", "line 2, cands: there is something else in it"),
    "answer": ("shelf", "line 2, answer: it is 'shelf'; expected one of the candidates"),
    "question": ("Who is it?", "line 2, question: it is 'Who is it\\?'"),
    "char1": (" ", "line 2, char1: it is empty"),
    "char2": ("Bo", "line 2, char2: it is 'Bo'; expected a name in questions of second order alone"),
    "index": ("a1", "line 2, index: it is 'a1'"),
}


def test_a_cell_that_cannot_be_is_refused_with_its_line(tmp_path):
    for column, (cell, told) in CHANGED.items():
        rows = own.rows()
        rows[0][column] = cell
        with pytest.raises(BadImport, match=told):
            load(own.write(tmp_path, rows))


def test_a_file_that_cannot_be_is_refused(tmp_path, monkeypatch):
    with pytest.raises(BadImport, match=r"Percept-ToMi.csv is missing in"):
        load(tmp_path)
    with pytest.raises(BadImport, match=r"line 1: there is no column cands"):
        load(own.write(tmp_path, columns=tuple(name for name in data.COLUMNS if name != "cands")))
    (tmp_path / data.FILE).write_bytes(b"index\n\xff")
    with pytest.raises(BadImport, match=r"Percept-ToMi.csv, line 2: byte 6 is not UTF-8; expected text in UTF-8"):
        load(tmp_path)
    own.write(tmp_path)
    with (tmp_path / data.FILE).open("a") as file:
        file.write("1,2\n")
    with pytest.raises(BadImport, match=r"line 18 next to it has too few cells"):
        load(tmp_path)
    with pytest.raises(BadImport, match=r"the number of questions of type first_order_0_tom is 2; expected 75"):
        load(own.write(tmp_path))
    twice = [*own.rows()[:-1], own.rows()[0]]
    with pytest.raises(BadImport, match=r"line 17: the index 0 is that of line 2 too"):
        load(own.write(tmp_path, twice))
    monkeypatch.setattr(data, "ROWS_OF_EACH", 2)
    with pytest.raises(BadImport, match=r"is not the released file: its SHA-256 begins with"):
        load(own.write(tmp_path))
    stranger = own.rows()
    for name in ("story", "story_with_perceivers"):
        stranger[0][name] = str(stranger[0][name]).replace("exited", "fled")
    own.released(monkeypatch, own.write(tmp_path, stranger))
    with pytest.raises(BadImport, match=r"line 2, story: .* is of none of the forms of ToMi's sentences"):
        load(tmp_path)


def test_a_copy_is_read(tmp_path, monkeypatch):
    own.released(monkeypatch, own.write(tmp_path))
    (tmp_path / "LICENSE").write_text("Ours.")
    copy = load(tmp_path)
    assert copy == load(tmp_path / data.FILE) and copy.licence == "Ours." and len(copy.samples) == 16
    first = copy.samples[0]
    assert (first.key, first.cluster, first.category) == ("0", "story-0", "First order, false belief")
    assert first.content["containers"] == ["oven", "jar"] and first.content["people"] == ["Nour"]
    assert len({sample.cluster for sample in copy.samples}) == 4
    without = tmp_path / "without"
    without.mkdir()
    assert "CC BY-NC 4.0" in load(own.write(without)).licence


def test_places_are_read_in_whole_words_and_one_at_a_time():
    containers, candidates = ("jar", "glove box"), ("jar", "glove box", "box", "kitchen")
    for answer, official, place, why in (
        ("In the jar.", True, "jar", ""),
        ("JAR", False, "jar", ""),
        ("It is ajar.", True, None, NONE),
        ("Either the jar or the glove box.", True, None, SEVERAL),
        ("the glove-box", False, "glove box", ""),
        ("In the jar in the kitchen", True, "jar", ""),
        ("In the kitchen", False, "kitchen", ""),
        ("I do not know", False, None, UNKNOWING),
        ("In the crate.", False, "crate", ""),
        ("Nour will look in the crate because it was there.", False, "crate", ""),
        ("**Crate**", False, "Crate", ""),
        ("Nour will look in the jar, not in the glove box.", True, "jar", ""),
        ("In the jar, because nobody saw it moved to the glove box.", True, "jar", ""),
        ("It is cannot be determined.", False, "It is cannot be determined.", ""),
        ("I can't help with that.", False, None, REFUSED),
        ("I'm sorry, but I can't say whether it is in the jar.", True, None, UNKNOWING),
        ("I cannot answer questions about a jar or a glove box.", True, None, REFUSED),
        ("I'm sorry, but it is in the jar.", True, "jar", ""),
        ("In the", False, None, NONE),
        ("In the glov", False, None, NONE),
        ("", False, None, NONE),
    ):
        assert official_right(answer, "jar") is official, answer
        assert named_place(answer, containers, candidates) == (place, why), answer
    assert official_right("no output", "jar") is None


STORY = [
    "Ines entered the hall",
    "The pen is in the box",
    "Bo likes the gloves",
    "The pen is in the box",
    "Ines moved the gloves to the bag",
]
PERCEIVERS = [["Ines"], ["Ines"], ["Bo"], ["Ines", "Bo"], [""]]


def test_perceptions_are_counted_over_what_was_written_and_over_the_story():
    def shares(text):
        return official_shares(text, STORY, PERCEIVERS), repaired_shares(text, STORY, PERCEIVERS)

    # three sentences are scored; officially the one with gloves is not, equal sentences are one, and the last
    # perceivers count for it
    complete = (
        '[{"The pen is in the box.": ["ines"]}, {"The pen is in the box.": ["Bo", "Ines"]}, {"Ines moved the '
        'gloves to the bag": []}]'
    )
    official, repaired = shares(complete)
    assert official == {ACCURACY: 1 / 2, RECALL: 1.0, WHOLE: 0.0}
    assert repaired == {ACCURACY: 1.0, RECALL: 1.0, WHOLE: 1.0}
    official, repaired = shares('[{"The pen is in the box": ["Bo", "Ines"]}]')
    assert official == {ACCURACY: 1.0, RECALL: 1.0, WHOLE: 1.0}
    assert repaired == {ACCURACY: 0.0, RECALL: 0.0, WHOLE: 0.0}  # it is the first of two
    official, repaired = shares('[{"The pen is in the box": "Ines"}, {"The cat sleeps": ["Ines"]}]')
    assert official == {ACCURACY: 0.0, RECALL: 0.0, WHOLE: 0.0}
    assert repaired == {ACCURACY: 1 / 2, RECALL: 1 / 3, WHOLE: 0.0}
    assert shares("[]") == (None, {ACCURACY: None, RECALL: 0.0, WHOLE: 0.0})
    assert shares("I cannot.") == (None, None) and shares('[{"The pen is in the box": 3}]')[0] is None
    assert shares('[{"Ines entered the hall": ["Ines"]}]')[0] is None


class Resources:
    prompts = schema = None

    def __init__(self, samples):
        self.samples = samples

    def derived(self, name, compute):
        return compute(self.samples)


def _chosen(question: Question, **options: str) -> Settings:
    return replace(question.settings, options={**question.settings.options, **options})


@pytest.fixture
def question(tmp_path, monkeypatch):
    own.released(monkeypatch, own.write(tmp_path))
    samples = load(tmp_path).samples
    settings = Settings({"method": "plain", "story": "prose"}, max_tokens=50)
    return Question(samples[0], "answer", settings, Resources(samples))


def test_questions_about_one_story_share_the_call_on_perceptions(question):
    about = [sample for sample in question.resources.samples if sample.cluster == question.sample.cluster]
    requests = [request(replace(question, sample=sample, step="perceptions")) for sample in about]
    assert len(about) > 1 and all(one == requests[0] for one in requests)
    assert request(replace(question, step="perceive")) == requests[0]  # the method's own step is the same call
    answers = {request(replace(question, sample=sample)).messages for sample in about}
    assert len(answers) == len({sample.content["question"] for sample in about}) == 2


def test_the_story_is_prose_or_a_list_and_beliefs_rest_on_the_true_perceivers(question):
    text = request(question).messages[0].content
    assert text.startswith("Ines entered the kitchen. Nour entered the kitchen.")
    listed = request(replace(question, settings=_chosen(question, story="list"))).messages[0].content
    assert listed.startswith("['Ines entered the kitchen', ")
    belief = request(replace(question, step="belief")).messages[0].content
    assert '{"The key is in the oven.": ["Ines", "Nour"]}' in belief and "Where will Nour look for the key?" in belief
    answers = {
        "perceive": '[{"The key is in the oven.": ["Nour"]}, {"Ines moved the key to the jar.": ["Ines"]}]',
        "s2a-extract": "x",
        "simtom-perspective": "y",
    }
    for method in METHODS:
        asked = request(replace(question, settings=_chosen(question, method=method.name), answers=answers))
        assert "Where will Nour look for the key?" in asked.messages[0].content
        if "perception" in method.name or method.name == "perceptom":
            assert "jar" not in asked.messages[0].content


def test_an_answer_has_both_readings(question):
    parsed = parse(question, "Either the oven or the jar.")
    assert parsed.official == {"right": True} and parsed.repaired == {"place": None} and parsed.unreadable == SEVERAL
    parsed = parse(replace(question, step="perceptions"), "nobody")
    assert parsed.official is None and parsed.score is None and parsed.unreadable
