"""The outcome of the alignments of a table: the majority once all are handed in, then an expert's decisions. One
function writes settled rows and their events together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import User
from core.messages import gettext_noop
from judge.domain.alignment import RowAnswer, changed, misfit
from judge.domain.settling import SettledRow, decided, settle, standing
from judge.models import Alignment, AlignmentState, AlignmentTask, SettledAlignment, SettledEvent
from judge.services.refused import Refused

_STILL = gettext_noop("This table waits: you aligned it yourself and have not handed it in.")
_OWN = gettext_noop("You aligned this table yourself; another expert or an admin must decide it.")


@dataclass(frozen=True, slots=True)
class Decision:
    """An expert's answer about one row; a link is said of its predicted row."""

    row: str
    answer: RowAnswer


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
    *,
    by: User,
    task: AlignmentTask,
    revision: int,
    decisions: Sequence[Decision],
    now: datetime,
    reason: str = "",
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
    for decision in decisions:
        answers = changed(answers, decision.row, decision.answer)
    for decision in decisions:
        if sentence := misfit(answers, decision.row, rows):
            raise Refused(sentence)
    after = decided(before, answers, rows, [decision.row for decision in decisions])
    return _write(task, after, by=by, now=now, reason=reason)


def check_independence(*, by: User, task: AlignmentTask) -> None:
    """Raise Refused where `by` aligns the table, or has said something of it, even if it was taken away since."""
    own = Alignment.objects.kept_from_deciding().filter(task=task, annotator=by)
    states = set(own.values_list("state", flat=True))
    if states:
        raise Refused(_(_STILL if AlignmentState.OPEN in states else _OWN))


def unsettle(*, task: AlignmentTask) -> None:
    """Forget what was settled by rule, as somebody takes a table back. Raises Refused where an expert decided."""
    if task.settled_events.filter(by__isnull=False).exists():
        raise Refused(_("An expert has decided rows of this table already."))
    SettledAlignment.objects.filter(task=task).delete()


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
