"""A question about a conversation as it is put, and the answer that is right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.controls.contract import Controllable, Spellings
from benchmark.controls.renaming import single_names, spelled, texts_at
from benchmark.methods.contract import Method, Put
from benchmark.methods.perceptom import NOTHING_PERCEIVED, PERCEPTOM
from benchmark.suites.fantom_questions.data import ANSWERABILITY, CHOICE, DISTANCE, FACT, INFORMATION, LIST, YES, YES_NO
from benchmark.suites.fantom_questions.parsing import Parse
from benchmark.suites.questions import Question, Resources, Sample
from core.plain import Json
from workers.providers.baseline.baseline import Baseline, generator, seeded
from workers.providers.contract import Body

_HOW: Mapping[str, str] = {
    FACT: "Answer in one sentence",
    DISTANCE: "Answer in one sentence",
    CHOICE: "Answer with (a) or (b)",
    LIST: "Answer with their names, separated by commas",
    YES_NO: "Answer yes or no",
}


def put_of(sample: Sample) -> Put:
    """Return the question as methods put it."""
    content = sample.content
    how = _HOW[content["kind"]]
    return Put(
        story=content["conversation"],
        question=_asked(content),
        how=f"{how}, and nothing else.",
        how_after=f"{how} there.",
        people=tuple(content["people"]),
        joined="\n",
        kind="utterance",
    )


def _asked(content: Mapping[str, Any]) -> str:
    """The question with what it is about, or with its options."""
    if content["topic"] == ANSWERABILITY:
        return f"{content['question']}\nThe question meant is: {content['fact_question']}"
    if content["topic"] == INFORMATION:
        return f"{content['question']}\nThe information meant is: {content['fact_question']} {content['fact_answer']}"
    options = [f"({letter}) {text}" for letter, text in zip("ab", content["options"], strict=False)]
    return "\n".join([content["question"], *options])


def answer_in(method: Method, answer: str) -> str:
    """Return the part of an answer that holds the answer itself; where that is all of it as it came, since the released
    code strips nothing."""
    return answer if method.read is str.strip else method.read(answer)


def score_of(parse: Parse) -> float:
    """Return 1 for right and 0 for wrong, of a fact its F1."""
    return float(parse["right"] if "right" in parse else parse["f1"])


def right_answer(sample: Sample) -> str:
    """Return what a perfect model would answer."""
    kind, right = sample.content["kind"], sample.gold["right"]
    if kind == CHOICE:
        return f"({'ab'[sample.gold['key']]})"
    if kind == YES_NO:
        return "yes" if right[0] == YES else "no"
    return ", ".join(right) or "Nobody"


TELL = "fantom"
"""The kind of task: {"key", "form" (the kind of question), "choices" (what may be answered, of a list each name),
"majority" (the answer that is right most often of its kind and topic)}."""
MAJORITY = "fantom majority"
"""The name under which `majority_answers` are derived."""
UNKNOWING = "I do not know."
"""The answer where nothing is to choose from."""


def task_of(question: Question) -> Json:
    """Return the question as data."""
    sample = question.sample
    majority = question.resources.derived(MAJORITY, majority_answers)
    return {
        "kind": TELL,
        "key": sample.key,
        "form": sample.content["kind"],
        "choices": _choices(sample),
        "majority": _majority(sample, majority[sample.category]),
    }


def _choices(sample: Sample) -> list[str]:
    kind = sample.content["kind"]
    if kind == DISTANCE:  # their order says nothing of which is right
        return sorted([*sample.gold["right"], *sample.gold["wrong"]])
    return {CHOICE: ["(a)", "(b)"], YES_NO: ["yes", "no"], LIST: list(sample.content["names"])}.get(kind, [])


def _majority(sample: Sample, most: str) -> str:
    return ", ".join(sample.content["names"]) if most == "everybody" else most


def majority_answers(samples: Sequence[Sample]) -> dict[str, str]:
    """Return the answer that is right most often, by type of question; of a list "everybody" where most characters
    know, else that nobody does."""
    counts: dict[str, Counter[str]] = {}
    for sample in samples:
        counts.setdefault(sample.category, Counter()).update(_votes(sample))
    return {name: max(sorted(answers), key=answers.__getitem__) for name, answers in sorted(counts.items())}


def by_majority(sample: Sample, resources: Resources) -> float | None:
    """Return whether the answer that is right most often of its type is right; None of one in free words, of which
    there is none."""
    kind, right = sample.content["kind"], sample.gold["right"]
    answer = _majority(sample, resources.derived(MAJORITY, majority_answers)[sample.category])
    if kind == CHOICE:
        return float(answer == f"({'ab'[sample.gold['key']]})")
    if kind == YES_NO:
        return float((answer == "yes") == (right[0] == YES))
    return float(_names_right(sample, answer)) if kind == LIST else None


def _names_right(sample: Sample, answer: str) -> bool:
    """Return whether everybody, or nobody, is right: who knows is named, and nobody who does not."""
    named = set() if answer == "Nobody" else {*sample.content["names"]}
    return {*sample.gold["right"]} <= named and named.isdisjoint(sample.gold["wrong"])


def _votes(sample: Sample) -> dict[str, int]:
    kind, right = sample.content["kind"], sample.gold["right"]
    if kind == CHOICE:
        return {f"({'ab'[sample.gold['key']]})": 1}
    if kind == YES_NO:
        return {"yes" if right[0] == YES else "no": 1}
    if kind == LIST:
        return {"everybody": len(right), "Nobody": len(sample.content["names"]) - len(right)}
    return {UNKNOWING: 1}


def _random(body: Body) -> str:
    task = body["task"]
    drawn = generator(body, task["key"])
    if task["form"] == LIST:
        return ", ".join(name for name in task["choices"] if drawn.random() < 0.5) or "Nobody"
    return str(drawn.choice(task["choices"])) if task["choices"] else UNKNOWING


def _most_frequent(body: Body) -> str:
    return str(body["task"]["majority"])


_TASK = {"key": "x", "form": YES_NO, "choices": ["yes", "no"], "majority": "no"}
BASELINES = (
    Baseline(name="random", task=TELL, answer=_random, sample=_TASK, settings=seeded),
    Baseline(name="majority", task=TELL, answer=_most_frequent, sample=_TASK),
)


def by_chance(sample: Sample) -> float | None:
    """Return one half of a choice, of yes or no, and of both texts of a belief in free words; of a list, each name
    being named or not, one half to the power of the names that have to be told apart. None of a fact, where nothing is
    to choose from."""
    kind = sample.content["kind"]
    if kind in (CHOICE, YES_NO, DISTANCE):
        return 0.5
    return _of_list(sample) if kind == LIST else None


def _of_list(sample: Sample) -> float:
    names, right = {*sample.content["names"]}, {*sample.gold["right"]}
    return 0.5 ** len(names & (right | {*sample.gold["wrong"]})) if right <= names else 0.0


_SPEAKER = re.compile(r"^(\w[\w’',& -]*):", re.MULTILINE)
TEXTS = (
    "content.conversation", "content.question", "content.options", "content.fact_question", "content.fact_answer",
    "content.character", "content.people",
    "content.names", "gold.right", "gold.wrong",
)  # fmt: skip


def named_in(sample: Sample) -> list[str]:
    """Return those who speak, and those whom the questions are about."""
    return single_names([*_SPEAKER.findall(sample.content["conversation"]), *sample.content["names"]])


def people_of(sample: Sample) -> list[Spellings]:
    """Return those who speak and those whom the questions are about, with the spellings that conversation and questions
    have of their names."""
    return spelled(named_in(sample), sample.content["names"], texts_at(sample, TEXTS))


def _reordered(sample: Sample, order: Sequence[int]) -> Sample:
    """The sample with its options in another order."""
    options = sample.content["options"]
    return replace(
        sample,
        content={**sample.content, "options": [options[place] for place in order]},
        gold={**sample.gold, "key": order.index(sample.gold["key"])},
    )


CONTROLS = Controllable(
    story="conversation",
    texts=TEXTS,
    named=people_of,
    reordered=_reordered,
    refused={"storyless": {PERCEPTOM.name: NOTHING_PERCEIVED}},
)  # fmt: skip
