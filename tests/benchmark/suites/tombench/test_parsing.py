"""What answers are read as. The official extraction has its cases in test_vectors.py too."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites.reasons import REFUSED, UNKNOWING
from benchmark.suites.tombench.data import NO_OPTION, NONE_OF_THEM, SEVERAL, clean_option, show
from benchmark.suites.tombench.letters import committed
from benchmark.suites.tombench.parsing import parse_official, parse_repaired
from tests.benchmark.suites.tombench.released import clean_option_officially

OPTIONS = ("Tote bag", "Handbag", "Briefcase", "Backpack")
ANSWERS = [
    ("[[A]]", "A"),
    ("[[B]] then [[A]]", "A"),
    ("[[c]]", "C"),
    ("A", "A"),
    ("The answer is B.", "B"),
    ("I Don't know", None),
    ("Answer", None),
    ("", None),
    ("答案是C", "C"),
    ("[A] [[B]]", "B"),
    ("B or C", None),
    ("[[E]]", "E"),
    ("DABC", None),
    ("a", "A"),
    ("[[A", "A"),
    ("Cannot", None),
    ("**B**", "B"),
    ("答案：B", "B"),
    ("(B)", "B"),
    ("Answer: B", "B"),
    ("（Ｂ）", "B"),
    ("It could be [[B]] or [[C]]", None),
    ("A or B? I choose D", "D"),
    ("[[C]] not [[A]]", "C"),
    ("D. because", "D"),
    ("(c)", "C"),
    ("[[ D ]]", "D"),
    ("I think that option B is right; All others are wrong.", "B"),
    ("Answer: C\nDone", "C"),
    ("no idea", None),
    ("cannot say", None),
    ("42", None),
    ("Handbag", "B"),
    ("The answer is Handbag.", "B"),
    ("**Answer:** Handbag", "B"),
    ("A Tote bag", "A"),
    ("A. Tote bag\nB. Handbag\nC. Briefcase\nD. Backpack", None),
    ("A. Tote bag\nB. Handbag\nC. Briefcase\nD. Backpack\n\nAnswer: (b)", "B"),
    ("A man put it there", None),
    ("The answer is a bit unclear.", None),
    ("The answer is A man", None),
    ("The answer is A because he saw it", "A"),
    ("我选B", "B"),
    ("正确答案为 B。", "B"),
    ("选择B选项", "B"),
    ("故选D", "D"),
    ("选项B", "B"),
    ("答案是A选项", "A"),
    ("答案不是A，而是B", "B"),
    ("不是A", None),
    ("not A", None),
    ("The answer is A. No wait, the answer is C.", "C"),
    ("The answer is A or B.", None),
    ("The answer is A, B or C", None),
    ("The answer is B, and A is wrong", "B"),
    ("Option A is wrong. Option B is correct.", "B"),
    ("\\boxed{C}", "C"),
    ("$\\boxed{\\text{C}}$", "C"),
    ('{"answer": "B"}', "B"),
    ("Final Answer\nB", "B"),
    ("B\n\nBecause (A) is wrong", "B"),
    ("B. Handbag\n\nBecause (A) is wrong", "B"),
    ("**Answer**: **B**", "B"),
    ("I don't choose B", None),
    ("I'd go with option C.", "C"),
    ("The most likely choice is (D).", "D"),
    ("[[B. Handbag]]", "B"),
    ("[[letter]]", None),
    ("【B】", "B"),
    ("答案：【[B]】", "B"),
    ("It's B", "B"),
    ("Tote bag\nHandbag", None),
    ("最可能的选项是C。", "C"),
    ("选项A不对，选项B正确", "B"),
    ("B选项", "B"),
    ("e.g. this", None),
    ("Answer: A", "A"),
    ("A.", "A"),
    ("Answer - D", "D"),
    ("I would choose A.", "A"),
    ("The answer is most likely B", "B"),
    ("answer B", "B"),
    ("Both (A) and (B)", None),
    ("The best option is: D)", "D"),
    ("我认为应该选择C，因为", "C"),
    ("选A因为", "A"),
    ("[[B]]。不是[[A]]", "B"),
    ("Answer: AB", None),
    ("Options to choose: A, B, C, D", None),
    ("**Final answer: [[A]]**", "A"),
    ("the correct answer is\n\n**C. Briefcase**", "C"),
    ("答案\nB", "B"),
    ("[[A]]/[[B]]", None),
    ("None of A, B, C, D", NONE_OF_THEM),
    ("handbag", "B"),
    ("E", "E"),
    ("The answer is not A but B", "B"),
    ("A,B", None),
    ("不选A", None),
    ("不选A，选B", "B"),
    ("I don't think the answer is B.", None),
    ("I might pick A at first.\n\n**B**", "B"),
    ("I choose A. No, C is correct.", "C"),
    ("C is not correct", None),
    ("[[A, B]]", None),
    ("答案是B不是A", "B"),
    ("[[B]] 不是 [[A]]", "B"),
    ("A不是正确的", None),
    ("Option A is wrong, option C isn't right, option B fits.", "B"),
    ("(A)不对，(B)错误，(D)符合故事", "D"),
    ("I am not sure. The answer is B.", "B"),
    ("[[A、手提包]]", "A"),
    ("[[Handbag]]", "B"),
    ("Answer: [[Handbag]]", "B"),
    ("[[选项B]]", "B"),
    ("The best one is [[Option B]].", "B"),
    ("B最合适", "B"),
    ("A是不正确的，D是最正确的", "D"),
    ("可选A、B、C、D", None),
    ("ANSWER: C", "C"),
    ("I choose (a).", "A"),
    ("Andrea's Bag", None),
    ("I'd say B's right", None),
    ("**Answer:**\n\n[B]", "B"),
    ("> B", "B"),
    ("选项 B：手提包", "B"),
    ("The correct option is **C. Briefcase**.", "C"),
    ("The answer is\nB. Handbag", "B"),
    ("Therefore, the most likely option is letter D", "D"),
    ("A. Tote bag: no.\nB. Handbag: yes.", None),
    ("Answer: A, C", None),
    ("Answer: a, c", None),
    ("Answer: A C", None),
    ("Answer: A and C", None),
    ("Answer: A\nAnswer: C", None),
    ("The answer is A, C.", None),
    ("[[A]][[B]]", None),
    ("[[A]] [[B]]", None),
    ("[[A]], [[B]]", None),
    ("[[A]]\n[[B]]", None),
    ("[[A]]、[[C]]", None),
    ("[A][C]", None),
    ("**A** **C**", None),
    ("A, C", None),
    ("A/C", None),
    ("The answer is A/C because both fit.", None),
    ("Answer: A & C", None),
    ("A+B", None),
    ("A | C", None),
    ("(A), (C)", None),
    ("(A)(C)", None),
    ("\\boxed{A}, \\boxed{C}", None),
    ("option A / option C", None),
    ("A、C", None),
    ("Désolé, je ne peux pas vous aider.", None),
    ("选A和C", None),
    ("选A，C", None),
    ("答案：A、C", None),
    ("[[A]][[A]]", "A"),
    ("The answer is A, since C is wrong.", "A"),
    ("The answer is A, a tote bag.", "A"),
    ("Answer: F", "F"),
    ("The answer is X.", "X"),
    ("[[Z]]", "Z"),
    ("答案：E", "E"),
    ("None of the above.", NONE_OF_THEM),
    ("Neither.", NONE_OF_THEM),
    ("以上都不对", NONE_OF_THEM),
    ("None of the people saw it.", None),
    ("I can't help with that.", None),
    ("I cannot choose an answer.", None),
    ("I refuse to pick A.", None),
    ("N/A", None),
    ("抱歉，我无法回答A或B。", None),
    ("I'm sorry, but the answer is B.", "B"),
]


def test_the_letter_that_an_answer_commits_to():
    for answer, letter in ANSWERS:
        assert committed(answer, OPTIONS)[0] == letter


def test_a_letter_that_was_not_shown_stands_for_itself():
    for answer in ["[[C]]", "C", "答案：C", "Answer: (c)", "**C**"]:
        assert committed(answer, ("Yes", "No"))[0] == "C"


def test_an_answer_that_chooses_nothing_says_why():
    for answer, why in [
        ("Answer: A, C", SEVERAL),
        ("[[A]][[B]]", SEVERAL),
        ("A or B", SEVERAL),
        ("[[A, B]]", SEVERAL),
        ("42", NO_OPTION),
        ("", NO_OPTION),
        ("I can't help with A or B.", REFUSED),
        ("不知道", UNKNOWING),
        ("I don't know, A or B.", UNKNOWING),
    ]:
        assert committed(answer, OPTIONS) == (None, why)


def test_an_option_is_no_refusal():
    assert committed("不知道", ("知道", "不知道"))[0] == "B"
    assert committed("B. I can't help you.", ("Sure", "I can't help you."))[0] == "B"
    assert committed("I can't help you.", ("Sure", "I can't help you."))[0] == "B"


def test_an_option_is_repeated_as_text():
    options = ("No one says something wrong.", "Someone says something wrong")
    assert committed("someone says something wrong.", options)[0] == "B"
    assert committed("Let me think.\n\nNo one says something wrong", options)[0] == "A"
    assert committed("答案是：生气。", ("高兴", "生气"))[0] == "B"
    assert committed("Either, neither", options)[0] is None


def test_options_with_letters_of_their_own_are_read_as_text():
    options = ("Ask about attraction C.", "Go to attractions A or B.")
    assert committed("Go to attractions A or B.", options)[0] == "B"
    assert committed("Ask about attraction C.", options)[0] == "A"


def test_of_doubled_options_the_first_stands_for_both():
    shown = show(("Angry", "Thrilled", "Angry", "Surprise"), (2, 3, 0, 1))
    assert shown.originals == ("A", "D", "A", "B")
    assert parse_repaired("Angry", shown) == parse_repaired("[[C]]", shown) == parse_official("[[C]]", shown) == "A"


def test_a_vote_for_a_missing_option_is_a_vote_in_both_parses():
    shown = show(("Yes", "No"), (1, 0))
    assert (parse_official("[[C]]", shown), parse_repaired("[[C]]", shown)) == ("", "C")
    assert (parse_official("[[A]]", shown), parse_repaired("[[A]]", shown)) == ("B", "B")
    assert (parse_official("no idea", shown), parse_repaired("no idea", shown)) == ("B", None)


@given(
    st.sampled_from("ABCD"),
    st.sampled_from(["{}", "{}.", "({})", "**{}**", "[[{}]]", "Answer: {}", "答案：{}", "I choose {}."]),
)
def test_the_required_form_behind_any_other_counts(letter, form):
    reasoning = form.format("D" if letter == "A" else "A")
    assert committed(f"{reasoning}\n\n[[{letter}]]", OPTIONS)[0] == letter


def test_the_letter_of_an_option():
    for text, letter, cleaned, officially in [
        ("A. Tote bag", "A", "Tote bag", "Tote bag"),
        ("A.是", "A", "是", "A.是"),
        (" B. 羞愧", "B", "羞愧", " 羞愧"),
        ("A: 有", "A", "有", "A: 有"),
        ("A.  有 ", "A", "有", " 有 "),
        ("B. 有", "A", "B. 有", "B. 有"),
        ("Ask about attraction C. Then go.", "C", "Ask about attraction C. Then go.", "Ask about attraction Then go."),
        ("Because he is tired", "B", "Because he is tired", "Because he is tired"),
        ("A.他没有去学校\n。", "A", "他没有去学校。", "A.他没有去学校\n。"),
        ("A. Go\r\n home", "A", "Go home", "Go\r\n home"),
        ("A.I. decides", "A", "A.I. decides", "A.I. decides"),
    ]:
        assert clean_option(text, letter) == cleaned
        assert clean_option_officially(text, letter) == officially
