"""The calls of FANToM: the answer, after the steps of the method that was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.methods.contract import Method, Put
from benchmark.methods.cot import COT
from benchmark.methods.perceptom import PERCEPTOM
from benchmark.methods.plain import PLAIN
from benchmark.methods.program import method_named, program_of, request_by, steps_with
from benchmark.methods.s2a import S2A
from benchmark.methods.self_ask import SELF_ASK
from benchmark.methods.simtom import SIMTOM
from benchmark.suites.contract import BadQuestion, Parsed, Question, Sample, Step
from benchmark.suites.fantom.baselines import TELL, task_of
from benchmark.suites.fantom.embedding import embedder_named
from benchmark.suites.fantom.official import after_marker
from benchmark.suites.fantom.readings import Reading, readings_of, unread
from benchmark.suites.fantom.rows import ANSWERABILITY, CHOICE, DISTANCE, FACT, INFORMATION, LIST, YES, YES_NO
from workers.providers.contract import Request

ANSWER = "answer"
EMBEDDER = "embedder"
METHODS = (PLAIN, COT, SELF_ASK, S2A, SIMTOM, PERCEPTOM)
STEPS = steps_with(METHODS, Step(ANSWER, "Answering", task=TELL))
PROGRAM = program_of(METHODS, ANSWER)
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


def request(question: Question) -> Request | str:
    """Return the request of one step of the method. Raises BadQuestion where answers could not be read with the run's embedder."""
    try:
        embedder_named(question.settings[EMBEDDER])
    except ValueError as error:
        raise BadQuestion(str(error)) from error
    method = method_named(METHODS, question.settings)
    task = task_of(question) if question.step == ANSWER else {"kind": question.step}
    return request_by(method, question, put_of(question.sample), task)


def parse(question: Question, answer: str) -> Parsed:
    """Return what an answer says, as the released code and as a person reads it; of an earlier step the text as it is."""
    if question.step != ANSWER:
        return Parsed(None, {"text": answer}, None, None)
    text = after_marker(_read(method_named(METHODS, question.settings), answer))
    official, repaired = readings_of(question.sample, text, embedder_named(question.settings[EMBEDDER]))
    return Parsed(
        official=official,
        repaired=repaired or {},
        score=score_of(official),
        repaired_score=None if repaired is None else score_of(repaired),
        unusable="" if repaired is not None else unread(question.sample),
    )


def _read(method: Method, answer: str) -> str:
    """The part of an answer that holds the answer itself; where that is all of it as it came, since the released code strips nothing."""
    return answer if method.read is str.strip else method.read(answer)


def score_of(reading: Reading) -> float:
    """Return 1 for right and 0 for wrong, of a fact its F1."""
    return float(reading["right"] if "right" in reading else reading["f1"])


def expected(question: Question) -> str:
    """Return what a perfect model would answer."""
    sample = question.sample
    if question.step != ANSWER:
        return str(sample.content["conversation"])
    kind, right = sample.content["kind"], sample.gold["right"]
    if kind == CHOICE:
        return f"({'ab'[sample.gold['key']]})"
    if kind == YES_NO:
        return "yes" if right[0] == YES else "no"
    return ", ".join(right) or "Nobody"
