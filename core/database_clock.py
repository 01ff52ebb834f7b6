"""The database's clock: one time for all processes, whatever the clocks of their machines say.

Leases are compared inside the database (`Now()`). Everything else that one process writes and another compares, such as
when an item may be claimed and when calls start, is told by `database_time`.
"""

import time
from datetime import UTC, datetime, timedelta

from django.db import connection

AGAIN = 2.0
"""Seconds after which the database is asked anew; in between the time goes on by this process's monotonic clock."""

_read: tuple[datetime, float] | None = None


def database_time() -> datetime:
    global _read
    if _read is None or time.monotonic() - _read[1] >= AGAIN:
        _read = (_ask(), time.monotonic())
    return last_database_time()


def last_database_time() -> datetime:
    """`database_time` for an event loop, which must not ask: as the turns beside it read the clock last."""
    return database_time() if _read is None else _read[0] + timedelta(seconds=time.monotonic() - _read[1])


def _ask() -> datetime:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT clock_timestamp()")
            moment: datetime = cursor.fetchone()[0]
            return moment
        cursor.execute("SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')")
        return datetime.fromisoformat(cursor.fetchone()[0]).replace(tzinfo=UTC)


def at_once(now: datetime) -> datetime:
    """Return when something that was added at `now` may begin: no later than now by the database's clock, since the
    caller's may be fast."""
    return min(now, database_time())
