"""Every API error has one shape: {"error": {"status", "message", "fields": {name: [sentences]}}}."""

from __future__ import annotations

from rest_framework.response import Response
from rest_framework.views import exception_handler


def one_shape(exc: Exception, context: dict) -> Response | None:
    response = exception_handler(exc, context)
    if response is None:
        return None
    detail = response.data
    fields: dict = {}
    if isinstance(detail, dict) and set(detail) == {"detail"}:
        message = str(detail["detail"])
    else:
        fields = detail if isinstance(detail, dict) else {"non_field_errors": detail}
        message = "The request holds fields that are not as expected."
    response.data = {"error": {"status": response.status_code, "message": message, "fields": fields}}
    return response
