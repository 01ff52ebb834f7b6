"""The calls of Percept-ToMi: who perceives what, where people think things are by the true perceptions, and the question itself by a method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.methods.contract import Put, Scene
from benchmark.methods.cot import COT
from benchmark.methods.perceptom import ORACLE_PERCEPTION, PERCEIVE, PERCEPTOM, asked_perceptions
from benchmark.methods.plain import PLAIN, prompt
from benchmark.methods.program import method_named, program_of, request_by, steps_with
from benchmark.methods.s2a import S2A
from benchmark.methods.self_ask import SELF_ASK
from benchmark.methods.simtom import SIMTOM
from benchmark.suites.contract import Parsed, Question, Sample, Setting, Step
from benchmark.suites.percept_tomi import baselines
from benchmark.suites.percept_tomi.baselines import array_of
from benchmark.suites.percept_tomi.perceived import (
    RECALL,
    UNREADABLE,
    official_shares,
    repaired_scenes,
    repaired_shares,
)
from benchmark.suites.percept_tomi.places import named_place, official_right
from workers.providers.contract import Request

PERCEPTIONS, BELIEF, ANSWER = "perceptions", "belief", "answer"
METHODS = (PLAIN, COT, SELF_ASK, S2A, SIMTOM, PERCEPTOM, ORACLE_PERCEPTION)
STEPS = (
    Step(
        PERCEPTIONS,
        "Perception inference",
        task=baselines.PERCEIVE,
        answers=("perceptions", "perceptions"),
        score="recall",
    ),
    Step(BELIEF, "Perception-to-belief inference", task=baselines.TELL),
    *steps_with(METHODS, Step(ANSWER, "Answering", task=baselines.TELL)),
)
PROSE, LIST = "prose", "list"
STORY = Setting(
    "story",
    "Story",
    PROSE,
    help="The released code writes the story as a list of its sentences in quotation marks, the paper as prose.",
    choices=((PROSE, "as prose"), (LIST, "as a list of sentences, as the released code does")),
)
PRECURSORS = Setting(
    "precursors",
    "Perceptions and beliefs",
    True,
    help="Besides the questions, ask who perceives what, and for beliefs from the true perceptions.",
)
_BY_METHOD = program_of(METHODS, ANSWER)
HOW = (
    "Assume that people perceive everything that happens in the room where they are, and nothing that happens elsewhere. Say as exactly as the story "
    "allows which container it is"
)
_GIVEN = "These are the sentences of a story in their order, each with the people who perceive it:"


def program(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the steps of a run: those of its method and the answer, after the two precursors where they are asked."""
    before = (PERCEPTIONS, BELIEF) if settings.get(PRECURSORS.name, PRECURSORS.default) else ()
    return (*before, *_BY_METHOD(settings))


def put_of(sample: Sample, form: str = PROSE) -> Put:
    """Return the question as methods put it, its story as prose or as a list."""
    content = sample.content
    scenes = zip(content["sentences"], sample.gold["perceivers"], strict=True)
    return Put(
        story=str(content["sentences"]) if form == LIST else prose(content["sentences"]),
        question=content["question"],
        how=f"{HOW}, in one sentence without an explanation.",
        how_after=f"{HOW}.",
        people=tuple(content["people"]),
        scenes=tuple(Scene(f"{sentence}.", tuple(name for name in names if name)) for sentence, names in scenes),
    )


def prose(sentences: Sequence[str]) -> str:
    """Return sentences as a text."""
    return " ".join(f"{sentence}." for sentence in sentences)


def given_perceptions(put: Put) -> str:
    """Return the prompt of the question with the true perceivers of every sentence in place of the story."""
    perceivers = [scene.perceivers or () for scene in put.scenes]
    return prompt(put, f"{_GIVEN}\n\n{array_of([scene.text for scene in put.scenes], perceivers)}")


def request(question: Question) -> Request | str:
    """Return the request of one step."""
    put = put_of(question.sample, question.settings[STORY.name])
    if question.step in (PERCEPTIONS, PERCEIVE):
        return _one_call(question, put, asked_perceptions(put), _scenes_task(question))
    if question.step == BELIEF:
        given = {"perceivers": question.sample.gold["perceivers"]}
        return _one_call(question, put, given_perceptions(put), _place_task(question) | given)
    task = _place_task(question) if question.step == ANSWER else {"kind": question.step}
    return request_by(method_named(METHODS, question.settings), question, put, task)


def _one_call(question: Question, put: Put, text: str, task: Mapping[str, Any]) -> Request:
    return Request(
        messages=put.messages(text),
        max_tokens=question.settings["max_tokens"],
        temperature=0.0,
        seed=question.settings["seed"],
        task=task,
    )


def _scenes_task(question: Question) -> dict[str, Any]:
    """Nothing in it is of one question alone: all questions about a story share the call."""
    content, gold = question.sample.content, question.sample.gold
    return {
        "kind": baselines.PERCEIVE,
        "sentences": content["sentences"],
        "names": sorted({name for names in gold["perceivers"] for name in names if name}),
        "usual": question.resources.derived("percept-tomi perceived", mostly_perceived),
    }


def _place_task(question: Question) -> dict[str, Any]:
    content = question.sample.content
    return {
        "kind": baselines.TELL,
        "key": question.sample.key,
        **{name: content[name] for name in ("sentences", "thing", "people", "containers")},
        "usual": question.resources.derived("percept-tomi usual", usual_container),
    }


def mostly_perceived(samples: Sequence[Sample]) -> bool:
    """Whether a person of a story perceives more than half of its sentences."""
    perceived = pairs = 0
    for sample in samples:
        perceivers = [{*names} - {""} for names in sample.gold["perceivers"]]
        people = {name for names in perceivers for name in names}
        perceived += sum(map(len, perceivers))
        pairs += len(people) * len(perceivers)
    return 2 * perceived > pairs


def usual_container(samples: Sequence[Sample]) -> int:
    """Return which container of a story is right most often, its number from 0; of equally frequent ones the first."""
    counts: Counter[int] = Counter(sample.content["containers"].index(sample.gold["answer"]) for sample in samples)
    return min(counts, key=lambda at: (-counts[at], at))


def parse(question: Question, answer: str) -> Parsed:
    """Return what the released code and a careful reader read in an answer; of an earlier step of a method the text as it is."""
    if question.step == PERCEPTIONS:
        return _parsed_perceptions(question.sample, answer)
    if question.step == BELIEF:
        return _parsed_place(question.sample, answer.strip())
    if question.step == ANSWER:
        return _parsed_place(question.sample, method_named(METHODS, question.settings).read(answer.strip()))
    return Parsed(None, {"text": answer}, None, None)


def _parsed_place(sample: Sample, text: str) -> Parsed:
    gold = sample.gold["answer"]
    right = official_right(text, gold)
    place, why = named_place(text, sample.content["containers"], sample.gold["candidates"])
    return Parsed(
        official={"right": right},
        repaired={"place": place},
        score=None if right is None else float(right),
        repaired_score=None if place is None else float(place == gold),
        unusable=why,
    )


def _parsed_perceptions(sample: Sample, answer: str) -> Parsed:
    story, perceivers = sample.content["sentences"], sample.gold["perceivers"]
    official, repaired = (shares(answer, story, perceivers) for shares in (official_shares, repaired_shares))
    scenes = repaired_scenes(answer, story)
    return Parsed(
        official=official,
        repaired=(repaired or {}) | {"scenes": scenes},
        score=official[RECALL] if official else None,
        repaired_score=repaired[RECALL] if repaired else None,
        unusable="" if repaired else UNREADABLE,
        empty=scenes == [],
    )


def expected(question: Question) -> str:
    """Return what a perfect model would answer."""
    sample = question.sample
    if question.step in (PERCEPTIONS, PERCEIVE):
        return array_of([f"{sentence}." for sentence in sample.content["sentences"]], sample.gold["perceivers"])
    if question.step in (BELIEF, ANSWER):
        return f"In the {sample.gold['answer']}."
    return prose(sample.content["sentences"])
