"""Answers as both parses take them, perceptions, prompts."""

from __future__ import annotations

import json

import pytest

from benchmark.suites.perceiving.asking import METHODS
from benchmark.suites.perceiving.perceptions import ACCURACY, RECALL, WHOLE
from benchmark.suites.percept_fantom.data import load
from benchmark.suites.percept_fantom.parsing import listing_in, official_shares, repaired_shares
from benchmark.suites.percept_fantom.steps import expected, parse, request
from benchmark.suites.questions import Question
from benchmark.suites.settings import Settings
from tests.benchmark.suites.percept_fantom import own
from tests.benchmark.suites.percept_tomi.test_parses import Resources

UTTERANCES = ["Una: It's late.", "Everyone: Hello!", "Una and Vic: Right.", "Tom, Vic: It's late."]
HEARD = [["Una", "Vic"], ["Una", "Vic"], ["Una", "Vic"], ["Tom", "Vic"]]


def shares(*told):
    text = json.dumps([dict([pair]) for pair in told])
    return official_shares(text, UTTERANCES, HEARD), repaired_shares(text, UTTERANCES, HEARD)


def test_the_speaker_is_left_out_and_repeated_words_are_taken_in_their_order():
    # "It's late." is in the first utterance and in the last; officially both are held against the first
    both = shares(("Una: It's late.", ["Vic"]), ("Tom, Vic: It’s late!", ["Tom"]))
    assert both == ({ACCURACY: 0.5, RECALL: 0.25, WHOLE: 0.0}, {ACCURACY: 1.0, RECALL: 0.5, WHOLE: 0.0})
    # of what everybody says all perceivers are speakers, of "Una and Vic" officially nobody is
    both = shares(("Everyone: Hello!", []), ("Una and Vic: Right.", ["Una", "Vic"]))
    assert both == ({ACCURACY: 1.0, RECALL: 0.5, WHOLE: 1.0}, {ACCURACY: 1.0, RECALL: 0.5, WHOLE: 0.0})
    # without its speaker an utterance is officially empty, and the first one; a text is its letters
    assert shares(("Right.", ["Una", "Vic"])) == (
        {ACCURACY: 1.0, RECALL: 0.25, WHOLE: 1.0},
        {ACCURACY: 1.0, RECALL: 0.25, WHOLE: 0.0},
    )
    assert shares(("Una: It's late.", "vic, una")) == (
        {ACCURACY: 0.0, RECALL: 0.0, WHOLE: 0.0},
        {ACCURACY: 1.0, RECALL: 0.25, WHOLE: 0.0},
    )
    # what is no list of names counts officially as not written
    assert shares(("Una: It's late.", ["Vic"]), ("Everyone: Hello!", 3))[0][ACCURACY] == 1.0
    assert shares(("Una: It's late.", 3))[0] is None and official_shares("No.", UTTERANCES, HEARD) is None
    assert repaired_shares("[]", UTTERANCES, HEARD) == {ACCURACY: None, RECALL: 0.0, WHOLE: 0.0}
    assert official_shares("[]", UTTERANCES, HEARD) is None and repaired_shares("No.", UTTERANCES, HEARD) is None


def test_a_list_is_what_stands_between_its_only_brackets():
    for answer, listing in (
        ("They are [Ida, Ole], not Bea.", "[Ida, Ole]"), ("Ida, Ole", "Ida, Ole"), ("[Ida] and [Ole]", "[Ida] and [Ole]"),  # noqa: E501
        ("] Ida [", ""), ("[Ida, Ole", "[Ida, Ole"), ("[]", "[]"),
    ):  # fmt: skip
        assert listing_in(answer) == listing


@pytest.fixture
def question(tmp_path, monkeypatch):
    """Make the question of a sample, by the method that is named."""
    own.released(monkeypatch, own.write(tmp_path))
    samples = {sample.key: sample for sample in load(tmp_path).samples}

    def make(key: str, step: str = "answer", method: str = "plain", **answers: str) -> Question:
        settings = Settings({"method": method}, max_tokens=50)
        return Question(samples[key], step, settings, Resources([*samples.values()]), answers)

    return make


def text_of(question) -> str:
    return request(question).messages[-1].content


def test_an_answer_has_both_readings(question):
    for key, answer, official, repaired in (
        ("1-0-0/answerability/list", "They are [Ida, Ole], not Bea.", 1.0, 1.0),
        ("1-0-0/answerability/list", "[]", 0.0, 0.0),
        ("1-0-0/answerability/list", "I cannot say.", 0.0, None),
        ("2-0-0/belief0/choice", "Both (a) and (b)", 1.0, None),
        ("1-0-0/info_accessibility/yn/Bea", "Nobody told her", 1.0, None),
        ("1-0-0/info_accessibility/yn/Bea", "The answer is no", 0.0, 1.0),
        ("1-0-0/belief0/choice", "invalid perception inference response", 0.0, None),
    ):
        for step in ("answer", "belief"):
            parsed = parse(question(key, step), answer)
            assert (parsed.score, parsed.repaired_score, bool(parsed.unreadable)) == (
                official,
                repaired,
                repaired is None,
            ), answer
    told = parse(question("1-0-0/belief0/choice", method="cot"), "It is (a), no, wait.\nFinal answer: (b)")
    assert told.repaired["said"] == 1
    told = parse(question("1-0-0/belief0/choice", "perceptions"), "nobody")
    assert told.official is None and told.unreadable == "holds no array of utterances and perceivers"


def test_what_a_perfect_model_answers_is_right(question):
    for key in ("1-1-0/belief0/choice", "1-0-0/info_accessibility/list", "1-0-0/answerability/yn/Bea"):
        for step in ("perceptions", "belief", "answer"):
            asked = question(key, step)
            parsed = parse(asked, expected(asked))
            assert (parsed.score, parsed.repaired_score) == (1.0, 1.0), (key, step)


def test_questions_about_one_conversation_share_the_call_on_perceptions(question):
    keys = ("1-0-0/belief0/choice", "1-0-0/answerability/list", "1-1-0/belief0/choice")
    asked = [request(question(key, "perceptions")) for key in keys]
    assert asked[0] == asked[1] and asked[0] == request(question(keys[0], "perceive", "perceptom"))
    assert asked[0].task["sentences"][2] == "Ole: The pears in my garden are ripe."


def test_beliefs_rest_on_the_true_perceivers(question):
    told = text_of(question("1-0-0/belief0/choice", "belief"))
    assert (
        '{"Ole: The pears in my garden are ripe.": ["Ida", "Ole"]}' in told and "utterances of a conversation" in told
    )
    assert "What does Bea believe about the pears of Ole?\n(a) " in told


def test_perspectives_hold_what_was_heard(question):
    heard = json.dumps(
        [
            {text: names}
            for text, names in zip(
                ["Bea: I must fetch my bike.", "Ole: The pears."], [["Bea", "Ida"], ["Ida"]], strict=True
            )
        ]
    )
    answers = {"perceive": heard, "s2a-extract": "x", "simtom-perspective": "y"}
    for method in METHODS:
        told = text_of(question("1-1-0/belief0/choice", method=method.name, **answers))
        assert "What does Ida believe that Bea thinks about the ladder?" in told
        if method.name in ("perceptom", "oracle-perception"):
            assert "Ida thinks Bea knows about" in told and "fetch my bike" in told and "pears" not in told
    for method in ("perceptom", "oracle-perception"):  # a list is asked about everybody's perspective
        told = text_of(question("1-0-0/answerability/list", method=method, **answers))
        blocks = told.split("This is what ")[1:]
        assert [block.split(" ")[0] for block in blocks] == ["Bea", "Ida", "Ole"]
        assert "pears" in blocks[1] and "pears" not in blocks[0]
    unasked = request(question("1-0-0/answerability/list", method="perceptom", perceive="none"))
    assert unasked.preset_answer == "invalid perception inference response"
