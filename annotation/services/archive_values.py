"""The column values of an archive's row, checked and in terms of this installation. SQLite would store any text in any
column."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any

from django.db import connection, models

from annotation.domain.resolution import GoldVote, as_json
from annotation.services.archive_sections import Section, kind_of
from annotation.services.votes import MAX_CLOCK_LEAD
from core.incoming.json_lines import BadLine
from core.messages import Sentence, gettext_noop


class BadValue(BadLine):
    """A value that does not fit its column; the message is one sentence. `field` is the name of the column."""

    field = ""


class Here:
    """Look-ups from the archive's names and numbers to ids here: `users` by name, `ids` by model and number or name.
    Keys of votes begin with `key_start`, so that those of two copies differ."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.key_start = ""
        self.users: dict[str, int] = {}
        self.ids: dict[type[models.Model], dict[Any, int]] = {}

    def readers(self, section: Section) -> dict[str, Callable[[Any], Any]]:
        """Return a function for each column, from the archive's value to the column's. It raises BadValue."""
        return {field.name: self._reader(field) for field in section.fields}

    def _reader(self, field: models.Field) -> Callable[[Any], Any]:
        match kind_of(field):
            case "user":
                return lambda value: _looked_up(self.users, value, field)
            case "row" | "name":
                ids = self.ids[field.related_model]
                return lambda value: _looked_up(ids, value, field)
            case "key":
                return self._key
            case "votes":
                return self._votes
        check = self._moment if isinstance(field, models.DateTimeField) else _check_of(field)
        return lambda value: None if value is None and field.null else check(value)

    def _moment(self, value: Any) -> datetime:
        """Return the time, or now if it is as little ahead as a saved vote may be."""
        moment = _parsed(value) if isinstance(value, str) else None
        if moment is None:
            raise BadValue(gettext_noop("expected a time with its zone."))
        if moment > self.now + MAX_CLOCK_LEAD:
            raise BadValue(gettext_noop("it lies in the future."))
        return min(moment, self.now)

    def _key(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > 20 or not value.isascii():
            raise BadValue(gettext_noop("expected a key such as k1."))
        return f"{self.key_start}-{value}" if value else ""

    def _votes(self, value: Any) -> list[dict]:
        if not isinstance(value, list) or not all(isinstance(vote, dict) for vote in value) or len(value) > 100:
            raise BadValue(gettext_noop("expected a list of votes."))
        votes = []
        for vote in value:
            name, label = vote.get("annotator"), vote.get("label")
            annotator = self.users.get(name) if isinstance(name, str) else None
            if annotator is None or not isinstance(label, str):
                raise BadValue(gettext_noop("a vote has no annotator or no label."))
            votes.append(GoldVote(annotator, label, self._key(vote.get("key"))))
        return as_json(sorted(votes, key=attrgetter("annotator")))


def values_of(readers: dict[str, Callable[[Any], Any]], row: dict[str, Any]) -> list[Any]:
    """Return the values of a row in the order of the readers. Raises BadValue."""
    if foreign := row.keys() - readers.keys() - {"ref"}:
        raise BadValue(Sentence("the field {foreign} is not known.", foreign=repr(min(foreign)[:60])))
    if missing := readers.keys() - row.keys():
        raise BadValue(Sentence("the field {missing} is missing.", missing=repr(min(missing))))
    values = []
    for name, reader in readers.items():
        try:
            values.append(reader(row[name]))
        except BadValue as error:
            error.field = name
            raise
    return values


def _looked_up(ids: dict, value: Any, field: models.Field) -> int | None:
    if value is None and field.null:
        return None
    pk = ids.get(value) if isinstance(value, str | int) else None
    if pk is None:
        raise BadValue(Sentence("it names {value}, which the archive does not hold.", value=repr(str(value)[:60])))
    return pk


def _check_of(field: models.Field) -> Callable[[Any], Any]:
    """Return a function that checks a JSON value for a column that is no time."""
    if isinstance(field, models.JSONField):
        return lambda value: value
    if isinstance(field, models.DateField):
        return _day
    if isinstance(field, models.BooleanField):
        return _boolean
    if isinstance(field, models.FloatField):
        return _number
    return _integer(field) if isinstance(field, models.IntegerField) else _text(field)


@lru_cache(4096)
def _parsed(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _day(value: Any) -> date:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise BadValue(gettext_noop("expected a date such as 2030-12-31.")) from None


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
    longest = (field.max_length if isinstance(field, models.CharField) else None) or sys.maxsize

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise BadValue(gettext_noop("expected a text."))
        if len(value) > longest:
            sentence = Sentence(
                "it has {count} characters; expected at most {longest}.", count=len(value), longest=longest
            )
            raise BadValue(sentence)
        if field.flatchoices and value not in allowed:
            listed = ", ".join(sorted(map(str, allowed)))
            raise BadValue(
                Sentence("it is {value}; expected one of {allowed}.", value=repr(value[:40]), allowed=listed)
            )
        return value

    return check
