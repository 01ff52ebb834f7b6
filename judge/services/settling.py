"""The outcome of the alignments of a table: the majority once all are handed in, then an expert's decisions. One
function writes settled rows and their events together."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.domain.assignment import plan
from annotation.domain.drafts import last_steps
from annotation.models import Project, User
from annotation.services import audit
from annotation.services.effort import Source
from core.ids import new_uid
from core.messages import gettext_noop, listed
from core.plain import Json, plain
from judge.domain.alignment import (
    NOTHING,
    RowAnswer,
    SettledRow,
    changed,
    decided,
    misfit,
    row_name,
    settle,
    standing,
    unanswered,
)
from judge.models import (
    Alignment,
    AlignmentEvent,
    AlignmentState,
    AlignmentStudy,
    AlignmentTask,
    SettledAlignment,
    SettledEvent,
)
from judge.models.alignment_study import MOST_PEOPLE

EFFORT = Source(
    AlignmentEvent, "alignment__annotator", "alignment__task__story", "changed_at", "received_at",
    measured=("duration_ms",), project="alignment__task__study__project",
)  # fmt: skip
"""The time that people align, which counts in the time on task of their project."""


class Refused(ValueError):
    """The step is not possible, or not now; the message is one sentence for the person who tried, in their
    language."""


_STILL = gettext_noop("This table waits: you aligned it yourself and have not handed it in.")
_OWN = gettext_noop("You aligned this table yourself; another expert or an admin must decide it.")


Decision = tuple[str, RowAnswer]
"""A row and an expert's answer about it; a link belongs to its predicted row."""


def settle_if_done(*, task: AlignmentTask, now: datetime) -> SettledAlignment | None:
    """Settle a table that all its people have handed in, or that has nothing to ask; return it as settled, None where
    it is not. Call it in a transaction that has locked the task."""
    people = list(task.alignments.handed_in().order_by("slot"))
    empty = not (task.predictions and task.gold)
    if not empty and len(people) < task.study.overlap:
        return None
    return _write(task, settle([alignment.answers_by_row for alignment in people], task.rows), by=None, now=now)


@transaction.atomic
def decide(
    *, by: User, task: AlignmentTask, revision: int, decisions: Sequence[Decision], now: datetime, reason: str = ""
) -> SettledAlignment:
    """Take an expert's answers about rows of a settled table; they stand from now on. A link to a row takes the rows
    along whose links it changes. Raises Refused, also where somebody else was quicker, and to who aligned the table."""
    check_independence(by=by, task=task)
    task = AlignmentTask.objects.select_for_update(of=("self",)).select_related("study").get(pk=task.pk)
    settled = SettledAlignment.objects.filter(task=task).first()
    if settled is None:
        raise Refused(_("This table is not handed in by all its people yet."))
    if settled.revision != revision:
        raise Refused(_("Somebody decided rows of this table meanwhile; look at them again."))
    before, rows = settled.answers, task.rows
    answers = standing(before)
    for row, answer in decisions:
        answers = changed(answers, row, answer)
    for row, _answer in decisions:
        if sentence := misfit(answers, row, rows):
            raise Refused(sentence)
    after = decided(before, answers, rows, [row for row, _answer in decisions])
    return _write(task, after, by=by, now=now, reason=reason)


def check_independence(*, by: User, task: AlignmentTask) -> None:
    """Raise Refused where `by` aligns the table, or has said something of it, even if it was taken away since."""
    own = Alignment.objects.kept_from_deciding().filter(task=task, annotator=by)
    states = set(own.values_list("state", flat=True))
    if states:
        raise Refused(_(_STILL if AlignmentState.OPEN in states else _OWN))


def _write(
    task: AlignmentTask, rows: Mapping[str, SettledRow], *, by: User | None, now: datetime, reason: str = ""
) -> SettledAlignment:
    """Write settled rows and an event of each that changed: nothing else writes either."""
    settled = SettledAlignment.objects.filter(task=task).first()
    if settled is None:
        # of a table that was taken back and settled anew: a page that shows what it was before must not match
        settled = SettledAlignment(task=task, revision=task.settled_events.count())
    before = settled.rows or {}
    settled.take(rows, now)
    SettledEvent.objects.bulk_create(
        SettledEvent(task=task, row=row, before=before.get(row), after=after, by=by, reason=reason, at=now)
        for row, after in settled.rows.items()
        if before.get(row) != after
    )
    return settled


def give_out(*, by: User | None, study: AlignmentStudy, annotators: Collection[User]) -> int:
    """Give every table that lacks people to those of the annotators who have the fewest rows; return how many
    alignments that are. Tables without a row on one side need nobody. Call it in a transaction."""
    if not annotators:
        return 0
    sizes = {task.pk: task.size for task in study.tasks.defer("text") if task.predictions and task.gold}
    assigned, slots = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)
    load = Counter[int]()
    active = Alignment.objects.active().filter(task__in=sizes)
    for task, person, slot in active.values_list("task_id", "annotator_id", "slot"):
        assigned[task].add(person)
        slots[task].add(slot)
        load[person] += sizes[task]
    people, allowed = sorted(user.pk for user in annotators), range(1, MOST_PEOPLE + 1)
    given = plan(sizes, people, overlap=study.overlap, seed=study.seed, assigned=assigned, load=load, allowed=allowed)
    rows = []
    for task, person in given.assignments:
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
    alignments = list(rows)
    for alignment in alignments:
        alignment.release()
        note(alignment, {"state": alignment.state}, now)
    if count := len(alignments):
        audit.record(
            by=by, project=study.project, action="alignment.released", target=person.username, alignments=count
        )
    return count


def note(alignment: Alignment, after: Json, now: datetime) -> None:
    """Keep in the history what became of a whole table."""
    key = new_uid()
    AlignmentEvent.objects.create(
        alignment=alignment, idempotency_key=key, action=key, after=after, changed_at=now, received_at=now
    )


NOT_OPEN = gettext_noop("This table is handed in; take it back to change it.")
TAKEN_AWAY = gettext_noop("This table is not yours any more.")
CLOSED = gettext_noop("This study is closed.")


@dataclass(frozen=True, slots=True)
class Change:
    """Another answer about one row. Changes of one key press share their `action`; `undoes` is the one they take
    back."""

    row: str
    answer: RowAnswer
    idempotency_key: str
    action: str
    changed_at: datetime
    undoes: str = ""
    accepted: bool = False
    duration_ms: int | None = None


@transaction.atomic
def save_changes(*, alignment: Alignment, changes: Sequence[Change], now: datetime) -> Alignment:
    """Save changes of one person, all or none, in their order; return the alignment as it stands. One that was saved
    before counts once. Raises Refused."""
    alignment = _locked(alignment)
    _check_open(alignment)
    rows, answers = alignment.task.rows, alignment.answers_by_row
    keys = [change.idempotency_key for change in changes]
    saved_keys = set(alignment.events.filter(idempotency_key__in=keys).values_list("idempotency_key", flat=True))
    events = []
    for change in changes:
        if change.idempotency_key in saved_keys:
            continue
        saved_keys.add(change.idempotency_key)
        before, answers = answers.get(change.row, NOTHING), changed(answers, change.row, change.answer)
        if sentence := misfit(answers, change.row, rows):
            raise Refused(sentence)
        event = AlignmentEvent(
            alignment=alignment,
            **{name: getattr(change, name) for name in Change.__slots__ if name != "answer"},
            before=plain(before),
            after=plain(answers.get(change.row, NOTHING)),
            received_at=now,
        )
        events.append(event)
    if events:
        alignment.write(answers)
        AlignmentEvent.objects.bulk_create(events)
    return alignment


@transaction.atomic
def hand_in(*, alignment: Alignment, now: datetime) -> Alignment:
    """Hand a table in, of which every row of both sides has its answer. The last of its people settles it. Raises
    Refused."""
    AlignmentTask.objects.select_for_update(of=("self",)).get(pk=alignment.task_id)
    alignment = _locked(alignment)
    if alignment.state == AlignmentState.HANDED_IN:
        return alignment
    _check_open(alignment)
    if left := unanswered(alignment.answers_by_row, alignment.task.rows):
        row, more = row_name(left[0]).capitalize(), len(left) - 1
        text = ngettext(
            "{row} and {count} more row have no answer yet.", "{row} and {count} more rows have no answer yet.", more
        )
        raise Refused((text if more else _("{row} has no answer yet.")).format(row=row, count=f"{more:,}"))
    alignment.hand_in(now)
    note(alignment, {"state": alignment.state}, now)
    settle_if_done(task=alignment.task, now=now)
    return alignment


@transaction.atomic
def take_back(*, alignment: Alignment, now: datetime) -> Alignment:
    """Open a table again that was handed in; what was settled with it is open again too. Raises Refused once an expert
    has decided rows of it."""
    AlignmentTask.objects.select_for_update(of=("self",)).get(pk=alignment.task_id)
    alignment = _locked(alignment)
    _check_there(alignment)
    if alignment.state == AlignmentState.HANDED_IN:
        if alignment.task.settled_events.filter(by__isnull=False).exists():
            raise Refused(_("An expert has decided rows of this table already."))
        SettledAlignment.objects.filter(task=alignment.task).delete()
        alignment.take_back()
        note(alignment, {"state": alignment.state}, now)
    return alignment


def last_step(*, alignment: Alignment, redo: bool = False) -> tuple[str, list[tuple[str, RowAnswer]]] | None:
    """Return the person's last action on this table (or last undo) with the rows as they were before it, the last that
    it changed first: put back in this order no row ever has a link too many. None where there is nothing to take
    back."""
    events = list(alignment.events.exclude(row=""))
    action = last_steps({event.action: event.undoes for event in events})[redo]
    rows = [
        (event.row, RowAnswer.from_json(event.before or {})) for event in reversed(events) if event.action == action
    ]
    return (action, rows) if rows else None


def _locked(alignment: Alignment) -> Alignment:
    rows = Alignment.objects.select_for_update(of=("self",)).select_related("task__study")
    return rows.get(pk=alignment.pk)


def _check_there(alignment: Alignment) -> None:
    if alignment.state == AlignmentState.RELEASED:
        raise Refused(_(TAKEN_AWAY))
    if alignment.task.study.closed_at is not None:
        raise Refused(_(CLOSED))


def _check_open(alignment: Alignment) -> None:
    _check_there(alignment)
    if not alignment.is_open:
        raise Refused(_(NOT_OPEN))


def alignments_of(project: Project, person: User) -> list[Alignment]:
    """Return the alignments of a person in a project, in the order of the work, without the tables' texts and without
    what tells whose they are. `nth` of `several` tell tables of one story apart, as nothing else that the person may
    know of a table does."""
    rows = Alignment.objects.active().in_order().filter(task__study__project=project, annotator=person)
    hidden = [f"task__{name}" for name in ("text", "key", "source", "origin", "study__frame", "study__origin")]
    alignments = list(rows.select_related("task__study").defer("answers", *hidden))
    several, seen = Counter(alignment.task.number for alignment in alignments), Counter[int]()
    for alignment in alignments:
        seen[alignment.task.number] += 1
        alignment.nth, alignment.several = seen[alignment.task.number], several[alignment.task.number]
    return alignments


def number_of(alignment: Alignment) -> Alignment:
    """Return the alignment with `nth` and `several` as its person's list has them."""
    task = alignment.task
    own = Alignment.objects.active().in_order().filter(annotator=alignment.annotator_id, task__number=task.number)
    keys = list(own.filter(task__study__project=task.study.project_id).values_list("pk", flat=True))
    if alignment.pk in keys:
        alignment.nth, alignment.several = keys.index(alignment.pk) + 1, len(keys)
    return alignment


def next_alignment(project: Project, person: User, *, after: str = "", but: Collection[int] = ()) -> Alignment | None:
    """Return the person's next open table after that alignment, else the first one; none of stories `but`, on which
    they still have other work."""
    rows = Alignment.objects.waiting().in_order().filter(task__study__project=project, annotator=person)
    waiting = [alignment for alignment in rows.select_related("task") if alignment.task.story_id not in but]
    place = {alignment.uid: at for at, alignment in enumerate(alignments_of(project, person) if after else ())}
    later = [alignment for alignment in waiting if after in place and place[alignment.uid] > place[after]]
    return next(iter(later or [alignment for alignment in waiting if alignment.uid != after]), None)
