"""Check a value of an archive against the column that is to take it: SQLite would store any text in any column.

That a database can keep the text of a line at all is known from its reading.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from django.db import connection, models

from core.messages import Sentence, gettext_noop


class BadValue(ValueError):
    """A value does not fit its column; the message is one sentence that says what was expected."""


def checker(field: models.Field) -> Callable[[Any], Any]:
    """Return a function of a JSON value to the column's value; it raises BadValue."""
    check = _by_type(field)
    return lambda value: None if value is None and field.null else check(value)


def _by_type(field: models.Field) -> Callable[[Any], Any]:
    if isinstance(field, models.DateTimeField):
        return _moment
    if isinstance(field, models.DateField):
        return _day
    if isinstance(field, models.JSONField):
        return lambda value: value
    if isinstance(field, models.BooleanField):
        return _boolean
    if isinstance(field, models.FloatField):
        return _number
    if isinstance(field, models.IntegerField):
        return _integer(field)
    return _text(field)


def _moment(value: Any) -> datetime:
    moment = _parsed(value) if isinstance(value, str) else None
    if moment is None:
        raise BadValue(gettext_noop("expected a time with its zone."))
    return moment


def _day(value: Any) -> date:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise BadValue(gettext_noop("expected a date such as 2030-12-31.")) from None


@lru_cache(4096)
def _parsed(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadValue(gettext_noop("expected true or false."))
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise BadValue(gettext_noop("expected a number."))
    return float(value)


def _integer(field: models.IntegerField) -> Callable[[Any], int]:
    low, high = connection.ops.integer_field_range(field.get_internal_type())
    low = max(low, 0) if field.get_internal_type().startswith("Positive") else low

    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise BadValue(Sentence("expected a whole number from {low} to {high}.", low=low, high=high))
        return value

    return check


def _text(field: models.Field) -> Callable[[Any], str]:
    allowed = {value for value, _ in field.flatchoices} | ({""} if field.blank else set())
    longest = field.max_length if isinstance(field, models.CharField) else None

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise BadValue(gettext_noop("expected a text."))
        if longest is not None and len(value) > longest:
            raise BadValue(
                Sentence("it has {count} characters; expected at most {longest}.", count=len(value), longest=longest)
            )
        if field.flatchoices and value not in allowed:
            raise BadValue(
                Sentence(
                    "it is {value}; expected one of {allowed}.",
                    value=repr(value[:40]),
                    allowed=", ".join(sorted(map(str, allowed))),
                )
            )
        return value

    return check
