"""Shapes of JSON objects: nothing is converted, unknown fields are refused, and each field says in words what it
expects."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from core.incoming.misfit import Path, Wrong, kind_of, misfit_of, refusal
from core.messages import Sentence, gettext_noop

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class Shape(BaseModel):
    """An object of JSON. A subclass that takes unknown fields says why."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    @classmethod
    def of(cls, value: Any, *, start: Path = (), quoted: bool = True, **context: Any) -> Self:
        """Return the instance that a JSON value describes. `start` is the path to the value, for the sentences;
        `context` is what checks look at.

        Raises Misfit with every field that does not fit; unless `quoted`, its sentences repeat nothing of the value.
        """
        try:
            return cls.model_validate(value, context=context)
        except ValidationError as error:
            raise misfit_of(error, cls, start, quoted=quoted) from None

    @classmethod
    def described(cls) -> dict[str, Any]:
        """Return the shape as JSON Schema, of which OpenAPI 3.1 is made, with the shapes that it names inside it."""
        described = cls.model_json_schema(schema_generator=_Untitled)
        inner: dict[str, Any] = described.pop("$defs", {})

        def put(part: Any) -> Any:
            if isinstance(part, list):
                return [put(entry) for entry in part]
            if not isinstance(part, dict):
                return part
            if "$ref" in part:
                return put(inner[part["$ref"].rpartition("/")[2]])
            return {name: put(value) for name, value in part.items()}

        return {name: put(text) for name, text in described.items() if name != "title"}


class NothingIn(Shape):
    """An empty object."""


class Given(Shape):
    """An object that may leave fields out, which `may_lack` declares."""

    @property
    def given(self) -> dict[str, Any]:
        """The values of the object by field, without those that it left out."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def may_lack(description: str = "") -> Any:
    """Return a field that an object may leave out, without a default in the description: it is somebody else's."""
    return Field(default_factory=lambda: None, description=description or None)


class Open(Shape):
    """An object whose unknown fields are somebody else's, and are left alone."""

    model_config = ConfigDict(extra="ignore")


class _Untitled(GenerateJsonSchema):
    """Fields have descriptions; titles made from their names say nothing."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Expected:
    """Marks a plain field: whatever is wrong with its value, this is what the sentence expects."""

    text: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return _expecting(handler(source), self.text)


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError
    return text


Filled = Annotated[str, AfterValidator(_filled), Expected(gettext_noop("a text that is not empty"))]
"""A text that says something."""


def _expecting(schema: core_schema.CoreSchema, expected: str) -> core_schema.CoreSchema:
    return core_schema.custom_error_schema(
        schema, "misfit", custom_error_message="{expected}", custom_error_context={"expected": expected}
    )


SPACE = r"\s\u0085\ufeff"
"""White space in a set of a regular expression. `\\s` holds one of the two in some languages, the other in others: here
and where a description is read they would be different texts."""


@dataclass(frozen=True, slots=True)
class Like:
    """Marks a text that a regular expression describes as a whole, `expected` in words."""

    pattern: str
    expected: str
    max_length: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        text = core_schema.str_schema(strict=True, pattern=self.pattern, max_length=self.max_length)
        return _expecting(text, self.expected)

    def sentence_on(self, text: str) -> str:
        """Return what is wrong with a text of its own, empty where it fits."""
        try:
            _adapter(self).validate_python(text)
        except ValidationError:
            sort = kind_of(text)
            return Wrong("", "", Sentence("it is {sort}", sort=sort), self.expected).sentence
        return ""


@cache
def _adapter(like: Like) -> TypeAdapter[str]:
    return TypeAdapter(Annotated[str, like])


@dataclass(frozen=True, slots=True)
class Printable:
    """Marks a text of 1 to `most` characters on one line."""

    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        text = core_schema.str_schema(strict=True, min_length=1, max_length=self.most)
        expected = Sentence("a text of 1 to {most} printable characters, without spaces around it", most=self.most)
        return _expecting(core_schema.no_info_after_validator_function(_printable, text), expected)


def _printable(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError
    return text


@dataclass(frozen=True, slots=True)
class Among:
    """Marks a text that is one of these, and may be empty where "" is among them."""

    values: Sequence[str]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        values = ", ".join(filter(None, self.values))
        or_nothing = "" in self.values
        expected = (
            Sentence("one of {values}, or nothing", values=values)
            if or_nothing
            else Sentence("one of {values}", values=values)
        )
        return _expecting(core_schema.literal_schema(list(self.values)), expected)


@dataclass(frozen=True, slots=True)
class Within:
    """Marks a whole number between two bounds; `pointed`: written as 5.0 it is one, too, as JSON Schema has it."""

    least: int
    most: int
    expected: str = ""
    pointed: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        number: core_schema.CoreSchema = core_schema.int_schema(strict=True, ge=self.least, le=self.most)
        if self.pointed:
            number = core_schema.no_info_before_validator_function(
                lambda value: int(value) if isinstance(value, float) and value.is_integer() else value, number
            )
        return _expecting(
            number, self.expected or Sentence("a whole number from {least} to {most}", least=self.least, most=self.most)
        )


@dataclass(frozen=True, slots=True)
class Counted:
    """Marks a list with so many entries."""

    least: int
    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        (item,) = get_args(source)
        rows = core_schema.list_schema(handler(item), min_length=self.least, max_length=self.most)
        return core_schema.no_info_before_validator_function(self._checked, rows)

    def _checked(self, value: Any) -> Any:
        if not isinstance(value, list) or not self.least <= len(value) <= self.most:
            length = Sentence("it is a list of {count}", count=len(value)) if isinstance(value, list) else ""
            raise refusal(Sentence("a list of {least} to {most}", least=self.least, most=self.most), length)
        return value


def _moment(value: Any) -> datetime:
    try:
        if isinstance(value, str) and _MOMENT.fullmatch(value.upper()):
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise refusal(gettext_noop("a time with its zone, such as 2026-10-05T09:30:00Z"))


Moment = Annotated[datetime, BeforeValidator(_moment)]
"""A point in time with its zone, as RFC 3339 writes it; UTC inside."""
