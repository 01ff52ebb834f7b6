"""Recovery of what a dead process held: every few seconds in every worker, and at start. May run anywhere, at any time,
twice."""

import os
import socket
import time
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from core.database_clock import database_time
from core.messages import gettext_noop
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
from workers.services.delivery import end_jobs
from workers.services.holding import pause_held

HEARTBEAT = 2.0
"""Seconds between heartbeats at most."""


class WorkerLost(Exception):
    """Raised where another worker declared this process lost; others took over what it held."""


def pause() -> float:
    """Return the seconds between heartbeats: short enough for the lease."""
    return min(HEARTBEAT, settings.WORKER_LEASE_SECONDS / 4)


def lease_is_over() -> Q:
    """Return the condition of workers whose lease has expired, by the clock of the database."""
    return Q(heartbeat_at__lt=Now() - timedelta(seconds=settings.WORKER_LEASE_SECONDS))


def enter(kind: str = "calls") -> Worker:
    """Write the row of a process that begins to work. `kind` is the queue, or the endpoint that it holds."""
    now = database_time()
    worker = Worker.objects.enter(socket.gethostname(), os.getpid(), kind, now=now)
    _name_connection(worker)
    return worker


def beat(worker: Worker) -> None:
    """Renew the lease, on the connection that the process works with. Raises WorkerLost."""
    _name_connection(worker)  # it may be a new one
    if not Worker.objects.filter(pk=worker.pk).beat():
        raise WorkerLost


def _name_connection(worker: Worker) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('application_name', %s, false)", [f"credence-{worker.uid}"])


def cut_off(worker: Worker) -> None:
    """End the connections of a worker whose lease expired (PostgreSQL).

    A process that hangs in the middle of a transaction keeps its locks, under which the whole fleet claims and writes.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s AND datname = "
                "current_database() AND pid <> pg_backend_pid()",
                [f"credence-{worker.uid}"],
            )


def leave(worker: Worker) -> None:
    """End a worker. Others recover what it still holds; its batches go on until another worker watches them."""
    Batch.objects.filter(worker=worker).unwatch()
    Worker.objects.filter(pk=worker.pk).leave()


LOST_PROBLEM = gettext_noop("The worker that sent it is gone, and no answer is known.")


def reap(*, now: datetime, patience: float | None = None) -> int:
    """Declare workers lost whose lease has expired, free what they held, and end jobs without open items. Returns how
    many workers were freed.

    `now` is what is written down. Leases expire by the database's clock, and even that may have been set forward: so a
    worker is lost only when two looks, `patience` seconds apart (default: half a lease), find the same expired
    heartbeat.
    """
    freed = 0
    for worker in _expired(settings.WORKER_LEASE_SECONDS / 2 if patience is None else patience):
        cut_off(worker)
        with transaction.atomic():
            # not "=": SQLite keeps what its own clock wrote with three decimals, and compares it as text with the six
            # of a parameter
            without_newer = Worker.objects.filter(pk=worker.pk, heartbeat_at__lte=worker.heartbeat_at)
            if without_newer.lose():
                _free(worker, now)
                freed += 1
    holders = _ended_holders()
    for worker in Worker.objects.filter(pk__in=holders) if holders else ():
        with transaction.atomic():
            _free(worker, now)
            freed += 1
    running = Job.objects.filter(state=JobState.RUNNING)
    with transaction.atomic():  # of jobs whose process died between the last item and the end of the job
        left = running.exclude(Exists(Item.objects.filter(job=OuterRef("pk"), state__in=OPEN)))
        end_jobs(left.values_list("pk", flat=True), now=now)
        pause_held(running.filter(items__state=ItemState.HELD).order_by().values_list("pk", flat=True).distinct())
    return freed


_suspects: dict[int, tuple[datetime, float]] = {}
"""Suspects by worker id: the heartbeat at which this process first found the lease expired, and when that was
(monotonic seconds)."""


def suspects() -> bool:
    """Return whether the lease of some worker has expired, so that it has to be looked at once more."""
    return bool(_suspects)


def _expired(patience: float) -> list[Worker]:
    global _suspects
    at, still_suspect, expired = time.monotonic(), {}, []
    for worker in Worker.objects.filter(lease_is_over()).live():
        heartbeat_before, since = _suspects.get(worker.pk, (None, at))
        since = since if heartbeat_before == worker.heartbeat_at else at
        if at - since >= patience:
            expired.append(worker)
        else:
            still_suspect[worker.pk] = (worker.heartbeat_at, since)
    _suspects = still_suspect  # in one step: two threads of a process may reap at once
    return expired


_ENDED = Q(worker__isnull=False) & ~Q(worker__state=WorkerState.LIVE)


def _ended_holders() -> set[int]:
    """Return ids of workers that ended and still hold something: cut off, or lost in the middle of a claim."""
    held = (
        Item.objects.filter(_ENDED, state=ItemState.CLAIMED),
        Call.objects.filter(_ENDED, state__in=IN_FLIGHT),
        Batch.objects.filter(_ENDED).unended(),
    )
    return {worker for rows in held for worker in rows.order_by().values_list("worker", flat=True).distinct()}


def _free(worker: Worker, now: datetime) -> None:
    """Free what a worker holds: what was not sent waits again, what was sent has an unknown outcome."""
    Call.objects.filter(worker=worker).release()
    sent = list(Call.objects.filter(worker=worker, state=CallState.SENT).values_list("pk", flat=True))
    # Its own, too, where the late answer of a worker before it has ended the call.
    Attempt.objects.filter(Q(call__in=sent) | Q(worker=worker)).lose(problem=LOST_PROBLEM, now=now)
    Call.objects.filter(pk__in=sent).lose(problem=LOST_PROBLEM)
    for item in Item.objects.filter(worker=worker, state=ItemState.CLAIMED, call__in=sent).select_related("call"):
        Item.objects.filter(pk=item.pk).book(item.planned.reserved_cost)
    Item.objects.filter(worker=worker).release(now=now)
    Batch.objects.filter(worker=worker).unwatch()
