"""The calls of FANToM: the answer, after the steps of the method that was chosen."""

from __future__ import annotations

from functools import partial

from benchmark.methods.contract import PEOPLE
from benchmark.methods.perceptom import PERCEIVE, all_perceived
from benchmark.methods.program import method_named, parsed_by, program_of, request_by, steps_with
from benchmark.methods.registry import methods_for
from benchmark.suites.contract import BadQuestion, Parsed, Question, Step
from benchmark.suites.conversations.asking import answer_in, put_of, right_answer, score_of
from benchmark.suites.conversations.baselines import TELL, task_of
from benchmark.suites.conversations.controls import named_in
from benchmark.suites.conversations.official import after_marker
from benchmark.suites.conversations.parses import unread
from benchmark.suites.fantom.embedding import embedder_named
from benchmark.suites.fantom.parses import parses_of
from workers.providers.contract import Request

ANSWER = "answer"
EMBEDDER = "embedder"
METHODS = methods_for(PEOPLE)
STEPS = steps_with(METHODS, Step(ANSWER, "Answering", task=TELL))
PROGRAM = program_of(METHODS, ANSWER)


def request(question: Question) -> Request | str:
    """Return the request of one step of the method. Raises BadQuestion where answers could not be read with the run's
    embedder."""
    try:
        embedder_named(question.settings[EMBEDDER])
    except ValueError as error:
        raise BadQuestion(str(error)) from error
    method = method_named(METHODS, question.settings)
    task = task_of(question) if question.step == ANSWER else {"kind": question.step}
    return request_by(method, question, put_of(question.sample), task)


def parse(question: Question, answer: str) -> Parsed:
    """Return what an answer says, as the released code and as a person reads it; of an earlier step the text as it
    is."""
    if question.step != ANSWER:
        return Parsed(None, {"text": answer}, None, None)
    method = method_named(METHODS, question.settings)
    text = after_marker(answer_in(method, answer))
    official, repaired = parses_of(question.sample, text, embedder_named(question.settings[EMBEDDER]))
    parsed = Parsed(
        official=official,
        repaired=repaired or {},
        score=score_of(official),
        repaired_score=None if repaired is None else score_of(repaired),
        unusable="" if repaired is not None else unread(question.sample),
    )
    return parsed_by(method, partial(put_of, question.sample), question.answers, parsed)


def expected(question: Question) -> str:
    """Return what a perfect model would answer."""
    sample = question.sample
    if question.step == PERCEIVE:
        return all_perceived(put_of(sample), named_in(sample))
    if question.step != ANSWER:
        return str(sample.content["conversation"])
    return right_answer(sample)
