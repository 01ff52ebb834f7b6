"""Handing answers to the job handler that asked, ending jobs, and opening them again."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef

from workers.domain.outcomes import Outcome, outcome_of
from workers.models import Call, Item, ItemState, Job, JobState
from workers.services.handlers import Received, handler_of
from workers.services.holding import pause_held

log = logging.getLogger(__name__)


def settle(answered: Sequence[tuple[Item, Call]], *, now: datetime, jobs: Iterable[int] = ()) -> None:
    """Gives each answer to its job handler and ends the item, in the caller's transaction; ends the jobs that have no open item.

    `jobs` are further jobs that may have ended.
    """
    if not answered:
        return end_jobs(jobs, now=now)
    groups: dict[str, list[tuple[Item, Call]]] = defaultdict(list)
    for item, call in answered:
        groups[item.job.purpose].append((item, call))
    rows = []
    for name, group in groups.items():
        received = _received(name, group)
        for item, _ in group:
            came = received[item.pk]
            rows.append((came.state, came.problem, item.made, item.cost, item.unpriced, item.pk))
    Item.objects.settle(rows, now=now)
    end_jobs({item.job_id for item, _ in answered} | set(jobs), now=now)


def _received(name: str, group: Sequence[tuple[Item, Call]]) -> dict[int, Received]:
    """A handler that fails on an answer fails that item alone; the answer stays in the ledger."""
    try:
        with transaction.atomic():
            return dict(handler_of(name).receive(group))
    except Exception:
        if len(group) == 1:
            log.exception("The job handler %s could not take the answer of call %s.", name, group[0][1].uid)
            told = "The answer is kept, but could not be taken in; the worker's log says why."
            return {group[0][0].pk: Received(ItemState.FAILED, told)}
    return {item: received for one in group for item, received in _received(name, [one]).items()}


def end_jobs(jobs: Iterable[int], *, now: datetime) -> None:
    """Finishes those of `jobs` that have no open item, with their outcome. Tells their handlers."""
    ids = list(jobs)
    if not ids:
        return
    open_ = Item.objects.filter(job=OuterRef("pk")).still_open()
    for job in Job.objects.filter(~Exists(open_), pk__in=ids).unended():
        handler = handler_of(job.purpose)
        outcome = _outcome(job, handler.failed_before(job))
        if Job.objects.filter(pk=job.pk).finish(outcome, now=now):
            handler.finished(job)
    pause_held(ids)


def _outcome(job: Job, failed_before: int) -> Outcome:
    counts = Item.objects.filter(job=job).counts()
    return outcome_of(
        done=counts[ItemState.DONE],
        unusable=counts[ItemState.UNUSABLE],
        failed=counts[ItemState.FAILED] + failed_before,
    )


def tell_outcome_anew(job: int) -> None:
    """For a handler that read answers anew, in the caller's transaction: a finished job comes out as its items now stand."""
    held = Job.objects.select_for_update().filter(pk=job, state=JobState.FINISHED).first()
    if held is not None:
        Job.objects.filter(pk=job).change_outcome(_outcome(held, handler_of(held.purpose).failed_before(held)))


def reopen_job(job: int) -> bool:
    """A finished job runs again, in the caller's transaction: something of it is open anew. Its outcome is computed at its next end."""
    return bool(Job.objects.filter(pk=job).reopen())
