"""Files with a JSON object on each line, read in bounded pieces: a line of 50 MB costs neither memory nor the
process."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from typing import Any

from core.incoming.encodings import Lines
from core.incoming.misfit import kind_of
from core.incoming.text import NotJson, json_of, unstorable
from core.messages import Sentence
from core.plain import Json

LONGEST_LINE = 8 * 1024 * 1024
"""The most bytes of a line, unless its format says another number."""


class BadLine(ValueError):
    """The fault in a line, as one sentence; the caller names file and line."""


def lines_of(handle: Lines, *, longest: int = LONGEST_LINE) -> Iterator[tuple[int, bytes | None]]:
    """Yield line numbers and lines; None for a line of more than `longest` bytes, which is skipped and not kept."""
    number = 0
    while chunk := handle.readline(longest + 1):
        number += 1
        if len(chunk) <= longest:
            yield number, chunk
            continue
        while chunk and not chunk.endswith(b"\n"):
            chunk = handle.readline(longest)
        yield number, None


def object_of_line(
    raw: bytes | None, *, longest: int = LONGEST_LINE, nan: bool = False, unfit: Callable[[Any], str] = unstorable
) -> Json | None:
    """Return the JSON object of a line of `lines_of`, None for a blank line; `nan` takes the bare NaN that Python
    writes, `unfit` says what of the object cannot be kept. Raises BadLine."""
    if raw is None:
        raise BadLine(
            Sentence("The line is longer than {longest} MB; expected one JSON object.", longest=longest // 1024 // 1024)
        )
    if not raw.removeprefix(BOM_UTF8).strip():
        return None
    try:
        value = json_of(raw.rstrip(b"\r\n"), nan=nan)
    except NotJson as error:
        raise BadLine(error.with_line()) from error
    if not isinstance(value, dict):
        raise BadLine(Sentence("The line holds {value}; expected one JSON object.", value=kind_of(value)))
    if b"\\u" in raw and (what := unfit(value)):
        raise BadLine(Sentence("The line cannot be kept: {what}; remove it.", what=what))
    return value
