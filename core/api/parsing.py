from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from core.api.refusals import TooLarge

MAX_BYTES = 256 * 1024


class BoundedJSON(BaseParser):
    """JSON of at most 256 kB; neither deep nesting, nor NaN, nor a wrong encoding gets past it."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise TooLarge(f"The request is larger than {MAX_BYTES // 1024} kB.")
        try:
            return json.loads(raw.decode("utf-8"), parse_constant=_refuse)
        except (ValueError, RecursionError) as problem:
            what = "nested too deeply" if isinstance(problem, RecursionError) else str(problem)
            raise ParseError(f"The request is not JSON in UTF-8: {what}.") from problem


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")
