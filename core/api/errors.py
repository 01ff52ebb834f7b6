"""Every error below /api/ has one shape: {"error": {"status", "message", "fields": {name: [sentences]}}}."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import JsonResponse
from rest_framework import permissions, status
from rest_framework.exceptions import (
    APIException,
    AuthenticationFailed,
    ErrorDetail,
    NotAuthenticated,
    NotFound,
    Throttled,
)
from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle
from rest_framework.views import APIView

from core.api.parsing import TooLarge
from core.client_address import address_of
from core.storage import trouble_of


class Strangers(AnonRateThrottle):
    """Requests without a token, or with a wrong one, by address as log-ins are counted. Those with a right one are not
    held up by them."""

    def get_cache_key(self, request: Request, view: APIView) -> str:
        return self.cache_format % {"scope": self.scope, "ident": address_of(request)}


class Nothing(APIView):
    """Any address below /api/ that is not a route, for everybody: which routes exist is not a secret."""

    authentication_classes = ()
    permission_classes = (permissions.AllowAny,)
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        hint = "" if request.path.endswith("/") else " Addresses of the API end with a slash."
        raise NotFound(f"There is nothing at this address.{hint}")


class Conflict(APIException):
    """The state that the caller saw is past; reading it again and repeating the request can help."""

    status_code = status.HTTP_409_CONFLICT


class CannotBeDone(APIException):
    """The request is well-formed, and the rules refuse it; sending it again does not help."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY


@contextmanager
def refusing(refused: type[Exception], *, past: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Turn a refusal into CannotBeDone, and into Conflict if it is `past`: the state that the caller saw is gone."""
    try:
        yield
    except past as refusal:
        raise Conflict(str(refusal)) from refusal
    except refused as refusal:
        raise CannotBeDone(str(refusal)) from refusal


logger = logging.getLogger(__name__)

FIELDS_MESSAGE = "The request holds fields that are not as expected."
UNAVAILABLE = "The site cannot reach its database, or its disk is full; nothing was saved. Try again later."
UNEXPECTED = "Something went wrong on the server; it has been logged, and nothing was saved."


def one_shape(exc: Exception, context: dict[str, Any]) -> JsonResponse:
    """The answer to any exception of an API view, unexpected ones logged and told in one sentence.

    A JsonResponse, because a renderer that was chosen for CSV or YAML cannot write it, and because its ASCII holds the
    lone surrogates that a message may quote.
    """
    from rest_framework.views import exception_handler  # that module loads this one

    if isinstance(exc, RequestDataTooBig):
        exc = TooLarge("The request is too large.")
    if isinstance(exc, NotAuthenticated | AuthenticationFailed):
        # Here, as a view looks at its throttles after its permissions, and so never at those of a refused request.
        strangers = Strangers()
        exc = exc if strangers.allow_request(context["request"], context["view"]) else Throttled(strangers.wait())
    response = exception_handler(exc, context)
    if response is None and trouble_of(exc):
        answer = error(503, UNAVAILABLE)
        answer["Retry-After"] = "10"
        logger.error("%s: %s", context["request"].path, trouble_of(exc))
        return answer
    if response is None:
        logger.error("API request failed: %s", context["request"].path, exc_info=exc)
        return error(500, UNEXPECTED)
    detail = response.data
    if isinstance(detail, dict) and set(detail) == {"detail"}:
        answer = error(response.status_code, str(detail["detail"]))
    else:
        answer = error(response.status_code, FIELDS_MESSAGE, dict(_by_field(detail)))
    for name in ("WWW-Authenticate", "Retry-After"):
        if name in response:
            answer[name] = response[name]
    return answer


def error(status_code: int, message: str, fields: dict[str, list[str]] | None = None) -> JsonResponse:
    body = {"status": status_code, "message": message, "fields": fields or {}}
    return JsonResponse({"error": body}, status=status_code)


def _by_field(detail: object, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Nested details as flat names: `changes[3].label`."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            if isinstance(name, int):
                place = f"{path}[{name}]"
            elif name == "non_field_errors":
                place = path
            else:
                place = f"{path}.{name}" if path else name
            yield from _by_field(inner, place)
    elif isinstance(detail, list) and not all(isinstance(element, ErrorDetail) for element in detail):
        for at, inner in enumerate(detail):
            yield from _by_field(inner, f"{path}[{at}]")
    elif isinstance(detail, list):
        yield path or "body", [str(message) for message in detail]
    else:
        yield path or "body", [str(detail)]
