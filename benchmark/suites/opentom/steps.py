"""The calls of OpenToM: the answer, after the steps of the method that was chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchmark.methods.contract import Put
from benchmark.methods.cot import COT
from benchmark.methods.perceptom import PERCEIVE, PERCEPTOM, all_perceived
from benchmark.methods.plain import PLAIN
from benchmark.methods.program import method_named, program_of, request_by, steps_with
from benchmark.methods.s2a import S2A
from benchmark.methods.self_ask import SELF_ASK
from benchmark.methods.simtom import SIMTOM
from benchmark.suites.contract import Parsed, Question, Sample, Step
from benchmark.suites.opentom.kinds import ACCESSIBILITY, ATTITUDE, COARSE, FINE, FULLNESS, LABELS, UNREAD
from benchmark.suites.opentom.official import predicted_label
from benchmark.suites.opentom.repaired import label_of
from workers.providers.contract import Request

ANSWER = "answer"
TELL = "answer OpenToM"
"""The kind of task: {"key", "kind", "choices" (what may be answered), "majority" (the answer that is right most often of its genre)}."""
METHODS = (PLAIN, COT, SELF_ASK, S2A, SIMTOM, PERCEPTOM)
STEPS = steps_with(METHODS, Step(ANSWER, "Answering", task=TELL))
PROGRAM = program_of(METHODS, ANSWER)
NOTHING_READ = "says none of the answers"
_HOW = {
    COARSE: "Answer Yes or No",
    FINE: "Answer with the place",
    FULLNESS: "Answer with “more full”, “equally full” or “less full”",
    ACCESSIBILITY: "Answer with “more accessible”, “equally accessible” or “less accessible”",
    ATTITUDE: "Answer with “positive”, “neutral” or “negative”",
}


def put_of(sample: Sample) -> Put:
    """Return the question as methods put it."""
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
    )


def request(question: Question) -> Request | str:
    """Return the request of one step of the method."""
    sample = question.sample
    task = {
        "kind": TELL,
        "key": sample.key,
        "choices": choices_of(sample),
        "majority": _majority_answer(question),
    }
    method = method_named(METHODS, question.settings)
    return request_by(method, question, put_of(sample), task if question.step == ANSWER else {"kind": question.step})


def _majority_answer(question: Question) -> str:
    sample = question.sample
    labels = question.resources.derived("opentom majority", majority_labels)
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
    """Return the label of an answer, as the released code and as a person reads it; of an earlier step the text as it is."""
    if question.step != ANSWER:
        return Parsed(None, {"text": answer}, None, None)
    sample = question.sample
    kind, places = sample.content["kind"], (sample.gold["places"][0], sample.gold["places"][1])
    text = method_named(METHODS, question.settings).read(answer.strip())
    official, repaired = predicted_label(kind, text, places), label_of(kind, text, places)
    gold, right = sample.gold["label"], right_label(sample)
    counted = official != UNREAD and gold is not None
    return Parsed(
        official={"label": official},
        repaired={"label": repaired},
        score=float(official == gold) if counted else None,
        repaired_score=None if repaired is None else float(repaired == right),
        unusable="" if repaired is not None else NOTHING_READ,
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
    if question.step != ANSWER:
        return str(question.sample.content["story"])
    return str(question.sample.gold["answer"])
