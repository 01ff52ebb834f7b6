"""Structured output: the JSON of an answer (core/incoming/embedded_json.py), by the names of its fields."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.incoming.embedded_json import plain_name, values_in
from core.plain import Json
from core.texts import storable


def object_in(text: str) -> Json | None:
    """The last object with `rows` of an answer, or lists and lines of objects by `id` as its `rows`; None if there is
    none."""
    values = values_in(text)
    if (value := values.object_with("rows")) or values.rows("actor", "belief"):
        return value
    rows = values.rows("id")
    return None if rows is None else {"rows": rows}


def table_in(text: str) -> Json | None:
    """The last object with `rows` of an answer, or a list or lines of objects as its `rows`; None if there is none."""
    values = values_in(text)
    if value := values.object_with("rows"):
        return value
    rows = values.rows("actor", "belief")
    rows = values.rows("id") if rows is None else rows
    return None if rows is None else {"rows": rows}


def ignores_schema(text: str, *names: str) -> bool:
    """Return whether an answer that was held to a schema is something else than an object with a list of one of these
    names.

    An empty text is a missing answer rather than another form of it.
    """
    value = (table_in(text) if names == ("rows",) else values_in(text).object_with(*names)) or {}
    return bool(text.strip()) and not any(isinstance(value.get(name), list) for name in names)


def rows_in(value: Mapping[str, Any] | None, name: str) -> list[Mapping[str, Any]]:
    """The objects of a list field, by plain names (`Truth-Status` and `truth_status` are `truthstatus`)."""
    listed = (value or {}).get(name)
    rows = listed if isinstance(listed, list) else []
    return [{plain_name(key): cell for key, cell in row.items()} for row in rows if isinstance(row, Mapping)]


def text_of(value: object) -> str:
    """A cell as text that every database holds; "" for what is neither a text nor a number.

    An answer was made storable as a text, but JSON escapes in it can spell what no database takes.
    """
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if isinstance(value, float) and not math.isfinite(value):
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
