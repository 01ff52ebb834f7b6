"""What ToMBench asks by each method, in both languages."""

import re

import pytest

from benchmark.methods.answering import EXTRACT, PERSPECTIVE
from benchmark.suites.questions import Question
from benchmark.suites.settings import Settings
from benchmark.suites.tombench.data import options_of, seeded_order, show, shown_in
from benchmark.suites.tombench.steps import (
    ANSWER,
    METHODS,
    WORDINGS,
    expected,
    parse,
    prompt_digest,
    render_prompt,
    request,
    viewer_of,
)
from tests.benchmark.suites.phrasings import Resources
from tests.benchmark.suites.tombench.conftest import question as sample_of

ITEM = sample_of(story="Ines hides the key in the box. Her note says {question} and \\1.")
ENGLISH = sample_of(story="Ines hides the key. Bo leaves.", question="After Ines returns, where does Bo look?")
IN_CHINESE = sample_of("zh", story="小红藏了钥匙。小明离开了。", question="小红回来之后，小明会在哪里寻找钥匙？")


def rendered(sample, order=None, **method):
    options = options_of(sample)
    return render_prompt(sample, show(options, order or tuple(range(len(options)))), **method)


def test_prompts_show_story_question_and_options_in_order_in_the_language_of_the_item():
    assert rendered(ITEM, (3, 1, 0, 2))[1] == (
        "[Story]\nInes hides the key in the box. Her note says {question} and \\1.\n\n"
        "[Question]\nWhere is the key?\n\n"
        "[Candidate Answers]\nA. Vase\nB. Box\nC. Drawer\nD. Bag"
    )
    system, user = rendered(sample_of("zh"), (1, 0))
    assert user == "[故事]\n伊内斯把钥匙藏在盒子里。\n\n[问题]\n钥匙在哪里？\n\n[答案选项]\nA. 盒子\nB. 抽屉"
    assert "[[字母]]" in system and not re.search("[a-z]", system)


def test_the_system_prompt_names_the_letters_that_there_are():
    options = ITEM.content["options"]
    for method in WORDINGS:
        for sample, letters in (
            (ITEM, "choose from A, B, C or D."),
            (sample_of(options=options[:2]), "choose from A or B."),
            (sample_of("zh"), "有 A 或 B。"),
            (sample_of("zh", options=options), "有 A、B、C 或 D。"),
        ):
            assert letters in rendered(sample, method=method)[0]
        assert "[[letter]]" in rendered(ITEM, method=method)[0]
    for refused in (lambda: rendered(ITEM, method="simtom"), lambda: prompt_digest("simtom", "en")):
        with pytest.raises(ValueError, match=r"^There is no method 'simtom'; expected one of direct, cot\.$"):
            refused()


def test_the_user_prompt_has_the_official_form(vectors, vector_items, tries):
    examples = [(language, *one) for language, held in vectors["prompt_examples"].items() for one in held.items()]
    assert len(examples) == 4
    for language, name, text in examples:
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


def question(item, method, step=ANSWER, repetition=0, **answers):
    settings = Settings({"method": method, "order": "seeded"}, max_tokens=9)
    earlier = {key.replace("_", "-"): text for key, text in answers.items()}
    return Question(item, step, settings, Resources([item]), earlier, repetition)


def texts(asked):
    return {message.role: message.content for message in request(asked).messages}


def test_plain_and_reasoning_are_the_prompts_of_the_set_and_self_ask_goes_on_from_the_question_alone():
    for item, ask, last in [
        (ENGLISH, "Break the question", "“Final answer:”"),
        (IN_CHINESE, "拆成几个小问题", "“最终答案：”"),
    ]:
        for method in ["direct", "cot"]:
            asked = question(item, method, repetition=2)
            prompt = render_prompt(item, shown_in(asked), method=method)
            assert texts(asked) == dict(zip(("system", "user"), prompt, strict=True))
        asked = question(item, "self-ask")
        _, prompt = render_prompt(item, shown_in(asked))
        (text,) = texts(asked).values()
        assert text.startswith(f"{prompt}\n") and ask in text and last in text
        assert text.count("[[") == 1, "without the prompt for the letter alone"


def test_the_answer_rests_on_the_step_before_it_in_every_try():
    for item, method, step, wanted in [
        (ENGLISH, "s2a", EXTRACT, "Copy out of the text"),
        (IN_CHINESE, "s2a", EXTRACT, "摘抄"),
        (ENGLISH, "simtom", PERSPECTIVE, "does Bo know about"),
        (IN_CHINESE, "simtom", PERSPECTIVE, "小明知道其中的哪些事情"),
        (sample_of(story="Ines hides the key. Bo leaves."), "simtom", PERSPECTIVE, "Retell all"),
    ]:
        (before,) = texts(question(item, method, step)).values()
        story = item.content["story"]
        assert story in before and wanted in before
        for turn in (0, 3):
            asked = question(item, method, repetition=turn, **{step: " What matters. "})
            system, user = render_prompt(item, shown_in(asked))
            told = texts(asked)
            heading, _, rest = user.partition(story)
            assert told["system"] == system and told["user"].startswith(heading) and told["user"].endswith(rest)
            assert "What matters." in told["user"] and story not in told["user"]
            assert request(asked).task["kind"] == "choose"


def test_the_letter_is_read_from_all_of_an_answer():
    for method in [method.name for method in METHODS]:
        asked = question(ENGLISH, method)
        right = expected(asked)
        reasoned = f"Follow-up: Is it A?\nIntermediate answer: No.\nFinal answer: {right}"
        for answer in (right, reasoned, f"最终答案：{right}"):
            parsed = parse(asked, answer)
            assert parsed.score == parsed.repaired_score == 1 and parsed.repaired["choice"] == "B"
        assert parse(question(ENGLISH, method, EXTRACT), "Ines.").repaired == {"text": "Ines."}


def test_a_question_looks_through_the_eyes_of_whose_mind_it_asks_about():
    for item, asked, person in [
        (ENGLISH, "After Ines returns, where does Bo think that Ines looks?", "Bo"),
        (ENGLISH, "Where does Bo look for the key after Ines returns?", "Bo"),
        (ENGLISH, "Does the teacher know that Ines returns?", "the teacher"),
        (ENGLISH, "After Ines counts, how many keys does she guess there are?", "Ines"),
        (ENGLISH, "Does anyone say something inappropriate in this story?", ""),
        (IN_CHINESE, "小红打开盒子之后，悠悠认为小红会期望在里面找到什么？", "悠悠"),
        (IN_CHINESE, "小红还记得小明的生日吗？", "小红"),
        (IN_CHINESE, "小明数前，推测有多少把钥匙？", "小明"),
        (IN_CHINESE, "现在钥匙在哪里？", ""),
    ]:
        story = f"{item.content['story']} " + ("Ines said: I do. Ines asked Bo." if item is ENGLISH else "")
        assert viewer_of(sample_of(item.split, story=story, question=asked)) == person
