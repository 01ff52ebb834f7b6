"""The calls of FANToM: the answer, after the steps of the method that was chosen, and what a judge says of it."""

from functools import partial

from benchmark.methods.perceptom import PERCEIVE, all_perceived
from benchmark.methods.program import method_named, parsed_by, request_by
from benchmark.suites.fantom.embedding import embedder_named
from benchmark.suites.fantom.judge import (
    ANSWER,
    ANSWERING,
    JUDGED_AT,
    METHODS,
    STEP,
    SWAPPED,
    expected_verdict,
    judge_parse,
    judge_request,
)
from benchmark.suites.fantom.parsing import parses_of
from benchmark.suites.fantom_questions.asking import answer_in, named_in, put_of, right_answer, task_of
from benchmark.suites.fantom_questions.parsing import after_marker, parsed_answer
from benchmark.suites.questions import BadQuestion, Parsed, Question
from workers.providers.contract import Request

EMBEDDER = "embedder"
STEPS = (*ANSWERING, STEP, SWAPPED)


def request(question: Question) -> Request | str:
    """Return the request of one step of the method, or of the judge. Raises BadQuestion where answers could not be read
    with the run's embedder."""
    if question.step in JUDGED_AT:
        return judge_request(question)
    try:
        embedder_named(question.settings.options[EMBEDDER])
    except ValueError as error:
        raise BadQuestion(str(error)) from error
    method = method_named(METHODS, question.settings)
    task = task_of(question) if question.step == ANSWER else {"kind": question.step}
    return request_by(method, question, put_of(question.sample), task)


def parse(question: Question, answer: str) -> Parsed:
    """Return what an answer says, as the released code and as a person reads it; of an earlier step the text as it is,
    of a judge's answer the verdict."""
    if question.step in JUDGED_AT:
        return judge_parse(question, answer)
    if question.step != ANSWER:
        return Parsed(None, {"text": answer}, None, None)
    method = method_named(METHODS, question.settings)
    text = after_marker(answer_in(method, answer))
    parses = parses_of(question.sample, text, embedder_named(question.settings.options[EMBEDDER]))
    parsed = parsed_answer(question.sample, text, *parses)
    return parsed_by(method, partial(put_of, question.sample), question.answers, parsed)


def expected(question: Question) -> str:
    """Return what a perfect model, or judge, would answer."""
    if question.step in JUDGED_AT:
        return expected_verdict(question)
    sample = question.sample
    if question.step == PERCEIVE:
        return all_perceived(put_of(sample), named_in(sample))
    if question.step != ANSWER:
        return str(sample.content["conversation"])
    return right_answer(sample)
