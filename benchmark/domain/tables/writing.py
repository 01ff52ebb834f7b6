"""A table as CSV for other programs and as JSON for the API and commands."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from annotation.domain.columns import defused
from benchmark.domain.tables.table import OF, Column, Part, Row, Source, Table
from core.plain import Json, plain

ABSENT, ENTERED = "Absent because", "Entered from"
Parts = Sequence[Part]
"""The parts of the cells of a column that have columns of their own in a file."""


def to_csv(table: Table) -> bytes:
    """Return RFC 4180: UTF-8, CRLF, one header row. Numbers are unrounded in the header's unit.

    Ends of intervals (of every estimate, so that a program finds them in each file), the reasons for lacking ones,
    worst and best cases and n have columns of their own; totals, entered rows and absent models come last. The ranking
    and the sentences to read first stand in a column each, alike in all rows. A text that a spreadsheet would run as a
    formula gets an apostrophe before it.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    section = table.section and table.section not in {column.key for column in table.columns}
    columns = [*([Column(key=table.section, header=table.section)] if section else []), *table.columns]
    names: tuple[Part, ...] = ("bounds", "no_interval", "n")
    parts: dict[str, Parts] = {}
    for column in columns:  # intervals of every estimate, and other parts that any row has
        others = [name for name in names if table.shows(name, column)]
        parts[column.key] = ["interval", *others] if table.estimates(column) else others
    texts = {"Ranked by": table.ranking, "Read first": " ".join(table.lead)}
    texts = {header: defused(text) for header, text in texts.items() if text}
    texts |= ({ENTERED: ""} if table.entered else {}) | ({ABSENT: ""} if table.absent else {})
    entered = [{**row.cells, ENTERED: row.source} for row in table.entered]
    absent = [{table.columns[0].key: model.model, ABSENT: model.why} for model in table.absent]
    writer.writerow([*(name for column in columns for name in _headers(column, parts[column.key])), *texts])
    for row in (*table.rows, *table.totals, *entered, *absent):
        cells = [text for column in columns for text in _texts(column, row, parts[column.key])]
        writer.writerow([*cells, *(text or defused(row.get(header, "")) for header, text in texts.items())])
    return out.getvalue().encode("utf-8", "replace")


def _headers(column: Column, parts: Parts) -> list[str]:
    unit = f" ({column.unit})" if column.unit else ""
    name = f"{column.group}: {column.header}" if column.group else column.header
    headers = {
        "interval": [f"{name} low{unit}", f"{name} high{unit}"],
        "bounds": [f"{name} worst case{unit}", f"{name} best case{unit}"],
        "no_interval": [f"{name} no interval because"],
        "n": [f"{name} n"],
    }
    return [f"{name}{unit}", *(header for part in parts for header in headers[part])]


def _texts(column: Column, row: Row, parts: Parts) -> Iterator[str]:
    cell = column.cell(row)
    if column.is_text:
        yield "" if cell.value is None else defused(str(cell.value))
        return
    yield _number(column, cell.value)
    for part in parts:
        value = getattr(cell, part)
        if part in ("interval", "bounds"):
            yield from (_number(column, end) for end in value or (None, None))
        else:
            yield defused(value) if part == "no_interval" else "" if value is None else str(value)


def _number(column: Column, value: Any) -> str:
    number = column.exact(value)
    text = "" if number is None else format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def to_json(table: Table) -> bytes:
    """Return `table_data` as UTF-8."""
    text = json.dumps(table_data(table), ensure_ascii=False, allow_nan=False, indent=1, default=_of_decimal)
    return text.encode("utf-8", "replace")


def table_data(table: Table) -> Json:
    """Return {title, columns, rows, totals, lead, notes[, ranking, absent, section, entered]}.

    A row has a value under the key of a column, or {value[, interval][, n][, reason][, bounds]} if there is more than
    the value; a share is a fraction. A row of an entrant has its key, kind and run under `entrant`.
    """
    document: Json = {
        "title": table.title,
        "columns": [_described(column) for column in table.columns],
        "rows": [_values(table, row) for row in table.rows],
        "totals": [_values(table, row) for row in table.totals],
        "lead": list(table.lead),
        "notes": [*table.dashes, *table.entered_texts, *table.notes],
    }
    entered = [_values(table, row.cells) | {"kind": row.kind, "source": row.source} for row in table.entered]
    others = {
        "ranking": table.ranking,
        "absent": plain(list(table.absent)),
        "section": table.section,
        "entered": entered,
    }
    return document | {name: value for name, value in others.items() if value}


def _described(column: Column) -> dict[str, str]:
    names = {"key": "key", "title": "header", "unit": "unit", "kind": "kind", "group": "group", "best": "best"}
    return {name: value for name, field in names.items() if (value := getattr(column, field)) or name == "title"}


def _values(table: Table, row: Row) -> Json:
    values: Json = {}
    for column in table.columns:
        cell = column.cell(row)
        others = {"interval": cell.interval or None, "n": cell.n, "reason": None if cell.interval else cell.reason}
        others |= {"bounds": cell.bounds}
        there = {name: value for name, value in others.items() if value is not None}
        values[column.key] = {"value": cell.value, **there} if there else cell.value
    source: Source | None = row.get(OF)
    entrant = {"entrant": {"key": source.key, "kind": source.kind, "run": source.run}} if source else {}
    return ({table.section: row.get(table.section)} if table.section else {}) | values | entrant


def _of_decimal(value: Any) -> float:
    """Return a price as the number that JSON has. Raises TypeError for anything else."""
    if not isinstance(value, Decimal):
        raise TypeError(f"{type(value).__name__} is no value of a table.")
    return float(value)
