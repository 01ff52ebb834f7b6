"""The row of a process while it works, and its lease. What it claimed is its own until the lease expires."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.db.models.functions import Now

from core.database_clock import database_time
from workers.models import Batch, Worker

HEARTBEAT = 2.0
"""Seconds between heartbeats at most."""


class WorkerLost(Exception):
    """Raised where another worker declared this process lost; others took over what it held."""


def pause() -> float:
    """Return the seconds between heartbeats: short enough for the lease."""
    return min(HEARTBEAT, settings.WORKER_LEASE_SECONDS / 4)


def lease_is_over() -> Q:
    """Return the condition of workers whose lease has expired, by the database's clock, which wrote the heartbeat: the
    clocks of processes do not count."""
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
    """End a worker. Others recover what it still holds because it was cut off; its batches go on with the provider
    until another worker watches them."""
    Batch.objects.filter(worker=worker).unwatch()
    Worker.objects.filter(pk=worker.pk).leave()
