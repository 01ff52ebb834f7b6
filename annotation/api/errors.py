"""Every API error has one shape: {"error": {"status", "message", "fields": {name: [sentences]}}}."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.response import Response
from rest_framework.views import exception_handler

_BODY = {
    "type": "object",
    "properties": {
        "status": {"type": "integer"},
        "message": {"type": "string"},
        "fields": {"type": "object", "additionalProperties": {}},
    },
    "required": ["status", "message", "fields"],
}


@extend_schema_field(_BODY)
class ErrorField(serializers.JSONField):
    """`fields` is also the name of a serializer's own property, so its schema is written by hand."""


class ApiError(serializers.Serializer):
    error = ErrorField()


def one_shape(exc: Exception, context: dict) -> Response | None:
    response = exception_handler(exc, context)
    if response is None:
        return None
    detail = response.data
    fields: dict = {}
    if isinstance(detail, dict) and set(detail) == {"detail"}:
        message = str(detail["detail"])
    elif isinstance(detail, list) and detail and isinstance(detail[0], ErrorDetail):
        message = str(detail[0])
    else:
        fields = detail if isinstance(detail, dict) else {"changes": detail}
        message = "The request holds fields that are not as expected."
    response.data = {"error": {"status": response.status_code, "message": message, "fields": fields}}
    return response


def not_found(request: HttpRequest, path: str = "") -> JsonResponse:
    """Any address below /api/ that is no route."""
    body = {"status": 404, "message": "There is nothing at this address.", "fields": {}}
    return JsonResponse({"error": body}, status=404)
