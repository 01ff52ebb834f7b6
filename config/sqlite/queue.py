"""The queue of those who want to write to a SQLite database, in this process and in all others of this machine.

In a process they go in the order in which they came, by one lock. Between processes two locked bytes of a file beside
the database let them take turns: whoever is next holds `_NEXT` and waits for `_TURN`, so that a process which has just
written finds `_NEXT` taken and comes after those who waited meanwhile. The kernel wakes them at once, and gives up what
a killed process held.
"""

import fcntl
import os
import threading
from collections import deque
from functools import cache
from pathlib import Path

_TURN, _NEXT = 0, 1  # bytes of the file


class StillWaiting(Exception):
    """The turn did not come in time."""


class WriterQueue:
    """`enter` before a transaction that writes, `leave` after it; both by the same process. Threads share a queue."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        """A child holds none of its parent's locks, and opens the file for itself."""
        self._file: int | None = None
        self._guard = threading.Lock()
        self._busy = False
        self._waiting: deque[threading.Lock] = deque()

    def enter(self, patience: float) -> None:
        """Return when it is this thread's turn. Raises StillWaiting where threads before it take longer than `patience`
        seconds; the first of a process waits for other processes as long as they live."""
        self._be_first(patience)
        try:
            self._lock_between_processes()
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Let the next one have its turn."""
        if self._file is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _TURN)
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._busy = False

    @property
    def taken(self) -> bool:
        """True while a thread of this process has its turn, or is first to have it."""
        return self._busy

    @property
    def waiting(self) -> int:
        """Number of threads of this process that come after it."""
        return len(self._waiting)

    def _be_first(self, patience: float) -> None:
        with self._guard:
            if not self._busy:
                self._busy = True
                return
            called = threading.Lock()
            called.acquire()
            self._waiting.append(called)
        if called.acquire(timeout=patience):
            return
        with self._guard:
            if called in self._waiting:
                self._waiting.remove(called)
                raise StillWaiting  # otherwise it was called at the last moment

    def _lock_between_processes(self) -> None:
        try:
            self._file = self._file or os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return  # where nothing can be written, SQLite says so better
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, _NEXT)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX, 1, _TURN)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _NEXT)


@cache
def queue_of(database: str) -> WriterQueue:
    """Return this process's queue for the database in a file."""
    return WriterQueue(Path(f"{database}-writers"))
