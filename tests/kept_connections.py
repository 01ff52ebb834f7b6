"""Connections to PostgreSQL that are kept from one test to the next: to open one, for which it begins a process, takes
longer than most of what a test sends.

SQLite's are not kept. Python lets one go on as long as any cursor of it is unfinished: closed in a transaction, after
many tests, it could hold the lock for those that follow.
"""

from __future__ import annotations

import psycopg
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase


def should_reload_connections(test: TransactionTestCase) -> bool:
    """Return whether Django has to close the connections after the test: one cannot be made new."""
    return not all(_is_made_new(one) for one in connections.all(initialized_only=True))


def _is_made_new(connection: BaseDatabaseWrapper) -> bool:
    """As pools do it before they lend a connection to the next."""
    if connection.connection is None:
        return True
    if connection.in_atomic_block or connection.run_on_commit or not connection.get_autocommit():
        return False
    if connection.connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        return False
    # Only where it prepares what it sends does psycopg forget what it prepared before, and what it counted.
    psycopg.Cursor(connection.connection).execute("DISCARD ALL", prepare=True)
    connection.init_connection_state()
    return True
