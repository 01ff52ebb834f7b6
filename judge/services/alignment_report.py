"""Figures of a study: how far it is, and how far its people agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Q
from django.utils.translation import gettext as _

from annotation.domain.effort import Act, TimeSheet, forecast_of
from annotation.models import Claim, Membership, Project, Role, User
from annotation.services.claims import claim
from core.statistics import Estimate
from judge.domain.alignment import Answers
from judge.domain.alignment_agreement import (
    AlignedTable,
    AlignmentAgreement,
    Lacking,
    ProposalEffect,
    agreement_of,
    effect_of,
    pairs_of_people,
)
from judge.domain.proposing import propose
from judge.models import Alignment, AlignmentEvent, AlignmentState, AlignmentStudy, AlignmentTask, SettledAlignment
from judge.services.open_work import still_aligned
from judge.services.studies import cluster_of


def taken_by_others(project: Project, person: User, now: datetime) -> dict[int, str]:
    """Return by story which other expert decides there now: nobody decides the same story twice."""
    return {claim.story_id: claim.expert.shown_name for claim in Claim.objects.of_others(person, project, now)}


def take_story(*, by: User, task: AlignmentTask, now: datetime) -> str:
    """Claim the story of a table for the expert who decides its rows; return the name of another expert who has it
    already, empty where it is free or the table's story is none of the project's."""
    if task.story_id is None:
        return ""
    taken = claim(by=by, stories=[task.story_id], now=now)
    return taken[task.story_id].expert.shown_name if task.story_id in taken else ""


@dataclass(frozen=True, slots=True)
class OpenTables:
    """Tables of a study with open rows: those that one person may decide, most open rows first; how many more they
    aligned themselves (`own`) or wait because of their own work on the story (`busy`); and who of the project's members
    may decide one of their `own`, of which `stuck` have nobody."""

    tables: list[SettledAlignment]
    own: int
    busy: int
    deciders: tuple[str, ...]
    stuck: int

    @property
    def uids(self) -> list[str]:
        return [table.task.uid for table in self.tables]


def open_tables(study: AlignmentStudy, person: User, *, but: Collection[int] = ()) -> OpenTables:
    """Return the tables of a study with open rows as this person may decide them; `but` are stories on which they still
    have work. Four statements."""
    waiting, aligning = _waiting(study), still_aligned(study, person)
    aligned = _aligned(waiting)
    own = [table for table in waiting if person.pk in aligned[table.task_id]]
    others = [table for table in waiting if person.pk not in aligned[table.task_id]]
    free = [table for table in others if table.task.story_id not in but and table.task.number not in aligning]
    members = _deciders(study) if own else []
    may = {table.pk: [user for user in members if user.pk not in aligned[table.task_id]] for table in own}
    deciders = [user.shown_name for user in members if any(user in people for people in may.values())]
    return OpenTables(free, len(own), len(others) - len(free), tuple(deciders), list(may.values()).count([]))


def deciders_of_each(study: AlignmentStudy) -> list[tuple[SettledAlignment, list[User]]]:
    """Return each table of a study with open rows, and the members who may decide it. Three statements."""
    waiting, members = _waiting(study), _deciders(study)
    aligned = _aligned(waiting)
    return [(table, [user for user in members if user.pk not in aligned[table.task_id]]) for table in waiting]


def _waiting(study: AlignmentStudy) -> list[SettledAlignment]:
    rows = SettledAlignment.objects.waiting().filter(task__study=study).select_related("task")
    rows = rows.only("open_rows", "task__uid", "task__number", "task__story", "task__study")
    return list(rows.order_by("-open_rows", "task__number", "task__uid"))


def _aligned(tables: Iterable[SettledAlignment]) -> dict[int, set[int]]:
    """The people who aligned each table, by its id: none of them decides it."""
    aligners: dict[int, set[int]] = defaultdict(set)
    rows = Alignment.objects.kept_from_deciding().filter(task__in=[table.task_id for table in tables])
    for task, person in rows.order_by().values_list("task_id", "annotator_id"):
        aligners[task].add(person)
    return aligners


def _deciders(study: AlignmentStudy) -> list[User]:
    """The members who see the study."""
    roles = [role for role in Role if role.rank >= Role(study.audience).rank]
    members = Membership.objects.filter(project=study.project_id, role__in=roles).select_related("user")
    return [membership.user for membership in members]


def next_open(
    study: AlignmentStudy, person: User, *, after: AlignmentTask, but: Collection[int] = ()
) -> AlignmentTask | None:
    """Return another table with open rows that this person may decide, None where there is none."""
    waiting = open_tables(study, person, but=but).tables
    return next((table.task for table in waiting if table.task_id != after.pk), None)


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The progress of a study: its tables, those that are settled whole, the rows that wait for an expert and the
    tables that have them, alignments handed in of all that are wanted, and slots that nobody has."""

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
        """Return what comes next, as a sentence."""
        if self.is_done:
            return _("Everything is settled.")
        if self.free:
            return _("Some tables lack people: give them out.")
        if self.open_rows:
            return _("Rows without a majority wait for an expert who did not align them.")
        return _("People align.")


def progress_of(study: AlignmentStudy) -> StudyProgress:
    """Return how far a study is. Three statements."""
    [progress] = progress_of_each([study]).values()
    return progress


def progress_of_each(studies: Sequence[AlignmentStudy]) -> dict[int, StudyProgress]:
    """Return how far each study is, by id. Three statements, however many there are."""
    tasks = AlignmentTask.objects.filter(study__in=studies).order_by().values("study")
    empty = Q(predictions=[]) | Q(gold=[])  # of which nobody is asked
    drawn = {counts["study"]: counts for counts in tasks.annotate(all=Count("id"), empty=Count("id", filter=empty))}
    active = Alignment.objects.active().filter(task__study__in=studies).order_by().values("task__study")
    done = Count("id", filter=Q(state=AlignmentState.HANDED_IN))
    given = {counts["task__study"]: counts for counts in active.annotate(all=Count("id"), done=done)}
    open_rows: dict[int, list[int]] = defaultdict(list)
    settled = SettledAlignment.objects.filter(task__study__in=studies)
    for pk, rows in settled.values_list("task__study", "open_rows"):
        open_rows[pk].append(rows)
    nothing = {"all": 0, "empty": 0, "done": 0}
    return {
        study.pk: _progress(
            drawn.get(study.pk, nothing), given.get(study.pk, nothing), open_rows[study.pk], study.overlap
        )
        for study in studies
    }


def _progress(drawn: Mapping[str, int], given: Mapping[str, int], open_rows: list[int], overlap: int) -> StudyProgress:
    asked_for = (drawn["all"] - drawn["empty"]) * overlap
    return StudyProgress(
        tables=drawn["all"],
        settled=open_rows.count(0),
        open_rows=sum(open_rows),
        open_tables=len(open_rows) - open_rows.count(0),
        handed_in=given["done"],
        wanted=asked_for,
        free=max(0, asked_for - given["all"]),
    )


def open_tables_of(project: Project) -> tuple[int, int]:
    """Return how many tables the open studies of a project have, and how many of these are settled whole. One
    statement."""
    tasks = AlignmentTask.objects.filter(study__project=project, study__closed_at=None)
    counts = tasks.aggregate(all=Count("id"), settled=Count("id", filter=Q(settled__open_rows=0)))
    return counts["all"], counts["settled"]


def settled_studies_of(project: Project) -> tuple[int, int]:
    """Return how many studies of a project have every table settled whole, and by how many of these a judge was chosen.
    One statement."""
    settled = Count("tasks", filter=Q(tasks__settled__open_rows=0))
    studies = AlignmentStudy.objects.filter(project=project).annotate(drawn=Count("tasks"), settled=settled)
    versions = list(studies.filter(drawn__gt=0, drawn=F("settled")).values_list("judge_version", flat=True))
    return len(versions), len([version for version in versions if version])


def agreement_report(study: AlignmentStudy) -> AlignmentAgreement:
    """Return the agreement of the people of a study, over what they have handed in."""
    return agreement_with_pairs(study)[0]


Pairs = list[tuple[str, str, int, int]]
"""(person, other, rows that both gave a MatchCount, rows with the same one) of each two people."""


def agreement_with_pairs(study: AlignmentStudy) -> tuple[AlignmentAgreement, Pairs]:
    """Return the agreement of the people of a study, and that of each two of them; namesakes have their user names
    beside them."""
    tables = _tables(study)
    agreement = agreement_of([table for _, table in tables], seed=study.seed, over=cluster_of(study))
    return agreement, pairs_of_people(tables)


def _tables(study: AlignmentStudy) -> list[tuple[dict[str, Answers], AlignedTable]]:
    rows = Alignment.objects.handed_in().filter(task__study=study).select_related("task", "annotator")
    handed_in = list(rows.defer("task__text").order_by("task__place", "task_id", "slot"))
    names = _distinct_names({alignment.annotator for alignment in handed_in})
    people: dict[int, dict[str, Answers]] = defaultdict(dict)
    tasks = {}
    for alignment in handed_in:
        alignment.task.study = study
        tasks[alignment.task_id] = alignment.task
        people[alignment.task_id][names[alignment.annotator_id]] = alignment.answers_by_row
    return [
        (people[pk], AlignedTable(task.cluster, task.rows, list(people[pk].values()))) for pk, task in tasks.items()
    ]


def _distinct_names(people: Collection[User]) -> dict[int, str]:
    """Return what each person is called, by id: two people may have one name."""
    counts = Counter(person.shown_name for person in people)
    return {
        person.pk: name if counts[name] == 1 else f"{name} ({person.username})"
        for person in people
        for name in [person.shown_name]
    }


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """The progress of one person: tables given and handed in, rows of the latter and of those still to do, the minutes
    that all took, and the hours that the rest takes at this person's own pace."""

    person: User
    tables: int
    handed_in: int
    rows: int
    rows_left: int
    minutes: float
    forecast: Estimate

    @property
    def rows_an_hour(self) -> float | None:
        return 60 * self.rows / self.minutes if self.minutes >= 1 else None


def people_of(study: AlignmentStudy) -> list[PersonProgress]:
    """Return how far each person is, by name, with the time on task by the rule of labelling
    (`annotation.domain.effort`)."""
    alignments = Alignment.objects.active().filter(task__study=study).select_related("task", "annotator")
    sheet = _sheet(study)
    hours = sheet.sums(lambda place: (place[0], place[2]))
    minutes = sheet.sums(lambda place: place[0])
    by_person: dict[int, list[Any]] = defaultdict(list)
    for alignment in alignments.defer("task__text"):
        alignment.task.study = study
        by_person[alignment.annotator_id].append(alignment)
    progress = []
    for pk, own in by_person.items():
        done: dict[str, int] = defaultdict(int)
        took: dict[str, float] = defaultdict(float)
        left: dict[str, int] = defaultdict(int)
        for alignment in own:
            task = alignment.task
            if alignment.state == AlignmentState.HANDED_IN:
                done[task.cluster] += task.size
                took[task.cluster] += hours[pk, task.pk].hours()
            else:
                left[task.cluster] += task.size
        stories = [(done[story], took[story]) for story in sorted(done)]
        handed_in = sum(alignment.state == AlignmentState.HANDED_IN for alignment in own)
        forecast = forecast_of(stories, list(left.values()))
        rows, rows_left, spent = sum(done.values()), sum(left.values()), 60 * minutes[pk].hours()
        progress.append(PersonProgress(own[0].annotator, len(own), handed_in, rows, rows_left, spent, forecast))
    return sorted(progress, key=lambda person: person.person.shown_name.casefold())


def _sheet(study: AlignmentStudy) -> TimeSheet:
    events = AlignmentEvent.objects.filter(alignment__task__study=study).order_by("id")
    sheet = TimeSheet()
    for person, task, at, duration in events.values_list(
        "alignment__annotator_id", "alignment__task_id", "changed_at", "duration_ms"
    ).iterator():
        measured = duration / 1000 if duration is not None else None
        sheet.add(Act(person, "alignment", task, at.timestamp(), measured))
    return sheet


@dataclass(frozen=True, slots=True)
class Accepted:
    """Links in alignments that were handed in: how many of the `links` stand as they were proposed and `accepted`, and
    how many of all proposals that people accepted do not stand: the `changed` ones."""

    links: int
    accepted: int
    changed: int


def accepted_of(study: AlignmentStudy) -> Accepted:
    """Return how many links of a study were accepted as proposed. Two statements."""
    handed_in = Alignment.objects.handed_in().filter(task__study=study)
    links = sum(
        len(answer.links) for alignment in handed_in.only("answers") for answer in alignment.answers_by_row.values()
    )
    last: dict[tuple[int, str], bool] = {}
    proposed: set[tuple[int, str]] = set()
    events = AlignmentEvent.objects.filter(alignment__in=handed_in).exclude(row="").order_by("id")
    for alignment, row, accepted in events.values_list("alignment", "row", "accepted").iterator():
        last[alignment, row] = accepted
        if accepted:
            proposed.add((alignment, row))
    accepted = sum(last[place] for place in proposed)
    return Accepted(links, accepted, len(proposed) - accepted)


def effect_of_proposals(study: AlignmentStudy) -> ProposalEffect | None:
    """Return how much likelier people link what a page proposes where it does; None of a study that shows proposals to
    everybody. One statement."""
    if not study.blind_share:
        return None
    proposed: dict[int, set[tuple[str, str]]] = {}
    linked_proposals = []
    given, lacking = Counter[bool](), Counter[bool]()
    rows = Alignment.objects.active().filter(task__study=study).select_related("task").order_by("pk")
    for alignment in rows.defer("task__text"):
        alignment.task.study = study
        given[alignment.is_blind] += 1
        if alignment.state != AlignmentState.HANDED_IN:
            lacking[alignment.is_blind] += 1
            continue
        pairs = proposed.setdefault(alignment.task_id, _pairs(alignment.task))
        linked = {(row, other) for row, answer in alignment.answers_by_row.items() for other in answer.links}
        linked_proposals.append((alignment.task.cluster, alignment.is_blind, len(pairs), len(pairs & linked)))
    left_out = Lacking(lacking[False], given[False], lacking[True], given[True])
    return effect_of(linked_proposals, seed=study.seed, over=cluster_of(study), lacking=left_out)


def _pairs(task: AlignmentTask) -> set[tuple[str, str]]:
    return {
        (f"p{proposal.prediction + 1}", f"g{proposal.gold + 1}") for proposal in propose(task.predictions, task.gold)
    }
