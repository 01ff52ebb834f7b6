"""The calls of OpenToM: the answer, after the steps of the method that was chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from benchmark.methods.answering import COT, FIRST, in_session
from benchmark.methods.contract import PEOPLE, Put
from benchmark.methods.perceptom import PERCEIVE, all_perceived
from benchmark.methods.program import method_named, parsed_by, program_of, request_by, steps_with, wording_digest
from benchmark.methods.registry import methods_for
from benchmark.suites.opentom.data import (
    ACCESSIBILITY,
    ATTITUDE,
    COARSE,
    FINE,
    FULLNESS,
    LABELS,
    OUTSIDE,
    UNREADABLE,
    genre_of,
)
from benchmark.suites.opentom.parsing import after_reasoning, after_thinking, label_of, predicted_label, read_answer
from benchmark.suites.questions import BadQuestion, Parsed, Question, Sample, Step
from core.messages import gettext_noop
from core.plain import Json
from workers.providers.contract import Request

ANSWER = "answer"
TELL = "answer OpenToM"
"""The kind of task: {"key", "kind", "choices" (what may be answered), "majority" (the answer that is right most often
of its genre)}."""
ALONE = methods_for(PEOPLE)
"""Methods by which each question is asked by itself."""
JOINT = in_session(TELL)
METHODS = (*ALONE, JOINT)
STEPS = steps_with(METHODS, Step(ANSWER, gettext_noop("Answering"), task=TELL))
PROGRAM = program_of(METHODS, ANSWER)
MAJORITY = "opentom majority"
"""The name under which `majority_labels` are derived."""
_HOW = {
    COARSE: "Answer Yes or No",
    FINE: "Answer with the place",
    FULLNESS: "Answer with “more full”, “equally full” or “less full”",
    ACCESSIBILITY: "Answer with “more accessible”, “equally accessible” or “less accessible”",
    ATTITUDE: "Answer with “positive”, “neutral” or “negative”",
}


def wording() -> dict[str, str]:
    """Return the digest of the wording of each step."""
    alone = wording_digest(ALONE)
    return {step.key: wording_digest((JOINT,)) if step.key == FIRST else alone for step in STEPS}


def first_of(sample: Sample) -> Sample | None:
    """Return the yes-or-no question on the same view, which goes before the question where exactly; None of other
    questions. Raises BadQuestion."""
    content = sample.content
    if content["kind"] != FINE or not content["people"]:
        return None
    if "first" not in content:
        raise BadQuestion(
            "This copy of OpenToM was imported without the question that goes before the one where exactly; "
            "import it again to ask both in one session."
        )
    key, text = content["first"]["key"], content["first"]["question"]
    category = genre_of(sample.gold["type"], COARSE)
    asked = {name: value for name, value in content.items() if name != "first"} | {"kind": COARSE, "question": text}
    return replace(sample, key=key, content=asked, category=category)


def put_of(sample: Sample, *, joint: bool = False) -> Put:
    """Return the question as methods put it, with the one that goes before it where they are asked in one session."""
    content = sample.content
    question = content["question"]
    if content["kind"] == ATTITUDE:
        question = f"{question.rstrip('?')}, given that you saw it happen?"
    how = _HOW[content["kind"]]
    return Put(
        story=content["story"],
        question=question,
        how=f"{how}, and nothing else.",
        how_after=f"{how} there.",
        people=tuple(content["people"]),
        system="You understand well what goes on in other people’s minds.",
        before=put_of(first) if joint and (first := first_of(sample)) else None,
    )


def request(question: Question) -> Request | str:
    """Return the request of one step of the method."""
    method = method_named(METHODS, question.settings)
    put = put_of(question.sample, joint=method is JOINT)
    if question.step == FIRST:
        return request_by(method, question, put, _task(question, first_of(question.sample) or question.sample))
    task = _task(question, question.sample) if question.step == ANSWER else {"kind": question.step}
    return request_by(method, question, put, task)


def _task(question: Question, sample: Sample) -> Json:
    answer = _majority_answer(question, sample)
    return {"kind": TELL, "key": sample.key, "choices": choices_of(sample), "majority": answer}


def _majority_answer(question: Question, sample: Sample) -> str:
    labels = question.resources.derived(MAJORITY, majority_labels)
    label = labels[majority_key(sample)]
    if sample.content["kind"] == FINE:
        return str(sample.gold["places"][label - 1])
    return next(text for text, number in LABELS[sample.content["kind"]].items() if number == label)


def choices_of(sample: Sample) -> list[str]:
    """Return what may be answered."""
    kind = sample.content["kind"]
    return list(sample.gold["places"] if kind == FINE else LABELS[kind])


def majority_key(sample: Sample) -> str:
    """Return what the majority answer goes by: kind and order, of a place whose it is."""
    return f"{sample.category}/{sample.content['kind']}"


def majority_labels(samples: Sequence[Sample]) -> dict[str, int]:
    """Return the label that is right most often, by `majority_key`: what the majority baseline answers."""
    counts: dict[str, Counter[int]] = {}
    for sample in samples:
        label = right_label(sample)
        if label is not None:
            counts.setdefault(majority_key(sample), Counter())[label] += 1
    return {key: max(sorted(labels), key=labels.__getitem__) for key, labels in sorted(counts.items())}


def parse(question: Question, answer: str) -> Parsed:
    """Return the label of an answer, as the released code and as a person reads it; of an earlier step the text as it
    is."""
    if question.step != ANSWER:
        return Parsed(None, {"text": answer}, None, None)
    method = method_named(METHODS, question.settings)
    official, repaired = (after_reasoning, after_thinking) if method is COT else (str, method.read)
    parsed = _parsed_label(question.sample, official(answer.strip()), repaired(answer))
    return parsed_by(method, partial(put_of, question.sample), question.answers, parsed)


def _parsed_label(sample: Sample, official_text: str, text: str) -> Parsed:
    kind, places = sample.content["kind"], (sample.gold["places"][0], sample.gold["places"][1])
    official, read = predicted_label(kind, official_text, places), read_answer(kind, text, places)
    gold, right = sample.gold["label"], right_label(sample)
    counted = official != UNREADABLE and gold is not None
    return Parsed(
        official={"label": official},
        repaired={"label": read.label} | ({"outside": read.outside} if read.outside else {}),
        score=float(official == gold) if counted else None,
        repaired_score=None if read.label is None else float(read.label == right),
        unreadable=read.why,
        stray=read.label == OUTSIDE,
    )


def right_label(sample: Sample) -> int | None:
    """Return the number of the right answer; of a place that the data misspell the one that it is more like."""
    label: int | None = sample.gold["label"]
    if label is not None:
        return label
    return label_of(sample.content["kind"], sample.gold["answer"], (sample.gold["places"][0], sample.gold["places"][1]))


def expected(question: Question) -> str:
    """Return what a perfect model would answer."""
    if question.step == PERCEIVE:
        return all_perceived(put_of(question.sample), [question.sample.gold[who] for who in ("mover", "observer")])
    if question.step == FIRST:
        return str(_first_answer(question.sample))
    if question.step != ANSWER:
        return str(question.sample.content["story"])
    return str(question.sample.gold["answer"])


def _first_answer(sample: Sample) -> str:
    """Yes where the thing is thought to be where it was."""
    if first_of(sample) is None:
        return str(sample.gold["answer"])
    return "Yes" if right_label(sample) == 1 else "No"
