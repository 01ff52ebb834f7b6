"""The two calls before a question: who perceives what, and the question with the true perceivers in place of the story."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmark.methods.contract import Put
from benchmark.methods.plain import prompt
from benchmark.suites.asked import Question
from benchmark.suites.perceiving.baselines import array_of
from benchmark.suites.settings import Setting
from workers.providers.contract import Request

PERCEPTIONS, BELIEF = "perceptions", "belief"
PRECURSORS = Setting(
    "precursors",
    "Perceptions and beliefs",
    True,
    help="Besides the questions, ask who perceives what, and for beliefs from the true perceptions.",
)
UNREADABLE = "holds no array of {kind}s and perceivers"
_GIVEN = "These are the {kind}s of a {story} in their order, each with the people who perceive it:"
Program = Callable[[Mapping[str, Any]], tuple[str, ...]]


def program_with_precursors(by_method: Program) -> Program:
    """Return the program of a run: the steps of its method and the answer, after the two precursors where they are asked."""

    def program(settings: Mapping[str, Any]) -> tuple[str, ...]:
        before = (PERCEPTIONS, BELIEF) if settings.get(PRECURSORS.name, PRECURSORS.default) else ()
        return (*before, *by_method(settings))

    return program


def given_perceptions(put: Put, story: str = "story") -> str:
    """Return the prompt of the question with the true perceivers of every sentence in place of the story, which is called `story`."""
    perceivers = [scene.perceivers or () for scene in put.scenes]
    told = array_of([scene.text for scene in put.scenes], perceivers)
    return prompt(put, f"{_GIVEN.format(kind=put.kind, story=story)}\n\n{told}")


def one_call(question: Question, put: Put, text: str, task: Mapping[str, Any]) -> Request:
    """Return the request of one prompt, whatever the method of the run."""
    return Request(
        messages=put.messages(text),
        max_tokens=question.settings["max_tokens"],
        temperature=0.0,
        seed=question.settings["seed"],
        task=task,
    )
