"""JSON columns of much text, which are read far more often than written."""

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Expression
from django.db.models.functions import Cast
from pydantic_core import from_json

from core.messages import SIGN, as_text, from_text, restored, stored

T = TypeVar("T")


class LongJSONField(models.JSONField):
    """A `JSONField` whose values are parsed in half the time, and whose sentences are kept with their ids and
    parameters. To the database and to migrations it is a `JSONField`."""

    def from_db_value(self, value: Any, expression: Expression, connection: BaseDatabaseWrapper) -> Any:
        try:
            return parsed(value)
        except (TypeError, ValueError):  # nothing, a number from within a document, or half a surrogate pair
            return super().from_db_value(value, expression, connection)

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        return super().get_db_prep_value(stored(value), connection, prepared)

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        name, _, positional, named = super().deconstruct()
        return name, "django.db.models.JSONField", positional, named


class SentenceField(models.TextField):  # type: ignore[type-arg]  # it takes none while the program runs
    """A text, or a sentence that is kept with its id and parameters. To the database and to migrations it is a
    `TextField`."""

    def from_db_value(self, value: str | None, expression: Expression, connection: BaseDatabaseWrapper) -> str | None:
        return from_text(value) if value else value

    def get_prep_value(self, value: Any) -> Any:
        return super().get_prep_value(as_text(value) if isinstance(value, str) else value)

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        name, _, positional, named = super().deconstruct()
        return name, "django.db.models.TextField", positional, named


def parsed(text: str) -> Any:
    """Return what a JSON text says, with its sentences. Raises TypeError and ValueError as `from_json`."""
    value = from_json(text)
    return restored(value) if f'"{SIGN}' in text else value


def text_of(column: str) -> Cast:
    """Return the expression of a JSON column as the text that it is kept as."""
    return Cast(column, models.TextField())


MOST_CHARACTERS = 8_000_000
"""The texts of some thirty reports of a few models. With what they say they take four times as many bytes."""


class KeptByText(Generic[T]):
    """What `read` makes of a text: of the texts read last, up to `most` characters of them together, the same object to
    everybody, which nobody changes.

    Pages, their pictures and their files ask for the same reports within seconds, each anew, and a ranking for those of
    many runs. A number of texts would bound no memory, as reports differ a hundredfold.
    """

    def __init__(self, read: Callable[[str], T], most: int = MOST_CHARACTERS) -> None:
        self.read, self.most = read, most
        self._values: OrderedDict[str, T] = OrderedDict()
        self._characters = 0
        self._lock = Lock()

    def __contains__(self, text: str) -> bool:
        return text in self._values

    def __call__(self, text: str) -> T:
        with self._lock:
            if text in self._values:
                self._values.move_to_end(text)
                return self._values[text]
        value = self.read(text)
        with self._lock:
            if text not in self._values:  # as another thread may have read it meanwhile
                self._values[text] = value
                self._characters += len(text)
            while self._characters > self.most and len(self._values) > 1:
                self._characters -= len(self._values.popitem(last=False)[0])
        return value


@KeptByText
def parsed_once(text: str) -> Any:
    """Return what a JSON text says."""
    try:
        return parsed(text)
    except ValueError:  # half a surrogate pair
        return restored(json.loads(text))
