"""Time on task of a project, from the events of votes, drafts, reconciliations and decisions, and those of apps above.

What was counted is kept in the cache with the last event that it contains, so that a look counts what came since.
"""

from __future__ import annotations

import csv
import heapq
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from operator import itemgetter

from django.core.cache import cache
from django.db.models import Count, Subquery
from django.db.models.functions import Coalesce

from annotation.domain.columns import Echo, defused
from annotation.domain.effort import IDLE_LIMITS, Act, Activity, Outlook, TimeSheet, by_story
from annotation.models import (
    AnnotatorCounts,
    BeliefTable,
    DraftEvent,
    GoldEvent,
    GoldLabel,
    Method,
    PairEvent,
    Project,
    Story,
    User,
    VoteEvent,
)
from annotation.services.drafts import BY_MODEL
from annotation.services.effort_sources import Source, further
from annotation.services.progress import Progress
from core.kept import key_of
from core.messages import gettext_noop

KEPT_SECONDS = 30 * 24 * 3600
AT_A_LOOK = 10_000
"""Events that one look at the page counts at most: about 0.15 s of a processor."""
_FEW = 500
NO_STORY = 0
"""Stands for the story of work on a text that is none of the project's."""
_SETTLED = timedelta(seconds=10)
"""Events are counted by their ids; after so long none with a lower id is still to be committed."""

COLUMNS = ("person", "activity", "story", "acts", "minutes_idle_2", "minutes_idle_5", "minutes_idle_10")


@dataclass(slots=True)
class Counted:
    """A time sheet and the ids up to which events are in it, by activity; `whole` where no event was left for later,
    `until` the time of the last that was counted."""

    sheet: TimeSheet = field(default_factory=TimeSheet)
    upto: dict[str, int] = field(default_factory=dict)
    whole: bool = True
    until: datetime | None = None


def count_effort(project: Project, *, now: datetime, most: int | None = None) -> Counted:
    """Return the time on task of a project; at most `most` events more than were counted before. Votes that came in a
    file have no time."""
    key = key_of("effort", [project.pk, project.slug])
    counted: Counted = cache.get(key) or Counted()
    newest = _newest(project, now)
    sources = (_acts(project, activity, counted.upto.get(activity, 0), newest[activity]) for activity in _sources())
    acts = heapq.merge(*sources, key=itemgetter(0))
    added, before = 0, dict(counted.upto)
    for arrived, activity, pk, act in islice(acts, most):
        counted.sheet.add(act)
        counted.upto[activity], counted.until = pk, arrived
        added += 1
    counted.whole = most is None or added < most
    if counted.whole:
        counted.upto |= newest  # also over events without time, which the next look would go through again
    if counted.upto != before:
        cache.set(key, counted, KEPT_SECONDS)
    if not counted.whole and key not in cache:  # it keeps nothing now: the next look would count the same events
        return count_effort(project, now=now)
    return counted


def _newest(project: Project, now: datetime) -> dict[str, int]:
    """Return by activity the id up to which all events have arrived, those without time among them."""
    newest = {}
    for activity, source in _sources().items():
        arrived = source.model.objects.filter(**{f"{source.arrived}__lte": now - _SETTLED})
        newest[activity.value] = Coalesce(Subquery(arrived.order_by("-pk").values("pk")[:1]), 0)
    return Project.objects.filter(pk=project.pk).values(**newest).get()


Arrived = tuple[datetime, str, int, Act]


def _acts(project: Project, activity: Activity, after: int, upto: int) -> Iterator[Arrived]:
    """Yield (when it arrived, activity, id, act) of the events with an id above `after`, in the order of their ids."""
    if after >= upto:
        return
    source = _sources()[activity]
    # Few are named one by one: with a range SQLite reads the events of the whole project.
    ids = {"pk__in": range(after + 1, upto + 1)} if upto - after <= _FEW else {"pk__gt": after, "pk__lte": upto}
    rows = source.events.filter(**{source.of_project: project}, **ids).order_by("pk")
    names = ("pk", source.person, f"{source.story}_id", source.at, source.arrived)
    for row in rows.values_list(*names, *source.measured).iterator():
        pk, person, story, at, arrived, *measured = row
        if person is not None:
            took = measured[0] / 1000 if measured and measured[0] else None
            yield arrived, activity, pk, Act(person, activity, story or NO_STORY, at.timestamp(), took)


_SOURCES = {
    Activity.TABLES: Source(
        DraftEvent, "table__author", "table__story", "changed_at", "received_at", {}, left_out={"kind": BY_MODEL}
    ),
    Activity.RECONCILIATION: Source(PairEvent, "by", "row__story", "changed_at", "received_at", {}),
    Activity.LABELLING: Source(
        VoteEvent, "annotator", "proposition__table__story", "changed_at", "received_at", {"origin": "grid"},
        ("duration_ms",),
    ),
    Activity.ADJUDICATION: Source(
        GoldEvent, "by", "proposition__table__story", "at", "at", {"after_method": Method.ADJUDICATED}
    ),
}  # fmt: skip


def _sources() -> dict[Activity, Source]:
    """Return the sources of this app and those above, in the order of the work."""
    sources = _SOURCES | {Activity(name): source for name, source in further.items()}
    return {activity: sources[activity] for activity in Activity if activity in sources}


@dataclass(frozen=True, slots=True)
class PersonEffort:
    """The time on task of one person: the number of acts, hours by activity in the order of `Activity`, and what is
    left of their work."""

    person: User
    acts: int
    hours: tuple[float, ...]
    outlooks: tuple[Outlook, ...]

    @property
    def total(self) -> float:
        return sum(self.hours)


@dataclass(frozen=True, slots=True)
class StoryEffort:
    """Hours that people spent on one story together, by activity."""

    number: int
    uid: str
    people: int
    hours: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.hours)


@dataclass(frozen=True, slots=True)
class Effort:
    """Time on task of a project: by person and by story, most hours first, by activity, and together for each idle
    limit. `until` is when the last event arrived that is counted; `whole` is false where more wait to be."""

    people: tuple[PersonEffort, ...]
    stories: tuple[StoryEffort, ...]
    hours: tuple[float, ...]
    by_limit: tuple[float, ...]
    adjudication: Outlook
    whole: bool
    until: datetime | None

    @property
    def total(self) -> float:
        return sum(self.hours)


def effort_of(project: Project, *, now: datetime, most: int | None = None) -> Effort:
    """Return the time on task of a project, and what is left at the pace so far; see `count_effort` for `most`."""
    counted = count_effort(project, now=now, most=most)
    work = _Work(project, counted.sheet)
    people = sorted(map(work.of_person, work.people), key=lambda row: (-row.total, row.person.username))
    everybody = counted.sheet.sums(lambda place: place[1])
    return Effort(
        people=tuple(people),
        stories=tuple(_of_stories(project, counted.sheet)),
        hours=tuple(everybody[activity].hours() for activity in Activity),
        by_limit=tuple(sum(spent.hours(limit) for spent in everybody.values()) for limit in IDLE_LIMITS),
        adjudication=work.adjudication(),
        whole=counted.whole,
        until=counted.until,
    )


def _of_stories(project: Project, sheet: TimeSheet) -> Iterator[StoryEffort]:
    """Yield the stories that somebody worked on, most hours first."""
    spent = sheet.sums(lambda place: (place[2], place[1]))
    people: defaultdict[int, set[int]] = defaultdict(set)
    for person, _, story in sheet.spent:
        people[story].add(person)
    stories = Story.objects.filter(project=project).values_list("pk", "number", "uid")
    names = {pk: (number, uid) for pk, number, uid in stories}
    rows = [
        StoryEffort(*names[story], len(who), tuple(spent[story, activity].hours() for activity in Activity))
        for story, who in people.items()
        if story in names
    ]
    yield from sorted(rows, key=lambda row: (-row.total, row.number))


class _Work:
    """Work done and left in a project, by person and story, in a constant number of statements."""

    def __init__(self, project: Project, sheet: TimeSheet) -> None:
        self.project = project
        self.hours: defaultdict[tuple[int, str], dict[int, float]] = defaultdict(dict)
        for (person, activity, story), spent in sheet.spent.items():
            self.hours[person, activity][story] = spent.hours()
        self._spent = sheet.sums(lambda place: place[0])
        progress = Progress(project)
        self._open, self._left = progress.open_cells(), progress.cells_left()
        self._cast: defaultdict[int, dict[int, int]] = defaultdict(dict)
        counts = AnnotatorCounts.objects.filter(story__project=project)
        for person, story, cells in counts.values_list("annotator_id", "story_id", "cells"):
            if spent := sheet.spent.get((person, Activity.LABELLING, story)):
                self._cast[person][story] = min(cells, spent.acts)  # other votes came in a file, which took no time
        self._drafts: defaultdict[int, dict[int, bool]] = defaultdict(dict)
        drafts = BeliefTable.objects.drafts().filter(story__project=project)
        for author, story, submitted in drafts.values_list("author_id", "story_id", "submitted_at"):
            self._drafts[author][story] = submitted is not None
        self.people = list(User.objects.filter(pk__in={*self._spent, *self._left, *self._drafts} - {None}))

    def of_person(self, person: User) -> PersonEffort:
        hours = tuple(sum(self.hours[person.pk, activity].values()) for activity in Activity)
        outlooks = (self._labelling(person.pk), self._tables(person.pk))
        return PersonEffort(person, self._spent[person.pk].acts, hours, tuple(filter(None, outlooks)))

    def _labelling(self, person: int) -> Outlook | None:
        cast, left = self._cast[person], self._left.get(person, [])
        if not cast and not sum(left):
            return None
        return Outlook.of(gettext_noop("cells"), by_story(cast, self.hours[person, Activity.LABELLING]), left)

    def _tables(self, person: int) -> Outlook | None:
        drafts = self._drafts[person]
        if not drafts:
            return None
        done = {story: 1 for story, submitted in drafts.items() if submitted}
        left = [1] * (len(drafts) - len(done))
        return Outlook.of(gettext_noop("belief tables"), by_story(done, self.hours[person, Activity.TABLES]), left)

    def adjudication(self) -> Outlook:
        """Return how fast all experts together decide cells and how many are left: whoever takes a cell decides it."""
        hours: defaultdict[int, float] = defaultdict(float)
        for (_, activity), by_number in self.hours.items():
            if activity == Activity.ADJUDICATION:
                for story, spent in by_number.items():
                    hours[story] += spent
        decided = GoldLabel.objects.filter(
            proposition__table__story__project=self.project,
            proposition__removed_at__isnull=True,
            method=Method.ADJUDICATED,
        )
        rows = decided.order_by().values_list("proposition__table__story").annotate(Count("id"))
        done = {story: cells for story, cells in rows if story in hours}
        return Outlook.of(gettext_noop("cells"), by_story(done, hours), self._open)


def effort_lines(project: Project, *, now: datetime) -> Iterator[str]:
    """Yield the time sheet as CSV: a row for each person, activity and story, whose number is empty where the project
    has no such story."""
    sheet = count_effort(project, now=now).sheet
    names = dict(User.objects.filter(pk__in={person for person, _, _ in sheet.spent}).values_list("pk", "username"))
    numbers: dict[int, int | str] = dict(Story.objects.filter(project=project).values_list("pk", "number"))
    numbers[NO_STORY] = ""
    writer = csv.writer(Echo())
    yield writer.writerow(COLUMNS)
    for (person, activity, story), spent in sorted(sheet.spent.items()):
        if person in names and story in numbers:
            minutes = [round(seconds / 60, 3) for seconds in spent.seconds]
            yield writer.writerow([defused(names[person]), activity, numbers[story], spent.acts, *minutes])
