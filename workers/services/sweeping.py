"""Setting right what a dead process left: every few seconds in every worker, and at start. May run anywhere, at any time, twice."""

from __future__ import annotations

import time
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from workers.models import (
    IN_FLIGHT,
    OPEN,
    Attempt,
    Batch,
    Call,
    CallState,
    Item,
    ItemState,
    Job,
    JobState,
    Worker,
    WorkerState,
)
from workers.services import heartbeat
from workers.services.holding import pause_held
from workers.services.settling import end_jobs

LOST_TOLD = "The worker that sent it is gone, and no answer is known."


def sweep(*, now: datetime, patience: float | None = None) -> int:
    """Declares workers lost whose heart has stopped, and frees what they held; ends jobs that were left without open items.

    `now` is what is written down. Whose lease is over the database says by its own clock, and even that may have been set forward:
    so a worker is lost that showed no sign of life between two looks, `patience` seconds apart (half a lease). Returns how many workers it
    freed from what they held.
    """
    freed = 0
    for worker in _silent(settings.WORKER_LEASE_SECONDS / 2 if patience is None else patience):
        heartbeat.cut_off(worker)
        with transaction.atomic():
            # not "=": SQLite keeps what its own clock wrote with three decimals, and compares it as text with the six of a parameter
            still = Worker.objects.filter(pk=worker.pk, heartbeat_at__lte=worker.heartbeat_at)
            if still.lose():
                _free(worker, now)
                freed += 1
    for worker in Worker.objects.filter(pk__in=_ended_holders()):
        with transaction.atomic():
            _free(worker, now)
            freed += 1
    _end_left_jobs(now)
    return freed


_suspects: dict[int, tuple[datetime, float]] = {}
"""By worker its last sign of life when this process first found its lease over, and when that was."""


def suspects() -> bool:
    """Whether some worker seems lost and has to be looked at once more."""
    return bool(_suspects)


def _silent(patience: float) -> list[Worker]:
    global _suspects
    at, found, silent = time.monotonic(), {}, []
    for worker in Worker.objects.filter(heartbeat.lease_is_over()).live():
        sign, since = _suspects.get(worker.pk, (None, at))
        since = since if sign == worker.heartbeat_at else at
        if at - since >= patience:
            silent.append(worker)
        else:
            found[worker.pk] = (worker.heartbeat_at, since)
    _suspects = found  # in one step: two threads of a process may sweep at once
    return silent


def _ended_holders() -> set[int]:
    """Workers that ended and still hold something: cut off at their end, or declared lost in the middle of a claim."""
    ended = Q(worker__isnull=False) & ~Q(worker__state=WorkerState.LIVE)
    held = (
        Item.objects.filter(ended, state=ItemState.CLAIMED),
        Call.objects.filter(ended, state__in=IN_FLIGHT),
        Batch.objects.filter(ended).unended(),
    )
    return {worker for rows in held for worker in rows.order_by().values_list("worker", flat=True).distinct()}


def _free(worker: Worker, now: datetime) -> None:
    """In the caller's transaction. What was not sent waits again; what was sent has an unknown outcome."""
    Call.objects.filter(worker=worker).release()
    sent = list(Call.objects.filter(worker=worker, state=CallState.SENT).values_list("pk", flat=True))
    # Its own, too, where the late answer of a worker before it has ended the call.
    awaited = Attempt.objects.filter(Q(call__in=sent) | Q(worker=worker), outcome="")
    awaited.update(outcome="unknown", finished_at=now, problem=LOST_TOLD)
    Call.objects.filter(pk__in=sent).lose(problem=LOST_TOLD)
    for item in Item.objects.filter(worker=worker, state=ItemState.CLAIMED, call__in=sent).select_related("call"):
        most = item.call.reserved_cost
        booked = {"unpriced": F("unpriced") + 1} if most is None else {"cost": F("cost") + most}
        Item.objects.filter(pk=item.pk).update(**booked, made=True)
    Item.objects.filter(worker=worker).release(now=now)
    Batch.objects.filter(worker=worker).unended().update(worker=None)


def _end_left_jobs(now: datetime) -> None:
    """A process may die between the last item and the end of its job."""
    still = Item.objects.filter(job=OuterRef("pk"), state__in=OPEN)
    left = Job.objects.filter(state=JobState.RUNNING).exclude(Exists(still))
    with transaction.atomic():
        end_jobs(left.values_list("pk", flat=True), now=now)
        held = Item.objects.filter(job__state=JobState.RUNNING, state=ItemState.HELD)
        pause_held(set(held.order_by().values_list("job", flat=True)))


def claimable(*, now: datetime) -> list[tuple[int, str]]:
    """(id, provider) of the endpoints for which a running job has something to do."""
    items = Item.objects.filter(job__state=JobState.RUNNING, state__in=[ItemState.WAITING, ItemState.BATCHED])
    return list(items.order_by().values_list("endpoint_id", "endpoint__provider").distinct())
