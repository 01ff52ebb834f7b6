"""Parts of the OpenAPI description that every operation of every app has: the errors and their one shape."""

from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, inline_serializer
from rest_framework import serializers

ERROR = inline_serializer(
    "Error",
    {
        "error": inline_serializer(
            "ErrorBody",
            {
                "status": serializers.IntegerField(),
                "message": serializers.CharField(help_text="One sentence."),
                "fields": serializers.DictField(
                    child=serializers.ListField(child=serializers.CharField()),
                    help_text="Field name → sentences; empty where no field is at fault.",
                ),
            },
        )
    },
)
_WHY = {
    400: ("The request is not as described here.", FIELDS := "The request holds fields that are not as expected."),
    401: ("No valid token and no session.", "Authentication credentials were not provided."),
    403: ("It is not yours to do.", "You do not have permission to perform this action."),
    404: ("It is not there, or not yours to see.", "Not found."),
    406: ("The Accept header leaves no way to answer.", "Could not satisfy the request Accept header."),
    409: ("It changed since you saw it.", "It changed since you saw it."),
    413: ("More than 256 kB.", "The request is larger than 256 kB."),
    415: ("The body is not application/json.", 'Unsupported media type "text/plain" in request.'),
    422: ("Well-formed, and refused.", "This cannot be done."),
}
BODY = (400, 413, 415, 422)
READ = (401, 404, 406)
Why = Mapping[int, tuple[str, str]]
"""A description and a message for each status."""
Fields = Mapping[str, Sequence[str]]
_A_FIELD: Fields = {"name": ["it is missing; expected a text"]}


def path_parameter(name: str, text: str, schema: Mapping[str, Any]) -> OpenApiParameter:
    """Return the parameter `name` of an address."""
    return OpenApiParameter(name, dict(schema), OpenApiParameter.PATH, description=text)


def answers(
    success: object, *errors: int, status: int = 200, why: Why | None = None, fields: Fields = _A_FIELD
) -> dict[int, object]:
    """The responses of an operation: `success` for `status`, and each error in the one shape with an example.

    `why` gives codes a (description, message) of their own, and `fields` is an example of what is wrong with a body.
    """
    reasons = _WHY | dict(why or {})
    return {status: success} | {code: _error(code, *reasons[code], fields) for code in sorted({*READ, *errors})}


def _error(code: int, why: str, message: str, fields: Fields) -> OpenApiResponse:
    wrong = fields if message == FIELDS else {}
    value = {"error": {"status": code, "message": message, "fields": wrong}}
    example = OpenApiExample(f"{code}", value=value, response_only=True, status_codes=[str(code)])
    return OpenApiResponse(ERROR, description=why, examples=[example])
