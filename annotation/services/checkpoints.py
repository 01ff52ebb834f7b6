"""Checkpoints of SQLite's write-ahead log by who writes much: what others commit meanwhile stays quick."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db import connection

MOST_PAGES = 4_000
"""Of the log, 16 MB: SQLite begins it anew only when a checkpoint has reached its end before somebody writes on."""
_CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"


class Checkpoints:
    """After each transaction, while the lock is free: within a commit they make that commit take longer, and left to
    others votes would do an import's work."""

    def __init__(self) -> None:
        self._beside: threading.Thread | None = None
        self._pages = 0

    @contextmanager
    def afterwards(self, *, beside: bool) -> Iterator[None]:
        """Have what is written within checkpointed after it; `beside`, by a thread of its own while the caller goes on:
        most of the time it waits for the disk. Does nothing on other databases, and within a transaction."""
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
            self.wait()
            if not beside or self._pages > MOST_PAGES:
                (_, self._pages, _) = cursor.execute(_CHECKPOINT).fetchone()
            else:
                database = Path(connection.settings_dict["NAME"]).absolute().as_uri()
                self._beside = threading.Thread(target=self._checkpoint, args=(f"{database}?mode=rw",))
                self._beside.start()

    def wait(self) -> None:
        """Return when no thread is at work any more."""
        if self._beside is not None:
            self._beside.join()

    def _checkpoint(self, database: str) -> None:
        try:
            with closing(sqlite3.connect(database, uri=True)) as own:
                (_, self._pages, _) = own.execute(_CHECKPOINT).fetchone()
        except sqlite3.Error:
            self._pages = MOST_PAGES + 1  # the caller's own connection says what is wrong
