"""The calls of the suites on perceivers: who perceives what, the question with the true perceivers in place of the
story, and the question itself by a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.domain.parameters import Options
from benchmark.methods.contract import PEOPLE, PERCEIVERS, Put
from benchmark.methods.perceptom import ORACLE_PERCEPTION, PERCEPTOM, asked_perceptions
from benchmark.methods.plain import prompt
from benchmark.methods.program import digest_of, program_of, steps_with
from benchmark.methods.registry import methods_for
from benchmark.suites.perceiving.baselines import PERCEIVE, array_of
from benchmark.suites.perceiving.levels import Levels, people_of
from benchmark.suites.perceiving.shares import RECALL
from benchmark.suites.questions import Parsed, Question, Step
from benchmark.suites.settings import Setting
from core.messages import gettext_noop, word
from core.plain import Json
from workers.providers.contract import Request, Task

PERCEPTIONS, BELIEF, ANSWER = "perceptions", "belief", "answer"
METHODS = methods_for(PEOPLE, PERCEIVERS)
PRECURSORS = Setting(
    "precursors",
    gettext_noop("Perceptions and beliefs"),
    True,
    help=gettext_noop("Besides the questions, ask who perceives what, and for beliefs from the true perceptions."),
)
BY_PERCEPTION = (PERCEPTOM.name, ORACLE_PERCEPTION.name)
"""The methods that ask about what people perceive alone."""
UNREADABLE = gettext_noop("holds no array of {kind}s and perceivers")
_GIVEN = "These are the {kind}s of a {story} in their order, each with the people who perceive it:"
_by_method = program_of(METHODS, ANSWER)


def program(options: Options) -> tuple[str, ...]:
    """Return the steps of a run: those of its method and the answer, after the two precursors where they are asked."""
    before = (PERCEPTIONS, BELIEF) if options.get(PRECURSORS.name, PRECURSORS.default) else ()
    return (*before, *_by_method(options))


def steps_telling(task: str) -> tuple[Step, ...]:
    """Return the steps of a suite on perceivers, to whose questions baselines answer by `task`."""
    return (
        Step(
            PERCEPTIONS,
            gettext_noop("Perception inference"),
            task=PERCEIVE,
            answers=(gettext_noop("perceptions"), gettext_noop("perceptions")),
            score=gettext_noop("recall"),
        ),
        Step(BELIEF, gettext_noop("Perception-to-belief inference"), task=task),
        *steps_with(METHODS, Step(ANSWER, gettext_noop("Answering"), task=task)),
    )


def given_perceptions(put: Put, story: str = "story") -> str:
    """Return the prompt of the question with the true perceivers of every sentence in place of the story, which is
    called `story`."""
    perceivers = [scene.perceivers or () for scene in put.scenes]
    perceptions = array_of([scene.text for scene in put.scenes], perceivers)
    return prompt(put, f"{_GIVEN.format(kind=put.kind, story=story)}\n\n{perceptions}")


def prompt_digests(steps: Sequence[Step], put: Put, by_methods: Sequence[str], story: str = "story") -> dict[str, str]:
    """Return digests of the wording of each step: of the precursors from what they make of a question, of the others
    from `by_methods`."""
    precursors = digest_of(asked_perceptions(put), given_perceptions(put, story))
    return {step.key: precursors if step.key in (PERCEPTIONS, BELIEF) else digest_of(*by_methods) for step in steps}


def one_call(question: Question, put: Put, text: str, task: Task) -> Request:
    """Return the request of one prompt, whatever the method of the run."""
    return Request(
        messages=put.messages(text),
        max_tokens=question.settings.max_tokens,
        temperature=0.0,
        seed=question.settings.seed,
        task=task,
    )


def perceptions_task(question: Question, sentences: Sequence[str], levels: Levels) -> Json:
    """Return the task about the perceivers of a text's sentences, which all questions about it share: so nothing is of
    one alone."""
    return {
        "kind": PERCEIVE,
        "sentences": sentences,
        "names": sorted(people_of(question.sample)),
        "usual": levels.everybody(question.resources),
    }


def parsed_perceptions(
    official: Mapping[str, float | None] | None,
    repaired: Mapping[str, float | None] | None,
    scenes: Sequence[Any] | None,
    kind: str,
) -> Parsed:
    """Return what was read of perceivers: the shares of both parses, None where there is nothing to read, and the
    scenes; `kind` is what one is called."""
    return Parsed(
        official=official,
        repaired=dict(repaired or {}) | {"scenes": scenes},
        score=official[RECALL] if official else None,
        repaired_score=repaired[RECALL] if repaired else None,
        unreadable="" if repaired else UNREADABLE.format(kind=word(kind)),
        empty=scenes == [],
    )
