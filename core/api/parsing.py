"""The parser of bodies that the API takes."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

from core.incoming.text import NotJson, json_of

MAX_BYTES = 256 * 1024


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE


class BoundedJSON(BaseParser):
    """JSON of at most 256 kB; neither deep nesting, nor a field twice, nor NaN, nor a wrong encoding gets past it."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise TooLarge(f"The request is larger than {MAX_BYTES // 1024} kB.")
        try:
            return json_of(raw)
        except NotJson as problem:
            raise ParseError(problem.message_for("The request")) from problem
