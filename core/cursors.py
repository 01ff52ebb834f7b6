"""Cursors for statements whose text is the same each time."""

from __future__ import annotations

from typing import Any

from django.db import connection


def same_text_cursor() -> Any:
    """Return a cursor whose statements PostgreSQL parses and plans once a connection, and not each time, as it does for
    the ORM, which writes values into the text. Elsewhere it is any cursor."""
    if connection.vendor != "postgresql":
        return connection.cursor()
    from django.db.backends.postgresql.base import ServerBindingCursor

    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        return connection._prepare_cursor(ServerBindingCursor(connection.connection))
