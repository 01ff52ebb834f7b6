"""Values as JSON has them: where dataclasses leave the program, to be kept or printed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints, runtime_checkable

Json = dict[str, Any]
"""A JSON object that is kept or printed."""
WHERE_THERE_IS_ONE = {"plain": "where there is one"}
"""The metadata of a field that JSON has only if it is not None."""
NOT_KEPT = {"plain": "never"}
"""The metadata of a field that JSON never has."""


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
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (list, tuple, frozenset)):
        value = sorted(value) if isinstance(value, frozenset) else value
        return [item if item.__class__ in _AS_THEY_ARE else plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: item if item.__class__ in _AS_THEY_ARE else plain(item) for name, item in value.items()}
    return value


Kept = TypeVar("Kept")


def read_as(kind: type[Kept], kept: Mapping[str, Any], **parts: Any) -> Kept:
    """Return the dataclass that `plain` made a JSON object, with the dataclasses, named tuples, decimals, dates and
    sets within it. Missing fields have their defaults; what is not a field is left out. `parts` are fields that were
    read already."""
    kept_type: type = kind
    values = {
        name: reader(kept[name]) if reader else kept[name]
        for name, reader in _readers(kept_type).items()
        if name in kept and name not in parts
    }
    return kind(**values, **parts)


def read_filled(kind: type[Kept], kept: Mapping[str, Any]) -> Kept:
    """Return the dataclass that was kept as a JSON object in which null stands for the default of a field, too."""
    return read_as(kind, {name: value for name, value in kept.items() if value is not None})


Reader = Callable[[Any], Any]


@cache
def _readers(kind: type) -> dict[str, Reader | None]:
    """Return the reader of each field of a dataclass. Returns None for a field that is as JSON has it."""
    hints = get_type_hints(kind)
    return {field.name: _reader(hints[field.name]) for field in fields(kind) if field.init}


def _reader(hint: Any) -> Reader | None:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        readers = [reader for argument in arguments if argument is not NoneType and (reader := _reader(argument))]
        if len(readers) != 1:
            return None
        of_given = readers[0]
        return lambda value: None if value is None else of_given(value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        of_value = _reader(arguments[1])
        return of_value and (lambda values: {name: of_value(value) for name, value in values.items()})
    if isinstance(origin, type) and issubclass(origin, Collection):
        kind: Callable[[Any], Any] = list if origin in (Sequence, Collection) else origin
        of_item = _reader(arguments[0])
        if of_item is None:
            return None if kind is list else kind
        return lambda values: kind(map(of_item, values))
    if not isinstance(hint, type):
        return None
    if is_dataclass(hint):
        return getattr(hint, "from_json", None) or partial(read_as, hint)
    if issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return lambda value: hint(*value)
    scalars: dict[type, Reader] = {Decimal: Decimal, datetime: datetime.fromisoformat}
    return scalars.get(hint)


@cache
def _says_itself(kind: type) -> bool:
    """A report has thousands of values of few types, and to look at a protocol takes longer than to make one of them
    JSON."""
    return issubclass(kind, HasJson)


@cache
def _fields_of(kind: type) -> list[tuple[str, bool]] | None:
    """Return the names of a dataclass's fields, and whether JSON has each also where it is None; None for another
    type."""
    if not is_dataclass(kind):
        return None
    kept = (field for field in fields(kind) if field.metadata != NOT_KEPT)
    return [(field.name, "plain" not in field.metadata) for field in kept]
