"""One person's alignment of one table: each change is saved as it is made, with its history, until it is handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.domain.drafts import Action, last_steps
from core.messages import gettext_noop
from core.plain import plain
from judge.domain.alignment import NOTHING, RowAnswer, changed, misfit, row_name, unanswered
from judge.models import Alignment, AlignmentEvent, AlignmentState, AlignmentTask
from judge.services.alignment_assignments import note
from judge.services.refused import Refused
from judge.services.settling import settle_if_done, unsettle

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
        events.append(_event(alignment, change, before, answers.get(change.row, NOTHING), now))
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
        raise Refused(_without_answer(left))
    alignment.hand_in(now)
    note(alignment, {"state": alignment.state}, now)
    settle_if_done(task=alignment.task, now=now)
    return alignment


def _without_answer(left: Sequence[str]) -> str:
    first, more = row_name(left[0]).capitalize(), len(left) - 1
    if not more:
        return _("{row} has no answer yet.").format(row=first)
    sentence = ngettext(
        "{row} and {count} more row have no answer yet.", "{row} and {count} more rows have no answer yet.", more
    )
    return sentence.format(row=first, count=f"{more:,}")


@transaction.atomic
def take_back(*, alignment: Alignment, now: datetime) -> Alignment:
    """Open a table again that was handed in; what was settled with it is open again too. Raises Refused once an expert
    has decided rows of it."""
    AlignmentTask.objects.select_for_update(of=("self",)).get(pk=alignment.task_id)
    alignment = _locked(alignment)
    if alignment.state == AlignmentState.RELEASED:
        raise Refused(_(TAKEN_AWAY))
    if alignment.task.study.closed_at is not None:
        raise Refused(_(CLOSED))
    if alignment.state == AlignmentState.HANDED_IN:
        unsettle(task=alignment.task)
        alignment.take_back()
        note(alignment, {"state": alignment.state}, now)
    return alignment


def last_step(*, alignment: Alignment, redo: bool = False) -> tuple[str, list[tuple[str, RowAnswer]]] | None:
    """Return the person's last action on this table (or last undo) with the rows as they were before it, the last that
    it changed first: put back in this order no row ever has a link too many. None where there is nothing to take
    back."""
    events = list(alignment.events.exclude(row=""))
    undoable, redoable = last_steps({event.action: Action(event.action, event.undoes) for event in events}.values())
    action = redoable if redo else undoable
    rows = [
        (event.row, RowAnswer.from_json(event.before or {})) for event in reversed(events) if event.action == action
    ]
    return (action, rows) if rows else None


def _locked(alignment: Alignment) -> Alignment:
    rows = Alignment.objects.select_for_update(of=("self",)).select_related("task__study")
    return rows.get(pk=alignment.pk)


def _check_open(alignment: Alignment) -> None:
    if alignment.state == AlignmentState.RELEASED:
        raise Refused(_(TAKEN_AWAY))
    if alignment.task.study.closed_at is not None:
        raise Refused(_(CLOSED))
    if not alignment.is_open:
        raise Refused(_(NOT_OPEN))


def _event(alignment: Alignment, change: Change, before: RowAnswer, after: RowAnswer, now: datetime) -> AlignmentEvent:
    return AlignmentEvent(
        alignment=alignment, row=change.row, idempotency_key=change.idempotency_key, action=change.action,
        undoes=change.undoes, before=plain(before), after=plain(after), accepted=change.accepted,
        duration_ms=change.duration_ms, changed_at=change.changed_at, received_at=now,
    )  # fmt: skip
