"""Figures of a study: how far it is, and how far its people agree."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q
from django.utils.translation import gettext as _

from annotation.domain.effort import Act, TimeSheet
from annotation.models import Project, User
from judge.domain.alignment import Answers
from judge.domain.alignment_agreement import AlignedTable, AlignmentAgreement, agreement_of, pairs_of_people
from judge.models import Alignment, AlignmentEvent, AlignmentState, AlignmentStudy, AlignmentTask, SettledAlignment


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """How far a study is: its tables, those that are settled whole, the rows that wait for an expert and the tables
    that have them, alignments handed in of all that are wanted, and slots that nobody has."""

    tables: int
    settled: int
    open_rows: int
    open_tables: int
    handed_in: int
    wanted: int
    free: int

    @property
    def is_done(self) -> bool:
        return self.settled == self.tables

    @property
    def next_step(self) -> str:
        """What comes next, as a sentence."""
        if self.is_done:
            return _("Everything is settled.")
        if self.free:
            return _("Some tables lack people: give them out.")
        if self.open_rows:
            return _("Rows without a majority wait for an expert.")
        return _("People align.")


def progress_of(study: AlignmentStudy) -> StudyProgress:
    """Return how far a study is. Three statements."""
    tasks = list(study.tasks.values_list("predictions", "gold"))
    asked = sum(bool(predictions and gold) for predictions, gold in tasks)
    active = Alignment.objects.active().filter(task__study=study)
    given = active.aggregate(all=Count("id"), done=Count("id", filter=Q(state=AlignmentState.HANDED_IN)))
    open_rows = list(SettledAlignment.objects.filter(task__study=study).values_list("open_rows", flat=True))
    wanted = asked * study.overlap
    return StudyProgress(
        tables=len(tasks),
        settled=open_rows.count(0),
        open_rows=sum(open_rows),
        open_tables=len(open_rows) - open_rows.count(0),
        handed_in=given["done"],
        wanted=wanted,
        free=max(0, wanted - given["all"]),
    )


def open_tables_of(project: Project) -> tuple[int, int]:
    """Return how many tables the open studies of a project have, and how many of these are settled whole. One
    statement."""
    tasks = AlignmentTask.objects.filter(study__project=project, study__closed_at=None)
    found = tasks.aggregate(all=Count("id"), settled=Count("id", filter=Q(settled__open_rows=0)))
    return found["all"], found["settled"]


def settled_studies_of(project: Project) -> tuple[int, int]:
    """Return how many studies of a project have every table settled whole, and by how many of these a judge was chosen.
    One statement."""
    settled = Count("tasks", filter=Q(tasks__settled__open_rows=0))
    studies = AlignmentStudy.objects.filter(project=project).annotate(drawn=Count("tasks"), settled=settled)
    versions = list(studies.filter(drawn__gt=0, drawn=F("settled")).values_list("judge_version", flat=True))
    return len(versions), len([version for version in versions if version])


def agreement_report(study: AlignmentStudy) -> AlignmentAgreement:
    """Return the agreement of the people of a study, over what they have handed in."""
    return agreement_of([table for _, table in _tables(study)], seed=study.seed)


def agreement_of_pairs(study: AlignmentStudy) -> list[tuple[str, str, int, int]]:
    """Return (person, other, rows, rows with the same MatchCount) of each two people."""
    return pairs_of_people(_tables(study))


def _tables(study: AlignmentStudy) -> list[tuple[dict[str, Answers], AlignedTable]]:
    rows = Alignment.objects.handed_in().filter(task__study=study).select_related("task", "annotator")
    people: dict[int, dict[str, Answers]] = defaultdict(dict)
    tasks = {}
    for alignment in rows.defer("task__text").order_by("task__place", "task_id", "slot"):
        alignment.task.study = study
        tasks[alignment.task_id] = alignment.task
        people[alignment.task_id][alignment.annotator.shown_name] = alignment.said
    return [
        (people[pk], AlignedTable(task.cluster, task.rows, list(people[pk].values()))) for pk, task in tasks.items()
    ]


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """How far one person is: tables given and handed in, rows of the latter, and the minutes they took."""

    person: User
    tables: int
    handed_in: int
    rows: int
    minutes: float

    @property
    def rows_an_hour(self) -> float | None:
        return 60 * self.rows / self.minutes if self.minutes >= 1 else None


def people_of(study: AlignmentStudy) -> list[PersonProgress]:
    """Return how far each person is, by name, with the time on task by the rule of labelling
    (`annotation.domain.effort`)."""
    alignments = Alignment.objects.active().filter(task__study=study).select_related("task", "annotator")
    sheet = _sheet(study)
    minutes = sheet.sums(lambda place: place[0])
    by_person: dict[int, list[Any]] = defaultdict(list)
    for alignment in alignments.defer("task__text"):
        by_person[alignment.annotator_id].append(alignment)
    found = []
    for pk, own in by_person.items():
        done = [one for one in own if one.state == AlignmentState.HANDED_IN]
        rows = sum(one.task.size for one in done)
        found.append(PersonProgress(own[0].annotator, len(own), len(done), rows, 60 * minutes[pk].hours()))
    return sorted(found, key=lambda one: one.person.shown_name.casefold())


def _sheet(study: AlignmentStudy) -> TimeSheet:
    events = AlignmentEvent.objects.filter(alignment__task__study=study).order_by("id")
    sheet = TimeSheet()
    for person, task, at, duration in events.values_list(
        "alignment__annotator_id", "alignment__task_id", "changed_at", "duration_ms"
    ).iterator():
        measured = duration / 1000 if duration is not None else None
        sheet.add(Act(person, "alignment", task, at.timestamp(), measured))
    return sheet
