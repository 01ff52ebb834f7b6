"""What each method makes of a question."""

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
from benchmark.methods.contract import PEOPLE, PERCEIVERS, Put, Scene
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
from benchmark.methods.program import METHODS as ALL
from benchmark.methods.program import (
    method_named,
    method_setting,
    methods_for,
    program_of,
    request_by,
    steps_with,
    wording_digest,
)
from benchmark.suites.percept_tomi.parsing import NO_OUTPUT
from benchmark.suites.questions import Question, Sample, Step
from benchmark.suites.registry import suite_named
from benchmark.suites.settings import Settings
from tests.benchmark.controls.test_gold_follows import LOADED, Dataset
from tests.benchmark.suites.phrasings import settings_of

METHODS = (PLAIN, COT, SELF_ASK, S2A, SIMTOM, PERCEPTOM, ORACLE_PERCEPTION)
SCENES = (
    Scene("Ines put the key in the box.", ("Ines", "Bo")),
    Scene("Bo left.", ("Ines", "Bo")),
    Scene("Ines moved the key to the drawer.", ("Ines",)),
)
ASKED = ("Where does Bo look for the key?", "Answer with the place alone.")
PUT = Put(" ".join(scene.text for scene in SCENES), *ASKED, people=("Bo",), scenes=SCENES, system="You read closely.")
STEPS = steps_with(METHODS, Step("answer", "Answering"))
SETTINGS = Settings(seed=3, max_tokens=50)
UNASKED = "was not asked for, as who perceives what cannot be read"


def asked(method, step="answer", put=PUT, **answers):
    earlier = {key.replace("_", "-"): text for key, text in answers.items()}
    question = Question(Sample("1", "1", {}, {}), step, SETTINGS, None, earlier)
    return request_by(method, question, put, {"kind": "place"})


def text_of(request):
    assert [message.role for message in request.messages] == ["system", "user"]
    return request.messages[1].content


def test_every_method_is_a_choice_with_its_steps_before_the_answer_and_words_of_its_own():
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
    digests = {wording_digest([method]) for method in METHODS}
    assert len(digests) == len(METHODS) and wording_digest(METHODS) == wording_digest(list(METHODS))
    names = [method.name for method in ALL]
    for needs, found in (
        ((PEOPLE, PERCEIVERS), names),
        ((PEOPLE,), names[:-1]),
        ((), ["plain", "cot", "self-ask", "s2a"]),
    ):
        assert [method.name for method in methods_for(*needs)] == found


def test_every_method_asks_the_question_once_its_steps_are_answered():
    for method in METHODS:
        answers = {step.key: json.dumps([{"Bo left.": ["Bo"]}]) for step in method.steps}
        for step in method.steps:
            text = text_of(asked(method, step.key))
            assert PUT.story in text and PUT.how not in text
        request = asked(method, **answers)
        assert PUT.question in text_of(request) and PUT.how in text_of(request)
        assert (request.max_tokens, request.seed, request.temperature, request.task) == (50, 3, 0.0, {"kind": "place"})
        # who computes an answer has no earlier one, and is asked all the same
        assert PUT.question in text_of(asked(method))
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


def test_an_answer_rests_on_the_extract_what_the_person_knows_or_what_it_perceived_alone():
    assert "Copy out of the text above what matters" in text_of(asked(S2A, EXTRACT))
    text = text_of(asked(S2A, **{EXTRACT: " Ines put the key in the box. \n"}))
    assert text.startswith("Ines put the key in the box.\n\nQuestion:") and "drawer" not in text
    assert "does Bo know about" in text_of(asked(SIMTOM, PERSPECTIVE))
    text = text_of(asked(SIMTOM, **{PERSPECTIVE: "The key is in the box."}))
    assert "You are Bo." in text and "The key is in the box." in text and "drawer" not in text
    facts = asked(SIMTOM, PERSPECTIVE, Put(PUT.story, "Where is the key?", ""))
    assert "know" not in facts.messages[0].content, "nobody is asked about"
    told = json.dumps([{scene.text: list(scene.perceivers)} for scene in SCENES])
    second = Put(PUT.story, "Where does Ines think that Bo looks?", "", people=("Ines", "Bo"), scenes=SCENES)
    for method in [PERCEPTOM, ORACLE_PERCEPTION]:
        text = text_of(asked(method, **{PERCEIVE: f"Here it is:\n```json\n{told}\n```"}))
        assert "Bo knows about" in text and "Ines put the key in the box. Bo left." in text and "drawer" not in text
        text = asked(method, put=second, **{PERCEIVE: told}).messages[0].content
        assert "Ines thinks Bo knows about" in text and "drawer" not in text


def test_an_array_of_perceptions_ends_where_its_first_list_of_objects_ends():
    scenes = [{"a": ["Bo"]}, {"b": []}]
    assert array_in('so: [ {"a": ["x"]}, {"b": []} ] and [{"c": 1}]') == '[ {"a": ["x"]}, {"b": []} ]'
    assert array_in('[{"a": 1') == '[{"a": 1' and array_in("[]") == ""
    for answer, perceptions in (
        ("[{'a': ['Bo']}]", scenes[:1]),
        (f"Here it is:\n```json\n{json.dumps(scenes, indent=2)}\n```\nThat is [all].", scenes),
        ("[]", []),
        ("[\n]\n", []),
    ):
        assert perceptions_of(answer) == perceptions
    assert "about, in order:\n\n\n" in text_of(asked(PERCEPTOM, **{PERCEIVE: "[]"}))
    for answer in ["I cannot say.", "", '[{"a": ["Bo"]', '[{"a": ["Bo"]}, ["b"]]', '[{"a": __import__("os")}]']:
        assert perceptions_of(answer) is None
        request = asked(PERCEPTOM, **{PERCEIVE: answer})
        assert request.preset_answer == INVALID
        assert text_of(request).startswith("(Nothing is asked. The answer was not asked for")
    for answer, perceptions in (  # repaired, a list may have a name
        (json.dumps({"perceptions": scenes}), scenes),
        ('[{"a": []}] Rather: ' + json.dumps({"final": scenes}), scenes),
        ('{"a": ["Bo"]}', scenes[:1]),
        ('{"a": []}', [{"a": []}]),
    ):
        assert repaired_perceptions(answer) == perceptions
    # perceivers may be a text, and only the first key counts
    perceptions = [{"a": "Bo and Ines", "b": ["Bo"]}, {"c": 7}, {"d": ["Ines"]}, {}]
    assert perceived_by(perceptions, ["Bo"]) == perceived_by(perceptions, ["Ines", "Bo"]) == ["a"]


def test_a_question_is_asked_after_the_first_one_and_its_answer():
    joint = in_session("place")
    before = replace(PUT, question="Is it where it was?", how="Yes or no.")
    both = replace(PUT, before=before)
    first = asked(joint, FIRST, both)
    # the first question is the call that it is by itself, and so is a question before which none goes
    assert first.messages == asked(PLAIN, put=before).messages
    assert asked(joint, FIRST) == asked(joint, **{FIRST: "Yes."})
    then = asked(joint, put=both, **{FIRST: "Yes."})
    assert [message.role for message in then.messages] == ["system", "user", "assistant", "user"]
    assert then.messages[:2] == first.messages and then.messages[2].content == "Yes."
    assert then.messages[3].content == f"Question: {PUT.question}\n{PUT.how}"


@pytest.mark.parametrize("name", ["opentom", "fantom", "percept-tomi", "percept-fantom"])
def test_nothing_is_sent_of_perceptions_that_cannot_be_read_and_the_repaired_parse_says_why(
    name, tmp_path, monkeypatch
):
    suite = suite_named(name)
    samples = LOADED[name](tmp_path, monkeypatch)
    settings = settings_of(suite, method="perceptom")
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
