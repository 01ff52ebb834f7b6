"""The tables whose open rows wait for an expert, and which of them a person may decide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from annotation.models import Claim, Membership, Project, Role, User
from annotation.services.claims import renew
from judge.models import Alignment, AlignmentStudy, AlignmentTask, SettledAlignment
from judge.services.open_work import still_aligned


def taken_by_others(project: Project, person: User, now: datetime) -> dict[int, str]:
    """Return by story which other expert decides there now: nobody decides the same story twice."""
    return {claim.story_id: claim.expert.shown_name for claim in Claim.objects.of_others(person, project, now)}


def take_story(*, by: User, task: AlignmentTask, now: datetime) -> str:
    """Claim the story of a table for the expert who decides its rows; return the name of another expert who has it
    already, empty where it is free or the table's story is none of the project's."""
    if task.story_id is None:
        return ""
    taken = renew(by=by, stories=[task.story_id], now=now)
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
