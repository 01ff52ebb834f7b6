"""The controls but for other names, and what all of them keep."""

import hashlib
import json
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.controls.chosen import (
    CONTROLS,
    INSTEAD,
    LISTS_VERSION,
    changes_of,
    controlled,
    controls_of,
    marked,
    refused,
    senseless,
)
from benchmark.controls.contract import Controllable
from benchmark.controls.lists import CHINESE_OBJECTS, CHINESE_PLACES, FAMILY, GIVEN, OBJECTS, PEOPLE, PLACES, SENTENCES
from benchmark.suites.questions import BadQuestion, Sample
from benchmark.suites.registry import suites
from benchmark.suites.settings import Settings


def reordered(sample: Sample, order) -> Sample:
    options = [sample.content["options"][place] for place in order]
    gold = {"place": order.index(sample.gold["place"])}
    return replace(sample, content={**sample.content, "options": options}, gold=gold)


def relined(sample: Sample, sentences, origins) -> Sample:
    seen = [[] if origin is None else sample.gold["seen"][origin] for origin in origins]
    return replace(sample, content={**sample.content, "story": [*sentences]}, gold={"seen": seen})


WHOLE = Controllable("story", ("content.story", "content.question", "content.options"), reordered=reordered)
CHINESE = replace(WHOLE, language=lambda sample: "zh")
STORY = "Then Anna saw a cat. It slept. “Come. Now!” she said. The end was near."
CONTENT = {"story": STORY, "question": "Who saw Anna?", "options": ["a", "b", "c"]}
SAMPLE = Sample("key", "cluster", CONTENT, {"place": 1}, "category", "split", "group", 7)
seeds = st.integers(0, 2**31 - 1)


def under(name: str, sample: Sample = SAMPLE, seed: int = 1, controllable: Controllable = WHOLE) -> Sample:
    return controlled(sample, controllable, Settings(control=name, seed=seed))


@given(seed=seeds)
def test_a_control_keeps_what_a_sample_is_found_by_and_is_the_same_again(seed):
    for name in CONTROLS:
        changed = under(name, seed=seed)
        for field in ("key", "cluster", "category", "split", "group", "number"):
            assert getattr(changed, field) == getattr(SAMPLE, field)
        assert changed.published == SAMPLE and changed == under(name, seed=seed)
    options = under("shuffled", seed=seed)
    before, after = CONTENT["options"], options.content["options"]
    assert sorted(before) == sorted(after) and before != after and options.content["story"] == STORY
    assert after[options.gold["place"]] == before[SAMPLE.gold["place"]], "the same option is right"


def test_without_a_control_or_what_it_changes_a_sample_is_what_it_was():
    assert under("") is controlled(SAMPLE, None, Settings(control="renamed")) is SAMPLE
    nobody = replace(SAMPLE, content={"story": "It rained.", "question": "Why?", "options": []})
    assert under("renamed", nobody) is under("shuffled", nobody) is nobody
    changed = under("storyless")
    assert changed.content == {**CONTENT, "story": INSTEAD["en"]} and changed.gold == SAMPLE.gold
    with pytest.raises(BadQuestion, match="version 0 of the name lists of controls, and this program has version 2"):
        controlled(SAMPLE, WHOLE, Settings(control="renamed", control_lists=0))


@given(seed=seeds)
def test_an_irrelevant_sentence_stands_between_two_and_in_no_quotation(seed):
    story = under("distracted", seed=seed).content["story"]
    (sentence,) = [one for one in SENTENCES["en"] if one in story]
    assert story.replace(f" {sentence}", "", 1) == STORY
    assert sentence not in story.partition("“")[2].partition("”")[0]
    chinese = "小明走了。小红说：“你好。再见。”她也走了。"
    told = under("distracted", replace(SAMPLE, content={"story": chinese}), seed, CHINESE).content["story"]
    (sentence,) = [one for one in SENTENCES["zh"] if one in told]
    assert told.replace(sentence, "", 1) == chinese
    # a story of sentences has what belongs to each
    listed, sentences = replace(WHOLE, relined=relined), ["It rained", "Anna left", "It stopped"]
    sample = replace(SAMPLE, content={"story": sentences}, gold={"seen": [["a"], ["b"], ["c"]]})
    changed = under("distracted", sample, seed, listed)
    (added,) = [at for at, one in enumerate(changed.content["story"]) if one in SENTENCES["en"]]
    assert 0 < added < 3 and changed.gold["seen"][added] == []
    assert [one for at, one in enumerate(changed.content["story"]) if at != added] == sentences
    assert [one for one in changed.gold["seen"] if one] == sample.gold["seen"]
    assert under("storyless", sample, seed, listed).content["story"] == [INSTEAD["en"]]


def test_a_suite_offers_the_controls_that_go_with_its_samples():
    without = replace(WHOLE, reordered=None)
    assert [one.name for one in controls_of(without)] == ["renamed", "storyless", "distracted"]
    assert senseless(without, "shuffled") == {"": "Its questions have no options to be shuffled."}
    assert senseless(WHOLE, "shuffled") == {} and controls_of(None) == []
    declared = replace(WHOLE, senseless={"renamed": {"": "Because."}, "storyless": {"look": "Nothing is there."}})
    assert [one.name for one in controls_of(declared)] == ["shuffled", "storyless", "distracted"]
    assert senseless(declared, "storyless") == {"look": "Nothing is there."}


def test_every_suite_has_each_control_or_says_why_not():
    for suite in [suite for suite in suites().values() if suite.controls]:
        assert {control.name for control in controls_of(suite.controls)} >= {"renamed", "storyless", "distracted"}
        for name in CONTROLS:
            left_out = senseless(suite.controls, name)
            assert set(left_out) <= {"", *(step.key for step in suite.launched)}
            assert all(why[0].isupper() and why.endswith(".") for why in left_out.values())
            kept = [step for step in suite.launched if step.key not in left_out]
            assert "" in left_out or kept
            for step in kept:
                assert not set(step.needs) & set(left_out), f"{step.key} is asked without what it needs"
        places = suite.controls.texts
        assert len(places) == len(set(places)) and {place.partition(".")[0] for place in places} <= {"content", "gold"}
        assert places[0] == f"content.{suite.controls.story}"  # names of the story are found first
        # methods that ask what people perceive have no control that leaves nothing to perceive
        methods = {name for name, _ in suite.method.choices} if suite.method else set()
        for name, whys in suite.controls.refused.items():
            assert name in CONTROLS and set(whys) <= methods
            assert all(why[0].isupper() and why.endswith(".") for why in whys.values())
        assert all(refused(suite.controls, "storyless", one) for one in methods & {"perceptom", "oracle-perception"})
        assert not refused(suite.controls, "storyless", "plain") and not refused(None, "storyless", "plain")


def test_what_a_seed_gives_stays_or_the_version_of_the_lists_is_raised():
    english = (
        "Today Anna and Boris saw a cat in a box. Then Carla put the apple into a basket in the kitchen. It rained."
    )
    stories = {"en": english, "zh": "小明和小红在厨房里看到一个苹果。老王走了。他们都笑了。"}
    lists = (FAMILY, GIVEN, PEOPLE, OBJECTS, PLACES, CHINESE_OBJECTS, CHINESE_PLACES, SENTENCES)
    given: list[object] = [repr(one) for one in lists]
    for seed, name, language in product(range(5), CONTROLS, stories):
        sample = replace(SAMPLE, content={**CONTENT, "story": stories[language]})
        changed = under(name, sample, seed, CHINESE if language == "zh" else WHOLE)
        given.append([changed.content, changed.gold])
    digest = hashlib.sha256(json.dumps(given, ensure_ascii=False).encode()).hexdigest()
    assert (LISTS_VERSION, digest[:16]) == (2, "7c39cf8c7f2477bb")


texts = st.text("ab .,\n", max_size=12)


@given(texts, texts)
def test_the_pieces_of_a_text_are_the_text_and_what_is_not_marked_is_in_both(before, after):
    first, second = marked(before, after)
    assert ["".join(text for text, _ in side) for side in (first, second)] == [before, after]
    same = ["".join(text for text, changed in side if not changed) for side in (first, second)]
    assert same[0] == same[1]


def test_only_what_changed_is_marked_and_shown_the_story_first():
    for side, name in zip(marked("Then Anna left.", "Then Ida left."), ("Anna", "Ida"), strict=True):
        assert side == [("Then ", False), (name, True), (" left.", False)]
    whole = replace(WHOLE, reordered=None)
    sample = replace(SAMPLE, gold={})
    assert changes_of(sample, whole) == []
    changed = controlled(sample, whole, Settings(control="storyless"))
    assert [one["name"] for one in changes_of(changed, whole)] == ["story"]
    both = replace(changed, content={**changed.content, "options": ["b", "a"]})
    assert [one["name"] for one in changes_of(both, whole)] == ["story", "options"]
