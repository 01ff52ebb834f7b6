"""JSON values from bytes. The standard library reads them: its hooks find a field that occurs twice, and its errors
have line and column."""

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

from core.duplicates import first_duplicate
from core.messages import Sentence, capitalised, gettext_noop

MAX_DEPTH = 50
_NESTING = (dict, list)
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class NotJson(ValueError):
    """Bytes that hold no JSON value; `line` and `column` say where the reading ended, 0 where no place is to blame."""

    def __init__(self, actual: str, expected: str, line: int = 0, column: int = 0) -> None:
        super().__init__(Sentence("{actual}; expected {expected}.", actual=capitalised(actual), expected=expected))
        self.actual, self.expected, self.line, self.column = actual, expected, line, column

    def _at(self, place: str) -> str:
        sentence = gettext_noop("{place}: {actual}; expected {expected}.")
        return sentence.format(place=place, actual=self.actual, expected=self.expected)

    def message_for(self, file: str) -> str:
        """One sentence with the file and the place in it."""
        line, column = self.line, self.column
        return self._at(
            Sentence("{file}, line {line}, column {column}", file=file, line=line, column=column) if line else file
        )

    def with_line(self) -> str:
        """One sentence for text that is itself one line of a file, which the caller names."""
        return self._at(Sentence("column {column}", column=self.column)) if self.line else str(self)


def json_of(raw: bytes, *, nan: bool = False) -> Any:
    """Return the value that UTF-8 text holds, a byte order mark left out; `nan` takes the bare NaN that Python
    writes.

    Raises NotJson, also for a field that occurs twice in an object and for what nests deeper than MAX_DEPTH.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotJson(
            Sentence("byte {start} is not UTF-8", start=error.start), gettext_noop("JSON in UTF-8")
        ) from error
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
            Sentence("it is not JSON ({msg})", msg=error.msg), gettext_noop("one JSON value"), error.lineno, error.colno
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
    return NotJson(
        gettext_noop("the JSON is nested too deeply"), Sentence("at most {max_depth} levels", max_depth=MAX_DEPTH)
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = first_duplicate(name for name, _ in pairs) or ""
        raise NotJson(
            Sentence("the field {twice} occurs twice in one object", twice=repr(twice[:60])), gettext_noop("it once")
        )
    return members


def _refuse(constant: str) -> NoReturn:
    raise NotJson(Sentence("it holds {constant}", constant=constant), gettext_noop("a JSON value"))


def _only_nan(constant: str) -> float:
    if constant != "NaN":
        _refuse(constant)
    return float(constant)


_PLAIN = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
_WITH_NAN = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_only_nan)
"""Made once: json.loads makes one a call, which for short lines is most of the work."""
