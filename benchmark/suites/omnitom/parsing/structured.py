"""Structured output: the JSON of an answer, with or without a fence or a sentence around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.plain import Json
from core.texts import storable

_FENCE = re.compile(r"```[a-zA-Z]*\n(.*?)```", re.DOTALL)
_PLAIN_NAME = re.compile(r"[^a-z]")


def answer_of(text: str) -> str:
    """The text after a model's thinking aloud."""
    return text.rpartition("</think>")[2]


def json_in(text: str) -> Json | None:
    """The JSON object of an answer, a bare list as its `rows`; None where there is none."""
    for candidate in _candidates(answer_of(text)):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list):
            value = {"rows": value}
        if isinstance(value, dict):
            return value
    return None


def ignores_schema(text: str, *names: str) -> bool:
    """Return whether an answer that was held to a schema is something else than an object with a list of one of these
    names.

    An empty text is a missing answer rather than another form of it.
    """
    value = json_in(text)
    return bool(text.strip()) and not any(isinstance((value or {}).get(name), list) for name in names)


def _candidates(text: str) -> Iterator[str]:
    stripped = text.strip().removeprefix("\ufeff")
    if stripped.startswith(("{", "[")):
        yield stripped
    for block in _FENCE.findall(text):
        if block.lstrip().startswith(("{", "[")):
            yield block
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        yield text[start : end + 1]


def rows_in(value: Mapping[str, Any] | None, name: str) -> list[Mapping[str, Any]]:
    """The objects of a list field, by plain names (`Truth-Status` and `truth_status` are `truthstatus`)."""
    listed = (value or {}).get(name)
    rows = listed if isinstance(listed, list) else []
    return [{plain(key): cell for key, cell in row.items()} for row in rows if isinstance(row, Mapping)]


def plain(name: object) -> str:
    return _PLAIN_NAME.sub("", str(name).lower())


def text_of(value: object) -> str:
    """A cell as text that every database holds; "" for what is neither a text nor a whole number.

    An answer was made storable as a text, but JSON escapes in it can spell what no database takes.
    """
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def id_of(row: Mapping[str, Any], count: int) -> int | None:
    """The place of a row that its `id` names, from 0; ids count from 1. None where it names no row of `count`."""
    return place_of(row.get("id"), count)


def place_of(value: object, count: int) -> int | None:
    text = text_of(value).strip()
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        return None
    return int(text) - 1 if 1 <= int(text) <= count else None
