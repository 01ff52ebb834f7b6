from __future__ import annotations

from rest_framework import status
from rest_framework.exceptions import APIException


class Conflict(APIException):
    """The state that the caller saw is past; reading it again and repeating the request can help."""

    status_code = status.HTTP_409_CONFLICT


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE


class CannotBeDone(APIException):
    """The request is well-formed, and the rules refuse it; sending it again does not help."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
