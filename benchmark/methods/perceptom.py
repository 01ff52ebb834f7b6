"""PercepToM: who perceives what is asked first; the question is asked about what the person perceived, found by string
matching.

After Jung et al. 2024, "Perceptions to Beliefs". With the true perceptions of the data in place of the model's it is
the oracle of that paper.
"""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.methods.answering import prompt
from benchmark.methods.contract import PEOPLE, PERCEIVERS, Earlier, Method, NothingToAsk, Put
from benchmark.suites.questions import Step
from core.incoming.embedded_json import values_in
from core.messages import gettext_noop
from workers.providers.contract import Message

Perceived = Sequence[Mapping[str, Any]]
"""Objects of one scene and its perceivers each, as a model wrote them."""
_START, _END = re.compile(r"\[\s*\{"), re.compile(r"\}\s*\]")


def array_in(text: str) -> str:
    """Return the array of objects that a text holds: from its first `[{` to its first `}]`, whatever space is between,
    to its end without one; empty without a beginning."""
    start = _START.search(text)
    if start is None:
        return ""
    end = _END.search(text)
    return text[start.start() : end.end()] if end else text[start.start() :]


def perceptions_of(text: str) -> Perceived | None:
    """Return the objects of a model's answer, none of an array that is empty; None where it holds no array of objects
    that can be read."""
    if text.split() in (["[]"], ["[", "]"]):
        return []
    array = array_in(text)
    try:
        value = json.loads(array)
    except (ValueError, RecursionError):
        try:
            value = ast.literal_eval(array)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return value if isinstance(value, list) and _are_objects(value) else None


def repaired_perceptions(text: str) -> Perceived | None:
    """Return the objects of the last list of objects in a model's answer, none of an empty list; of an answer without
    one the objects in it that map scenes to lists of perceivers. Returns None if there are none."""
    values, is_all, _ = values_in(text)
    lists = []
    for scenes in values:
        if (
            isinstance(scenes, dict) and len(scenes) == 1
        ):  # the list of `{"perceptions": [{…}, …]}`: people are no objects
            [named] = scenes.values()
            if named and isinstance(named, list) and _are_objects(named):
                lists.append(named)
        elif isinstance(scenes, list) and _are_objects(scenes):
            lists.append(scenes)
    if lists:
        return next((scenes for scenes in reversed(lists) if scenes), [])
    objects = [value for value in values if isinstance(value, dict)]
    are_scenes = all(isinstance(names, list) for scene in objects for names in scene.values())
    return objects if is_all and are_scenes and any(objects) else None


def _are_objects(scenes: Sequence[object]) -> bool:
    return all(isinstance(scene, dict) for scene in scenes)


def perceived_by(perceptions: Perceived, people: Sequence[str]) -> list[str]:
    """Return the scenes that all of these people perceive, in their order, as the model worded them: perceivers are a
    list that has their names, or a text in which they stand."""
    return [
        str(scene)
        for entry in perceptions
        for scene, perceivers in list(entry.items())[:1]
        if isinstance(perceivers, (list, tuple, str)) and all(person in perceivers for person in people)
    ]


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


def perceptions_in(answer: str) -> Perceived:
    """Return what a model said of who perceives what. Raises NothingToAsk where it cannot be read."""
    perceptions = perceptions_of(answer)
    if perceptions is None:
        raise NothingToAsk(gettext_noop("was not asked for, as who perceives what cannot be read"), INVALID)
    return perceptions


def _oracle(put: Put, earlier: Earlier) -> Sequence[Message]:
    seen = [scene.text for scene in put.scenes if scene.perceivers is not None and {*put.people} <= {*scene.perceivers}]
    return put.asked(about_perceived(put, seen))


PERCEPTOM = Method(
    "perceptom",
    "PercepToM",
    gettext_noop("First who perceives what, then the question about what the person perceived."),
    lambda put, earlier: put.asked(about_perceived(put, perceived_by(perceptions_in(earlier[PERCEIVE]), put.people))),
    steps=(
        Step(PERCEIVE, gettext_noop("Perceiving"), answers=(gettext_noop("perceptions"), gettext_noop("perceptions"))),
    ),
    ask=lambda step, put, earlier: put.messages(asked_perceptions(put)),
    needs=frozenset({PEOPLE}),
)
ORACLE_PERCEPTION = Method(
    "oracle-perception",
    gettext_noop("PercepToM with the true perceptions"),
    gettext_noop("The question about what the person perceived, by the data."),
    _oracle,
    needs=frozenset({PEOPLE, PERCEIVERS}),
)
