"""Delivery of answers to the job handler that asked; ending jobs, and opening them again."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef

from core.messages import gettext_noop
from workers.domain.outcomes import Outcome, outcome_of
from workers.models import Call, Item, ItemState, Job, JobState
from workers.services.handlers import Received, handler_of
from workers.services.holding import MOVING, pause_held

log = logging.getLogger(__name__)


def deliver(answered: Sequence[tuple[Item, Call]], *, now: datetime, jobs: Iterable[int] = ()) -> None:
    """Hand each answer to its job handler and end the item, in the caller's transaction; end the jobs that have no open
    item.

    `jobs` are the ids of further jobs that may have ended.
    """
    if not answered:
        return end_jobs(jobs, now=now)
    groups: dict[str, list[tuple[Item, Call]]] = defaultdict(list)
    for item, call in answered:
        groups[item.job.handler].append((item, call))
    rows = []
    for name, group in groups.items():
        received = _received(name, group)
        for item, _ in group:
            result = received[item.pk]
            rows.append((result.state, result.problem, *item.booked, item.pk))
    Item.objects.deliver(rows, now=now)
    end_jobs({item.job_id for item, _ in answered} | set(jobs), now=now)


def _received(name: str, group: Sequence[tuple[Item, Call]]) -> dict[int, Received]:
    """Return by item id what the handler made of it. A handler that fails on an answer fails only that item."""
    try:
        with transaction.atomic():
            return dict(handler_of(name).receive(group))
    except Exception:
        if len(group) == 1:
            log.exception("The job handler %s could not take the answer of call %s.", name, group[0][1].uid)
            problem = gettext_noop("The answer is kept, but could not be taken in; the worker's log says why.")
            return {group[0][0].pk: Received(ItemState.FAILED, problem)}
    return {item: received for pair in group for item, received in _received(name, [pair]).items()}


def end_jobs(jobs: Iterable[int], *, now: datetime) -> None:
    """Finish those of `jobs` (ids) that have no open item, with their outcome, and tell their handlers."""
    ids = list(jobs)
    if not ids:
        return
    moving = Exists(Item.objects.filter(job=OuterRef("pk"), state__in=MOVING))
    for job in Job.objects.filter(~moving, pk__in=ids).begun():  # asked with every turn: nearly always none
        if Item.objects.filter(job=job).still_open().exists():
            pause_held([job.pk])
            continue
        handler = handler_of(job.handler)
        outcome = _outcome(job, handler.failed_before(job))
        if Job.objects.filter(pk=job.pk).finish(outcome, now=now):
            handler.finished(job)


def _outcome(job: Job, failed_before: int) -> Outcome:
    counts = Item.objects.filter(job=job).counts()
    return outcome_of(
        done=counts[ItemState.DONE],
        unreadable=counts[ItemState.UNREADABLE],
        failed=counts[ItemState.FAILED] + failed_before,
    )


def refresh_outcome(job: int) -> None:
    """Compute the outcome of a finished job again, after its handler parsed answers again."""
    finished = Job.objects.select_for_update().filter(pk=job, state=JobState.FINISHED).first()
    if finished is not None:
        failed_before = handler_of(finished.handler).failed_before(finished)
        Job.objects.filter(pk=job).change_outcome(_outcome(finished, failed_before))


def reopen_job(job: int) -> bool:
    """Let a finished job run again; its outcome is computed at its next end."""
    return bool(Job.objects.filter(pk=job).reopen())
