"""The order in which a text or a list shows options: every way in which tools put letters before them."""

from itertools import product

from benchmark.suites.lettered import order_in, order_of, order_of_appearance
from tests.benchmark.suites.phrasings import each

OPTIONS = ["A. In the box", "B. In the box under the bed", "C: In the bag.", "“Nowhere”"]
SHOWN = ["In the bag.", "In the box under the bed", "In the box", '"Nowhere"']
ORDER = (2, 1, 0, 3)
CHINESE = ["A.抽屉", "B. 盒子", "C: 书包", "D. 花瓶"]
LABELS = each(
    '{})  ‖ {}.  ‖ ({})  ‖ {}:  ‖ [{}]  ‖ **{}.**  ‖ **{})**  ‖ Option {}:  ‖ - {}.  ‖ {} -  ‖ {}.\t ‖ {}） ‖ "{}": '
)


def test_letters_before_options_tell_their_order():
    for joint, label, letters in product(["\n", "\n\n", "  ", " \r\n"], LABELS, ("ABCD", "abcd")):
        shown = joint.join(label.format(letter) + text for letter, text in zip(letters, SHOWN, strict=True))
        asked = f"Ines looks in the box. Where?\n{shown}\nAnswer A, B, C or D."
        for prompt in (shown, asked, f"{shown}\n\nA story."):
            assert order_in(prompt, OPTIONS) == ORDER, prompt
    for prompt in [
        "A) D. In the bag\nB) A. In the box under the bed\nC) C. In the box\nD) B. Nowhere",
        "A) IN THE BAG\nB) In the  box\u00a0under the bed\nC) In the box!\nD) 'Nowhere'",
        '{"A": "In the bag.", "B": "In the box under the bed", "C": "In the box", "D": "\\"Nowhere\\""}',
        "Example:\nA) Yes\nB) No\nAnswer: A\n\nA) In the bag\nB) In the box under the bed\nC) In the box\nD) Nowhere",
    ]:
        assert order_in(prompt, OPTIONS) == ORDER, "other spellings and other questions leave the order"
    for prompt in [
        "A. 书包\nB. 盒子\nC、抽屉\nD：花\n瓶\n请回答",
        "A．书包 B．盒子 C．抽屉 D．花瓶。请选择",
        "选项A：书包\n选项B：盒子\n选项C：抽屉\n选项D：花瓶",
        "（A）书包（B）盒子（C）抽屉（D）花瓶",
    ]:
        assert order_in(prompt, CHINESE) == ORDER


def test_an_order_that_is_not_told_is_none():
    for prompt in [
        "",
        "In the bag, in the box, in the box under the bed or nowhere?",
        "1) In the bag\n2) In the box under the bed\n3) In the box\n4) Nowhere",
        "A) In the bag\nB) In the box under the bed\nC) In the box",
        "A) In the bag\nB) In the box\nC) In the box\nD) Nowhere",
        "A) In the bag\nC) In the box\nB) In the box under the bed\nD) Nowhere",
        "A) In the bag\nB) In the box under the bed\nC) In the box\nD) Nowhere\n"
        "A) In the box\nB) In the box under the bed\nC) In the bag\nD) Nowhere",
    ]:
        assert order_in(prompt, OPTIONS) is None


def test_equal_options_stand_for_each_other_and_lists_tell_orders():
    assert order_in("A) Sad\nB) Glad\nC) Sad", ["Sad", "Sad", "Glad"]) == (0, 2, 1)
    assert order_of(SHOWN, OPTIONS) == order_of(["B. In the bag", *OPTIONS[1::-1], "Nowhere"], OPTIONS) == ORDER
    assert order_of(["x", *SHOWN[1:]], OPTIONS) is order_of(SHOWN[:3], OPTIONS) is None
    assert order_of_appearance("bag? In the bag, in the box under the bed: nowhere.", OPTIONS) is None
    assert order_of_appearance("Yes or no?", ["No", "Yes"]) == (1, 0)
