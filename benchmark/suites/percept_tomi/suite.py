"""What Percept-ToMi says of itself."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from benchmark.controls.contract import Controllable
from benchmark.methods.contract import Put, Scene
from benchmark.methods.perceptom import asked_perceptions
from benchmark.methods.program import method_setting, wording_digest
from benchmark.suites.contract import AnswerIds, Entered, ItemView, Option, Sample, Suite
from benchmark.suites.measuring import summary_of
from benchmark.suites.perceiving.asking import (
    ANSWER,
    BELIEF,
    METHODS,
    PERCEPTIONS,
    PRECURSORS,
    given_perceptions,
    program,
)
from benchmark.suites.perceiving.shares import same_names
from benchmark.suites.percept_tomi.baselines import BASELINES
from benchmark.suites.percept_tomi.measure import GROUPS, measure
from benchmark.suites.percept_tomi.perceived import is_scored
from benchmark.suites.percept_tomi.samples import CATEGORIES, load
from benchmark.suites.percept_tomi.scoring import BY_SHAPE, TASKS, ids_of, score_answers
from benchmark.suites.percept_tomi.steps import HOW, STEPS, STORY, expected, parse, request
from benchmark.suites.percept_tomi.tables import SECTIONS, pictures, tables
from benchmark.suites.reported import Reported, Sections

PROMPT_SET = "percept-tomi-1"
METHOD = method_setting(METHODS)


def _summary(entered: Entered) -> dict[str, Any]:
    return summary_of(measure(entered))


def _item(view: ItemView) -> dict[str, Any]:
    """The story with the true perceivers of each sentence and, of perception inference, those that were read; the containers with the answer."""
    sample, official, repaired = view.question.sample, view.official or {}, view.repaired or {}
    step = view.question.step
    read: dict[int, Any] = {at: names for at, names in repaired.get("scenes") or () if at is not None}
    lines = [
        _line(sentence, names, at in read, read.get(at))
        for at, (sentence, names) in enumerate(zip(sample.content["sentences"], sample.gold["perceivers"], strict=True))
    ]
    taken = repaired.get("place")
    places = dict.fromkeys([*sample.content["containers"], *([taken] if taken else ())])
    return {
        "category": sample.category,
        "question": sample.content["question"],
        "lines": lines,
        "perceiving": step == PERCEPTIONS,
        "placing": step in (ANSWER, BELIEF),
        "places": [{"text": name, "right": name == sample.gold["answer"], "taken": name == taken} for name in places],
        "official": official.get("right"),
        "answered": bool(view.answer),
        "unusable": view.unusable,
    }


def _line(sentence: str, gold: list[str], is_read: bool, names: list[str] | None) -> dict[str, Any]:
    """A sentence, its perceivers and those that were read, None where none were."""
    return {
        "text": sentence,
        "gold": ", ".join(name for name in gold if name) or "nobody",
        "read": (", ".join(names) or "nobody") if is_read and names is not None else None,
        "right": is_read and names is not None and same_names(names, gold),
        "scored": is_scored(sentence),
    }


def _methods(reported: Reported) -> Sections:
    method = METHOD.in_words(reported.settings["method"])
    story = STORY.in_words(reported.settings[STORY.name])
    return [
        (
            "Prompts",
            f"Questions were asked by the method {method}, the story {story}; the wording is Credence’s own (set {PROMPT_SET}).",
        ),
        (
            "Scoring",
            "The official reading takes an answer for right that has the container’s name in it to the letter, also within a word or beside another "
            "container; the repaired one takes whole words, in capitals or not, and an answer that names both containers for none. Perceivers of a "
            "sentence are right where they are exactly the annotated ones. Official perception accuracy is over the sentences that a model wrote, without "
            "those on likes, entering and leaving; models are ranked by the recall, which is over the sentences of the story. The released script "
            "compares the annotation with itself; here it is the model’s answer that is compared.",
        ),
    ]


def _prompts() -> Mapping[str, str]:
    """The digest of what each step is asked, by step."""
    put = Put("{story}", "{question}", HOW, people=("{first}",), scenes=(Scene("{scene}", ("{first}",)),))
    own = _digest(asked_perceptions(put), given_perceptions(put))
    of_methods = _digest(HOW, wording_digest(METHODS))
    return {step.key: own if step.key in (PERCEPTIONS, BELIEF) else of_methods for step in STEPS}


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _relined(sample: Sample, sentences: Sequence[str], origins: Sequence[int | None]) -> Sample:
    """The sample told in other sentences, of which new ones have no perceivers."""
    perceivers = sample.gold["perceivers"]
    return replace(
        sample,
        content={**sample.content, "sentences": [sentence.removesuffix(".") for sentence in sentences]},
        gold={**sample.gold, "perceivers": [[] if origin is None else perceivers[origin] for origin in origins]},
    )


CONTROLS = Controllable(
    story="sentences",
    texts=(
        "content.sentences", "content.question", "content.thing", "content.people", "content.containers", "gold.answer", "gold.perceivers",
        "gold.candidates",
    ),
    named=lambda sample: [name for name in dict.fromkeys(chain(*sample.gold["perceivers"])) if name],
    relined=_relined,
    senseless={
        "storyless": dict.fromkeys((PERCEPTIONS, BELIEF), "Without its sentences there is nothing to be perceived."),
        "distracted": {PERCEPTIONS: "Who perceives the sentence that is added is not annotated."},
    },
)  # fmt: skip

SUITE = Suite(
    name="percept-tomi",
    title="Percept-ToMi",
    steps=STEPS,
    program=program,
    groups=GROUPS,
    request=request,
    parse=parse,
    measure=measure,
    summary=_summary,
    expected=expected,
    score=score_answers,
    options=(
        Option("task", BY_SHAPE, "what the answers say: where the thing is, or who perceives what; auto: by their shape", TASKS),
    ),
    answer_ids=AnswerIds(ids_of),
    load=load,
    noun=("question", "questions"),
    settings=(METHOD, STORY, PRECURSORS),
    max_tokens=1024,
    prompts=_prompts(),
    prompts_version=PROMPT_SET,
    controls=CONTROLS,
    item=_item,
    item_template="percept_tomi/item.html",
    methods=_methods,
    tables=tables,
    pictures=pictures,
    sections=SECTIONS,
    categories=CATEGORIES,
    category_noun="question type",
    dependent="questions about a story",
    baselines=BASELINES,
)  # fmt: skip
