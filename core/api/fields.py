"""What the API takes in: JSON types are not converted, unknown names are refused, no text holds a NUL."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

PAGING = {"page", "page_size", "format"}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class Strict(serializers.Serializer):
    """Refuses names that it does not know: a misspelt option must not look like one that was followed."""

    def to_internal_value(self, data: object) -> dict[str, Any]:
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            expected = ", ".join(self.fields)
            raise ValidationError({name: [f"There is no such field; expected {expected}."] for name in unknown[:20]})
        return super().to_internal_value(data)


class Text(serializers.CharField):
    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Matching(serializers.RegexField):
    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Pattern(Matching):
    """A name on one line; `$` alone would let a last line feed through."""

    def to_internal_value(self, data: object) -> str:
        if isinstance(data, str) and not data.isprintable():
            self.fail("invalid")
        return super().to_internal_value(data)


class Choice(serializers.ChoiceField):
    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str):
            self.fail("invalid_choice", input=type(data).__name__)
        return super().to_internal_value(data)


class Whole(serializers.IntegerField):
    def to_internal_value(self, data: object) -> int:
        # A boolean is an int to Python; 5.0 is an integer to JSON Schema, and is harmless.
        if isinstance(data, bool) or not isinstance(data, (int, float)):
            self.fail("invalid")
        return super().to_internal_value(data)


class Truth(serializers.BooleanField):
    def to_internal_value(self, data: object) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return bool(data)


class Moment(serializers.DateTimeField):
    """A point in time with its zone, as RFC 3339 writes it; UTC inside."""

    def to_internal_value(self, value: object) -> datetime:
        try:
            if not isinstance(value, str) or not _MOMENT.fullmatch(value.upper()):
                raise ValueError(value)
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            raise ValidationError("Expected a time with its zone, such as 2026-10-05T09:30:00Z.") from None


def read_query(request: Request, shape: type[Strict], **context: object) -> dict[str, str]:
    """The filters of a query string, read in a `context`; paging is left to the paginator. Raises ValidationError."""
    given = {name: value for name, value in request.query_params.items() if name not in PAGING}
    form = shape(data=given, context=context)
    form.is_valid(raise_exception=True)
    return form.validated_data
