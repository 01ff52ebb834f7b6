"""The other controls, and what all of them keep."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.controls.chosen import CONTROL, CONTROLS, NONE, control_setting, controlled, controls_of
from benchmark.controls.contract import Controllable
from benchmark.controls.lists.sentences import SENTENCES
from benchmark.controls.storyless import INSTEAD
from benchmark.suites.asked import Sample


def reordered(sample: Sample, order) -> Sample:
    options = [sample.content["options"][place] for place in order]
    return replace(
        sample, content={**sample.content, "options": options}, gold={"place": order.index(sample.gold["place"])}
    )


WHOLE = Controllable("story", ("content.story", "content.question", "content.options"), reordered=reordered)
STORY = "Then Anna saw a cat. It slept. “Come. Now!” she said. The end was near."
SAMPLE = Sample(
    "key", "cluster", {"story": STORY, "question": "Who saw Anna?", "options": ["a", "b", "c"]}, {"place": 1}, "category", "split", "group", 7
)  # fmt: skip
seeds = st.integers(0, 2**31 - 1)


def under(name: str, sample: Sample = SAMPLE, seed: int = 1, controllable: Controllable = WHOLE) -> Sample:
    return controlled(sample, controllable, {CONTROL: name, "seed": seed})


@pytest.mark.parametrize("name", [*CONTROLS])
@given(seed=seeds)
def test_a_control_keeps_what_a_sample_is_found_by_and_is_the_same_again(name, seed):
    changed = under(name, seed=seed)
    found_by = ("key", "cluster", "category", "split", "group", "number")
    assert [getattr(changed, one) for one in found_by] == [getattr(SAMPLE, one) for one in found_by]
    assert changed.published == SAMPLE
    assert changed == under(name, seed=seed)


def test_without_a_control_a_sample_is_what_it_was():
    assert under(NONE) is SAMPLE
    assert controlled(SAMPLE, None, {CONTROL: "renamed"}) is SAMPLE
    nobody = replace(SAMPLE, content={"story": "It rained.", "question": "Why?", "options": []})
    assert under("renamed", nobody) is nobody and under("shuffled", nobody) is nobody


@given(seed=seeds)
def test_options_are_the_same_in_another_order_with_the_same_right_one(seed):
    changed = under("shuffled", seed=seed)
    before, after = SAMPLE.content["options"], changed.content["options"]
    assert sorted(before) == sorted(after) and before != after
    assert after[changed.gold["place"]] == before[SAMPLE.gold["place"]]
    assert changed.content["story"] == STORY


def test_a_question_without_its_story_says_so():
    changed = under("storyless")
    assert changed.content == {**SAMPLE.content, "story": INSTEAD["en"]} and changed.gold == SAMPLE.gold


@given(seed=seeds)
def test_an_irrelevant_sentence_stands_between_two_and_in_no_quotation(seed):
    story = under("distracted", seed=seed).content["story"]
    (sentence,) = [one for one in SENTENCES["en"] if one in story]
    assert story.replace(f" {sentence}", "", 1) == STORY
    assert sentence not in story.partition("“")[2].partition("”")[0]


@given(seed=seeds)
def test_a_chinese_story_gets_a_chinese_sentence(seed):
    chinese = replace(WHOLE, language=lambda sample: "zh")
    story = under(
        "distracted", replace(SAMPLE, content={"story": "小明走了。小红说：“你好。再见。”她也走了。"}), seed, chinese
    ).content["story"]
    (sentence,) = [one for one in SENTENCES["zh"] if one in story]
    assert story.replace(sentence, "", 1) == "小明走了。小红说：“你好。再见。”她也走了。"


def test_a_suite_offers_the_controls_that_go_with_its_samples():
    assert [one.name for one in controls_of(replace(WHOLE, reordered=None))] == ["renamed", "storyless", "distracted"]
    setting = control_setting(WHOLE)
    assert [value for value, _ in setting.choices] == [NONE, *CONTROLS] and setting.default == NONE
    assert setting.checked("renamed") == "renamed"
    with pytest.raises(ValueError, match="Control is 'else'; expected none or renamed"):
        setting.checked("else")
