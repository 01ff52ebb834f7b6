"""Checkpoints of SQLite's write-ahead log by who writes much: what others commit meanwhile stays quick."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db import connection

ROWS, MOST_ROWS = 5_000, 20_000
"""Rows between two checkpoints, some 4 MB of the log: each waits for the disk, and from there on votes would make them.
And those that are written while one takes long."""
MOST_PAGES = 4_000
"""Pages of the log, 16 MB: SQLite begins it anew only when a checkpoint has reached its end before somebody writes
on."""
_CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"


class Checkpoints:
    """Checkpoints made after transactions, while the lock is free: within a commit they make that commit take longer,
    and left to others votes would do an import's work."""

    def __init__(self) -> None:
        self._beside: threading.Thread | None = None
        self._rows = self._pages = 0

    @contextmanager
    def afterwards(self, rows: int, *, beside: bool) -> Iterator[None]:
        """Have the `rows` that are written within checkpointed after it; `beside`, by a thread of its own while the
        caller goes on, and those of several transactions together. Does nothing on other databases, and within a
        transaction."""
        if connection.vendor != "sqlite" or connection.in_atomic_block:
            yield
            return
        with connection.cursor() as cursor:
            (pages,) = cursor.execute("PRAGMA wal_autocheckpoint").fetchone()
            cursor.execute("PRAGMA wal_autocheckpoint = 0")
            try:
                yield
            finally:
                cursor.execute(f"PRAGMA wal_autocheckpoint = {pages}")
        self._rows += rows
        if not beside or self._pages > MOST_PAGES or self._rows > MOST_ROWS:
            self.finish()
        elif self._rows >= ROWS and not (self._beside and self._beside.is_alive()):
            self._begin()

    def finish(self) -> None:
        """Checkpoint what is left; no thread is at work any more."""
        if self._beside is not None:
            self._beside.join()
        if self._rows:
            self._rows = 0
            with connection.cursor() as cursor:
                (_, self._pages, _) = cursor.execute(_CHECKPOINT).fetchone()

    def _begin(self) -> None:
        self._rows = 0
        database = Path(connection.settings_dict["NAME"]).absolute().as_uri()
        self._beside = threading.Thread(target=self._checkpoint, args=(f"{database}?mode=rw",))
        self._beside.start()

    def _checkpoint(self, database: str) -> None:
        try:
            with closing(sqlite3.connect(database, uri=True)) as own:
                (_, self._pages, _) = own.execute(_CHECKPOINT).fetchone()
        except sqlite3.Error:
            self._pages = MOST_PAGES + 1  # the caller's own connection says what is wrong
