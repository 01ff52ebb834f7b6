"""Forecast of whether somebody will be done by a deadline, going on as they did."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Pace:
    """Cells to label by the end of `due` (UTC), of which `left` are not labelled yet.

    `a_day` is how many cells were labelled a day since the work was given, `needed` how many a day it takes from
    now on, None where the day is over.
    """

    due: date
    cells: int
    left: int
    a_day: float
    needed: float | None
    is_behind: bool

    @property
    def is_over(self) -> bool:
        return self.needed is None


def is_over(due: date, now: datetime) -> bool:
    """Return whether the day `due` has ended: all days end at midnight UTC."""
    return due < now.astimezone(UTC).date()


def pace_of(*, cells: int, done: int, given: datetime, due: date, now: datetime) -> Pace:
    """Return how the work stands. It is behind where cells are left and the deadline is over, or at the pace so far
    would be over first; on the first day nobody is behind, as no pace is known."""
    left = max(0, cells - done)
    end = datetime.combine(due + DAY, time(), UTC)
    days, ahead = (now - given) / DAY, (end - now) / DAY
    a_day = done / max(1.0, days)
    if is_over(due, now):
        return Pace(due, cells, left, a_day, None, left > 0)
    return Pace(due, cells, left, a_day, left / max(1.0, ahead), days >= 1 and a_day * ahead < left)
