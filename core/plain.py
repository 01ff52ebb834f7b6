"""Values as JSON has them: where dataclasses leave the program, to be kept or printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Protocol, TypeVar, runtime_checkable

Json = dict[str, Any]
"""A JSON object that is kept or printed."""
WHERE_THERE_IS_ONE = {"plain": "where there is one"}
"""The metadata of a field that JSON has only where it is not None."""


_AS_THEY_ARE = frozenset({type(None), str, int, float, bool})
"""Types of most values of a report."""


@runtime_checkable
class HasJson(Protocol):
    """Object that says itself how JSON has it."""

    def as_json(self) -> Json: ...


def plain(value: Any) -> Any:
    """Return a value as JSON has it: a dataclass as an object of its fields, or as its `as_json` says, also within
    mappings and sequences; a tuple as a list."""
    kind: type = type(value)
    if kind in _AS_THEY_ARE or isinstance(value, (str, int, float)):
        return value
    if _says_itself(kind):
        return value.as_json()
    if (field_names := _fields_of(kind)) is not None:
        attributes = ((name, getattr(value, name), always) for name, always in field_names)
        return {name: plain(item) for name, item, always in attributes if always or item is not None}
    if isinstance(value, (list, tuple)):
        return [item if item.__class__ in _AS_THEY_ARE else plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: item if item.__class__ in _AS_THEY_ARE else plain(item) for name, item in value.items()}
    return value


Kept = TypeVar("Kept")


def read_as(kind: type[Kept], kept: Mapping[str, Any], **parts: Any) -> Kept:
    """Return the dataclass that was kept as a JSON object: fields that it does not have have their defaults, and what
    is not a field is left out. `parts` are the fields that were read already."""
    kept_type: type = kind
    names = {name for name in _field_names(kept_type) if name not in parts}
    return kind(**{name: value for name, value in kept.items() if name in names}, **parts)


def read_filled(kind: type[Kept], kept: Mapping[str, Any]) -> Kept:
    """Return the dataclass that was kept as a JSON object in which null stands for the default of a field, too."""
    return read_as(kind, {name: value for name, value in kept.items() if value is not None})


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _says_itself(kind: type) -> bool:
    """A report has thousands of values of few types, and to look at a protocol takes longer than to make one of them
    JSON."""
    return issubclass(kind, HasJson)


@cache
def _fields_of(kind: type) -> list[tuple[str, bool]] | None:
    """Return the names of a dataclass's fields, and whether JSON has each also where it is None; None for another
    type."""
    return [(field.name, "plain" not in field.metadata) for field in fields(kind)] if is_dataclass(kind) else None
