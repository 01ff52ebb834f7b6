"""Who is there to take up work, idle or not: each process reports itself, what it serves, and which keys it has by name."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Sequence
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from core.database_clock import database_time
from workers.models import Endpoint, Process

CALLS, ENGINE = "calls", "engine-"
"""The queue of all calls to models elsewhere, and the beginning of the queue of a model that a process holds itself."""
KEPT = timedelta(hours=1)
"""How long a process is remembered that went without a word."""


def report(serves: Iterable[str]) -> None:
    """Writes that this process is there, in one statement after its first; forgets those that have long been silent."""
    names = Endpoint.objects.exclude(api_key_env="").order_by().values_list("api_key_env", flat=True).distinct()
    told = {"serves": sorted(serves), "keys": sorted(name for name in names if os.environ.get(name))}
    me = {"host": socket.gethostname(), "pid": os.getpid()}
    if not Process.objects.filter(**me).update(seen_at=Now(), **told):
        now = database_time()
        Process.objects.update_or_create(**me, defaults={**told, "started_at": now, "seen_at": now})
        Process.objects.filter(seen_at__lt=Now() - KEPT).delete()


def leave() -> None:
    Process.objects.filter(host=socket.gethostname(), pid=os.getpid()).delete()


def is_silent() -> Q:
    """Processes that have not reported for some turns, by the database's clock."""
    return Q(seen_at__lt=Now() - timedelta(seconds=3 * settings.WORKER_SWEEP_SECONDS + settings.WORKER_LEASE_SECONDS))


def living() -> list[Process]:
    return list(Process.objects.exclude(is_silent()).order_by("started_at"))


def takers_of(endpoint: Endpoint, there: Sequence[Process]) -> tuple[int, str]:
    """(how many of the processes can take work of the endpoint, one sentence where none can)."""
    own = endpoint.about.in_process
    serving = [one for one in there if (ENGINE + endpoint.name if own else CALLS) in one.serves]
    able = [one for one in serving if not endpoint.api_key_env or endpoint.api_key_env in one.keys]
    if able:
        return len(able), ""
    if serving:
        return 0, f"No worker has the key {endpoint.api_key_env}."
    if own:
        return 0, f"No worker holds this model: make engine-worker ENDPOINT={endpoint.name}"
    return 0, "No worker is there: make worker"
