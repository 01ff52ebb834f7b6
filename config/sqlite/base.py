"""SQLite for many writers: whoever waits for the write lock asks for it every few milliseconds.

SQLite's own waiting asks ever more seldom, in the end ten times a second, so that who has waited longest hardly ever
finds the lock free. Eight annotators beside an import that holds it for 80 ms and leaves it for 30 waited 0.9 s at most
that way, and 0.1 s this way.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError
from django.db.backends.sqlite3 import base

PAUSE_SECONDS = 0.002, 0.008
"""Between two tries, drawn anew each time, so that those who wait do not all come at once."""
_PRIMARY = 0xFF  # of an extended error code


class DatabaseWrapper(base.DatabaseWrapper):
    def _start_transaction_under_autocommit(self) -> None:
        give_up = time.monotonic() + self._patience
        while True:
            try:
                with self._asking_once():
                    return super()._start_transaction_under_autocommit()
            except OperationalError as error:
                if not _is_busy(error) or time.monotonic() >= give_up:
                    raise
            time.sleep(random.uniform(*PAUSE_SECONDS))

    @property
    def _patience(self) -> float:
        """Seconds; Python's default where none is set."""
        return self.settings_dict["OPTIONS"].get("timeout", 5)

    @contextmanager
    def _asking_once(self) -> Iterator[None]:
        """Statements outside of transactions go on waiting as SQLite does."""
        self.connection.execute("PRAGMA busy_timeout = 0").close()
        try:
            yield
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {int(self._patience * 1000)}").close()


def _is_busy(error: OperationalError) -> bool:
    return (getattr(error.__cause__, "sqlite_errorcode", 0) & _PRIMARY) == sqlite3.SQLITE_BUSY
