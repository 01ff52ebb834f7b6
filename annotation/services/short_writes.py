"""Short transactions with pauses between them, so that votes get in between: SQLite has one writer at a time."""

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, models, transaction

logger = logging.getLogger(__name__)

MOST_ROWS = 2_000
VERY_MANY = 1_000
"""Rows after which PostgreSQL's planner is told of them."""
_FIRST_ROWS, _LEAST_ROWS = 500, 200
_AIM_SECONDS = 0.08
_GROWTH = 1.5
_PAUSE_SECONDS = 0.02


class ShortWrites:
    """Consecutive transactions. `rows` is the size of the next one: smaller after a slow one, larger after a quick
    one."""

    def __init__(self) -> None:
        self.rows = _FIRST_ROWS
        self.written = 0

    @contextmanager
    def transaction(self, rows: int) -> Iterator[None]:
        """Open a transaction that writes about this many rows."""
        if self.written and not connection.in_atomic_block:
            time.sleep(_PAUSE_SECONDS)
        with transaction.atomic():
            began, worked = time.monotonic(), time.thread_time()  # the wait for the lock is over
            yield
        took = time.monotonic() - began
        logger.debug("transaction of %d rows: %.4f s, %.4f s of a processor", rows, took, time.thread_time() - worked)
        self.written += rows
        fitting = rows * _AIM_SECONDS / took if took > _AIM_SECONDS else self.rows * _GROWTH
        self.rows = int(max(_LEAST_ROWS, min(MOST_ROWS, fitting)))

    def tell_planner(self, *tables: type[models.Model]) -> None:
        """Have PostgreSQL analyze tables after many new rows. Its own analysis comes up to a minute later; until then
        it scans all open cells for each proposition of the experts' queue."""
        if connection.vendor == "postgresql" and self.written >= VERY_MANY:
            names = [connection.ops.quote_name(table._meta.db_table) for table in tables]
            with connection.cursor() as cursor:
                cursor.execute(f"ANALYZE {', '.join(names)}")


def with_last(items: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield each item, and whether it is the last."""
    waiting: list[Any] = []
    for item in items:
        if waiting:
            yield waiting.pop(), False
        waiting.append(item)
    if waiting:
        yield waiting.pop(), True
