"""A table as CSV for other programs and as JSON with what it means."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import Any

from annotation.domain.columns import defused
from benchmark.domain.tables.table import Column, Row, Table
from core.plain import Json, plain


def to_csv(table: Table) -> bytes:
    """RFC 4180: UTF-8, CRLF, one header row; numbers unrounded in the header's unit, ends of intervals, why there is
    none where a row lacks it, worst and best case where a column has them, and n in columns of their own, empty where
    nothing is known, totals last. What the rows are ranked by and what is to be read before them stand in a column
    each, alike in all rows; models that are absent have a row without figures, with the reason in a column, and rows
    that were entered have their source in one.

    A text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    columns = [*_section_column(table), *table.columns]
    lacking, bounded = table.no_intervals, table.bounded
    sentences = _row_texts(table)
    writer.writerow([*(name for column in columns for name in _headers(column, lacking, bounded)), *sentences])
    for row in (*table.rows, *table.totals, *_entered(table), *_absent(table)):
        cells = [cell for column in columns for cell in _cells(column, row, lacking, bounded)]
        writer.writerow([*cells, *(text or defused(row.get(header, "")) for header, text in sentences.items())])
    return out.getvalue().encode("utf-8", "replace")


ABSENT, ENTERED = "Absent because", "Entered from"
CASES = (" worst case", " best case")


def _row_texts(table: Table) -> dict[str, str]:
    """Return what stands in every row by the header of its column; the reason of who is absent, and the source of what
    was entered, are the row's own."""
    texts = {"Ranked by": table.ranking, "Read first": " ".join(table.lead)}
    cells = {header: defused(text) for header, text in texts.items() if text}
    return cells | ({ENTERED: ""} if table.entered else {}) | ({ABSENT: ""} if table.absent else {})


def _entered(table: Table) -> list[Row]:
    return [{**row.cells, ENTERED: row.source} for row in table.entered]


def _absent(table: Table) -> list[Row]:
    return [{table.columns[0].key: model.model, ABSENT: model.why} for model in table.absent]


def _section_column(table: Table) -> list[Column]:
    keys = {column.key for column in table.columns}
    return [Column(key=table.section, header=table.section)] if table.section and table.section not in keys else []


def _headers(column: Column, lacking: Collection[str], bounded: Collection[str]) -> list[str]:
    unit = f" ({column.unit})" if column.unit else ""
    name = f"{column.group}: {column.header}" if column.group else column.header
    parts = ("", *((" low", " high") if column.interval else ()), *(CASES if column.key in bounded else ()))
    why = [f"{name} no interval because"] if column.key in lacking else []
    return [f"{name}{part}{unit}" for part in parts] + why + ([f"{name} n"] if column.n else [])


def _cells(column: Column, row: Row, lacking: Collection[str], bounded: Collection[str]) -> Iterator[str]:
    value = row.get(column.key)
    if column.is_text:
        yield "" if value is None else defused(str(value))
        return
    ends = (row.get(column.interval) or (None, None)) if column.interval else ()
    cases = (row.get(column.bounds) or (None, None)) if column.key in bounded else ()
    for fraction in (value, *ends, *cases):
        number = column.exact(fraction)
        yield "" if number is None else _plain(format(number, "f"))
    if column.key in lacking:
        yield defused(column.no_interval(row))
    if column.n:
        yield "" if row.get(column.n) is None else str(row[column.n])


def _plain(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def to_json(table: Table) -> bytes:
    """Return {title, columns, rows, totals, lead, notes[, ranking, absent, section, entered]}, UTF-8. Values as they
    are held: a share is a fraction. A row without an interval, or without the figure itself, has the reason under the
    interval's key with `_reason` behind it; columns without bounds in any row have no key of them."""
    keys = _keys(table)
    document: Json = {
        "title": table.title,
        "columns": [_described(table, column) for column in table.columns],
        "rows": [_values_of(table, keys, row) for row in table.rows],
        "totals": [_values_of(table, keys, row) for row in table.totals],
        "lead": list(table.lead),
        "notes": [*table.dashes, *table.entered_texts, *table.notes],
    }
    notes: Json = {"ranking": table.ranking, "absent": plain(list(table.absent)), "section": table.section}
    notes["entered"] = [
        _values_of(table, keys, row.cells) | {"kind": row.kind, "source": row.source} for row in table.entered
    ]
    document |= {name: value for name, value in notes.items() if value}
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1, default=_of_decimal)
    return text.encode("utf-8", "replace")


def _of_decimal(value: Any) -> float:
    """Return a price as the number that JSON has. Raises TypeError for anything else."""
    if not isinstance(value, Decimal):
        raise TypeError(f"{type(value).__name__} is no value of a table.")
    return float(value)


def _described(table: Table, column: Column) -> dict[str, str]:
    names = ("key", "header", "unit", "kind", "group", "interval", "n", "best", "worst")
    fields = {name: value for name in names if (value := getattr(column, name))}
    return fields | ({"bounds": column.bounds} if column.key in table.bounded else {})


def _keys(table: Table) -> list[str]:
    """Return what every row holds, in order: found once, as a column has bounds where any of its rows has."""
    keys = [key for column in table.columns for key in (column.key, column.interval, column.n, column.worst) if key]
    bounded = table.bounded
    keys += [column.bounds for column in table.columns if column.key in bounded]
    return ([table.section] if table.section else []) + keys


def _values_of(table: Table, keys: Sequence[str], row: Row) -> Json:
    ends = [column.interval for column in table.columns if column.interval and not row.get(column.interval)]
    why = {key: row[key] for key in (f"{end}_reason" for end in ends) if row.get(key)}
    return {key: row.get(key) for key in keys} | why
