"""Time on task of a project, from the events of votes, drafts, reconciliations and decisions, and those of apps above.

The sheet is kept in the cache with the last event that it contains: a look counts what came since.
"""

import csv
import heapq
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Model, Subquery
from django.db.models.functions import Coalesce

from annotation.domain.columns import Echo, defused
from annotation.domain.effort import IDLE_LIMITS, Activity, Outlook, TimeSheet, by_story
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
from annotation.services.progress import Progress
from core.kept import SECONDS, in_time, key_of
from core.messages import gettext_noop
from core.plain import Json


@dataclass(frozen=True, slots=True)
class Source:
    """The events of an activity, and the names of their columns. `story` may be null where `project` says whose they
    are."""

    model: type[Model]
    person: str
    story: str
    at: str
    arrived: str
    chosen: dict[str, str] = field(default_factory=dict)
    measured: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    project: str = ""


SOURCES = {
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
"""By activity, in the order of the work. An app above adds those of its own work when it is ready."""


_FEW = 500
NO_STORY = 0
"""Stands for the story of work on a text that is none of the project's."""
_SETTLED = timedelta(seconds=10)
"""Events are counted by their ids; after so long none with a lower id is still to be committed."""

COLUMNS = ("person", "activity", "story", "acts", "minutes_idle_2", "minutes_idle_5", "minutes_idle_10")


def count_effort(project: Project, *, now: datetime) -> TimeSheet:
    """Return the time on task of a project. Votes that came in a file have no time."""
    key = key_of("effort", [project.pk, project.slug])

    def count() -> TimeSheet:
        counted: tuple[TimeSheet, dict[str, int]] = cache.get(key) or (TimeSheet(), {})
        sheet, upto = counted
        # The id up to which all events of an activity have arrived, those without time among them.
        bounds = {}
        for activity, source in SOURCES.items():
            arrived = source.model._default_manager.filter(**{f"{source.arrived}__lte": now - _SETTLED})
            bounds[activity.value] = Coalesce(Subquery(arrived.order_by("-pk").values("pk")[:1]), 0)
        rows: Any = Project.objects.filter(pk=project.pk)
        newest: dict[str, int] = rows.values(**bounds).get()
        acts = [_acts(project, activity, upto.get(activity, 0), newest[activity]) for activity in SOURCES]
        for _, act in heapq.merge(*acts, key=itemgetter(0)):
            sheet.add(*act)
        if upto != newest:
            cache.set(key, (sheet, newest), SECONDS)
        return sheet

    return in_time(key, count)


def _acts(project: Project, activity: Activity, after: int, upto: int) -> Iterator[tuple[datetime, tuple[Any, ...]]]:
    """Yield (when it arrived, what `TimeSheet.add` takes) of the events with an id above `after`, in the order of their
    ids."""
    if after >= upto:
        return
    source = SOURCES[activity]
    events: Any = source.model._default_manager.filter(**source.chosen)
    if source.left_out:
        events = events.exclude(**source.left_out)
    project_of = source.project or f"{source.story}__project"
    # Few are named one by one: with a range SQLite reads the events of the whole project.
    ids = {"pk__in": range(after + 1, upto + 1)} if upto - after <= _FEW else {"pk__gt": after, "pk__lte": upto}
    rows = events.filter(**{project_of: project}, **ids).order_by("pk")
    names = (source.person, f"{source.story}_id", source.at, source.arrived)
    for person, story, at, arrived, *measured in rows.values_list(*names, *source.measured).iterator():
        if person is not None:
            took = measured[0] / 1000 if measured and measured[0] else None
            yield arrived, (person, activity, story or NO_STORY, at.timestamp(), took)


def effort_of(project: Project, *, now: datetime) -> Json:
    """Return the time on task of a project, and what is left at the pace so far: {people, stories, hours (by activity,
    in the order of `Activity`), total, by_limit (together for each idle limit), adjudication (its Outlook)}, people and
    stories with most hours first.

    A person is {person, acts, hours, total, outlooks}, a story {number, uid, people (how many), hours, total}.
    """
    sheet, progress = count_effort(project, now=now), Progress(project)
    acts, everybody = sheet.sums(lambda place: place[0]), sheet.sums(lambda place: place[1])
    spent: defaultdict[tuple[int, str], dict[int, float]] = defaultdict(dict)
    for (person, activity, story), seconds in sheet.spent.items():
        spent[person, activity][story] = seconds.hours()
    drafts: defaultdict[int, dict[int, bool]] = defaultdict(dict)
    tables = BeliefTable.objects.drafts().filter(story__project=project)
    for author, story, submitted in tables.values_list("author_id", "story_id", "submitted_at"):
        drafts[author][story] = submitted is not None
    labelled, left = _labelled(project, sheet), progress.cells_left()
    people = []
    for user in User.objects.filter(pk__in={*acts, *left, *drafts} - {None}):
        outlooks, own_drafts = [], drafts[user.pk]
        if labelled[user.pk] or sum(left.get(user.pk, [])):
            stories = by_story(labelled[user.pk], spent[user.pk, Activity.LABELLING])
            outlooks.append(Outlook.of(gettext_noop("cells"), stories, left.get(user.pk, [])))
        if own_drafts:
            done = {story: 1 for story, submitted in own_drafts.items() if submitted}
            stories = by_story(done, spent[user.pk, Activity.TABLES])
            outlooks.append(Outlook.of(gettext_noop("belief tables"), stories, [1] * (len(own_drafts) - len(done))))
        hours = [sum(spent[user.pk, activity].values()) for activity in Activity]
        row = {"person": user, "acts": acts[user.pk].acts, "hours": hours, "total": sum(hours), "outlooks": outlooks}
        people.append(row)
    hours = [everybody[activity].hours() for activity in Activity]
    return {
        "people": sorted(people, key=lambda row: (-row["total"], row["person"].username)),
        "stories": _stories(project, sheet),
        "hours": hours,
        "total": sum(hours),
        "by_limit": [sum(each.hours(limit) for each in everybody.values()) for limit in IDLE_LIMITS],
        "adjudication": _adjudication(project, sheet, progress.open_cells()),
    }


def _labelled(project: Project, sheet: TimeSheet) -> defaultdict[int, dict[int, int]]:
    """Return by person and story the cells that took time: other votes came in a file."""
    labelled: defaultdict[int, dict[int, int]] = defaultdict(dict)
    counts = AnnotatorCounts.objects.filter(story__project=project)
    for person, story, cells in counts.values_list("annotator_id", "story_id", "cells"):
        if spent := sheet.spent.get((person, Activity.LABELLING, story)):
            labelled[person][story] = min(cells, spent.acts)
    return labelled


def _adjudication(project: Project, sheet: TimeSheet, left: list[int]) -> Outlook:
    """Return how fast all experts together decide cells: whoever takes a cell decides it."""
    spent = sheet.sums(lambda place: (place[1], place[2]))
    hours = {story: each.hours() for (activity, story), each in spent.items() if activity == Activity.ADJUDICATION}
    decided = GoldLabel.objects.filter(
        proposition__table__story__project=project, proposition__removed_at__isnull=True, method=Method.ADJUDICATED
    )
    rows = decided.order_by().values_list("proposition__table__story").annotate(Count("id"))
    done = {story: cells for story, cells in rows if story in hours}
    return Outlook.of(gettext_noop("cells"), by_story(done, hours), left)


def _stories(project: Project, sheet: TimeSheet) -> list[Json]:
    """Return the stories that somebody worked on."""
    spent, people = sheet.sums(lambda place: (place[2], place[1])), defaultdict(set)
    for person, _, story in sheet.spent:
        people[story].add(person)
    rows = []
    for pk, number, uid in Story.objects.filter(project=project).values_list("pk", "number", "uid"):
        if pk in people:
            hours = [spent[pk, activity].hours() for activity in Activity]
            rows.append({"number": number, "uid": uid, "people": len(people[pk]), "hours": hours, "total": sum(hours)})
    return sorted(rows, key=lambda row: (-row["total"], row["number"]))


def effort_lines(project: Project, *, now: datetime) -> Iterator[str]:
    """Yield the time sheet as CSV: a row for each person, activity and story, whose number is empty where the project
    has no such story."""
    sheet = count_effort(project, now=now)
    names = dict(User.objects.filter(pk__in={person for person, _, _ in sheet.spent}).values_list("pk", "username"))
    numbers: dict[int, int | str] = dict(Story.objects.filter(project=project).values_list("pk", "number"))
    numbers[NO_STORY] = ""
    writer = csv.writer(Echo())
    yield writer.writerow(COLUMNS)
    for (person, activity, story), spent in sorted(sheet.spent.items()):
        if person in names and story in numbers:
            minutes = [round(seconds / 60, 3) for seconds in spent.seconds]
            yield writer.writerow([defused(names[person]), activity, numbers[story], spent.acts, *minutes])
