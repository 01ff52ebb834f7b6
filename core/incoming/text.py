"""JSON values from bytes. The standard library reads them: its hooks find a field that occurs twice, and its errors
have line and column."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

from core.duplicates import first_duplicate
from core.language import gettext_noop

MAX_DEPTH = 50
_NESTING = (dict, list)
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def _sentence(actual: str, expected: str) -> str:
    return gettext_noop(f"{actual}; expected {expected}.")


class NotJson(ValueError):
    """Bytes that hold no JSON value; `line` and `column` say where the reading ended, 0 where no place is to blame."""

    def __init__(self, actual: str, expected: str, line: int = 0, column: int = 0) -> None:
        beginning = f"{actual[0].upper()}{actual[1:]}"
        super().__init__(_sentence(beginning, expected))
        self.actual, self.expected, self.line, self.column = actual, expected, line, column

    def message_for(self, file: str) -> str:
        """One sentence with the file and the place in it."""
        place = gettext_noop(f"{file}, line {self.line}, column {self.column}") if self.line else file
        return gettext_noop(f"{place}: {self.actual}; expected {self.expected}.")

    def with_line(self) -> str:
        """One sentence for text that is itself one line of a file, which the caller names."""
        place = gettext_noop(f"column {self.column}")
        return gettext_noop(f"{place}: {self.actual}; expected {self.expected}.") if self.line else str(self)


def json_of(raw: bytes, *, nan: bool = False) -> Any:
    """Return the value that UTF-8 text holds, a byte order mark left out; `nan` takes the bare NaN that Python
    writes.

    Raises NotJson, also for a field that occurs twice in an object and for what nests deeper than MAX_DEPTH.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotJson(gettext_noop(f"byte {error.start} is not UTF-8"), gettext_noop("JSON in UTF-8")) from error
    return _decoded((_WITH_NAN if nan else _PLAIN).decode, text)


def value_at(text: str, at: int, *, nan: bool = False) -> tuple[Any, int]:
    """Return the value that begins at a place of a text, and the place at which it ends. Raises NotJson as `json_of`
    does."""
    value, end = _decoded((_WITH_NAN if nan else _PLAIN).raw_decode, text, at)
    return value, end


def _decoded(decode: Callable[..., Any], *text: Any) -> Any:
    try:
        value = decode(*text)
    except json.JSONDecodeError as error:
        raise NotJson(
            gettext_noop(f"it is not JSON ({error.msg})"), gettext_noop("one JSON value"), error.lineno, error.colno
        ) from error
    except RecursionError as error:
        raise _too_deep() from error
    except NotJson:
        raise
    except (
        ValueError
    ) as error:  # Python reads no number of thousands of digits, which would take it the square of their time
        raise NotJson(gettext_noop("it holds a number of too many digits"), gettext_noop("one JSON value")) from error
    if too_deep(value):
        raise _too_deep()
    return value


def too_deep(value: Any) -> bool:
    """Return whether `value` nests lists and objects deeper than MAX_DEPTH, found without recursion."""
    level = [value] if isinstance(value, _NESTING) else []
    for _ in range(MAX_DEPTH):
        inside = (container.values() if isinstance(container, dict) else container for container in level)
        level = [inner for values in inside for inner in values if isinstance(inner, _NESTING)]
        if not level:
            return False
    return True


def unstorable(value: Any) -> str:
    """Return what of a value no database can keep, as a clause; empty where there is nothing. Only escapes bring such
    text in."""
    if _NUL.search(json.dumps(value, ensure_ascii=False)):
        return gettext_noop("it holds a NUL character")
    return unwritable(value)


def unwritable(value: Any) -> str:
    """Return what of a value no UTF-8 file can hold, as a clause; empty where there is nothing."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return gettext_noop("it holds half of a surrogate pair, which is not a character")
    return ""


def _too_deep() -> NotJson:
    return NotJson(gettext_noop("the JSON is nested too deeply"), gettext_noop(f"at most {MAX_DEPTH} levels"))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = first_duplicate(name for name, _ in pairs) or ""
        raise NotJson(gettext_noop(f"the field {twice[:60]!r} occurs twice in one object"), gettext_noop("it once"))
    return members


def _refuse(constant: str) -> NoReturn:
    raise NotJson(gettext_noop(f"it holds {constant}"), gettext_noop("a JSON value"))


def _only_nan(constant: str) -> float:
    if constant != "NaN":
        _refuse(constant)
    return float(constant)


_PLAIN = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
_WITH_NAN = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_only_nan)
"""Made once: json.loads makes one a call, which for short lines is most of the work."""
