"""Connections to the database that are kept from one test to the next: to open one takes SQLite, which reads the whole
schema then, and PostgreSQL, which begins a process, longer than most of what a test sends."""

from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase

PRAGMAS = (
    "busy_timeout", "cache_size", "defer_foreign_keys", "foreign_keys", "ignore_check_constraints", "max_page_count",
    "mmap_size", "query_only", "synchronous", "temp_store", "wal_autocheckpoint",
)  # fmt: skip
"""What a test may set for its connection to SQLite alone."""
_as_opened: dict[str, list[tuple]] = {}


def should_reload_connections(test: TransactionTestCase) -> bool:
    """Return whether Django has to close the connections after the test: one is not as it was when it was opened."""
    return not all(_is_as_new(one) for one in connections.all(initialized_only=True))


def note_opened(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Note how a connection to SQLite is set at first, by itself."""
    if connection.vendor == "sqlite" and connection.alias not in _as_opened:
        _as_opened[connection.alias] = _settings(connection)


def _is_as_new(connection: BaseDatabaseWrapper) -> bool:
    if connection.connection is None:
        return True
    if connection.in_atomic_block or connection.run_on_commit or not connection.get_autocommit():
        return False
    if connection.vendor == "sqlite":
        return not connection.connection.in_transaction and _settings(connection) == _as_opened.get(connection.alias)
    return _is_made_new(connection)


def _is_made_new(connection: BaseDatabaseWrapper) -> bool:
    """As pools do it on PostgreSQL before they lend a connection to the next."""
    import psycopg

    if connection.connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        return False
    # Only where it prepares what it sends does psycopg forget what it prepared before, and what it counted.
    psycopg.Cursor(connection.connection).execute("DISCARD ALL", prepare=True)
    connection.init_connection_state()
    return True


def _settings(connection: BaseDatabaseWrapper) -> list[tuple]:
    return [connection.connection.execute(f"PRAGMA {name}").fetchone() for name in PRAGMAS]
