"""The calls of OpenToM: the answer, after the steps of the method that was chosen."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from benchmark.methods.answering import COT, FIRST, in_session
from benchmark.methods.contract import PEOPLE, Put
from benchmark.methods.perceptom import PERCEIVE, all_perceived
from benchmark.methods.program import method_named, methods_for, parsed_by, program_of, request_by, steps_with
from benchmark.suites.opentom.data import genre_of
from benchmark.suites.opentom.parsing import (
    ACCESSIBILITY,
    ATTITUDE,
    COARSE,
    FINE,
    FULLNESS,
    LABELS,
    OUTSIDE,
    UNREADABLE,
    Places,
    after_reasoning,
    after_thinking,
    predicted_label,
    read_answer,
)
from benchmark.suites.questions import BadQuestion, Parsed, Question, Sample, Step
from core.messages import gettext_noop
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
    sample, method = question.sample, method_named(METHODS, question.settings)
    put = put_of(sample, joint=method is JOINT)
    if question.step not in (ANSWER, FIRST):
        return request_by(method, question, put, {"kind": question.step})
    asked = (first_of(sample) or sample) if question.step == FIRST else sample
    most = question.resources.derived(MAJORITY, majority_labels)[majority_key(asked)]
    answers = labels_of(asked)
    majority = next(text for text, label in answers.items() if label == most)
    return request_by(
        method, question, put, {"kind": TELL, "key": asked.key, "choices": list(answers), "majority": majority}
    )


def places_of(sample: Sample) -> Places:
    """Return the original and the new place."""
    original, new = sample.gold["places"]
    return original, new


def labels_of(sample: Sample) -> dict[str, int]:
    """Return what may be answered, with its label."""
    kind = sample.content["kind"]
    return dict(zip(places_of(sample), (1, 2), strict=True)) if kind == FINE else dict(LABELS[kind])


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
    sample, method = question.sample, method_named(METHODS, question.settings)
    kind, places, gold = sample.content["kind"], places_of(sample), sample.gold["label"]
    official = predicted_label(kind, after_reasoning(answer.strip()) if method is COT else answer.strip(), places)
    label, outside, why = read_answer(kind, after_thinking(answer) if method is COT else method.read(answer), places)
    parsed = Parsed(
        official={"label": official},
        repaired={"label": label} | ({"outside": outside} if outside else {}),
        score=float(official == gold) if official != UNREADABLE and gold is not None else None,
        repaired_score=None if label is None else float(label == right_label(sample)),
        unreadable=why,
        stray=label == OUTSIDE,
    )
    return parsed_by(method, partial(put_of, sample), question.answers, parsed)


def right_label(sample: Sample) -> int | None:
    """Return the number of the right answer; of a place that the data misspell the one that it is more like."""
    label: int | None = sample.gold["label"]
    if label is None:
        return read_answer(sample.content["kind"], sample.gold["answer"], places_of(sample))[0]
    return label


def expected(question: Question) -> str:
    """Return what a perfect model would answer: at the question before, yes where the thing is thought to be where it
    was."""
    sample = question.sample
    if question.step == PERCEIVE:
        return all_perceived(put_of(sample), [sample.gold[who] for who in ("mover", "observer")])
    if question.step == FIRST and first_of(sample):
        return "Yes" if right_label(sample) == 1 else "No"
    return str(sample.gold["answer"] if question.step in (ANSWER, FIRST) else sample.content["story"])
