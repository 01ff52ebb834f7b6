"""All methods, and setting, steps and requests of those that a suite takes."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from benchmark.controls.contract import ENGLISH
from benchmark.domain.parameters import Options
from benchmark.methods.answering import COT, PLAIN, S2A, SELF_ASK, SIMTOM
from benchmark.methods.contract import Earlier, Method, NothingToAsk, Put
from benchmark.methods.perceptom import ORACLE_PERCEPTION, PERCEPTOM
from benchmark.suites.questions import Parsed, Question, Step
from benchmark.suites.settings import Setting, Settings
from core.digests import text_digest
from core.messages import capitalised, labelled, sentences
from workers.providers.contract import Request, Task

METHODS = (PLAIN, COT, SELF_ASK, S2A, SIMTOM, PERCEPTOM, ORACLE_PERCEPTION)
"""All methods, in the order in which launches offer them. A new one is its file and its place here."""


def methods_for(*offers: str) -> tuple[Method, ...]:
    """Return the methods that go with the questions of a suite, by what its `Put` offers: `PEOPLE`, `PERCEIVERS`."""
    return tuple(method for method in METHODS if method.needs <= {*offers})


METHOD = "method"
"""The name of the setting."""


def method_setting(methods: Sequence[Method]) -> Setting:
    """Return the setting that chooses among methods, the first of them by default."""
    return Setting(
        METHOD,
        "Method",
        methods[0].name,
        help=sentences(*(labelled(capitalised(method.title), method.help) for method in methods)),
        choices=tuple((method.name, method.title) for method in methods),
        method=True,
        helps=tuple(method.help for method in methods),
    )


def steps_with(methods: Sequence[Method], answer: Step) -> tuple[Step, ...]:
    """Return the steps of all methods and the answering step, which comes after those of the method that was chosen."""
    before = tuple(dict.fromkeys(step for method in methods for step in method.steps))
    return (*before, replace(answer, after=(*answer.after, *(step.key for step in before))))


def program_of(methods: Sequence[Method], answer: str) -> Callable[[Options], tuple[str, ...]]:
    """Return the program of a suite: the steps of the chosen method, then the one whose key is `answer`."""

    def program(options: Options) -> tuple[str, ...]:
        method = next((method for method in methods if method.name == options.get(METHOD)), methods[0])
        return (*(step.key for step in method.steps), answer)

    return program


def method_named(methods: Sequence[Method], settings: Settings) -> Method:
    """Return the method that a run was launched with. Raises KeyError where there is none of its name."""
    return {method.name: method for method in methods}[settings.options[METHOD]]


def request_by(
    method: Method, question: Question, put: Put, task: Task, *, tokens: int = 0, unasked: str = ""
) -> Request:
    """Return the request of a question at its step. `task` says the same as data; `tokens` of the answer, those of the
    run where it is 0.

    Where the model's earlier answers leave nothing to ask, nothing is sent: the answer is known to be `unasked`, or
    what the method's released code has in its place.
    """
    own, answer = {step.key for step in method.steps}, None
    try:
        if question.step in own and method.ask is not None:
            messages = method.ask(question.step, put, question.answers)
        elif own <= question.answers.keys():
            messages = method.answer(put, question.answers)
        else:  # a baseline computes its answer and has no earlier one
            messages = put.messages(put.question)
    except NothingToAsk as error:
        messages, answer = put.messages(f"(Nothing is asked. The answer {error}.)"), unasked or error.answer
    return Request(
        messages=tuple(messages),
        max_tokens=tokens or question.settings.max_tokens,
        temperature=0.0,
        seed=question.settings.seed,
        task=task,
        preset_answer=answer,
    )


def parsed_by(method: Method, put: Callable[[], Put], earlier: Earlier, parsed: Parsed) -> Parsed:
    """Return what was read of the answer to a question, which `put` makes, after earlier answers; where these left the
    method nothing to ask, nothing can be read in the repaired parse, which says so."""
    if not method.steps or not {step.key for step in method.steps} <= earlier.keys():
        return parsed
    try:
        method.answer(put(), earlier)
    except NothingToAsk as error:
        return replace(parsed, repaired={}, repaired_score=None, unreadable=str(error))
    return parsed


def wording_digest(methods: Sequence[Method], language: str = ENGLISH) -> str:
    """Return the SHA-256 of what methods make of a question of their own in a language, in hexadecimal digits: it
    changes with any wording."""
    before = Put("{story}", "{question before}", "{how before}", system="{system}")
    put = Put(
        "{story}", "{question}", "{how}", "{how_after}", ("{first}", "{second}"), system="{system}", before=before,
        language=language,
    )  # fmt: skip
    texts = []
    for method in methods:
        earlier = {step.key: '[{"{scene}": ["{first}", "{second}"]}]' for step in method.steps}
        asked = [message for step in method.steps if method.ask for message in method.ask(step.key, put, {})]
        texts += [f"{message.role}\0{message.content}" for message in (*asked, *method.answer(put, earlier))]
    return digest_of(*texts)


def digest_of(*texts: str) -> str:
    """Return the SHA-256 of these texts in hexadecimal digits."""
    return text_digest("\0".join(texts))
