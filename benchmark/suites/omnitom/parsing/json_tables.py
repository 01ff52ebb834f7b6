"""Tables that an answer writes as JSON: a list of objects, lists by name, or an object on each line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmark.suites.omnitom.parsing.cells import SURE, escaped
from benchmark.suites.omnitom.parsing.structured import text_of
from benchmark.suites.omnitom.parsing.versions import names_a_version
from core.incoming.embedded_json import plain_name, values_in


def with_lines(text: str, names: Mapping[str, str], *, bare: bool = False) -> str:
    """Return a text with its tables of JSON as lines with pipes, and its other JSON left out. With `bare` nothing but
    these tables remains.

    An object that may be a part of a table that was cut off is no row.
    """
    values = values_in(text)
    if not values.values:
        return "" if bare else text
    pieces: list[str] = []
    header, end = list[str](), 0
    for value, (start, after) in zip(values.values, values.places, strict=True):
        between, end = text[end:start], after
        if not isinstance(value, dict) or any(map(names_a_version, between.splitlines())):
            header = []
        pieces.append("" if bare else between)
        if not values.is_all and _is_row(value, names):
            continue
        for title, rows in _tables(value, names):
            columns = _columns(rows, names)
            if isinstance(value, list) or title or columns != header:
                pieces += [f"\n{title}\n", _line(columns)]
            header = columns if rows == [value] else []
            for row in rows:
                first, *rest = (_cell(row, column, names) for column in columns)
                pieces.append(_line([SURE + first, *rest]))
    pieces.append("" if bare else text[end:])
    return "".join(pieces)


def _tables(value: Any, names: Mapping[str, str]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the lists of rows in a value, each with the names that lead to it; a row by itself is a list of one."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        title, inner = waiting.pop()
        if _is_row(inner, names):
            yield title, [inner]
        elif isinstance(inner, list) and any(_is_row(item, names) for item in inner):
            yield title, [item for item in inner if isinstance(item, dict)]
        elif isinstance(inner, (dict, list)):
            named = inner.items() if isinstance(inner, dict) else (("", item) for item in inner)
            waiting += reversed([(f"{title} {name}".strip(), item) for name, item in named])


def _is_row(value: Any, names: Mapping[str, str]) -> bool:
    return isinstance(value, dict) and {"actor", "belief"} <= {names.get(plain_name(name)) for name in value}


def _columns(rows: Sequence[Any], names: Mapping[str, str]) -> list[str]:
    """Return the names of the columns that rows have cells of."""
    columns = (names.get(plain_name(name)) for row in rows for name in row)
    return list(dict.fromkeys(column for column in columns if column))


def _cell(row: Mapping[str, Any], column: str, names: Mapping[str, str]) -> str:
    return next((text_of(value) for name, value in row.items() if names.get(plain_name(name)) == column), "")


def _line(cells: Sequence[str]) -> str:
    return f"\n| {' | '.join(map(escaped, cells))} |\n"
