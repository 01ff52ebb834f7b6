"""JSON in a model's text: in prose, in code fences of any spelling, repeated, or one object a line.

The values of a text are its outermost complete objects and lists. What begins like one and is not complete or not JSON
is skipped, and the values inside it count. Remarks behind `//`, trailing commas, line ends inside strings and Python's
literals are read as well; nothing is guessed about what is missing.
"""

import ast
import json
import re
from typing import Any, NamedTuple, cast

from core.incoming.text import MAX_DEPTH
from core.plain import Json

_BEGINNING = re.compile(r"""\{(?=\s*["'}/])|\[(?=\s*["'\[{\]/])""")
_STRING, _REMARK = r'"(?:[^"\\]++|\\.)*+"', r"//[^\n]*+"
_TOKEN = re.compile(rf"""[^"{{}}\[\]/]++|{_STRING}|{_REMARK}|.""", re.DOTALL)
_STRING_OR_REMARK = re.compile(rf"({_STRING})|{_REMARK}", re.DOTALL)
_STRING_OR_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])", re.DOTALL)
_CLOSES = {"}": "{", "]": "["}
_MOST_TOKENS, _CHARACTERS_A_TOKEN, _TOKENS_A_VALUE = 2_000_000, 64, 20
"""The most tokens that are read of a text, with what a stretch of text and a value cost in tokens: a few seconds. After
a beginning that fails, the text is read again from the next one on."""
_LONGEST_LITERAL = 100_000
_NOT_LETTER = re.compile(r"[^a-z\u4e00-\u9fff]")


class Values(NamedTuple):
    """The outermost complete objects and lists of a text, in its order. `is_all` says that nothing else begins like
    one, so that no value is a part of one that was cut off. `places` are where each value begins and ends."""

    values: tuple[Any, ...]
    is_all: bool
    places: tuple[tuple[int, int], ...] = ()

    def object_with(self, *fields: str) -> Json | None:
        """Return the object with one of these fields that ends last, wherever it stands; None if there is none."""
        waiting = list(self.values)
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict) and any(field in value for field in fields):
                return cast(Json, value)
            waiting += _containers_in(value)
        return None

    def rows(self, *fields: str) -> list[Json] | None:
        """Return the last list of objects of which one has all of these fields in any spelling, or the values
        themselves if they are such objects, as in JSON Lines, or such lists inside the last object, whatever their
        names. Returns None if there is none of these, and no row for an empty list."""
        if fitting := [rows for rows in self.values if isinstance(rows, list) and _are_rows(rows, fields)]:
            return list(fitting[-1])
        if self.is_all and _are_rows(self.values, fields):
            return list(self.values)
        for value in reversed(self.values):
            inside: list[Any] = []
            level = [value] if isinstance(value, dict) else []
            while level:
                level = [child for item in level for child in _containers_in(item)]
                inside += level
            if fitting := [rows for rows in inside if isinstance(rows, list) and _are_rows(rows, fields)]:
                return [row for rows in fitting for row in rows]
        return [] if self.is_all and self.values == ([],) else None


def plain_name(name: object) -> str:
    """Return the name of a field in small letters and ideographs only: `Truth-Status` and `truth_status` are equal."""
    return _NOT_LETTER.sub("", str(name).lower())


def _are_rows(values: Any, fields: tuple[str, ...]) -> bool:
    names = {plain_name(field) for field in fields}
    are_objects = all(isinstance(value, dict) for value in values)
    return are_objects and any(names <= set(map(plain_name, value)) for value in values)


def _containers_in(value: Any) -> list[Any]:
    children = value.values() if isinstance(value, dict) else value
    return [child for child in children if isinstance(child, (dict, list))]


def values_in(text: str) -> Values:
    """Return the JSON values of a text. A text of so many brackets that it takes more than a few seconds has none."""
    whole = text.strip().removeprefix("\ufeff")
    if whole[:1] in ("{", "["):
        value = _strictly(whole)
        if isinstance(value, (dict, list)):
            return Values((value,), True, ((0, len(text)),))
    values, places, is_all, at, left = [], [], True, 0, _MOST_TOKENS
    while left > 0 and (beginning := _BEGINNING.search(text, at)):
        at = beginning.start()
        end, used, is_open = _end_of(text, at, left)
        left -= used + _TOKENS_A_VALUE
        value = _value(text[at:end]) if end else None
        if isinstance(value, (dict, list)):
            values.append(value)
            places.append((at, end))
            at = end
        else:
            is_all = is_all and not is_open
            at += 1
    return Values(tuple(values), is_all, tuple(places)) if left > 0 else Values((), False)


def _end_of(text: str, start: int, most: int) -> tuple[int, int, bool]:
    """Return (the end of the brackets that open at `start`, 0 if they do not close; how many tokens were read; whether
    the text ended before they closed)."""
    stack: list[str] = []
    used = 0
    for used, token in enumerate(_TOKEN.finditer(text, start), 1):
        mark = token[0]
        if mark in ("{", "["):
            stack.append(mark)
        elif mark in _CLOSES and stack.pop() != _CLOSES[mark]:
            return 0, used + (token.end() - start) // _CHARACTERS_A_TOKEN, False
        if not stack:
            return token.end(), used, False
        if len(stack) > MAX_DEPTH or mark == '"' or used > most:
            return 0, used + (token.end() - start) // _CHARACTERS_A_TOKEN, True
    return 0, used + (len(text) - start) // _CHARACTERS_A_TOKEN, True


def _value(text: str) -> Any:
    """Return the value that a text between brackets is; None if it is none."""
    value = _strictly(text)
    if value is None:
        value = _strictly(_STRING_OR_COMMA.sub(_kept, _STRING_OR_REMARK.sub(_kept, text)))
    if value is not None or len(text) > _LONGEST_LITERAL:
        return value
    try:  # the list or object that Python's own notation writes, unless a key of it is not a text
        literal = ast.literal_eval(text)
        return json.loads(json.dumps(literal)) if isinstance(literal, (dict, list)) else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _kept(part: re.Match[str]) -> str:
    return part[1] or ""


def _strictly(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
