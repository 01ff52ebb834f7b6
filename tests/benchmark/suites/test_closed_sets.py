"""Every suite's repaired parse of models that refuse, that answer outside the set, and that are right in many words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from benchmark.suites.closed_sets import main_clause, outside, outside_place, phrase_in
from benchmark.suites.fantom.parsing import SHORT
from benchmark.suites.fantom.parsing import samples_of as fantom_samples
from benchmark.suites.fantom.suite import SUITE as FANTOM
from benchmark.suites.fantom_questions.data import read_fantom
from benchmark.suites.opentom.suite import SUITE as OPENTOM
from benchmark.suites.percept_fantom.data import samples_of as percept_fantom_samples
from benchmark.suites.percept_fantom.suite import SUITE as PERCEPT_FANTOM
from benchmark.suites.percept_tomi.suite import SUITE as PERCEPT_TOMI
from benchmark.suites.questions import Question, Sample
from benchmark.suites.reasons import REFUSED, UNKNOWING
from benchmark.suites.refusals import own_words
from benchmark.suites.settings import Settings
from benchmark.suites.tombench.data import shown_in
from benchmark.suites.tombench.steps import letter_of
from benchmark.suites.tombench.suite import SUITE as TOMBENCH
from tests.benchmark.suites import phrasings
from tests.benchmark.suites.phrasings import (
    ABSTENTIONS,
    CHINESE_REFUSALS,
    REFUSALS,
    SILENCE,
    Counts,
    counted,
    in_turn,
    read,
)

FREE = ("fact", "distance")
"""Kinds of questions that are answered in free words: there is no set."""


def sample(content: dict[str, Any], gold: dict[str, Any], **fields: Any) -> Sample:
    return Sample(fields.pop("key", "1"), "1", content, gold, **fields)


def opentom(kind: str, answer: str) -> Sample:
    places = ["crate", "the trash can"]
    label = {"Yes": 1, "No": 0, "less full": 1, "negative": 2, "more accessible": 1}.get(answer)
    gold = {"answer": answer, "label": places.index(answer) + 1 if label is None else label, "places": places}
    content = {"story": "Una can wait.", "question": "?", "kind": kind, "people": ["Una"], "perspective": "mover"}
    return sample(content, gold | {"mover": "Una", "observer": "Vic", "batches": {}}, category="Attitude")


def percept_tomi() -> Sample:
    content = {
        "sentences": ["The key is in the jar"], "question": "Where will Una look for the key?", "thing": "key",
        "people": ["Una"], "containers": ["jar", "glove box"],
    }  # fmt: skip
    return sample(content, {"answer": "jar", "candidates": ["jar", "glove box", "hall"], "perceivers": [["Una"]]})


def conversation(kind: str, right: list[str], wrong: list[str], key: int = 0) -> Sample:
    content = {
        "conversation": "Una: The tide is low.\nVic: No, it is high.", "kind": kind, "topic": "answerability",
        "question": "Does Una know?", "options": ["Una thinks so.",
        "Una has not heard of it."], "scenario": "accessible",
        "order": "first-order", "character": "Una", "people": ["Una"], "names": ["Una", "Vic", "Will"],
        "wholly_accessible": True, "fact_question": "?", "fact_answer": "!",
    }  # fmt: skip
    return sample(content, {"right": right, "wrong": wrong, "key": key, "perceivers": []}, group="1")


def item(options: Sequence[str]) -> Sample:
    content = {"story": "Una can wait.", "question": "What does she do?", "options": list(options)}
    gold = {"answer": "B", "cell": "B", "ability": "Belief"}
    return sample(content, gold, key="task:1:en", category="Task", split="en")


_CONVERSATIONS = [
    conversation("choice", ["Una has not heard of it."], ["Una thinks so."], key=1),
    conversation("list", ["Una", "Will"], ["Vic"]), conversation("list", [], ["Vic", "Una", "Will"]),
    conversation("yes_no", ["yes"], []), conversation("yes_no", ["no"], []),
]  # fmt: skip
_NARRATIVE = [
    opentom("fine", "crate"), opentom("fine", "the trash can"), opentom("coarse", "Yes"), opentom("coarse", "No"),
    opentom("fullness", "less full"), opentom("accessibility", "more accessible"), opentom("attitude", "negative"),
]  # fmt: skip
_OPTIONS = [("Tote bag", "Handbag", "Jar", "Box"), ("She waits.", "She cannot help him.")]
BY_HAND: tuple[tuple[Any, list[Sample]], ...] = (
    (OPENTOM, _NARRATIVE),
    (PERCEPT_TOMI, [percept_tomi()]),
    (FANTOM, _CONVERSATIONS),
    (PERCEPT_FANTOM, _CONVERSATIONS),
    (TOMBENCH, [item(options) for options in _OPTIONS]),
)


def right_answer(suite: Any, sample: Sample, at: int) -> str:
    kind, gold = sample.content.get("kind"), sample.gold
    if suite is TOMBENCH:
        settings = Settings({setting.name: setting.default for setting in suite.settings})
        displayed = shown_in(Question(sample, "answer", settings, phrasings.Resources([sample])))
        letter = letter_of(displayed, sample.gold["answer"])
        return turn(phrasings.LETTERS, at).format(letter, displayed.texts["ABCD".index(letter)])
    if suite is PERCEPT_TOMI or kind == "fine":
        places = sample.content["containers"] if suite is PERCEPT_TOMI else gold["places"]
        person = sample.content["people"][0] if sample.content["people"] else gold["mover"]
        other = next((place for place in places if place != gold["answer"]), "box")
        bare = [re.sub("^(?:an?|the) ", "", place) for place in (gold["answer"], other)]
        return turn(phrasings.PLACES, at).format(bare[0], person, bare[1])
    if suite is OPENTOM:
        return turn(phrasings.WORDS, at).format(gold["answer"])
    if kind == "list":
        return turn(phrasings.LISTS, at).format(", ".join(gold["right"]) or "Nobody")
    if kind == "choice":
        return turn(phrasings.CHOICES, at).format("ab"[gold["key"]], sample.content["options"][gold["key"]])
    return turn(phrasings.WORDS, at).format("Yes" if gold["right"][0] == "yes" else "No")


def other_answer(suite: Any, sample: Sample, at: int) -> str:
    kind = sample.content.get("kind")
    if suite is TOMBENCH:
        return turn(phrasings.OTHER_LETTERS, at)
    if suite is PERCEPT_TOMI or kind == "fine":
        return turn(phrasings.OTHER_PLACES, at)
    of_kind = {"list": phrasings.OTHER_PEOPLE, "choice": phrasings.OTHER_CHOICES}
    return turn(of_kind.get(str(kind), phrasings.OTHER_WORDS), at)


def turn(texts: Sequence[str], at: int) -> str:
    return texts[at % len(texts)]


def counts_of(suite: Any, samples: Sequence[Sample], answer: Callable[[Any, Sample, int], str]) -> Counts:
    answers = [answer(suite, each, at) for at, each in enumerate(samples)]
    return counted(read(suite, samples, answers, **({"embedder": "toy"} if suite is FANTOM else {})))


def check_models(suite: Any, samples: Sequence[Sample]) -> None:
    """Check what becomes of models that refuse, do not know, say nothing, answer outside the set, and are right."""
    total = len(samples)
    for texts in ((*REFUSALS, *CHINESE_REFUSALS), ABSTENTIONS, SILENCE):
        answers = in_turn(texts, total)
        parsed = read(suite, samples, answers, **({"embedder": "toy"} if suite is FANTOM else {}))
        assert counted(parsed) == Counts(unreadable=total), (suite.name, texts[0])
        if texts[0] in REFUSALS:
            assert {each.unreadable for each in parsed} == {REFUSED}
    assert counts_of(suite, samples, other_answer) == Counts(wrong=total), suite.name
    assert counts_of(suite, samples, right_answer) == Counts(right=total), suite.name


def test_models_are_read_as_what_they_are():
    for suite, samples in BY_HAND:
        for each in samples:
            check_models(suite, [each] * (len(REFUSALS) + len(CHINESE_REFUSALS)))


@pytest.mark.parametrize("suite", [OPENTOM, PERCEPT_TOMI, TOMBENCH], ids=lambda suite: suite.name)
def test_models_are_read_as_what_they_are_on_all_narratives(suite, shared):
    samples = suite.copied.load(shared / "data" / "".join(suite.title)).samples
    kinds = {each.content.get("kind") for each in samples}
    for kind in kinds:
        of_kind = [each for each in samples if each.content.get("kind") == kind]
        check_models(suite, of_kind if kind in ("fine", None) else of_kind[::4])


@pytest.mark.parametrize("suite", [FANTOM, PERCEPT_FANTOM], ids=lambda suite: suite.name)
def test_models_are_read_as_what_they_are_on_all_conversations(suite, shared):
    copy = read_fantom(shared / "vectors" / "fantom" / "fantom_mini.json")
    percept = percept_fantom_samples(copy, {})
    samples = list(fantom_samples(copy, SHORT) if suite is FANTOM else percept)
    check_models(suite, [each for each in samples if each.content["kind"] not in FREE])
    free = [each for each in samples if each.content["kind"] in FREE]
    if free:
        parsed = read(suite, free, in_turn((*REFUSALS, *ABSTENTIONS), len(free)), embedder="toy")
        assert {each.unreadable for each in parsed} == {REFUSED, UNKNOWING, ""}
        kept = [each for each in parsed if not each.unreadable]
        assert kept and all(each.repaired == {"f1": 0.0} for each in kept), "a fact that a model does not know"


def test_a_phrase_is_a_whole_answer_of_a_few_words():
    for text, phrase in [
        ("**Crate**", "Crate"),
        ("The answer is: crate.", "crate"),
        ("", ""),
        ("???", ""),
        ("N/A", ""),
        ("None", ""),
        ("In the", ""),
        ("The answer is", ""),
        ("Let me think:", ""),
        ("Hello!", ""),
        ("He saw her", ""),
        ("bas", ""),
        ("Invalid Request Error Occurred", ""),
        ("a b c d e f", ""),
        ("Maybe\n\nBecause nobody saw it.", "Maybe"),
    ]:
        assert phrase_in(text, ("basket",)) == phrase


def test_a_place_is_what_something_is_in():
    for text, place in [
        ("In the crate.", "crate"),
        ("Una will look for the key in her old crate.", "old crate"),
        ("crate", "crate"),
        ("Una will search the crate.", "crate"),
        ("It is ajar.", ""),
        ("In the story, Una waits.", ""),
        ("", ""),
        ("She will look there.", ""),
        ("somewhere else", ""),
        ("In the same place", ""),
        ("I can't help with that", ""),
        ("unknown", "unknown"),
        ("It is used in the field of psychology to test children.", ""),
        ("on top of the shelf", "shelf"),
        ("It's in the living room", "living room"),
        ("I think the pantry.", "pantry"),
        ("Probably in the attic.", "attic"),
        ("I believe it is in the attic.", "attic"),
        ("I think so.", ""),
        ("<answer>pantry</answer>", "pantry"),
        ('{"answer": "pantry"}', "pantry"),
        ("**Answer**: pantry", "pantry"),
    ]:
        assert outside_place(own_words(text), ("jar",)) == place


def test_a_place_that_is_denied_is_not_the_answer():
    for answer in ["Not in the {}.", "Una will not look in the {}", "anywhere but the {}"]:
        for suite, each, place, other in (
            (OPENTOM, opentom("fine", "crate"), "crate", "trash can"),
            (PERCEPT_TOMI, percept_tomi(), "jar", "glove box"),
        ):
            assert counted(read(suite, [each], [answer.format(place)])).right == 0
            (parsed,) = read(suite, [each], [f"Not in the {other} but in the {place}."])
            assert parsed.repaired_score == 1


def test_reasons_are_no_part_of_the_answer():
    for text, clause in (
        ("Yes, because no one moved it.", "Yes"), ("In the jar since he left it", "In the jar"),
        ("Una\n\nExplanation: Vic left", "Una"),
        ("Because of it, no.", "Because of it, no."), ("the jar, not in the box", "the jar"),
        ("It was seen as a jar", "It was seen as a jar"),
    ):  # fmt: skip
        assert main_clause(text) == clause


def test_a_refusal_leaves_nothing_outside_the_set():
    assert outside(own_words("I can't help with that. Perhaps."), ()) == ""
    assert outside(own_words("Perhaps."), ()) == "Perhaps"


HOSTILE = (
    "I can not ",
    " ",
    "\n",
    "sorry ",
    "a",
    "[",
    ".",
    ", ",
    "in the ",
    "look for it ",
    "抱歉",
    "error ",
    "as an ai ",
    "Una, ",
    "(a)",
)


def test_no_text_takes_long():
    for text in HOSTILE:
        end = time.monotonic() + 60
        for suite, samples in BY_HAND:
            for each in samples:
                read(suite, [each], [text * 5_000], **({"embedder": "toy"} if suite is FANTOM else {}))
                assert time.monotonic() < end, "an answer was not read in time"
