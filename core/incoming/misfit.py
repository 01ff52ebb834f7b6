"""Values that do not fit a shape, in sentences: the place, what is there, and what was expected."""

import json
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from core.messages import Sentence, capitalised, gettext_noop

MOST_LISTED = 100
_KINDS = {
    "string": gettext_noop("a text"),
    "bool": gettext_noop("true or false"),
    "int": gettext_noop("a whole number"),
    "float": gettext_noop("a number"),
    "dict": gettext_noop("an object"),
}
Path = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class Wrong:
    """One field that does not fit. `place` is where the sentence looks, `field` the field itself, such as
    changes[3].label; for one that is missing or should not be there `place` is the object around it. Empty for the
    whole value."""

    place: str
    field: str
    actual: str
    expected: str

    @property
    def sentence(self) -> str:
        """The sentence without the place."""
        return Sentence("{actual}; expected {expected}.", actual=capitalised(self.actual), expected=self.expected)

    def at(self, place: str) -> str:
        """Return the sentence about a place."""
        sentence = gettext_noop("{place}: {actual}; expected {expected}.")
        return sentence.format(place=place, actual=self.actual, expected=self.expected)

    def __str__(self) -> str:
        return self.at(self.place) if self.place else self.sentence


class Misfit(ValueError):
    """A value that does not fit its shape. `wrong` holds an entry for each such field, at most MOST_LISTED; the message
    is the first one's."""

    def __init__(self, wrong: Sequence[Wrong]) -> None:
        super().__init__(str(wrong[0]))
        self.wrong = tuple(wrong)

    def message_for(self, file: str) -> str:
        """The first sentence, after the name of the file."""
        first = self.wrong[0]
        return first.at(f"{file}, {first.place}" if first.place else file)

    def by_field(self) -> dict[str, list[str]]:
        """Every sentence by the name of its field, that of the whole value under `body`."""
        fields: dict[str, list[str]] = {}
        for mistake in self.wrong:
            fields.setdefault(mistake.field or "body", []).append(mistake.sentence)
        return fields


def refusal(expected: str, actual: str = "") -> PydanticCustomError:
    """Return what a check of a shape raises; without `actual` the value itself is quoted."""
    return PydanticCustomError("misfit", "{actual}; {expected}", {"actual": actual, "expected": expected})


def misfit_of(error: ValidationError, shape: type[BaseModel], start: Path = (), *, quoted: bool = True) -> Misfit:
    """Return pydantic's errors as sentences. `start` is the path to the value; unless `quoted`, no sentence repeats
    what was sent."""
    listed = error.errors(include_url=False)[:MOST_LISTED]
    return Misfit([_wrong(error, shape, start, quoted) for error in listed])


def kind_of(value: Any) -> str:
    """Return what a JSON value is, quoted up to 60 characters."""
    if isinstance(value, str):
        return repr(value[:60]) + (f" of {len(value)} characters" if len(value) > 60 else "")
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int | float):
        return str(value)[:40] if isinstance(value, float) or abs(value) < 10**40 else gettext_noop("a huge number")
    return gettext_noop("an object") if isinstance(value, dict) else gettext_noop("a list")


def _wrong(error: ErrorDetails, shape: type[BaseModel], start: Path, quoted: bool) -> Wrong:
    path, kind = error["loc"], error["type"]
    field = place_of([*start, *path])
    if kind in ("missing", "extra_forbidden"):
        around, name = place_of([*start, *path[:-1]]), str(path[-1]).replace("\n", " ")
        names = ", ".join(_names(_shape_at(shape, path[:-1])))
        if kind == "missing":
            missing = Sentence("the field {name} is missing", name=name)
            return Wrong(around, field, missing, Sentence("an object with {names}", names=names))
        only = Sentence("only {names}", names=names) if names else gettext_noop("an empty object")
        return Wrong(around, field, Sentence("there is no field {name}", name=repr(name[:60])), only)
    context = error.get("ctx", {})
    sort = kind_of(error["input"])
    if not quoted:
        is_text = isinstance(error["input"], str)
        sort = gettext_noop("a text that does not fit") if is_text else gettext_noop("not as described")
    description = context.get("actual") or Sentence("it is {sort}", sort=sort)
    return Wrong(field, field, description, context.get("expected") or _expected(kind, context, shape, path))


def _expected(kind: str, context: dict[str, Any], shape: type[BaseModel], path: Path) -> str:
    """Return what pydantic's own checks expect."""
    if kind in ("model_type", "model_attributes_type"):
        return Sentence("an object with {shape}", shape=", ".join(_names(_shape_at(shape, path))))
    match kind:
        case "string_too_long":
            return Sentence("at most {context} characters", context=context["max_length"])
        case "greater_than_equal":
            return Sentence("a number from {context}", context=context["ge"])
        case "less_than_equal":
            return Sentence("a number up to {context}", context=context["le"])
        case "enum" | "literal_error":
            return Sentence("one of {values}", values=context["expected"])
    return _KINDS.get(kind.partition("_")[0], gettext_noop("a list"))


def place_of(path: Path) -> str:
    """Return a path as people write it: changes[3].label."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part).replace("\n", " ")
    return text


def _names(shape: type[BaseModel]) -> Iterator[str]:
    return ((field.alias or name).replace("\n", " ") for name, field in shape.model_fields.items())


def _shape_at(shape: type[BaseModel], path: Path) -> type[BaseModel]:
    """The shape that a path of names and list positions leads to; a name that is not a field is a key of an object of
    such shapes."""
    for part in path:
        fields = {field.alias or name: field for name, field in shape.model_fields.items()}
        if part in fields:
            shape = next(_shapes_in(fields[part].annotation))
    return shape


def _shapes_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from _shapes_in(inner)
