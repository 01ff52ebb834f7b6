"""JSON columns of much text, which are read far more often than written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Expression
from django.db.models.functions import Cast
from pydantic_core import from_json


class LongJSONField(models.JSONField):  # type: ignore[misc]  # Django has no types
    """A `JSONField` whose values are parsed in half the time. To the database and to migrations it is one."""

    def from_db_value(self, value: Any, expression: Expression, connection: BaseDatabaseWrapper) -> Any:
        try:
            return from_json(value)
        except (TypeError, ValueError):  # nothing, a number from within a document, or half a surrogate pair
            return super().from_db_value(value, expression, connection)

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        name, _, positional, named = super().deconstruct()
        return name, "django.db.models.JSONField", positional, named


def text_of(column: str) -> Cast:
    """Return the expression of a JSON column as the text that it is kept as."""
    return Cast(column, models.TextField())


@lru_cache(maxsize=8)
def parsed_once(text: str) -> Any:
    """Return what a JSON text says: of the last few texts the same object to everybody, which nobody changes.

    Pages, their pictures and their files ask for the same report within seconds, each anew.
    """
    try:
        return from_json(text)
    except ValueError:  # half a surrogate pair
        return json.loads(text)
