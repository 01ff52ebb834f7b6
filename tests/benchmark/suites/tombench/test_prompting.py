from __future__ import annotations

import re

import pytest

from benchmark.suites.tombench.data import options_of, seeded_order, show
from benchmark.suites.tombench.steps import WORDINGS, prompt_digest, render_prompt
from tests.benchmark.suites.tombench.conftest import question

ITEM = question(story="Ines hides the key in the box. Her note says {question} and \\1.")


def rendered(sample, order=None, **method):
    options = options_of(sample)
    return render_prompt(sample, show(options, order or tuple(range(len(options)))), **method)


def test_prompts_show_story_question_and_options_in_order_in_the_language_of_the_item():
    assert rendered(ITEM, (3, 1, 0, 2))[1] == (
        "[Story]\nInes hides the key in the box. Her note says {question} and \\1.\n\n"
        "[Question]\nWhere is the key?\n\n"
        "[Candidate Answers]\nA. Vase\nB. Box\nC. Drawer\nD. Bag"
    )
    system, user = rendered(question("zh"), (1, 0))
    assert user == "[故事]\n伊内斯把钥匙藏在盒子里。\n\n[问题]\n钥匙在哪里？\n\n[答案选项]\nA. 盒子\nB. 抽屉"
    assert "[[字母]]" in system and not re.search("[a-z]", system)


def test_the_system_prompt_names_the_letters_that_there_are():
    options = ITEM.content["options"]
    for method in WORDINGS:
        for sample, letters in (
            (ITEM, "choose from A, B, C or D."),
            (question(options=options[:2]), "choose from A or B."),
            (question("zh"), "有 A 或 B。"),
            (question("zh", options=options), "有 A、B、C 或 D。"),
        ):
            system, _ = rendered(sample, method=method)
            assert letters in system
        assert "[[letter]]" in rendered(ITEM, method=method)[0]


def test_a_method_that_there_is_not():
    sentence = "There is no method 'simtom'; expected one of direct, cot."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        rendered(ITEM, method="simtom")
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        prompt_digest("simtom", "en")


def test_the_user_prompt_has_the_official_form(vectors, vector_items, tries):
    examples = {
        (language, name): text for language, held in vectors["prompt_examples"].items() for name, text in held.items()
    }
    assert len(examples) == 4
    for (language, name), text in examples.items():
        sample = vector_items[language, name.rpartition("/")[0]]
        assert render_prompt(sample, tries[language][name])[1] == text


def test_no_prompt_of_the_data_shows_where_an_option_stood(tombench):
    for sample in tombench.samples:
        count = len(sample.content["options"])
        system, user = rendered(sample, seeded_order(1, sample.key, 0, count))
        lines = user.rpartition("]\n")[2].splitlines()
        assert [line[:3] for line in lines] == ["A. ", "B. ", "C. ", "D. "][:count]
        assert not any(re.match(r"[A-D]\. ?[A-D][.:]", line) for line in lines)
        assert "{" not in system
