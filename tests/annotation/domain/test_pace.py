from __future__ import annotations

from datetime import UTC, date, datetime

from annotation.domain.pace import pace_of

GIVEN = datetime(2030, 1, 1, tzinfo=UTC)


def test_who_goes_on_as_before_and_is_late_is_behind():
    for done, today, behind, needed in [
        (40, 5, False, 10.0),  # 4 days, 10 a day; 6 days to the end of the 10th at 10 a day are 60
        (39, 5, True, 61 / 6),
        (0, 1, False, 10.0),  # the first day
        (100, 11, False, None),  # over, and done
        (99, 11, True, None),
    ]:
        now = datetime(2030, 1, today, tzinfo=UTC)
        pace = pace_of(cells=100, done=done, given=GIVEN, due=date(2030, 1, 10), now=now)
        assert (pace.is_behind, pace.needed) == (behind, needed)
