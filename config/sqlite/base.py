"""SQLite for many writers: they queue for the write lock, in the order in which they came (`queue.py`).

SQLite's own waiting asks ever more seldom, in the end ten times a second, so that who has waited longest hardly ever
finds the lock free, and nobody has it while all wait. Who does not queue (a single statement, another program) can
still be in the way of the first in the queue, which then asks every few milliseconds.
"""

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import OperationalError
from django.db.backends.sqlite3 import base

from config.sqlite.queue import StillWaiting, WriterQueue, queue_of

PAUSE_SECONDS = 0.002, 0.008
"""Between two tries, drawn anew each time, so that those who wait do not all come at once."""
_PRIMARY = 0xFF  # of an extended error code


class DatabaseWrapper(base.DatabaseWrapper):
    _queue: WriterQueue | None = None
    """Queue in which this connection has its turn to write."""

    def _start_transaction_under_autocommit(self) -> None:
        give_up = time.monotonic() + self._patience
        if not self.is_in_memory_db():
            queue = queue_of(str(self.settings_dict["NAME"]))
            try:
                queue.enter(self._patience)
            except StillWaiting as error:
                raise OperationalError("database is locked") from error
            self._queue = queue
        try:
            while True:
                try:
                    with self._asking_once():
                        super()._start_transaction_under_autocommit()  # type: ignore[misc]
                        return
                except OperationalError as error:
                    code = getattr(error.__cause__, "sqlite_errorcode", 0) & _PRIMARY
                    if code != sqlite3.SQLITE_BUSY or time.monotonic() >= give_up:
                        raise
                time.sleep(random.uniform(*PAUSE_SECONDS))
        except BaseException:
            self._leave_queue()
            raise

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        self._leave_queue()  # after an error it is rolled back

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._leave_queue()

    def _close(self) -> None:
        try:
            with suppress(sqlite3.Error):  # SQLite keeps its lock as long as any cursor of it lives
                self.connection.rollback()
            super()._close()  # type: ignore[misc]
        finally:
            self._leave_queue()

    def _leave_queue(self) -> None:
        queue, self._queue = self._queue, None
        if queue is not None:
            queue.leave()

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
