"""Taking in answers that were made elsewhere: few within the request that brings them, many by a worker, part by part.

A part of many answers lies in the database until the transaction that takes it in, which deletes it: so a process may
be killed at any moment, and no answer is lost or taken in twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from benchmark.models import Entrant, Run, RunItem, RunParcel, RunPreparation, UnreadParcel
from benchmark.services.run_items import add_work
from benchmark.suites.reasons import NOT_IN_FILE
from core.bulk import insert_rows
from core.digests import json_digest
from core.messages import gettext_noop
from workers.models import Job, JobState
from workers.services.delivery import end_jobs
from workers.services.ledger import ImportedAnswer, take_back, take_in
from workers.services.notify import WORKERS

AT_ONCE = 2_000
"""Answers up to which the request that brings them takes them in."""
A_PART = 200
FAILED = gettext_noop(
    "The answers could not be taken in; the worker's log says why. Nothing of them was kept: import them again."
)


class AnswerRow(NamedTuple):
    """One question of an imported run: its sample, step and repetition, and its answer, None with `why` there is none;
    `body` is JSON of what was asked, as far as that is known, `reasoning` what the file keeps apart from the answer."""

    sample: int
    step: str
    turn: int
    text: str | None
    why: str
    body: str
    answered_by: str
    tokens: Sequence[int]
    reasoning: str = ""


def take_later(run: Run, rows: Sequence[AnswerRow]) -> None:
    """Leave answers to the workers, in the caller's transaction."""
    parts = [rows[at : at + A_PART] for at in range(0, len(rows), A_PART)]
    RunParcel.objects.bulk_create([RunParcel(run=run, rows=part) for part in parts], batch_size=50)
    RunPreparation.objects.update_or_create(run=run, defaults={"samples": [], "of": len(rows)})
    WORKERS.notify()


def take_all(run: Run, rows: Sequence[AnswerRow], now: datetime) -> None:
    """Take in all answers of a run and end its job, in the caller's transaction."""
    take_rows(run, rows, now)
    end_jobs([run.job_id], now=now)
    run.job.refresh_from_db()


@transaction.atomic
def take_next(run: Run) -> bool:
    """Take in the next part of a run's answers; returns whether there may be more. With the last one the run ends."""
    job = Job.objects.select_for_update().get(pk=run.job_id)
    if job.state != JobState.PREPARING or UnreadParcel.objects.filter(run=run).exists():
        return False
    preparation = RunPreparation.objects.get(run=run)
    if part := RunParcel.objects.filter(run=run).first():
        take_rows(run, [AnswerRow(*row) for row in part.rows], timezone.now())
        RunPreparation.objects.filter(pk=preparation.pk).update(done=preparation.done + len(part.rows))
        part.delete()
        return True
    RunPreparation.objects.filter(pk=preparation.pk).delete()
    Job.objects.filter(pk=job.pk).prepared()
    end_jobs([job.pk], now=timezone.now())
    return False


def take_back_answers(run: Run) -> None:
    """Delete what was taken in of a run's answers, and what was to be, in the caller's transaction: of an import that
    does not come to its end nothing is kept, and its file can be imported again."""
    RunItem.objects.filter(entrant__run=run).delete()
    RunParcel.objects.filter(run=run).delete()
    UnreadParcel.objects.filter(run=run).delete()
    take_back(run.job)
    RunPreparation.objects.filter(run=run).update(done=0, kept=0)


def take_rows(run: Run, rows: Sequence[AnswerRow], now: datetime) -> None:
    """Make an item for each question, and give it its answer, or the reason why there is none."""
    entrant = Entrant.objects.select_related("endpoint").get(run=run)
    before = RunItem.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    fields = ("entrant", "sample", "step", "unreadable", "repetition")
    values = [(entrant.pk, row.sample, row.step, NOT_IN_FILE if row.text is None else "", row.turn) for row in rows]
    insert_rows(RunItem, fields, values)
    added = entrant.items.filter(pk__gt=before)
    add_work(run=run, run_items=added, now=now)
    items = {
        (sample, step, turn): str(pk)
        for pk, sample, step, turn in added.values_list("pk", "sample", "step", "repetition")
    }
    answers = [_answer(run, items[row[:3]], row) for row in rows if row.text is not None]
    missing = {items[row[:3]]: row.why for row in rows if row.text is None}
    take_in(job=run.job, endpoint=entrant.endpoint, answers=answers, missing=missing, now=now)


def _answer(run: Run, item: str, row: AnswerRow) -> ImportedAnswer:
    key = json_digest(["imported", run.uid, *row[:3]])  # no question asked has it
    first, second = row.tokens
    return ImportedAnswer(
        item=item, key=key, body=row.body, sample=row.turn, answer=row.text or "", answered_by=row.answered_by,
        tokens=(first, second), reasoning=row.reasoning,
    )  # fmt: skip
