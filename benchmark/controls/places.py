"""Texts of a sample by the places that a suite names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.suites.questions import Sample

EACH = "*"


def texts_at(sample: Sample, places: Sequence[str]) -> list[str]:
    """Return the texts at these places, in their order; a place that a sample lacks has none."""
    return [
        text for place in places for text in _texts(_part(sample, place.split(".")[0]), tuple(place.split(".")[1:]))
    ]


def changed_at(sample: Sample, places: Sequence[str], change: Callable[[str], str]) -> Sample:
    """Return the sample with every text at these places changed."""
    parts = {"content": sample.content, "gold": sample.gold}
    for place in places:
        part, *path = place.split(".")
        parts[part] = _changed(parts[part], tuple(path), change)
    return replace(sample, content=parts["content"], gold=parts["gold"])


def _part(sample: Sample, name: str) -> Mapping[str, Any]:
    return {"content": sample.content, "gold": sample.gold}[name]


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    if path and path[0] == EACH and isinstance(value, list):
        for entry in value:
            yield from _texts(entry, path[1:])
    elif path and isinstance(value, Mapping):
        if path[0] in value:
            yield from _texts(value[path[0]], path[1:])
    elif not path and isinstance(value, list):
        for entry in value:
            yield from _texts(entry, ())
    elif not path and isinstance(value, str):
        yield value


def _changed(value: Any, path: tuple[str, ...], change: Callable[[str], str]) -> Any:
    if path and path[0] == EACH and isinstance(value, list):
        return [_changed(entry, path[1:], change) for entry in value]
    if path and isinstance(value, Mapping):
        return {name: _changed(entry, path[1:], change) if name == path[0] else entry for name, entry in value.items()}
    if not path and isinstance(value, list):
        return [_changed(entry, (), change) for entry in value]
    return change(value) if not path and isinstance(value, str) else value
