"""Figures of a study: its progress, the agreement of its people, and the rows that wait for an expert."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Q
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext as _

from annotation.domain.effort import TimeSheet, forecast_of
from annotation.models import Claim, Membership, Project, Role, User
from annotation.services.checklist import State, Step, state_of
from annotation.services.progress import Totals
from core.plain import Json
from core.wording import counted
from judge.domain.alignment_agreement import AlignedTable, AlignmentAgreement, agreement_of, effect_of, pairs_of_people
from judge.domain.proposing import propose
from judge.models import (
    Alignment,
    AlignmentEvent,
    AlignmentState,
    AlignmentStudy,
    AlignmentTask,
    AnchorWatch,
    SettledAlignment,
)
from judge.models.watch import LATE
from judge.services.open_work import still_aligned
from judge.services.studies import cluster_of


def taken_by_others(project: Project, person: User, now: datetime) -> dict[int, str]:
    """Return by story the other expert who decides there now: nobody decides the same story twice."""
    return {claim.story_id: claim.expert.shown_name for claim in Claim.objects.of_others(person, project, now)}


def open_tables(study: AlignmentStudy, person: User, *, but: Collection[int] = ()) -> Json:
    """Return the `tables` of a study with open rows that this person may decide, most open rows first; the numbers of
    tables that they aligned themselves (`own`), that wait for their own work on the story (`busy`), and that no member
    may decide (`stuck`, of their own); and the members who may decide one of their own (`deciders`). `but` are stories
    on which they still have work. Four statements."""
    waiting, aligning = _waiting(study), still_aligned(study, person)
    own = [people for _, people in waiting if person.pk in people]
    others = [table for table, people in waiting if person.pk not in people]
    free = [table for table in others if table.task.story_id not in but and table.task.number not in aligning]
    members = _members(study) if own else []
    may = [[user for user in members if user.pk not in people] for people in own]
    return {
        "tables": free,
        "own": len(own),
        "busy": len(others) - len(free),
        "deciders": [user.shown_name for user in members if any(user in users for users in may)],
        "stuck": may.count([]),
    }


def deciders_of_each(study: AlignmentStudy) -> list[tuple[SettledAlignment, list[User]]]:
    """Return each table of a study with open rows, and the members who may decide it. Three statements."""
    members = _members(study)
    return [(table, [user for user in members if user.pk not in people]) for table, people in _waiting(study)]


def _waiting(study: AlignmentStudy) -> list[tuple[SettledAlignment, set[int]]]:
    """Return the tables with open rows, most first, and the people who aligned each: none of them decides it."""
    rows = SettledAlignment.objects.waiting().filter(task__study=study).select_related("task")
    rows = rows.only("open_rows", "task__uid", "task__number", "task__story", "task__study")
    tables = list(rows.order_by("-open_rows", "task__number", "task__uid"))
    aligners: dict[int, set[int]] = defaultdict(set)
    kept = Alignment.objects.kept_from_deciding().filter(task__in=[table.task_id for table in tables]).order_by()
    for task, person in kept.values_list("task_id", "annotator_id"):
        aligners[task].add(person)
    return [(table, aligners[table.task_id]) for table in tables]


def _members(study: AlignmentStudy) -> list[User]:
    """Return the members who see the study."""
    roles = [role for role in Role if role.rank >= Role(study.audience).rank]
    members = Membership.objects.filter(project=study.project_id, role__in=roles).select_related("user")
    return [membership.user for membership in members]


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
    def next_step(self) -> str:
        """What comes next, as a sentence."""
        if self.settled == self.tables:
            return _("Everything is settled.")
        if self.free:
            return _("Some tables lack people: give them out.")
        if self.open_rows:
            return _("Rows without a majority wait for an expert who did not align them.")
        return _("People align.")


def progress_of(study: AlignmentStudy) -> StudyProgress:
    """Return the progress of a study. Three statements."""
    return progress_of_each([study])[study.pk]


def progress_of_each(studies: Sequence[AlignmentStudy]) -> dict[int, StudyProgress]:
    """Return the progress of each study, by id. Three statements, however many there are."""
    tasks = AlignmentTask.objects.filter(study__in=studies).order_by().values("study")
    asked = Count("id", filter=~Q(predictions=[]) & ~Q(gold=[]))  # nobody is asked of a table without rows
    drawn: dict[int, Any] = {row["study"]: row for row in tasks.annotate(all=Count("id"), asked=asked)}
    active = Alignment.objects.active().filter(task__study__in=studies).order_by().values("task__study")
    done = Count("id", filter=Q(state=AlignmentState.HANDED_IN))
    given: dict[int, Any] = {row["task__study"]: row for row in active.annotate(all=Count("id"), done=done)}
    open_rows: dict[int, list[int]] = defaultdict(list)
    settled = SettledAlignment.objects.filter(task__study__in=studies)
    for pk, rows in settled.values_list("task__study", "open_rows"):
        open_rows[pk].append(rows)
    progress, nothing = {}, Counter[str]()
    for study in studies:
        tables, alignments = drawn.get(study.pk, nothing), given.get(study.pk, nothing)
        left, wanted = open_rows[study.pk], tables["asked"] * study.overlap
        progress[study.pk] = StudyProgress(
            tables=tables["all"],
            settled=left.count(0),
            open_rows=sum(left),
            open_tables=len(left) - left.count(0),
            handed_in=alignments["done"],
            wanted=wanted,
            free=max(0, wanted - alignments["all"]),
        )
    return progress


Pairs = list[tuple[str, str, int, int]]
"""(person, other, rows that both gave a MatchCount, rows with the same one) of each two people."""


def agreement_report(study: AlignmentStudy) -> tuple[AlignmentAgreement, Pairs]:
    """Return the agreement of the people of a study, over what they have handed in, and that of each two of them;
    namesakes are told apart by their user names."""
    rows = Alignment.objects.handed_in().filter(task__study=study).select_related("task", "annotator")
    handed_in = list(rows.defer("task__text").order_by("task__place", "task_id", "slot"))
    people = {alignment.annotator for alignment in handed_in}
    counts = Counter(person.shown_name for person in people)
    tables: dict[int, AlignedTable] = {}
    for alignment in handed_in:
        task, person = alignment.task, alignment.annotator
        task.study = study
        name = person.shown_name
        unique = name if counts[name] == 1 else f"{name} ({person.username})"
        table = tables.setdefault(task.pk, AlignedTable(task.cluster, task.rows, {}))
        table.people[unique] = alignment.answers_by_row
    aligned = list(tables.values())
    return agreement_of(aligned, seed=study.seed, over=cluster_of(study)), pairs_of_people(aligned)


def people_of(study: AlignmentStudy) -> list[Json]:
    """Return the progress of each person, by name: tables given and handed in, rows of the latter and of those still to
    do, the minutes on task by the rule of labelling (`annotation.domain.effort`), and the hours that the rest takes at
    this person's own pace."""
    sheet = TimeSheet()
    events = AlignmentEvent.objects.filter(alignment__task__study=study).order_by("id")
    fields = ("alignment__annotator_id", "alignment__task_id", "changed_at", "duration_ms")
    for pk, task_id, at, duration in events.values_list(*fields).iterator():
        measured = duration / 1000 if duration is not None else None
        sheet.add(pk, "alignment", task_id, at.timestamp(), measured)
    hours, total = sheet.sums(lambda place: (place[0], place[2])), sheet.sums(lambda place: place[0])
    by_person: dict[User, list[Alignment]] = defaultdict(list)
    rows = Alignment.objects.active().filter(task__study=study).select_related("task", "annotator")
    for alignment in rows.defer("task__text"):
        alignment.task.study = study
        by_person[alignment.annotator].append(alignment)
    people = []
    for person, alignments in by_person.items():
        done, left, took = Counter[str](), Counter[str](), defaultdict[str, float](float)
        handed_in = [alignment.task for alignment in alignments if alignment.state == AlignmentState.HANDED_IN]
        for task in handed_in:
            done[task.cluster] += task.size
            took[task.cluster] += hours[person.pk, task.pk].hours()
        for alignment in alignments:
            if alignment.state != AlignmentState.HANDED_IN:
                left[alignment.task.cluster] += alignment.task.size
        minutes = 60 * total[person.pk].hours()
        people.append(
            {
                "person": person,
                "tables": len(alignments),
                "handed_in": len(handed_in),
                "rows": done.total(),
                "rows_left": left.total(),
                "minutes": minutes,
                "rows_an_hour": 60 * done.total() / minutes if minutes >= 1 else None,
                "forecast": forecast_of([(done[story], took[story]) for story in sorted(done)], list(left.values())),
            }
        )
    return sorted(people, key=lambda row: row["person"].shown_name.casefold())


def accepted_of(study: AlignmentStudy) -> Json:
    """Return the number of `links` in alignments that were handed in, of those `accepted` as proposed, and of accepted
    proposals that were `changed` later. Two statements."""
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
    kept = sum(last[place] for place in proposed)
    return {"links": links, "accepted": kept, "changed": len(proposed) - kept}


def effect_of_proposals(study: AlignmentStudy) -> Json | None:
    """Return how much likelier people link what a page proposes if it does (`effect_of`); None for a study that shows
    proposals to everybody. `lacking` counts the alignments that are in no figure, as they are not handed in: `shown`
    and `blind`, of so many (`of_shown`, `of_blind`). One statement."""
    if not study.blind_share:
        return None
    linked_proposals = []
    lacking = {"shown": 0, "of_shown": 0, "blind": 0, "of_blind": 0}
    rows = Alignment.objects.active().filter(task__study=study).select_related("task").order_by("pk")
    for alignment in rows.defer("task__text"):
        alignment.task.study = study
        arm = "blind" if alignment.is_blind else "shown"
        lacking[f"of_{arm}"] += 1
        if alignment.state != AlignmentState.HANDED_IN:
            lacking[arm] += 1
            continue
        proposals = propose(alignment.task.predictions, alignment.task.gold)
        pairs = {(f"p{at + 1}", f"g{other + 1}") for at, other, _exact in proposals}
        linked = {(row, other) for row, answer in alignment.answers_by_row.items() for other in answer.links}
        linked_proposals.append((alignment.task.cluster, alignment.is_blind, len(pairs), len(pairs & linked)))
    return effect_of(linked_proposals, seed=study.seed, over=cluster_of(study)) | {"lacking": lacking}


def steps_of(project: Project, totals: Totals) -> list[Step]:
    """Return the steps of a project's checklist: aligning while a study is open, calibrating once one is settled, and
    watching once something is watched. Three statements."""
    steps = []
    tasks = AlignmentTask.objects.filter(study__project=project, study__closed_at=None)
    counts = tasks.aggregate(all=Count("id"), settled=Count("id", filter=Q(settled__open_rows=0)))
    if tables := counts["all"]:
        text = gettext("{settled:,} of {tables} settled")
        progress = text.format(settled=counts["settled"], tables=counted(tables, "table"))
        state = State.DONE if counts["settled"] == tables else State.BEGUN
        title, action = gettext("Align models' tables"), gettext("Align")
        steps.append(Step("align", title, state, progress, "judge:studies", action, Role.ANNOTATOR, optional=True))
    settled = Count("tasks", filter=Q(tasks__settled__open_rows=0))
    studies = AlignmentStudy.objects.filter(project=project).annotate(drawn=Count("tasks"), settled=settled)
    versions = list(studies.filter(drawn__gt=0, drawn=F("settled")).values_list("judge_version", flat=True))
    if versions:
        chosen = sum(version != "" for version in versions)
        text = gettext("a judge chosen by {chosen} of {studies}") if chosen else gettext("{studies} settled")
        progress = text.format(chosen=chosen, studies=counted(len(versions), "study", "studies"))
        state = state_of(chosen, len(versions))
        title, action = gettext("Calibrate the judge"), gettext("Calibrate")
        steps.append(Step("calibrate", title, state, progress, "judge:studies", action))
    late = timezone.now() - LATE
    watches = list(AnchorWatch.objects.filter(project=project).values_list("concerns", "due_at"))
    if watches:
        # a watch needs a look if something was noticed that nobody noted, or a repeat is overdue
        looks = sum(bool(concerns) or (due is not None and due < late) for concerns, due in watches)
        progress = counted(len(watches), "watch", "watches")
        if looks:
            text = ngettext("{looks} of {watches} needs a look", "{looks} of {watches} need a look", looks)
            progress = text.format(looks=looks, watches=progress)
        state = State.BEGUN if looks else State.DONE
        title, action = gettext("Watch judges and models"), gettext("Watches")
        steps.append(
            Step("watch", title, state, progress, "judge:watches", action, optional=True, without_stories=True)
        )
    return steps
