"""Inserting rows without the ORM.

Very many: some rows a statement on SQLite, COPY on PostgreSQL, a tenth of the ORM's time. A few on the hottest path:
one statement.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from django.db import connection, models
from pydantic_core import to_json

from core.cursors import same_text_cursor
from core.messages import stored

_VALUES = 2_000
"""Values in each of SQLite's statements that insert very many rows: twice as fast as a statement a row, and more gain
nothing. Every SQLite takes 32,766."""
Names = tuple[str, ...]
Adapter = Callable[[Any], Any]
Written = Callable[[Sequence[Sequence[Any]]], tuple[str, list[Any]]]
"""Turns rows into what stands after the columns of an INSERT, and its parameters."""


def insert_rows(model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Inserts rows whose values are in the order of `fields` (attribute names; a foreign key's value is an id).

    Defaults of the model do not apply, so every column without a database default must be named. Constraints hold as
    ever; call it in a transaction.
    """
    _insert(model, fields, _adapted(rows, _adapters(model, fields)))


class EncodedOnce:
    """Encoder for JSON that stands in rows of several tables: each value is encoded once. `plain` makes JSON of a
    value. The values are known by identity, so the caller keeps them as long as this."""

    def __init__(self, plain: Callable[[Any], Any]) -> None:
        self._plain = plain
        self._encoded: dict[int, Any] = {}

    def once(self, adapt: Adapter) -> Adapter:
        """Return an adapter that asks `adapt` once for each value, whichever column it stands in."""
        encoded, plain = self._encoded, self._plain

        def adapt_once(value: Any) -> Any:
            key = id(value)
            if key not in encoded:
                encoded[key] = adapt(plain(value))
            return encoded[key]

        return adapt_once


class ReadyRows:
    """Rows for `insert_rows` whose values are encoded already: that takes as long as the statement, and needs no
    transaction. `same` are values by field that stand in each row."""

    def __init__(
        self,
        model: type[models.Model],
        fields: Sequence[str],
        rows: Iterable[Sequence[Any]],
        encoded: EncodedOnce | None = None,
        same: Mapping[str, Any] | None = None,
    ) -> None:
        same = same or {}
        (self._same,) = _adapted([list(same.values())], _adapters(model, list(same)))
        self._model, self._fields = model, (*same, *fields)
        adapters = dict(_adapters(model, fields))
        if encoded is not None:
            for at, name in enumerate(fields):
                if isinstance(model._meta.get_field(name), models.JSONField):
                    adapters[at] = encoded.once(adapters[at])
        self._rows = _adapted_columns(list(rows), adapters)

    def insert(self) -> None:
        if self._rows:
            _insert(self._model, self._fields, self._rows, self._same)


def _insert(
    model: type[models.Model], fields: Sequence[str], ready: Iterable[Sequence[Any]], same: Sequence[Any] = ()
) -> None:
    """Insert rows; `same` are the values of the first fields in each of them, which the rows lack."""
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    listed = ", ".join(quote(model._meta.get_field(name).column) for name in fields)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Django's own errors, which callers catch, also from a call that Django does not wrap.
            copying = cursor.copy(f"COPY {table} ({listed}) FROM STDIN")
            with connection.wrap_database_errors, copying as copy:
                for row in ready:
                    copy.write_row((*same, *row))
        else:
            # A numbered mark is one parameter in however many rows it stands; the others get the numbers after it.
            numbered = [f"?{number}" for number in range(1, len(same) + 1)]
            marks, waiting = f"({', '.join([*numbered, *['%s'] * (len(fields) - len(same))])})", iter(ready)
            several, size = f"INSERT INTO {table} ({listed}) VALUES {{}}".format, max(1, _VALUES // len(fields))
            rows = list(islice(waiting, size))
            if len(rows) == size:
                cursor.executemany(several(", ".join([marks] * size)), _joined(rows, waiting, size, same))
            if rows:  # too few for a statement of that text
                cursor.execute(several(", ".join([marks] * len(rows))), [*same, *chain.from_iterable(rows)])


def _joined(
    rows: list[Sequence[Any]], waiting: Iterator[Sequence[Any]], size: int, same: Sequence[Any]
) -> Iterator[list[Any]]:
    """Yield the values of `size` rows at a time, once what they share; what is left over at the end is left in
    `rows`."""
    while len(rows) == size:
        yield list(chain(same, chain.from_iterable(rows)))
        rows[:] = islice(waiting, size)


def insert_missing(
    model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]], *, unique: str
) -> None:
    """Insert rows as `insert_rows` does, but for those whose `unique` field a row of the table has already."""
    columns = [model._meta.get_field(name) for name in fields]
    quote = connection.ops.quote_name
    listed, marks = ", ".join(quote(field.column) for field in columns), ", ".join(["%s"] * len(columns))
    ready = list(_adapted(rows, _adapters(model, fields)))
    if not ready:
        return
    with connection.cursor() as cursor:
        cursor.executemany(
            (
                f"INSERT INTO {quote(model._meta.db_table)} ({listed}) VALUES ({marks}) ON CONFLICT "
                f"({quote(unique)}) DO NOTHING"
            ),
            ready,
        )


def write_few(
    model: type[models.Model],
    fields: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    unique: Sequence[str] = (),
    update: Sequence[str] = (),
    follows: str = "",
) -> int:
    """Inserts a handful of rows in one statement; where one with the same `unique` fields is there, sets its `update`
    fields.

    With `follows`, the name of a counting field, only where the new row's count is one more than that of the row that
    is there. Returns how many rows were written. As `insert_rows` otherwise. Half the time of `bulk_create`, which
    counts where every click goes through.
    """
    if not rows:
        return 0
    signature = tuple(fields), tuple(unique), tuple(update), follows
    statement, write = _few(model, *signature)  # type: ignore[arg-type]  # a class is hashable
    values, parameters = write(rows)
    with same_text_cursor() as cursor:
        cursor.execute(statement.format(values=values), parameters)
        written: int = cursor.rowcount
        return written


@lru_cache
def _few(model: type[models.Model], fields: Names, unique: Names, update: Names, follows: str) -> tuple[str, Written]:
    quote = connection.ops.quote_name
    model_fields = [model._meta.get_field(name) for name in fields]
    columns = {field.attname: quote(field.column) for field in model_fields}
    statement = f"INSERT INTO {quote(model._meta.db_table)} ({', '.join(columns.values())}) {{values}}"
    if unique:
        keys = ", ".join(columns[name] for name in unique)
        new = ", ".join(f"{columns[name]} = EXCLUDED.{columns[name]}" for name in update)
        statement += f" ON CONFLICT ({keys}) DO UPDATE SET {new}"
    if follows:
        held_count = f"{quote(model._meta.db_table)}.{columns[follows]}"
        statement += f" WHERE EXCLUDED.{columns[follows]} = {held_count} + 1"
    if connection.vendor == "postgresql":
        return statement, _as_one_text(model_fields)
    return statement, _as_values(_adapters(model, fields), len(fields))


def _as_values(adapters: dict[int, Adapter], width: int) -> Written:
    marks = f"({', '.join(['%s'] * width)})"

    def written(rows: Sequence[Sequence[Any]]) -> tuple[str, list[Any]]:
        values = [value for row in _adapted(rows, adapters) for value in row]
        return f"VALUES {', '.join([marks] * len(rows))}", values

    return written


def _as_one_text(fields: Sequence[models.Field]) -> Written:
    """Values one by one would be parsed anew for each number of rows: by the driver, which takes longer than all else,
    and by the server."""
    quote = connection.ops.quote_name
    names = [field.column for field in fields]
    types = ", ".join(f"{quote(field.column)} {field.db_type(connection)}" for field in fields)
    values = f"SELECT {', '.join(map(quote, names))} FROM json_to_recordset(%s::json) AS given({types})"
    encode = json.JSONEncoder(ensure_ascii=False, default=str).encode  # moments and decimals are texts in JSON

    def written(rows: Sequence[Sequence[Any]]) -> tuple[str, list[Any]]:
        return values, [encode([dict(zip(names, row, strict=True)) for row in rows])]

    return written


def update_rows(
    model: type[models.Model],
    fields: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    only: tuple[str, Collection[Any]] | None = None,
) -> None:
    """Set `fields` of many rows, each to its own values; the last value of a row is its primary key.

    With `only`, a field and the values it may have: a row that has another value by now stays as it is.
    """
    ready = list(_adapted(rows, _adapters(model, fields)))
    if not ready:
        return
    name, allowed = only or ("", ())
    if allowed:
        ready = [(*row, *allowed) for row in ready]
    statement = _update(model, tuple(fields), name, len(allowed))  # type: ignore[arg-type]  # a class is hashable
    with connection.cursor() as cursor:
        cursor.executemany(statement, ready)


@lru_cache
def _update(model: type[models.Model], fields: Names, only: str, allowed: int) -> str:
    quote = connection.ops.quote_name
    sets = ", ".join(f"{quote(model._meta.get_field(name).column)} = %s" for name in fields)
    statement = f"UPDATE {quote(model._meta.db_table)} SET {sets} WHERE {quote(model._meta.pk.column)} = %s"
    if only:
        statement += f" AND {quote(model._meta.get_field(only).column)} IN ({', '.join(['%s'] * allowed)})"
    return statement


def _adapters(model: type[models.Model], fields: Sequence[str]) -> dict[int, Adapter]:
    return _adapters_of(model, tuple(fields))  # type: ignore[arg-type]  # a class is hashable


@lru_cache
def _adapters_of(model: type[models.Model], fields: Names) -> dict[int, Adapter]:
    columns = (model._meta.get_field(name) for name in fields)
    return {at: adapt for at, field in enumerate(columns) if (adapt := _adapter(field))}


def _adapter(field: models.Field) -> Adapter | None:
    if isinstance(field, models.JSONField):
        return lambda value: None if value is None else to_json(stored(value)).decode()
    if isinstance(field, models.DateTimeField) and connection.vendor != "postgresql":
        return _moment_as_text
    if isinstance(field, models.DecimalField):
        return lru_cache(4096)(lambda value: field.get_db_prep_save(value, connection))
    return None


@lru_cache(4096)
def _moment_as_text(moment: datetime | None) -> str | None:
    """One memory for all tables: many rows have one moment, and a row of one table often that of another."""
    text: str | None = connection.ops.adapt_datetimefield_value(moment)
    return text


def _adapted_columns(rows: list[Sequence[Any]], adapters: dict[int, Adapter]) -> list[Sequence[Any]]:
    """Return what `_adapted` yields, column by column: half the time where there are thousands of rows."""
    if not rows or not adapters:
        return rows
    columns: list[Iterable[Any]] = list(zip(*rows, strict=True))
    for at, adapt in adapters.items():
        columns[at] = map(adapt, columns[at])
    return list(zip(*columns, strict=True))


def _adapted(rows: Iterable[Sequence[Any]], adapters: dict[int, Adapter]) -> Iterator[Sequence[Any]]:
    for row in rows:
        if adapters:
            row = list(row)
            for at, adapt in adapters.items():
                row[at] = adapt(row[at])
        yield row
