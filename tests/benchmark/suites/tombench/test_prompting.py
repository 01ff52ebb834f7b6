from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import pytest

from benchmark.suites.tombench.data import Item, official_orders, seeded_order, show
from benchmark.suites.tombench.steps import WORDINGS, Prompt, prompt_digest, render_prompt

ITEM = Item(
    key="second-task:1:en",
    cluster="second-task:1",
    task="Second Task",
    ability="Belief: Location false beliefs",
    language="en",
    line=1,
    story="Ines hides the key in the box. Her note says {question} and \\1.",
    question="Where is the key?",
    options=("A. Drawer", "B.Box", "Bag", "D: Vase"),
    answer="B",
)
CHINESE = replace(
    ITEM, language="zh", story="伊内斯把钥匙藏在盒子里。", question="钥匙在哪里？", options=("A.抽屉", "B. 盒子")
)


def shown_of(item, order):
    return show(item.cleaned_options, order)


def test_the_user_prompt_shows_story_question_and_options_in_order():
    assert render_prompt(ITEM, shown_of(ITEM, (3, 1, 0, 2))).user == (
        "[Story]\nInes hides the key in the box. Her note says {question} and \\1.\n\n"
        "[Question]\nWhere is the key?\n\n"
        "[Candidate Answers]\nA. Vase\nB. Box\nC. Drawer\nD. Bag"
    )


def test_a_chinese_item_is_asked_in_chinese():
    prompt = render_prompt(CHINESE, shown_of(CHINESE, (1, 0)))
    assert prompt.user == "[故事]\n伊内斯把钥匙藏在盒子里。\n\n[问题]\n钥匙在哪里？\n\n[答案选项]\nA. 盒子\nB. 抽屉"
    assert "[[字母]]" in prompt.system and not re.search("[a-z]", prompt.system)


@pytest.mark.parametrize("method", WORDINGS)
def test_the_system_prompt_names_the_letters_that_there_are(method):
    def system(item):
        return render_prompt(item, shown_of(item, tuple(range(len(item.options)))), method=method).system

    two = replace(ITEM, options=ITEM.options[:2])
    assert "choose from A, B, C or D." in system(ITEM) and "choose from A or B." in system(two)
    assert "有 A 或 B。" in system(CHINESE)
    assert "有 A、B、C 或 D。" in system(replace(CHINESE, options=ITEM.options))
    assert "[[letter]]" in system(ITEM)


def test_a_method_that_there_is_not():
    sentence = "There is no method 'simtom'; expected one of direct, cot."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        render_prompt(ITEM, shown_of(ITEM, (0, 1, 2, 3)), method="simtom")
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        prompt_digest("simtom", "en")


def test_the_user_prompt_has_the_official_form(vectors, vector_items):
    by_file = defaultdict(list)
    for (language, name), item in vector_items.items():
        by_file[language, item.task].append((name, item))
    prompts = {}
    for (language, _), items in by_file.items():
        orders = official_orders(len(item.options) for _, item in items)
        for (name, item), tries in zip(items, orders, strict=True):
            prompts[language, f"{name}/0"] = render_prompt(item, shown_of(item, tries[0])).user
    examples = {
        (tongue, name): text for tongue, held in vectors["prompt_examples"].items() for name, text in held.items()
    }
    assert len(examples) == 4
    assert {where: prompts[where] for where in examples} == examples


def test_no_prompt_of_the_data_shows_where_an_option_stood(tombench):
    for item in tombench.items:
        prompt = render_prompt(item, shown_of(item, seeded_order(1, item.key, 0, len(item.options))))
        assert isinstance(prompt, Prompt)
        lines = prompt.user.rpartition("]\n")[2].splitlines()
        assert [line[:3] for line in lines] == ["A. ", "B. ", "C. ", "D. "][: len(item.options)]
        assert not any(re.match(r"[A-D]\. ?[A-D][.:]", line) for line in lines)
        assert "{" not in prompt.system
