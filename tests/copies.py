"""What is dear to make, such as a finished run, made once and copied into each test that needs it; and a database
emptied of it."""

import fcntl
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from django.apps import apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.color import no_style
from django.db import connection, connections, transaction
from django.test import TransactionTestCase

Made = TypeVar("Made")
KEPT_BY_MIGRATIONS = {ContentType._meta.db_table, Permission._meta.db_table}
SMALL = 1024 * 1024
"""Bytes of a table on PostgreSQL up to which its rows are deleted, not truncated."""


RAISED = """
SELECT setval(sequence, GREATEST(nextval(sequence), (SELECT max(id) FROM {table})))
FROM (SELECT pg_get_serial_sequence('{table}', 'id') AS sequence) AS named
"""
"""A sequence is never lowered: rows that this process made, and may copy again, have higher ids."""


@dataclass(frozen=True)
class _Rows:
    """Of one table; on PostgreSQL as `COPY` tells them and takes them again."""

    columns: list[str]
    held: list[tuple] | bytes


@dataclass(frozen=True)
class _Copy:
    made: bytes  # pickled, so that no test changes another's
    rows: dict[str, _Rows]


_copies: dict[str, _Copy] = {}
_folders: list[Path] = []


def share_copies_in(folder: Path) -> None:
    """Have all test processes of a run make everything once: what one of them has made lies for the others in
    `folder`."""
    _folders[:] = [folder]


def copied(name: str, make: Callable[[], Made]) -> Made:
    """Return what `make` makes: by making it the first time, afterwards by writing the rows that it left in the
    database again.

    `make` must leave its whole result in its return value, which can be pickled, and the database, and start from an
    empty one: where a test has put rows there before, it is made anew.
    """
    if _filled():
        return make()
    if of_another := name not in _copies:
        with _by_one_process(name) as file:
            if not (file and file.exists()):
                return _keep(name, make(), file)
            _copies[name] = pickle.loads(file.read_bytes())
    _write(_copies[name].rows)
    if of_another:
        _raise_sequences(_copies[name].rows)
    return pickle.loads(_copies[name].made)


@contextmanager
def _by_one_process(name: str) -> Iterator[Path | None]:
    """Yield the file of what another process has made or shall find; None where processes share nothing."""
    if not _folders:
        yield None
        return
    file = _folders[0] / sha256(name.encode()).hexdigest()
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield file


def _keep(name: str, made: Made, file: Path | None) -> Made:
    _copies[name] = _Copy(pickle.dumps(made), _rows())
    if file:
        whole = file.with_suffix(".part")
        whole.write_bytes(pickle.dumps(_copies[name]))
        whole.rename(file)
    return made


def empty_what_is_filled(test: TransactionTestCase) -> None:
    """Delete all rows but those of content types and permissions, which migrations make: what Django's `flush` comes
    to.

    `flush` goes through every table, and makes content types and permissions anew for every app.
    """
    assert [*connections] == [connection.alias] and test.available_apps is None
    if connection.vendor == "postgresql":
        _empty_postgresql()
        return
    emptied = connection.ops.sql_flush(no_style(), _filled_of(_tables()))
    connection.ops.execute_sql_flush(emptied)


def _empty_postgresql() -> None:
    """To truncate a table makes its files anew, and those of every table that refers to it: for a few rows it takes
    thirty times as long as to delete them."""
    sizes = _sizes()
    with transaction.atomic(), connection.cursor() as cursor:
        if large := [_quoted(table) for table in sizes if sizes[table] > SMALL]:
            cursor.execute(f"TRUNCATE {', '.join(large)} CASCADE")
        if small := [f"DELETE FROM {_quoted(table)}" for table in sizes if sizes[table] <= SMALL]:
            # Without foreign keys and triggers: nothing stays that they could mind.
            cursor.execute("; ".join(["SET LOCAL session_replication_role = replica", *small]))


def _sizes() -> dict[str, int]:
    """Return the size in bytes of the tables that may have rows: where the last were deleted it is not 0 yet."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relname = ANY(%s) AND relkind = 'r'"
            " AND pg_relation_size(oid) > 0",
            [_tables()],
        )
        return dict(cursor.fetchall())


def _filled_of(tables: Sequence[str]) -> list[str]:
    if not tables:
        return []
    asked = [f"SELECT {at} WHERE EXISTS (SELECT 1 FROM {_quoted(name)})" for at, name in enumerate(tables)]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(asked))
        return [tables[at] for (at,) in cursor.fetchall()]


@cache
def _tables() -> list[str]:
    found = {model._meta.db_table for model in apps.get_models(include_auto_created=True) if model._meta.managed}
    return sorted(found - KEPT_BY_MIGRATIONS)


def _filled() -> bool:
    return bool(_filled_of(_with_files()))


def _with_files() -> list[str]:
    """Return the tables that may have rows: to plan a look at each takes PostgreSQL longer than most tests."""
    return _tables() if connection.vendor == "sqlite" else [*_sizes()]


def _rows() -> dict[str, _Rows]:
    read = _copied_out if connection.vendor == "postgresql" else _selected
    with connection.cursor() as cursor:
        return {table: read(cursor, table) for table in _filled_of(_with_files())}


def _selected(cursor: Any, table: str) -> _Rows:
    cursor.execute(f"SELECT * FROM {_quoted(table)}")
    return _Rows([column[0] for column in cursor.description], [tuple(map(_as_sent, row)) for row in cursor.fetchall()])


def _as_sent(value: Any) -> Any:
    """To SQLite a moment is sent as a text: made of it once, not for each copy."""
    return value.isoformat(" ") if isinstance(value, datetime) else value


def _copied_out(cursor: Any, table: str) -> _Rows:
    cursor.execute(f"SELECT * FROM {_quoted(table)} LIMIT 0")
    columns = [column[0] for column in cursor.description]
    ordered = f"SELECT {_listed(columns)} FROM {_quoted(table)} ORDER BY 1"  # else as they came to lie
    with cursor.copy(f"COPY ({ordered}) TO STDOUT (FORMAT BINARY)") as copy:
        return _Rows(columns, b"".join(copy))


def _write(rows: dict[str, _Rows]) -> None:
    """Foreign keys are checked at the commit, so the order of tables does not matter, but for the marks of what is
    written."""
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            _copy_in(cursor, rows)
            return
        for table in sorted(rows):
            _insert(cursor, table, rows[table])


def _copy_in(cursor: Any, rows: dict[str, _Rows]) -> None:
    """Without foreign keys and triggers: all is there that they ask for and would write."""
    cursor.execute("SET LOCAL session_replication_role = replica")
    for table, kept in rows.items():
        with cursor.copy(f"COPY {_quoted(table)} ({_listed(kept.columns)}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(kept.held)
    cursor.execute("SET LOCAL session_replication_role = origin")  # the transaction may be the test's


def _insert(cursor: Any, table: str, kept: _Rows) -> None:
    places = ", ".join(["%s"] * len(kept.columns))
    cursor.executemany(f"INSERT INTO {_quoted(table)} ({_listed(kept.columns)}) VALUES ({places})", kept.held)


def _raise_sequences(rows: dict[str, _Rows]) -> None:
    """PostgreSQL's do not notice the ids of rows that are copied; SQLite's do."""
    if connection.vendor == "sqlite":
        return
    with connection.cursor() as cursor:
        for table in rows:
            if "id" in rows[table].columns:
                cursor.execute(RAISED.format(table=_quoted(table)))


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(_quoted, columns))


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
