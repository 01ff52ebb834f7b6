"""Queries that the ORM writes once and that are then only filled in: writing one anew takes ten times as long as
answering it, which counts where every click goes through."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from types import SimpleNamespace
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connection, models
from django.db.models.query import get_related_populators
from django.db.transaction import TransactionManagementError


def same_text_cursor() -> Any:
    """Return a cursor whose statements PostgreSQL parses and plans once a connection, and not each time, as it does for
    the ORM, which writes values into the text. Elsewhere it is any cursor."""
    if connection.vendor != "postgresql":
        return connection.cursor()
    from django.db.backends.postgresql.base import ServerBindingCursor

    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        return connection._prepare_cursor(ServerBindingCursor(connection.connection))  # type: ignore[attr-defined, call-arg]


Place = tuple[str, int | None]
"""The name of a value, and which item of it where it is a list."""
Converters = dict[int, tuple[list[Callable[..., Any]], Any]]
Row = TypeVar("Row")
Make = Callable[[Sequence[Any]], Any]


class Read(Generic[Row]):
    """A query to be asked over and over, with other values each time: ids, texts, moments, and lists of such.

    `write` makes its queryset of stand-ins for the values, which may stand wherever these may stand in a filter:
    `lambda given: Model.objects.filter(uid__in=given.uids)`. It is called once for each length of the lists among the
    values. A call returns the rows as the queryset would: instances, or tuples of `values_list`.

    PostgreSQL plans it once a connection, or each time where it is not `planned_once`: for tables that grow from
    nothing to very many rows meanwhile, and for indexes of rows in one state.
    """

    def __init__(self, write: Callable[[Any], models.QuerySet[Any]], *, planned_once: bool = True) -> None:
        self._write = write
        self._planned_once = planned_once
        self._written: dict[tuple[tuple[str, int], ...], _Written] = {}

    def __call__(self, **values: Any) -> list[Row]:
        for name, value in values.items():
            if isinstance(value, list):  # and so many times the last item that their number is a power of two
                values[name] = value + value[-1:] * ((1 << (len(value) - 1).bit_length()) - len(value))
        shape = tuple((name, len(value)) for name, value in values.items() if isinstance(value, list))
        written = self._written.get(shape)
        if written is None:
            written = self._written[shape] = _written(self._write, values)
        if written.locks and connection.get_autocommit():
            raise TransactionManagementError("Rows are locked until a transaction ends, and there is none.")
        with same_text_cursor() if self._planned_once else connection.cursor() as cursor:
            cursor.execute(written.sql, list(_filled(written.parameters, values)))
            rows = cursor.fetchall()
        return [written.make(_converted(row, written.converters)) for row in rows]


class _Written(NamedTuple):
    sql: str
    parameters: list[tuple[Place | None, Any]]
    """Where the value of each parameter comes from; None and the value where it is always the same."""
    converters: Converters
    make: Make
    locks: bool


def _written(write: Callable[[Any], models.QuerySet[Any]], values: dict[str, Any]) -> _Written:
    given, places = _stand_ins(values)
    queryset = write(given)
    compiler = queryset.query.get_compiler(connection=connection)
    sql, parameters = compiler.as_sql()
    converters = compiler.get_converters([selected[0] for selected in compiler.select[: compiler.col_count]])
    make = tuple if queryset._fields is not None else _maker(compiler, queryset.db)  # type: ignore[attr-defined]
    located = [(places.get(parameter), parameter) for parameter in parameters]
    return _Written(sql, located, converters, make, queryset.query.select_for_update)


def _stand_ins(values: dict[str, Any]) -> tuple[SimpleNamespace, dict[Any, Place]]:
    """Return values of the same types that no real one has, and what each of them stands for as a parameter."""
    places: dict[Any, Place] = {}
    numbers = count(1)

    def stand_in(value: Any, place: Place) -> Any:
        number = next(numbers)
        if isinstance(value, datetime):
            moment = datetime.max.replace(tzinfo=UTC) - timedelta(days=number)
            places[connection.ops.adapt_datetimefield_value(moment)] = place
            return moment
        stand_in = -(2**62) - number if isinstance(value, int) else f"\0{number}"
        places[stand_in] = place
        return stand_in

    given = {
        name: [stand_in(item, (name, at)) for at, item in enumerate(value)]
        if isinstance(value, list)
        else stand_in(value, (name, None))
        for name, value in values.items()
    }
    return SimpleNamespace(**given), places


def _filled(parameters: Sequence[tuple[Place | None, Any]], values: dict[str, Any]) -> Iterator[Any]:
    for place, same in parameters:
        if place is None:
            yield same
            continue
        name, at = place
        value = values[name] if at is None else values[name][at]
        yield connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


def _converted(row: Sequence[Any], converters: Converters) -> Sequence[Any]:
    if not converters:
        return row
    converted = list(row)
    for at, (convert, expression) in converters.items():
        for converter in convert:
            converted[at] = converter(converted[at], expression, connection)
    return converted


def _maker(compiler: Any, alias: str) -> Make:
    """Return what makes an instance of a row, with what `select_related` brought along."""
    about, select = compiler.klass_info, compiler.select
    first, last = about["select_fields"][0], about["select_fields"][-1] + 1
    names = [selected[0].target.attname for selected in select[first:last]]
    others = get_related_populators(about, select, alias)  # type: ignore[call-arg]

    def make(row: Sequence[Any]) -> models.Model:
        instance: models.Model = about["model"].from_db(alias, names, row[first:last])
        for other in others:
            other.populate(row, instance)
        return instance

    return make
