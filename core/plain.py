"""Values as JSON has them: where dataclasses leave the program, to be kept or printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Protocol, runtime_checkable

Json = dict[str, Any]
"""A JSON object that is kept or printed."""
WHERE_THERE_IS_ONE = {"plain": "where there is one"}
"""The metadata of a field that JSON has only where it is not None."""


@runtime_checkable
class HasJson(Protocol):
    """What says itself how JSON has it."""

    def as_json(self) -> Json: ...


def plain(value: Any) -> Any:
    """Return a value as JSON has it: a dataclass as an object of its fields, or as its `as_json` says, also within
    mappings and sequences; a tuple as a list."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, HasJson):
        return value.as_json()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(of) for field, of in _shown(value)}
    if isinstance(value, Mapping):
        return {name: plain(of) for name, of in value.items()}
    if isinstance(value, list | tuple):
        return [plain(of) for of in value]
    return value


def _shown(value: Any) -> list[tuple[Any, Any]]:
    values = [(field, getattr(value, field.name)) for field in fields(value)]
    return [(field, of) for field, of in values if of is not None or "plain" not in field.metadata]
