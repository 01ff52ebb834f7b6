"""PercepToM: who perceives what is asked first; the question is asked about what the person perceived, found by string
matching.

After Jung et al. 2024, "Perceptions to Beliefs". With the true perceptions of the data in place of the model's it is
the oracle of that paper.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from benchmark.methods.contract import PEOPLE, PERCEIVERS, Earlier, Method, NothingToAsk, Put
from benchmark.methods.perceptions import Perceived, perceived_by, perceptions_of
from benchmark.methods.plain import prompt
from benchmark.suites.questions import Step
from core.messages import gettext_noop
from workers.providers.contract import Message

PERCEIVE = "perceive"
NOTHING_PERCEIVED = gettext_noop(
    "It asks about what people perceive of the text, and of a text that is left out nobody perceives anything."
)
"""Reason why the methods here are not asked by where the story is left out, as `Controllable.refused` has it."""
INVALID = "invalid perception inference response"
"""Text that the released code takes for the answer to a question that perceptions which it cannot read left unasked."""
_BETWEEN = re.compile(r"(?<=[.!?])\s+|\n+")


def asked_perceptions(put: Put) -> str:
    """Return the prompt that asks who perceives each scene of a story."""
    return (
        f"{put.story}\n\nWrite a JSON array with an object for each {put.kind} above, in order. Its one key is the "
        f"{put.kind} as it stands, its value an array of the names of those who perceive it. Write the array alone."
    )


def all_perceived(put: Put, people: Sequence[str]) -> str:
    """Return an answer to `asked_perceptions` by which these people perceive every scene: one as long as can be, where
    data do not say who does."""
    scenes = [scene.text for scene in put.scenes] or [text for text in _BETWEEN.split(put.story) if text]
    return json.dumps([{scene: list(people)} for scene in scenes], ensure_ascii=False)


def about_perceived(put: Put, scenes: Sequence[str]) -> str:
    """Return the question about what the people of the question perceived of a story."""
    if not put.people:
        return prompt(put)
    whose = (
        f"{put.people[0]} knows about"
        if len(put.people) == 1
        else f"{put.people[0]} thinks {put.people[1]} knows about"
    )
    return prompt(put, f"This is what {whose}, in order:\n\n{put.joined.join(scenes)}")


def _ask(step: str, put: Put, earlier: Earlier) -> Sequence[Message]:
    return put.messages(asked_perceptions(put))


def perceptions_in(answer: str) -> Perceived:
    """Return what a model said of who perceives what. Raises NothingToAsk where it cannot be read."""
    perceptions = perceptions_of(answer)
    if perceptions is None:
        raise NothingToAsk(gettext_noop("was not asked for, as who perceives what cannot be read"), INVALID)
    return perceptions


def _answer(put: Put, earlier: Earlier) -> Sequence[Message]:
    return put.asked(about_perceived(put, perceived_by(perceptions_in(earlier[PERCEIVE]), put.people)))


def _oracle(put: Put, earlier: Earlier) -> Sequence[Message]:
    seen = [scene.text for scene in put.scenes if scene.perceivers is not None and {*put.people} <= {*scene.perceivers}]
    return put.asked(about_perceived(put, seen))


PERCEPTOM = Method(
    "perceptom",
    "PercepToM",
    gettext_noop("First who perceives what, then the question about what the person perceived."),
    _answer,
    steps=(
        Step(PERCEIVE, gettext_noop("Perceiving"), answers=(gettext_noop("perceptions"), gettext_noop("perceptions"))),
    ),
    ask=_ask,
    needs=frozenset({PEOPLE}),
)
ORACLE_PERCEPTION = Method(
    "oracle-perception",
    gettext_noop("PercepToM with the true perceptions"),
    gettext_noop("The question about what the person perceived, by the data."),
    _oracle,
    needs=frozenset({PEOPLE, PERCEIVERS}),
)
