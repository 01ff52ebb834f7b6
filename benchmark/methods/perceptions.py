"""Perceptions, who perceives which scene: from a model's JSON, and what of a story a person has perceived.

As in Jung et al. 2024, "Perceptions to Beliefs": PercepToM. Model text is read as JSON, else as a plain literal; it is
never evaluated.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.incoming.embedded_json import values_in

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
    value = _literal(array) if array else None
    return value if isinstance(value, list) and _are_objects(value) else None


def repaired_perceptions(text: str) -> Perceived | None:
    """Return the objects of the last list of objects in a model's answer, none of an empty list; of an answer without
    one the objects in it that map scenes to lists of perceivers. Returns None if there are none."""
    values, is_all, _ = values_in(text)
    lists = [scenes for value in values if isinstance(scenes := _without_name(value), list) and _are_objects(scenes)]
    if lists:
        return next((scenes for scenes in reversed(lists) if scenes), [])
    objects = [value for value in values if isinstance(value, dict)]
    are_scenes = all(isinstance(names, list) for scene in objects for names in scene.values())
    return objects if is_all and are_scenes and any(objects) else None


def _without_name(value: Any) -> Any:
    """Return the list of `{"perceptions": [{…}, …]}`, and other values as they are: people are no objects."""
    named = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else None
    return named if named and isinstance(named, list) and _are_objects(named) else value


def _are_objects(scenes: Sequence[object]) -> bool:
    return all(isinstance(scene, dict) for scene in scenes)


def _literal(array: str) -> Any:
    try:
        return json.loads(array)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(array)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def perceives(perceivers: object, person: str) -> bool:
    """Return whether a person is among perceivers: a list that has the name, or a text in which it stands."""
    return isinstance(perceivers, (list, tuple, str)) and person in perceivers


def perceived_by(perceptions: Perceived, people: Sequence[str]) -> list[str]:
    """Return the scenes that all of these people perceive, in their order, as the model worded them."""
    return [
        str(scene)
        for entry in perceptions
        for scene, perceivers in list(entry.items())[:1]
        if all(perceives(perceivers, person) for person in people)
    ]
