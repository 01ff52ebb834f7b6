"""Copies that are refused, answers as both parses take them, prompts."""

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
from tests.benchmark.suites.phrasings import Resources


def test_a_copy_that_is_missing_or_changed_is_refused(tmp_path):
    for told in ("Percept-ToMi.csv is missing in", "Percept-ToMi.csv is not the released file: its SHA-256 begins"):
        with pytest.raises(BadImport, match=told):
            load(tmp_path)
        own.write(tmp_path)


def test_a_copy_is_read(tmp_path, monkeypatch):
    own.released(monkeypatch, own.write(tmp_path))
    assert "CC BY-NC 4.0" in load(tmp_path).licence
    (tmp_path / "LICENSE").write_text("Ours.")
    copy = load(tmp_path)
    assert copy == load(tmp_path / data.FILE) and copy.licence == "Ours." and len(copy.samples) == 16
    first = copy.samples[0]
    assert (first.key, first.cluster, first.category) == ("0", "story-0", "First order, false belief")
    assert first.content["containers"] == ["oven", "jar"] and first.content["people"] == ["Nour"]
    assert len({sample.cluster for sample in copy.samples}) == 4


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
        both = official_shares(text, STORY, PERCEIVERS), repaired_shares(text, STORY, PERCEIVERS)
        return [told and tuple(told[share] for share in (ACCURACY, RECALL, WHOLE)) for told in both]

    # three sentences are scored; officially the one with gloves is not, equal sentences are one, and the last
    # perceivers count for it
    twice = '{"The pen is in the box.": ["ines"]}, {"The pen is in the box.": ["Bo", "Ines"]}'
    assert shares(f'[{twice}, {{"Ines moved the gloves to the bag": []}}]') == [(1 / 2, 1.0, 0.0), (1.0, 1.0, 1.0)]
    once = '[{"The pen is in the box": ["Bo", "Ines"]}]'  # it is the first of two
    assert shares(once) == [(1.0, 1.0, 1.0), (0.0, 0.0, 0.0)]
    other = '[{"The pen is in the box": "Ines"}, {"The cat sleeps": ["Ines"]}]'
    assert shares(other) == [(0.0, 0.0, 0.0), (1 / 2, 1 / 3, 0.0)]
    assert shares("[]") == [None, (None, 0.0, 0.0)] and shares("I cannot.") == [None, None]
    assert shares('[{"The pen is in the box": 3}]')[0] is shares('[{"Ines entered the hall": ["Ines"]}]')[0] is None


@pytest.fixture
def question(tmp_path, monkeypatch):
    samples = load(own.released(monkeypatch, own.write(tmp_path))).samples
    settings = Settings({"method": "plain", "story": "prose"}, max_tokens=50)
    return Question(samples[0], "answer", settings, Resources(samples))


def sent(question: Question, answers=None, **options: str) -> str:
    settings = replace(question.settings, options={**question.settings.options, **options})
    return request(replace(question, settings=settings, answers=answers or {})).messages[0].content


def test_questions_about_one_story_share_the_call_on_perceptions(question):
    about = [sample for sample in question.resources.samples if sample.cluster == question.sample.cluster]
    requests = [request(replace(question, sample=sample, step="perceptions")) for sample in about]
    assert len(about) > 1 and all(one == requests[0] for one in requests)
    assert request(replace(question, step="perceive")) == requests[0]  # the method's own step is the same call
    answers = {request(replace(question, sample=sample)).messages for sample in about}
    assert len(answers) == len({sample.content["question"] for sample in about}) == 2


def test_the_story_is_prose_or_a_list_and_beliefs_rest_on_the_true_perceivers(question):
    assert sent(question).startswith("Ines entered the kitchen. Nour entered the kitchen.")
    assert sent(question, story="list").startswith("['Ines entered the kitchen', ")
    belief = sent(replace(question, step="belief"))
    assert '{"The key is in the oven.": ["Ines", "Nour"]}' in belief and "Where will Nour look for the key?" in belief
    perceived = '[{"The key is in the oven.": ["Nour"]}, {"Ines moved the key to the jar.": ["Ines"]}]'
    answers = {"perceive": perceived, "s2a-extract": "x", "simtom-perspective": "y"}
    for method in METHODS:
        text = sent(question, answers, method=method.name)
        assert "Where will Nour look for the key?" in text
        assert "jar" not in text or method.name not in ("perceptom", "oracle-perception")


def test_an_answer_has_both_readings(question):
    parsed = parse(question, "Either the oven or the jar.")
    assert parsed.official == {"right": True} and parsed.repaired == {"place": None} and parsed.unreadable == SEVERAL
    parsed = parse(replace(question, step="perceptions"), "nobody")
    assert parsed.official is None and parsed.score is None and parsed.unreadable
