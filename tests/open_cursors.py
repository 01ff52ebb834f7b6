"""Cursors of PostgreSQL that a test left open, as a page whose rows nobody read to their end leaves one.

Their generator is thrown away at some later moment and closes its cursor then. Where that is within the transaction of
another test, whose connection it is too by then, the server knows no such cursor and aborts the transaction.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import Any

from django.db import DatabaseError
from django.db.backends.postgresql.base import DatabaseWrapper

_open: list[weakref.ref] = []
_chunked_cursor = DatabaseWrapper.chunked_cursor


def note_opened() -> None:
    """Have every cursor of the server noted that is opened from now on."""

    def chunked_cursor(wrapper: DatabaseWrapper) -> Any:
        cursor = _chunked_cursor(wrapper)
        _open.append(weakref.ref(cursor))
        return cursor

    DatabaseWrapper.chunked_cursor = chunked_cursor


def close_left() -> None:
    """Close the cursors that are still open, before the transaction that they were opened in ends."""
    for reference in _open:
        if (cursor := reference()) is not None and not cursor.cursor.closed:
            with contextlib.suppress(DatabaseError):
                cursor.close()
    _open.clear()
