"""Short transactions for whoever writes much, so that annotators' votes get in between: SQLite has one writer at a time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from django.db import connection, transaction

logger = logging.getLogger(__name__)

MOST_ROWS = 2_000
_FIRST_ROWS, _LEAST_ROWS = 500, 50
_AIM_SECONDS = 0.08
_GROWTH = 1.5
# SQLite's waiting writers look again after 1 to 25 ms for the first eighth of a second, then after 50 and 100 ms. A short pause lets
# those in that wait since the last transaction; the long one, after a slow transaction and every few quick ones, all others.
_PAUSE_SECONDS, _LONG_PAUSE_SECONDS = 0.03, 0.12
_LONG_EVERY = 5


class ShortWrites:
    """Transactions one after the other, none of which a vote waits for long.

    `rows` is how many rows the next transaction may hold: fewer after one that took long, up to MOST_ROWS after quick ones.
    Whatever can be read, parsed or checked beforehand is done outside of them.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.rows = _FIRST_ROWS
        self._clock = clock
        self._last: float | None = None
        self._pause = 0.0
        self._count = 0

    @contextmanager
    def transaction(self, rows: int) -> Iterator[None]:
        """A transaction that writes about so many `rows`."""
        self._let_others_in()
        with transaction.atomic():
            began, worked = self._clock(), time.thread_time()  # the wait for the lock is over
            yield
        self._last = self._clock()
        took = self._last - began
        logger.debug("transaction of %d rows: %.4f s, %.4f s of a processor", rows, took, time.thread_time() - worked)
        self._count += 1
        is_long = took > 2 * _AIM_SECONDS or self._count % _LONG_EVERY == 0
        self._pause = _LONG_PAUSE_SECONDS if is_long else _PAUSE_SECONDS
        fitting = rows * _AIM_SECONDS / took if took > _AIM_SECONDS else self.rows * _GROWTH
        self.rows = int(max(_LEAST_ROWS, min(MOST_ROWS, fitting)))

    def _let_others_in(self) -> None:
        if self._last is None or connection.vendor != "sqlite" or connection.in_atomic_block:
            return
        pause = self._last + self._pause - self._clock()
        if pause > 0:
            time.sleep(pause)


def with_last(items: Iterable) -> Iterator[tuple]:
    """Each item, and whether it is the last."""
    waiting: list = []
    for item in items:
        if waiting:
            yield waiting.pop(), False
        waiting.append(item)
    if waiting:
        yield waiting.pop(), True
