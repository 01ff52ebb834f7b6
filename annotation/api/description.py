"""What the OpenAPI description says of every operation: who may, where, and which errors."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, inline_serializer
from rest_framework import serializers

from annotation.api.fields import UID
from annotation.domain.schema import SCHEMA

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
    403: ("Your role in the project is too low.", "This needs the role expert in Minds."),
    404: ("It is not there, or not yours to see.", "There is no such project, or you are not a member of it."),
    406: ("The Accept header leaves no way to answer.", "Could not satisfy the request Accept header."),
    409: (
        "The cell changed since you saw it.",
        "Meanwhile Esi decided this cell: True, on 5 October 2026 at 09:30 UTC.",
    ),
    413: ("More than 256 kB.", "The request is larger than 256 kB."),
    415: ("The body is not application/json.", 'Unsupported media type "text/plain" in request.'),
    422: ("Well-formed, and refused by the project's rules.", "The votes of this cell are not all in yet."),
}
BODY = (400, 413, 415, 422)
READ = (401, 404, 406)


def answers(success, *errors: int) -> dict:
    """The responses of an operation: `success` for 200, and each error in the one shape with an example."""
    return {200: success} | {code: _error(code) for code in sorted({*READ, *errors})}


def _error(code: int) -> OpenApiResponse:
    why, message = _WHY[code]
    fields = {"label": ["'7' is no label of order; expected one of 0, 1, 2, 3."]} if message == FIELDS else {}
    value = {"error": {"status": code, "message": message, "fields": fields}}
    example = OpenApiExample(f"{code}", value=value, response_only=True, status_codes=[str(code)])
    return OpenApiResponse(ERROR, description=why, examples=[example])


def _place(name: str, text: str, schema: dict) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", **schema}, OpenApiParameter.PATH, description=text)


SLUG = _place("slug", "The project.", {"pattern": r"^[-a-zA-Z0-9_]+$", "maxLength": 60})
STORY = _place("story", "uid of the story.", {"pattern": UID})
PROPOSITION = _place("proposition", "uid of the proposition.", {"pattern": UID})
DIMENSION = _place("dimension", "Key of the dimension.", {"enum": list(SCHEMA.keys)})
EXPORT_FORMAT = _place("kind", "Format of the file.", {"enum": ["omnitom", "long-csv"]})
