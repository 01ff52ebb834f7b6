"""Query strings of the API: unknown names are refused, no text holds a NUL. Bodies are
`core.incoming.shapes`."""

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

PAGING = {"page", "page_size", "format"}


class Strict(serializers.Serializer):
    """Refuses names that it does not know: a misspelt option must not look like one that was followed."""

    def to_internal_value(self, data: object) -> dict[str, Any]:
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            expected = ", ".join(self.fields) or "none"
            raise ValidationError({name: [f"There is no such field; expected {expected}."] for name in unknown[:20]})
        return super().to_internal_value(data)


class Pattern(serializers.RegexField):
    """A name on one line; `$` alone would let a last line feed through."""

    def to_internal_value(self, data: str) -> str:
        if not data.isprintable():
            self.fail("invalid")
        return super().to_internal_value(data)


def read_query(request: Request, shape: type[Strict], **context: object) -> dict[str, str]:
    """The filters of a query string, read in a `context`; paging is left to the paginator. Raises ValidationError."""
    given = {name: value for name, value in request.query_params.items() if name not in PAGING}
    form = shape(data=given, context=context)
    form.is_valid(raise_exception=True)
    return form.validated_data


class Ends(serializers.ListField):
    """[low, high], or null."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.FloatField(), min_length=2, max_length=2, allow_null=True, **kwargs)
