"""Files with a JSON object on each line."""

from __future__ import annotations

from annotation.domain.corpus_files import MAX_LINE_BYTES
from core.incoming.misfit import kind_of
from core.incoming.text import NotJson, json_of_line, unwritable
from core.plain import Json


class BadLine(ValueError):
    """The fault in a line, as one sentence."""


def object_of_line(raw: bytes | None) -> Json | None:
    """The JSON object of one line; None for a blank line. `raw` is None for a line that was too long to be read. Raises
    BadLine."""
    if raw is None:
        raise BadLine(f"the line is longer than {MAX_LINE_BYTES // 1024 // 1024} MB; expected one JSON object.")
    try:
        value = json_of_line(raw, nan=True)
    except NotJson as error:
        raise BadLine(error.told_in_line()) from error
    if value is None and raw.strip() != b"null":
        return None
    if not isinstance(value, dict):
        raise BadLine(f"it is {kind_of(value)}; expected a JSON object.")
    if b"\\u" in raw and (what := unwritable(value)):
        raise BadLine(f"{what}; remove it.")
    return value
