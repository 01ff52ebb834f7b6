"""Giving the tables of a study to people, by the balanced rule of labelling."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.domain.assignment import plan
from annotation.models import User
from annotation.services import audit
from core.ids import new_uid
from core.messages import listed
from judge.models import Alignment, AlignmentEvent, AlignmentStudy
from judge.models.alignment_study import MOST_PEOPLE
from judge.services.refused import Refused


def give_out(*, by: User | None, study: AlignmentStudy, annotators: Collection[User]) -> int:
    """Give every table that lacks people to those of the annotators who have the fewest rows; return how many
    alignments that are. Tables without a row on one side need nobody. Call it in a transaction."""
    if not annotators:
        return 0
    tasks = {task.pk: task for task in study.tasks.defer("text") if task.predictions and task.gold}
    assigned: dict[int, set[int]] = defaultdict(set)
    slots: dict[int, set[int]] = defaultdict(set)
    load: dict[int, int] = defaultdict(int)
    for task, person, slot in (
        Alignment.objects.active().filter(task__in=tasks).values_list("task_id", "annotator_id", "slot")
    ):
        assigned[task].add(person)
        slots[task].add(slot)
        load[person] += tasks[task].size
    sizes = {task.pk: task.size for task in tasks.values()}
    people = sorted(user.pk for user in annotators)
    allowed = range(1, MOST_PEOPLE + 1)
    given = plan(
        sizes, people, overlap=study.overlap, seed=study.seed, assigned=assigned, load=load, allowed=allowed
    ).assignments
    rows = []
    for task, person in given:
        slot = next(slot for slot in allowed if slot not in slots[task])
        slots[task].add(slot)
        rows.append(Alignment(task_id=task, annotator_id=person, slot=slot, assigned_by=by))
    return len(Alignment.objects.bulk_create(rows))


@transaction.atomic
def give_more(*, by: User, study: AlignmentStudy, annotators: Collection[User]) -> int:
    """Give what lacks people to these annotators, as after a release; return how many alignments that are. Raises
    Refused."""
    study = AlignmentStudy.objects.select_for_update(of=("self",)).select_related("project").get(pk=study.pk)
    if study.closed_at is not None:
        raise Refused(_("This study is closed."))
    count = give_out(by=by, study=study, annotators=annotators)
    if count:
        names = listed(sorted(user.username for user in annotators))
        audit.record(by=by, project=study.project, action="alignment.given", target=names, alignments=count)
    return count


@transaction.atomic
def release(*, by: User, study: AlignmentStudy, person: User, now: datetime) -> int:
    """Take the open alignments of a person back, for somebody else to do; return how many. What was handed in
    stays."""
    rows = Alignment.objects.select_for_update(of=("self",)).waiting().filter(task__study=study, annotator=person)
    count = 0
    for alignment in rows:
        alignment.release()
        note(alignment, {"state": alignment.state}, now)
        count += 1
    if count:
        audit.record(
            by=by, project=study.project, action="alignment.released", target=person.username, alignments=count
        )
    return count


def note(alignment: Alignment, after: dict, now: datetime) -> None:
    """Keep in the history what became of a whole table."""
    key = new_uid()
    AlignmentEvent.objects.create(
        alignment=alignment, idempotency_key=key, action=key, after=after, changed_at=now, received_at=now
    )
