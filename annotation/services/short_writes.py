"""Short transactions for whoever writes much, so that annotators' votes get in between: SQLite has one writer at a
time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Self

from django.db import DatabaseError, connection, models, transaction

from annotation.services.checkpoints import Checkpoints

logger = logging.getLogger(__name__)

MOST_ROWS = 2_000
VERY_MANY = 1_000
"""Rows after which PostgreSQL's planner is told of them."""
_FIRST_ROWS, _LEAST_ROWS = 500, 50
_AIM_SECONDS = 0.08
_GROWTH = 1.5
# Processes take turns at SQLite's lock (config/sqlite), one transaction each: in a pause others get several. Where
# nobody waited for it nobody needs one.
_PAUSE_SECONDS = 0.02


class ShortWrites:
    """Transactions one after the other, none of which a vote waits for long.

    `rows` is how many rows the next transaction may hold: fewer after one that took long, up to MOST_ROWS after quick
    ones. Whatever can be read, parsed or checked beforehand is done outside of them.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.rows = _FIRST_ROWS
        self.written = 0
        self._clock = clock
        self._last: float | None = None
        self._was_waited_for = False
        self._checkpoints, self._beside = Checkpoints(), False

    def __enter__(self) -> Self:
        """Have checkpoints of SQLite made beside all but the first transaction, up to the end of the block."""
        self._beside = True
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(DatabaseError):  # all is written
            self._checkpoints.finish()

    @contextmanager
    def transaction(self, rows: int) -> Iterator[None]:
        """Open a transaction that writes about so many `rows`."""
        self._let_others_in()
        with self._checkpoints.afterwards(rows, beside=self._beside and self._last is not None):
            with transaction.atomic():
                began, worked = self._clock(), time.thread_time()  # the wait for the lock is over
                yield
                self._was_waited_for = connection.vendor == "sqlite" and connection.is_waited_for
            self._last, worked = self._clock(), time.thread_time() - worked
        took = self._last - began
        logger.debug("transaction of %d rows: %.4f s, %.4f s of a processor", rows, took, worked)
        self.written += rows
        fitting = rows * _AIM_SECONDS / took if took > _AIM_SECONDS else self.rows * _GROWTH
        self.rows = int(max(_LEAST_ROWS, min(MOST_ROWS, fitting)))

    def tell_planner(self, *tables: type[models.Model]) -> None:
        """Have PostgreSQL look at `tables` after the last of very many rows. It plans by what it last saw there and
        looks of itself up to a minute later: until then it went through all open cells for each proposition of the
        experts' queue."""
        if connection.vendor == "postgresql" and self.written >= VERY_MANY:
            names = [connection.ops.quote_name(table._meta.db_table) for table in tables]
            with connection.cursor() as cursor:
                cursor.execute(f"ANALYZE {', '.join(names)}")

    def _let_others_in(self) -> None:
        if self._last is None or not self._was_waited_for or connection.in_atomic_block:
            return
        pause = self._last + _PAUSE_SECONDS - self._clock()
        if pause > 0:
            time.sleep(pause)


def with_last(items: Iterable) -> Iterator[tuple]:
    """Yield each item, and whether it is the last."""
    waiting: list = []
    for item in items:
        if waiting:
            yield waiting.pop(), False
        waiting.append(item)
    if waiting:
        yield waiting.pop(), True
