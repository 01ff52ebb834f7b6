"""What each method makes of a question."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmark.methods.answering import (
    COT,
    EXTRACT,
    FIRST,
    PERSPECTIVE,
    PLAIN,
    S2A,
    SELF_ASK,
    SIMTOM,
    final_answer,
    in_session,
)
from benchmark.methods.contract import Put, Scene
from benchmark.methods.perceptom import (
    INVALID,
    ORACLE_PERCEPTION,
    PERCEIVE,
    PERCEPTOM,
    array_in,
    perceived_by,
    perceptions_of,
    repaired_perceptions,
)
from benchmark.methods.program import method_named, method_setting, program_of, request_by, steps_with, wording_digest
from benchmark.suites.percept_tomi.parsing import NO_OUTPUT
from benchmark.suites.questions import Question, Sample, Step
from benchmark.suites.registry import suite_named
from benchmark.suites.settings import Settings
from tests.benchmark.controls.test_gold_follows import LOADED, Dataset

METHODS = (PLAIN, COT, SELF_ASK, S2A, SIMTOM, PERCEPTOM, ORACLE_PERCEPTION)
SCENES = (
    Scene("Ines put the key in the box.", ("Ines", "Bo")),
    Scene("Bo left.", ("Ines", "Bo")),
    Scene("Ines moved the key to the drawer.", ("Ines",)),
)
PUT = Put(
    story=" ".join(scene.text for scene in SCENES),
    question="Where does Bo look for the key?",
    how="Answer with the place alone.",
    people=("Bo",),
    scenes=SCENES,
    system="You read closely.",
)
STEPS = steps_with(METHODS, Step("answer", "Answering"))
SETTINGS = Settings(seed=3, max_tokens=50)


def asked(method, step="answer", put=PUT, **answers):
    question = Question(
        Sample("1", "1", {}, {}), step, SETTINGS, None, {key.replace("_", "-"): text for key, text in answers.items()}
    )
    return request_by(method, question, put, {"kind": "place"})


def text_of(request):
    assert [message.role for message in request.messages] == ["system", "user"]
    return request.messages[1].content


def test_every_method_is_a_choice_with_its_steps_before_the_answer():
    setting, program = method_setting(METHODS), program_of(METHODS, "answer")
    assert (setting.name, setting.default) == ("method", "plain")
    assert [name for name, _ in setting.choices] == [method.name for method in METHODS]
    for method in METHODS:
        assert setting.checked(method.name) == method.name and method.title in setting.in_words(method.name)
        steps = program({"method": method.name})
        assert steps == (*(step.key for step in method.steps), "answer") and set(steps) <= {step.key for step in STEPS}
        assert method_named(METHODS, Settings({"method": method.name})) is method
    assert program({}) == program({"method": "of tomorrow"}) == ("answer",)
    assert STEPS[-1].key == "answer" and set(STEPS[-1].after) == {PERSPECTIVE, EXTRACT, PERCEIVE}


def test_every_method_asks_the_question_once_its_steps_are_answered():
    for method in METHODS:
        answers = {step.key: json.dumps([{"Bo left.": ["Bo"]}]) for step in method.steps}
        for step in method.steps:
            request = asked(method, step.key)
            assert PUT.story in text_of(request) and PUT.how not in text_of(request)
        request = asked(method, **answers)
        assert PUT.question in text_of(request) and PUT.how in text_of(request)
        assert (request.max_tokens, request.seed, request.temperature, request.task) == (50, 3, 0.0, {"kind": "place"})
        # who computes an answer has no earlier one, and is asked all the same
        assert PUT.question in text_of(asked(method))


def test_plain_is_story_question_and_how_to_answer():
    assert text_of(asked(PLAIN)) == f"{PUT.story}\n\nQuestion: {PUT.question}\n{PUT.how}"


def test_what_comes_after_reasoning_is_the_answer():
    for answer, final in [
        ("Bo left early.\nFinal answer: the box", "the box"),
        ("**Final Answer:** [box]", "box"),
        ("Final answer: a\nNo.\nfinal answer : **b**", "b"),
        ("Bo left.\n\nThe box.\n", "The box."),
        ("box", "box"),
        ("", ""),
        ("Final answer:", ""),
    ]:
        assert final_answer(answer) == final == COT.read(answer) == SELF_ASK.read(answer)


def test_system_2_attention_shows_the_extract_alone():
    assert "Copy out of the text above what matters" in text_of(asked(S2A, EXTRACT))
    text = text_of(asked(S2A, **{EXTRACT: " Ines put the key in the box. \n"}))
    assert text.startswith("Ines put the key in the box.\n\nQuestion:") and "drawer" not in text


def test_simtom_asks_as_the_person_whose_knowledge_was_told():
    assert "does Bo know about" in text_of(asked(SIMTOM, PERSPECTIVE))
    text = text_of(asked(SIMTOM, **{PERSPECTIVE: "The key is in the box."}))
    assert "You are Bo." in text and "The key is in the box." in text and "drawer" not in text
    facts = Put(PUT.story, "Where is the key?", "")
    assert "know" not in text_of_facts(SIMTOM, facts, PERSPECTIVE)


def text_of_facts(method, put, step):
    return asked(method, step, put).messages[0].content


def test_perceptom_shows_what_the_person_perceived():
    for method in [PERCEPTOM, ORACLE_PERCEPTION]:
        told = json.dumps([{scene.text: list(scene.perceivers)} for scene in SCENES])
        text = text_of(asked(method, **{PERCEIVE: f"Here it is:\n```json\n{told}\n```"}))
        assert "Bo knows about" in text and "Ines put the key in the box. Bo left." in text and "drawer" not in text
        second = Put(PUT.story, "Where does Ines think that Bo looks?", "", people=("Ines", "Bo"), scenes=SCENES)
        request = asked(method, put=second, **{PERCEIVE: told})
        assert (
            "Ines thinks Bo knows about" in request.messages[0].content and "drawer" not in request.messages[0].content
        )


def test_a_list_of_perceptions_may_have_a_name():
    scenes = [{"a": ["Bo"]}, {"b": []}]
    assert repaired_perceptions(json.dumps({"perceptions": scenes})) == scenes
    assert repaired_perceptions('[{"a": []}] Rather: ' + json.dumps({"final": scenes})) == scenes
    assert repaired_perceptions('{"a": ["Bo"]}') == [{"a": ["Bo"]}]
    assert repaired_perceptions('{"a": []}') == [{"a": []}]


def test_perceptions_that_cannot_be_read_leave_nothing_to_ask():
    for answer in ["I cannot say.", "", '[{"a": ["Bo"]', '[{"a": ["Bo"]}, ["b"]]', '[{"a": __import__("os")}]']:
        assert perceptions_of(answer) is None
        request = asked(PERCEPTOM, **{PERCEIVE: answer})
        assert request.preset_answer == INVALID and text_of(request).startswith(
            "(Nothing is asked. The answer was not asked for"
        )


def test_an_array_ends_where_its_first_object_list_ends():
    assert array_in('so: [ {"a": ["x"]}, {"b": []} ] and [{"c": 1}]') == '[ {"a": ["x"]}, {"b": []} ]'
    assert array_in('[{"a": 1') == '[{"a": 1' and array_in("[]") == ""
    assert perceptions_of("[{'a': ['Bo']}]") == [{"a": ["Bo"]}]


def test_an_array_may_run_over_lines_or_be_empty():
    scenes = [{"a": ["Bo"]}, {"b": []}]
    assert perceptions_of(f"Here it is:\n```json\n{json.dumps(scenes, indent=2)}\n```\nThat is [all].") == scenes
    assert perceptions_of("[]") == perceptions_of("[\n]\n") == []
    assert "about, in order:\n\n\n" in text_of(asked(PERCEPTOM, **{PERCEIVE: "[]"}))


def test_perceivers_may_be_a_text_and_only_the_first_key_counts():
    perceptions = [{"a": "Bo and Ines", "b": ["Bo"]}, {"c": 7}, {"d": ["Ines"]}, {}]
    assert perceived_by(perceptions, ["Bo"]) == ["a"] and perceived_by(perceptions, ["Ines", "Bo"]) == ["a"]


def test_the_digest_changes_with_any_wording():
    digests = {wording_digest([method]) for method in METHODS}
    assert len(digests) == len(METHODS) and wording_digest(METHODS) == wording_digest(list(METHODS))


def test_a_question_is_asked_after_the_first_one_and_its_answer():
    joint = in_session("place")
    before = replace(PUT, question="Is it where it was?", how="Yes or no.")
    both = replace(PUT, before=before)
    question = Question(Sample("1", "1", {}, {}), FIRST, SETTINGS, None, {})
    first = request_by(joint, question, both, {"kind": "place"})
    # the first question is the call that it is by itself, and so is a question before which none goes
    assert first.messages == request_by(PLAIN, replace(question, step="answer"), before, {"kind": "place"}).messages
    assert request_by(joint, question, PUT, {"kind": "place"}) == asked(joint, **{"asked_first": "Yes."})
    then = request_by(joint, replace(question, step="answer", answers={FIRST: "Yes."}), both, {"kind": "place"})
    assert [message.role for message in then.messages] == ["system", "user", "assistant", "user"]
    assert then.messages[:2] == first.messages and then.messages[2].content == "Yes."
    assert then.messages[3].content == f"Question: {PUT.question}\n{PUT.how}"


PERCEIVING = ("opentom", "fantom", "percept-tomi", "percept-fantom")
UNASKED = "was not asked for, as who perceives what cannot be read"


@pytest.mark.parametrize("name", PERCEIVING)
def test_nothing_is_sent_and_the_repaired_parse_says_why(name, tmp_path, monkeypatch):
    suite = suite_named(name)
    samples = LOADED[name](tmp_path, monkeypatch)
    options = {setting.name: setting.default for setting in suite.settings} | {"method": "perceptom"}
    settings = Settings(options, seed=3, max_tokens=50)
    for sample in samples:
        question = Question(sample, "answer", settings, Dataset(samples), {PERCEIVE: "Everybody."})
        request = suite.request(question)
        assert request.preset_answer == (NO_OUTPUT if name == "percept-tomi" else INVALID)
        assert sample.content["question"] not in request.messages[-1].content  # no other question has these words
        parsed = suite.parse(question, request.preset_answer)
        assert (parsed.unreadable, parsed.repaired_score, parsed.repaired) == (UNASKED, None, {})
        readable = Question(sample, "answer", settings, Dataset(samples), {PERCEIVE: "[]"})
        assert suite.request(readable).preset_answer is None
        assert suite.parse(readable, suite.expected(readable)).unreadable == ""
