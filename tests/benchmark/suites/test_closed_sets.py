"""Every suite's repaired parse of models that refuse, that answer outside the set, and that are right in many words."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from benchmark.suites.closed_sets import main_clause, outside, outside_place, phrase_in
from benchmark.suites.fantom.parsing import SHORT
from benchmark.suites.fantom.parsing import samples_of as fantom_samples
from benchmark.suites.fantom_questions.data import read_fantom
from benchmark.suites.percept_fantom.data import samples_of as percept_fantom_samples
from benchmark.suites.questions import Question, Sample
from benchmark.suites.reasons import REFUSED, UNKNOWING
from benchmark.suites.refusals import own_words
from benchmark.suites.registry import suite_named
from benchmark.suites.tombench.data import shown_in
from benchmark.suites.tombench.steps import letter_of
from tests.benchmark.controls.test_gold_follows import LOADED
from tests.benchmark.suites import phrasings
from tests.benchmark.suites.phrasings import (
    ABSTENTIONS,
    CHINESE_REFUSALS,
    REFUSALS,
    SILENCE,
    Counts,
    counted,
    each,
    in_turn,
    read,
)

FREE = ("fact", "distance")
"""Kinds of questions that are answered in free words: there is no set."""


@pytest.fixture
def samples_by_hand(tmp_path, monkeypatch) -> list[tuple[Any, Sample]]:
    """Suites, each with a sample of every kind of question that has a set: of yes and no both, and a list of nobody."""
    found = []
    for name in LOADED:
        folder = tmp_path / name
        folder.mkdir()
        of_kind: dict[Any, Sample] = {}
        for sample in LOADED[name](folder, monkeypatch):
            kind, right = sample.content.get("kind"), sample.gold.get("right")
            if kind == "list":
                nobody = {"right": [], "wrong": sample.content["names"]}
                of_kind["nobody"] = replace(sample, gold={**sample.gold, **nobody})
            if kind not in FREE:
                of_kind[kind, right == ["no"]] = sample
        found += [(suite_named(name), sample) for sample in of_kind.values()]
    return found


def right_answer(suite: Any, sample: Sample, at: int) -> str:
    kind, gold = sample.content.get("kind"), sample.gold
    if suite.name == "tombench":
        displayed = shown_in(Question(sample, "answer", phrasings.settings_of(suite), phrasings.Resources([sample])))
        letter = letter_of(displayed, sample.gold["answer"])
        return turn(phrasings.LETTERS, at).format(letter, displayed.texts["ABCD".index(letter)])
    if suite.name == "percept-tomi" or kind == "fine":
        places = gold["places"] if kind == "fine" else sample.content["containers"]
        person = sample.content["people"][0] if sample.content["people"] else gold["mover"]
        other = next((place for place in places if place != gold["answer"]), "box")
        bare = [re.sub("^(?:an?|the) ", "", place) for place in (gold["answer"], other)]
        return turn(phrasings.PLACES, at).format(bare[0], person, bare[1])
    if suite.name == "opentom":
        return turn(phrasings.WORDS, at).format(gold["answer"])
    if kind == "list":
        return turn(phrasings.LISTS, at).format(", ".join(gold["right"]) or "Nobody")
    if kind == "choice":
        return turn(phrasings.CHOICES, at).format("ab"[gold["key"]], sample.content["options"][gold["key"]])
    return turn(phrasings.WORDS, at).format("Yes" if gold["right"][0] == "yes" else "No")


def other_answer(suite: Any, sample: Sample, at: int) -> str:
    kind = sample.content.get("kind")
    if suite.name == "tombench":
        return turn(phrasings.OTHER_LETTERS, at)
    if suite.name == "percept-tomi" or kind == "fine":
        return turn(phrasings.OTHER_PLACES, at)
    of_kind = {"list": phrasings.OTHER_PEOPLE, "choice": phrasings.OTHER_CHOICES}
    return turn(of_kind.get(str(kind), phrasings.OTHER_WORDS), at)


def turn(texts: Sequence[str], at: int) -> str:
    return texts[at % len(texts)]


def read_toy(suite: Any, samples: Sequence[Sample], answers: Sequence[str]) -> list[Any]:
    return read(suite, samples, answers, **({"embedder": "toy"} if suite.name == "fantom" else {}))


def check_models(suite: Any, samples: Sequence[Sample]) -> None:
    """Check what becomes of models that refuse, do not know, say nothing, answer outside the set, and are right."""
    total = len(samples)
    for texts in ((*REFUSALS, *CHINESE_REFUSALS), ABSTENTIONS, SILENCE):
        parsed = read_toy(suite, samples, in_turn(texts, total))
        assert counted(parsed) == Counts(unreadable=total), (suite.name, texts[0])
        if texts[0] in REFUSALS:
            assert {each.unreadable for each in parsed} == {REFUSED}

    def counts_of(answer: Callable[[Any, Sample, int], str]) -> Counts:
        return counted(read_toy(suite, samples, [answer(suite, each, at) for at, each in enumerate(samples)]))

    assert counts_of(other_answer) == Counts(wrong=total), suite.name
    assert counts_of(right_answer) == Counts(right=total), suite.name


def test_models_are_read_as_what_they_are(samples_by_hand):
    for suite, sample in samples_by_hand:
        check_models(suite, [sample] * (len(REFUSALS) + len(CHINESE_REFUSALS)))


@pytest.mark.parametrize("name", ["opentom", "percept-tomi", "tombench"])
def test_models_are_read_as_what_they_are_on_narratives_of_the_data(name, shared):
    suite = suite_named(name)
    samples = suite.copied.load(shared / "data" / "".join(suite.title)).samples
    for kind in {sample.content.get("kind") for sample in samples}:
        check_models(suite, [sample for sample in samples if sample.content.get("kind") == kind][:: 3 if kind else 2])


@pytest.mark.parametrize("name", ["fantom", "percept-fantom"])
def test_models_are_read_as_what_they_are_on_conversations_of_the_data(name, shared):
    copy, suite = read_fantom(shared / "vectors" / "fantom" / "fantom_mini.json"), suite_named(name)
    samples = list(fantom_samples(copy, SHORT) if name == "fantom" else percept_fantom_samples(copy, {}))
    check_models(suite, [each for each in samples if each.content["kind"] not in FREE])
    if free := [each for each in samples if each.content["kind"] in FREE]:
        parsed = read_toy(suite, free, in_turn((*REFUSALS, *ABSTENTIONS), len(free)))
        assert {each.unreadable for each in parsed} == {REFUSED, UNKNOWING, ""}
        kept = [each for each in parsed if not each.unreadable]
        assert kept and all(each.repaired == {"f1": 0.0} for each in kept), "a fact that a model does not know"


def test_a_phrase_is_a_whole_answer_of_a_few_words():
    for text, phrase in [
        ("**Crate**", "Crate"),
        ("The answer is: crate.", "crate"),
        ("Maybe\n\nBecause nobody saw it.", "Maybe"),
        *((text, "") for text in each("??? ‖ N/A ‖ None ‖ In the ‖ The answer is ‖ Let me think: ‖ Hello! ‖ bas")),
        ("", ""),
        *((text, "") for text in each("He saw her ‖ Invalid Request Error Occurred ‖ a b c d e f")),
    ]:
        assert phrase_in(text, ("basket",)) == phrase
    assert outside(own_words("I can't help with that. Perhaps."), ()) == "", "a refusal leaves nothing outside the set"
    assert outside(own_words("Perhaps."), ()) == "Perhaps"


def test_a_place_is_what_something_is_in():
    for place, texts in (
        ("crate", "In the crate. ‖ crate ‖ Una will search the crate."),
        ("old crate", "Una will look for the key in her old crate."),
        ("unknown", "unknown"),
        ("shelf", "on top of the shelf"),
        ("living room", "It's in the living room"),
        ("attic", "Probably in the attic. ‖ I believe it is in the attic."),
        ("pantry", 'I think the pantry. ‖ <answer>pantry</answer> ‖ **Answer**: pantry ‖ {"answer": "pantry"}'),
        ("", "It is ajar. ‖ In the story, Una waits. ‖ She will look there. ‖ somewhere else ‖ In the same place"),
        ("", "I can't help with that ‖ I think so. ‖ It is used in the field of psychology to test children."),
    ):
        for text in each(texts):
            assert outside_place(own_words(text), ("jar",)) == place, text
    assert outside_place(own_words(""), ("jar",)) == ""


def test_a_place_that_is_denied_is_not_the_answer(samples_by_hand):
    for suite, sample in samples_by_hand:
        if suite.name == "percept-tomi" or sample.content.get("kind") == "fine":
            place = sample.gold["answer"]
            places = sample.gold.get("places") or sample.content["containers"]
            [other] = [one for one in places if one != place]
            for answer in ["Not in the {}.", "Una will not look in the {}", "anywhere but the {}"]:
                assert counted(read(suite, [sample], [answer.format(place)])).right == 0
            (parsed,) = read(suite, [sample], [f"Not in the {other} but in the {place}."])
            assert parsed.repaired_score == 1


def test_reasons_are_no_part_of_the_answer():
    for text, clause in (
        ("Yes, because no one moved it.", "Yes"),
        ("In the jar since he left it", "In the jar"),
        ("Una\n\nExplanation: Vic left", "Una"),
        ("Because of it, no.", "Because of it, no."),
        ("the jar, not in the box", "the jar"),
        ("It was seen as a jar", "It was seen as a jar"),
    ):
        assert main_clause(text) == clause


HOSTILE = each(
    "I can not  ‖   ‖ \n ‖ sorry  ‖ a ‖ [ ‖ . ‖ ,  ‖ in the  ‖ look for it  ‖ 抱歉 ‖ error  ‖ as an ai  ‖ (a)"
)


def test_no_text_takes_long(samples_by_hand):
    of_kind = {(suite.name, sample.content.get("kind")): (suite, sample) for suite, sample in samples_by_hand}
    for text in HOSTILE:
        end = time.monotonic() + 60
        for suite, sample in of_kind.values():
            read_toy(suite, [sample], [text * 2_000])
            assert time.monotonic() < end, "an answer was not read in time"
