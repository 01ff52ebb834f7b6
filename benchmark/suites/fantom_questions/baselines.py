"""Answers that need no model: what figures are worth is read beside theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchmark.suites.fantom_questions.rows import CHOICE, DISTANCE, LIST, YES, YES_NO
from benchmark.suites.questions import Question, Resources, Sample
from core.plain import Json
from workers.providers.baseline.baseline import Baseline, generator, seeded
from workers.providers.contract import Body

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
