"""What answers are read as. The official extraction has its cases in test_vectors.py too."""

from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites.reasons import REFUSED, UNKNOWING
from benchmark.suites.tombench.data import NO_OPTION, NONE_OF_THEM, SEVERAL, show
from benchmark.suites.tombench.letters import committed
from benchmark.suites.tombench.parsing import parse_official, parse_repaired
from tests.benchmark.suites.phrasings import each

OPTIONS = ("Tote bag", "Handbag", "Briefcase", "Backpack")
READ = {
    "A": (
        "[[A]] ‖ [[B]] then [[A]] ‖ A ‖ a ‖ [[A ‖ A Tote bag ‖ The answer is A because he saw it ‖ 答案是A选项 ‖ "
        "Answer: A ‖ A. ‖ I would choose A. ‖ 选A因为 ‖ **Final answer: [[A]]** ‖ [[A、手提包]] ‖ I choose (a). ‖ "
        "[[A]][[A]] ‖ The answer is A, since C is wrong. ‖ The answer is A, a tote bag."
    ),
    "B": (
        "The answer is B. ‖ [A] [[B]] ‖ **B** ‖ 答案：B ‖ (B) ‖ Answer: B ‖ （Ｂ） ‖ "
        "I think that option B is right; All others are wrong. ‖ Handbag ‖ The answer is Handbag. ‖ "
        "**Answer:** Handbag ‖ A. Tote bag\nB. Handbag\nC. Briefcase\nD. Backpack\n\nAnswer: (b) ‖ 我选B ‖ "
        "正确答案为 B。 ‖ 选择B选项 ‖ 选项B ‖ 答案不是A，而是B ‖ The answer is B, and A is wrong ‖ "
        'Option A is wrong. Option B is correct. ‖ {"answer": "B"} ‖ Final Answer\nB ‖ '
        "B\n\nBecause (A) is wrong ‖ B. Handbag\n\nBecause (A) is wrong ‖ **Answer**: **B** ‖ [[B. Handbag]] ‖ "
        "【B】 ‖ 答案：【[B]】 ‖ It's B ‖ 选项A不对，选项B正确 ‖ B选项 ‖ The answer is most likely B ‖ answer B ‖ "
        "[[B]]。不是[[A]] ‖ 答案\nB ‖ handbag ‖ The answer is not A but B ‖ 不选A，选B ‖ "
        "I might pick A at first.\n\n**B** ‖ 答案是B不是A ‖ [[B]] 不是 [[A]] ‖ "
        "Option A is wrong, option C isn't right, option B fits. ‖ I am not sure. The answer is B. ‖ [[Handbag]] ‖ "
        "Answer: [[Handbag]] ‖ [[选项B]] ‖ The best one is [[Option B]]. ‖ B最合适 ‖ **Answer:**\n\n[B] ‖ > B ‖ "
        "选项 B：手提包 ‖ The answer is\nB. Handbag ‖ I'm sorry, but the answer is B."
    ),
    "C": (
        "[[c]] ‖ 答案是C ‖ [[C]] not [[A]] ‖ (c) ‖ Answer: C\nDone ‖ The answer is A. No wait, the answer is C. ‖ "
        "\\boxed{C} ‖ $\\boxed{\\text{C}}$ ‖ I'd go with option C. ‖ 最可能的选项是C。 ‖ 我认为应该选择C，因为 ‖ "
        "the correct answer is\n\n**C. Briefcase** ‖ I choose A. No, C is correct. ‖ ANSWER: C ‖ "
        "The correct option is **C. Briefcase**."
    ),
    "D": (
        "A or B? I choose D ‖ D. because ‖ [[ D ]] ‖ 故选D ‖ The most likely choice is (D). ‖ Answer - D ‖ "
        "The best option is: D) ‖ (A)不对，(B)错误，(D)符合故事 ‖ A是不正确的，D是最正确的 ‖ "
        "Therefore, the most likely option is letter D"
    ),
    "E": "[[E]] ‖ E ‖ 答案：E",
    "F": "Answer: F",
    "X": "The answer is X.",
    "Z": "[[Z]]",
    NONE_OF_THEM: "None of A, B, C, D ‖ None of the above. ‖ Neither. ‖ 以上都不对",
    None: (
        "I Don't know ‖ Answer ‖ B or C ‖ DABC ‖ Cannot ‖ It could be [[B]] or [[C]] ‖ no idea ‖ cannot say ‖ "
        "42 ‖ A. Tote bag\nB. Handbag\nC. Briefcase\nD. Backpack ‖ A man put it there ‖ "
        "The answer is a bit unclear. ‖ The answer is A man ‖ 不是A ‖ not A ‖ The answer is A or B. ‖ "
        "The answer is A, B or C ‖ I don't choose B ‖ [[letter]] ‖ Tote bag\nHandbag ‖ e.g. this ‖ "
        "Both (A) and (B) ‖ Answer: AB ‖ Options to choose: A, B, C, D ‖ [[A]]/[[B]] ‖ A,B ‖ 不选A ‖ "
        "I don't think the answer is B. ‖ C is not correct ‖ [[A, B]] ‖ A不是正确的 ‖ 可选A、B、C、D ‖ "
        "Andrea's Bag ‖ I'd say B's right ‖ A. Tote bag: no.\nB. Handbag: yes. ‖ Answer: A, C ‖ Answer: a, c ‖ "
        "Answer: A C ‖ Answer: A and C ‖ Answer: A\nAnswer: C ‖ The answer is A, C. ‖ [[A]][[B]] ‖ [[A]] [[B]] ‖ "
        "[[A]], [[B]] ‖ [[A]]\n[[B]] ‖ [[A]]、[[C]] ‖ [A][C] ‖ **A** **C** ‖ A, C ‖ A/C ‖ "
        "The answer is A/C because both fit. ‖ Answer: A & C ‖ A+B ‖ A | C ‖ (A), (C) ‖ (A)(C) ‖ "
        "\\boxed{A}, \\boxed{C} ‖ option A / option C ‖ A、C ‖ Désolé, je ne peux pas vous aider. ‖ 选A和C ‖ "
        "选A，C ‖ 答案：A、C ‖ None of the people saw it. ‖ I can't help with that. ‖ I cannot choose an answer. ‖ "
        "I refuse to pick A. ‖ N/A ‖ 抱歉，我无法回答A或B。"
    ),
}


def test_the_letter_that_an_answer_commits_to():
    for letter, answers in READ.items():
        for answer in each(answers):
            assert committed(answer, OPTIONS)[0] == letter, answer
    for answer in each("[[C]] ‖ C ‖ 答案：C ‖ Answer: (c) ‖ **C**"):
        assert committed(answer, ("Yes", "No"))[0] == "C", "a letter that was not shown stands for itself"


def test_an_answer_that_chooses_nothing_says_why():
    for why, answers in (
        (SEVERAL, "Answer: A, C ‖ [[A]][[B]] ‖ A or B ‖ [[A, B]]"),
        (NO_OPTION, "42"),
        (REFUSED, "I can't help with A or B."),
        (UNKNOWING, "不知道 ‖ I don't know, A or B."),
    ):
        for answer in each(answers):
            assert committed(answer, OPTIONS) == (None, why), answer
    assert committed("", OPTIONS) == (None, NO_OPTION)


def test_an_option_may_be_repeated_as_text():
    wrong = ("No one says something wrong.", "Someone says something wrong")
    places = ("Ask about attraction C.", "Go to attractions A or B.")  # with letters of their own
    helps = ("Sure", "I can't help you.")  # no refusal
    for options, answer, letter in (
        (wrong, "someone says something wrong.", "B"),
        (wrong, "Let me think.\n\nNo one says something wrong", "A"),
        (("高兴", "生气"), "答案是：生气。", "B"),
        (("高兴", "生气"), "Either, neither", None),
        (places, "Go to attractions A or B.", "B"),
        (places, "Ask about attraction C.", "A"),
        (("知道", "不知道"), "不知道", "B"),
        (helps, "B. I can't help you.", "B"),
        (helps, "I can't help you.", "B"),
    ):
        assert committed(answer, options)[0] == letter, answer


def test_votes_are_for_the_option_shown_and_one_that_is_missing_is_one_too():
    shown = show(("Angry", "Thrilled", "Angry", "Surprise"), (2, 3, 0, 1))
    assert shown.originals == ("A", "D", "A", "B"), "of doubled options the first stands for both"
    assert parse_repaired("Angry", shown) == parse_repaired("[[C]]", shown) == parse_official("[[C]]", shown) == "A"
    shown = show(("Yes", "No"), (1, 0))
    for answer, votes in (("[[C]]", ("", "C")), ("[[A]]", ("B", "B")), ("no idea", ("B", None))):
        assert (parse_official(answer, shown), parse_repaired(answer, shown)) == votes


@given(
    st.sampled_from("ABCD"),
    st.sampled_from(["{}", "{}.", "({})", "**{}**", "[[{}]]", "Answer: {}", "答案：{}", "I choose {}."]),
)
def test_the_required_form_behind_any_other_counts(letter, form):
    reasoning = form.format("D" if letter == "A" else "A")
    assert committed(f"{reasoning}\n\n[[{letter}]]", OPTIONS)[0] == letter
