"""Answers as both parses take them, perceptions, prompts."""

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
from tests.benchmark.suites.phrasings import Resources

UTTERANCES = ["Una: It's late.", "Everyone: Hello!", "Una and Vic: Right.", "Tom, Vic: It's late."]
HEARD = [["Una", "Vic"], ["Una", "Vic"], ["Una", "Vic"], ["Tom", "Vic"]]
LATE, HELLO, RIGHT, AGAIN = UTTERANCES


def shares(*told) -> list[tuple | None]:
    """Accuracy, recall and whole, in both parses, of utterances with those who are said to hear them."""
    text = json.dumps([dict([pair]) for pair in told])
    both = official_shares(text, UTTERANCES, HEARD), repaired_shares(text, UTTERANCES, HEARD)
    return [found and tuple(found[share] for share in (ACCURACY, RECALL, WHOLE)) for found in both]


def test_the_speaker_is_left_out_and_repeated_words_are_taken_in_their_order():
    # "It's late." is in the first utterance and in the last; officially both are held against the first
    assert shares((LATE, ["Vic"]), ("Tom, Vic: It’s late!", ["Tom"])) == [(0.5, 0.25, 0.0), (1.0, 0.5, 0.0)]
    # of what everybody says all perceivers are speakers, of "Una and Vic" officially nobody is
    assert shares((HELLO, []), (RIGHT, ["Una", "Vic"])) == [(1.0, 0.5, 1.0), (1.0, 0.5, 0.0)]
    # without its speaker an utterance is officially empty, and the first one; a text is its letters
    assert shares(("Right.", ["Una", "Vic"])) == [(1.0, 0.25, 1.0), (1.0, 0.25, 0.0)]
    assert shares((LATE, "vic, una")) == [(0.0, 0.0, 0.0), (1.0, 0.25, 0.0)]
    # what is no list of names counts officially as not written
    assert shares((LATE, ["Vic"]), (HELLO, 3))[0][0] == 1.0 and shares((LATE, 3))[0] is None
    assert shares() == [None, (None, 0.0, 0.0)]
    assert official_shares("No.", UTTERANCES, HEARD) is repaired_shares("No.", UTTERANCES, HEARD) is None


def test_a_list_is_what_stands_between_its_only_brackets():
    same = ("Ida, Ole", "[Ida] and [Ole]", "[Ida, Ole", "[]")
    for answer, listing in (
        ("They are [Ida, Ole], not Bea.", "[Ida, Ole]"),
        ("] Ida [", ""),
        *zip(same, same, strict=True),
    ):
        assert listing_in(answer) == listing


@pytest.fixture
def question(tmp_path, monkeypatch):
    """Make the question of a sample, by the method that is named."""
    samples = {sample.key: sample for sample in load(own.released(monkeypatch, own.write(tmp_path))).samples}

    def make(key: str, step: str = "answer", method: str = "plain", **answers: str) -> Question:
        settings = Settings({"method": method}, max_tokens=50)
        return Question(samples[key], step, settings, Resources([*samples.values()]), answers)

    return make


def text_of(question) -> str:
    return request(question).messages[-1].content


def test_an_answer_has_both_readings_and_what_a_perfect_model_answers_is_right(question):
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
            assert (parsed.score, parsed.repaired_score) == (official, repaired), answer
            assert bool(parsed.unreadable) is (repaired is None)
    told = parse(question("1-0-0/belief0/choice", method="cot"), "It is (a), no, wait.\nFinal answer: (b)")
    assert told.repaired["said"] == 1
    told = parse(question("1-0-0/belief0/choice", "perceptions"), "nobody")
    assert told.official is None and told.unreadable == "holds no array of utterances and perceivers"
    for key in ("1-1-0/belief0/choice", "1-0-0/info_accessibility/list", "1-0-0/answerability/yn/Bea"):
        for step in ("perceptions", "belief", "answer"):
            asked = question(key, step)
            parsed = parse(asked, expected(asked))
            assert (parsed.score, parsed.repaired_score) == (1.0, 1.0), (key, step)


def test_questions_about_one_conversation_share_the_call_on_perceptions_and_beliefs_rest_on_true_ones(question):
    keys = ("1-0-0/belief0/choice", "1-0-0/answerability/list", "1-1-0/belief0/choice")
    asked = [request(question(key, "perceptions")) for key in keys]
    assert asked[0] == asked[1] == request(question(keys[0], "perceive", "perceptom"))
    assert asked[0].task["sentences"][2] == "Ole: The pears in my garden are ripe."
    told = text_of(question(keys[0], "belief"))
    assert '{"Ole: The pears in my garden are ripe.": ["Ida", "Ole"]}' in told
    assert "utterances of a conversation" in told and "What does Bea believe about the pears of Ole?\n(a) " in told


def test_perspectives_hold_what_was_heard(question):
    heard = json.dumps([{"Bea: I must fetch my bike.": ["Bea", "Ida"]}, {"Ole: The pears.": ["Ida"]}])
    answers = {"perceive": heard, "s2a-extract": "x", "simtom-perspective": "y"}
    for method in METHODS:
        told = text_of(question("1-1-0/belief0/choice", method=method.name, **answers))
        assert "What does Ida believe that Bea thinks about the ladder?" in told
        if method.name in ("perceptom", "oracle-perception"):
            assert "Ida thinks Bea knows about" in told and "fetch my bike" in told and "pears" not in told
            # a list is asked about everybody's perspective
            told = text_of(question("1-0-0/answerability/list", method=method.name, **answers))
            blocks = told.split("This is what ")[1:]
            assert [block.split(" ")[0] for block in blocks] == ["Bea", "Ida", "Ole"]
            assert "pears" in blocks[1] and "pears" not in blocks[0]
