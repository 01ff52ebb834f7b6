"""PostgreSQL cursors that a test left open, for example by requesting a page without reading all its rows.

Python closes such a cursor at some later moment. If that is within the transaction of another test on the same
connection, the server does not have the cursor any more and aborts the transaction.
"""

import contextlib
import weakref
from typing import Any

from django.db import DatabaseError
from django.db.backends.postgresql.base import DatabaseWrapper

_open: list[weakref.ref] = []
_chunked_cursor = DatabaseWrapper.chunked_cursor


def note_opened() -> None:
    """Note every server-side cursor that is opened from now on."""

    def chunked_cursor(wrapper: DatabaseWrapper) -> Any:
        cursor = _chunked_cursor(wrapper)
        _open.append(weakref.ref(cursor))
        return cursor

    DatabaseWrapper.chunked_cursor = chunked_cursor


def close_left() -> None:
    """Close the cursors that are still open. Call it before the transaction of the test ends."""
    for reference in _open:
        if (cursor := reference()) is not None and not cursor.cursor.closed:
            with contextlib.suppress(DatabaseError):
                cursor.close()
    _open.clear()
