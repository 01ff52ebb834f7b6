"""Time on task, from the times at which people did something.

The rule: the time between two acts of one person counts for the later act where it is at most an idle limit. After a
longer pause, and for an act that arrives after a later one, only the time counts that the page itself measured for the
act, at most the limit. Nobody sees what somebody does before the first act of a sitting, so hours are rather too few
than too many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

import numpy as np

from core.messages import gettext_noop
from core.statistics import POSITIVE, Estimate, Floats, estimate_of, first_by_second, linear_interval

IDLE_LIMITS = (120.0, 300.0, 600.0)
"""Seconds; hours are told for each, since they depend on it."""
LIMIT = 300.0


class Activity(StrEnum):
    """Activities of people, in the order of the work."""

    TABLES = "tables"
    RECONCILIATION = "reconciliation"
    LABELLING = "labelling"
    ADJUDICATION = "adjudication"
    ALIGNMENT = "alignment"


@dataclass(slots=True)
class Spent:
    """Count of acts, and the seconds they took by each of `IDLE_LIMITS`."""

    acts: int = 0
    seconds: list[float] = field(default_factory=lambda: [0.0] * len(IDLE_LIMITS))

    def hours(self, limit: float = LIMIT) -> float:
        return self.seconds[IDLE_LIMITS.index(limit)] / 3600

    def add(self, other: Spent) -> None:
        self.acts += other.acts
        self.seconds = [total + more for total, more in zip(self.seconds, other.seconds, strict=True)]


Key = TypeVar("Key")
Place = tuple[int, str, int]
"""(person, activity, story)."""
Story = tuple[int, float]
"""(units done, hours) of one story."""
NO_TIME = gettext_noop("no time was measured yet")


@dataclass(slots=True)
class TimeSheet:
    """Time on task by person, activity and story; `last` is the time of each person's latest act."""

    spent: dict[Place, Spent] = field(default_factory=dict)
    last: dict[int, float] = field(default_factory=dict)

    def add(self, person: int, activity: str, story: int, at: float, measured: float | None = None) -> None:
        """Count something that a person did on a story `at` a time in seconds since 1970; `measured` are the seconds
        that the page took the time of, None where it did not. Acts are added in the order in which they arrived."""
        spent = self.spent.setdefault((person, activity, story), Spent())
        before = self.last.get(person)
        pause = None if before is None or at < before else at - before
        spent.acts += 1
        for number, limit in enumerate(IDLE_LIMITS):
            spent.seconds[number] += pause if pause is not None and pause <= limit else min(measured or 0.0, limit)
        self.last[person] = at if before is None else max(before, at)

    def sums(self, key: Callable[[Place], Key]) -> defaultdict[Key, Spent]:
        """Return the sums of the places that have the same `key`, nothing spent for others."""
        spent_by_key: defaultdict[Key, Spent] = defaultdict(Spent)
        for place, spent in self.spent.items():
            spent_by_key[key(place)].add(spent)
        return spent_by_key


@dataclass(frozen=True, slots=True)
class Outlook:
    """Work left of one activity, for one person or all: `done` and `left` in `unit`, the `pace` in units an hour with
    its interval over stories, and the `forecast` of the hours that the rest takes, with its prediction interval."""

    unit: str
    done: int
    left: int
    pace: Estimate
    forecast: Estimate

    @classmethod
    def of(cls, unit: str, stories: Sequence[Story], left: Sequence[int]) -> Outlook:
        """Return the outlook from the stories on which something was done, as (units, hours), and the units that each
        unfinished story has `left`."""
        done = sum(int(units) for units, _ in stories)
        return cls(unit, done, sum(left), pace_of(stories), forecast_of(stories, left))


def pace_of(stories: Iterable[Story], *, seed: int = 1) -> Estimate:
    """Return units an hour over stories, each given as (units done, hours), with its interval; none where no time was
    seen."""
    sums = _timed(stories)
    done = int(sums[:, 0].sum())
    if not sums[:, 1].sum():
        return Estimate(None, done, reason=NO_TIME)
    return estimate_of(sums, first_by_second, n=done, scale=POSITIVE, unit="stories", empty=NO_TIME, seed=seed)


def forecast_of(stories: Sequence[Story], left: Sequence[int]) -> Estimate:
    """Return the hours that the units `left` in each unfinished story take at the pace so far, with a 95 % prediction
    interval; its n counts the stories with something left.

    Two things are not known: the pace, and how far these very stories are from it. The second is the spread of the
    stories done around their pace. It grows by units where units are slow or fast one by one, and by their square where
    a whole story is; the larger of the two counts, which are the same where stories left are as large as those done.
    The interval has a t quantile and is symmetric on the logarithm.
    """
    sizes = np.array([units for units in left if units > 0], dtype=float)
    if not len(sizes):
        return Estimate(0.0, 0)
    done, hours = _timed(stories).T
    if not hours.sum():
        return Estimate(None, len(sizes), reason=NO_TIME)
    value, total, n = sizes.sum() * hours.sum() / done.sum(), done.sum(), len(done)
    apart = hours - done * hours.sum() / total
    of_pace = (sizes.sum() / total) ** 2
    of_stories = max((sizes**2).sum() / (done**2).sum(), sizes.sum() / total)
    moves = apart * (of_pace + of_stories) ** 0.5 * (n / max(n - 1, 1)) ** 0.5
    ends, why = linear_interval(value, moves, count=n, most=n - 1, scale=POSITIVE, unit="stories")
    pace = pace_of(stories).interval
    if ends and pace and pace[0] > 0:  # no forecast is surer than the pace that it takes
        ends = [min(ends[0], float(sizes.sum()) / pace[1]), max(ends[1], float(sizes.sum()) / pace[0])]
    return Estimate(float(value), len(sizes), ends, reason=why or None)


def _timed(stories: Iterable[Story]) -> Floats:
    """The stories on which something was done, as (units, hours): shape (stories, 2)."""
    return np.array([story for story in stories if story[0]], dtype=float).reshape(-1, 2)


def by_story(done: Mapping[int, int], hours: Mapping[int, float]) -> list[Story]:
    """Return (units done, hours) of the stories on which something was done, by story."""
    return [(done[story], hours.get(story, 0.0)) for story in sorted(done)]
