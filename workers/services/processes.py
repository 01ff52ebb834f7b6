"""The processes that take up work, idle ones too: each reports itself, the queues that it serves, and the names of the
keys that it has."""

import os
import socket
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from core.database_clock import database_time
from core.messages import Sentence, gettext_noop
from workers.models import Endpoint, Process

CALLS, ENGINE = "calls", "engine-"
"""The queue of all calls to models elsewhere, and the prefix of the queue of a model that a process holds itself."""
KEPT = timedelta(hours=1)
"""Time that a process is remembered that ended without a word."""


def report(serves: Iterable[str]) -> None:
    """Write that this process is there, and forget those that have long been silent."""
    names = Endpoint.objects.exclude(api_key_env="").order_by().values_list("api_key_env", flat=True).distinct()
    values: dict[str, Any] = {"serves": sorted(serves), "keys": sorted(name for name in names if os.environ.get(name))}
    this_process: dict[str, Any] = {"host": socket.gethostname(), "pid": os.getpid()}
    if not Process.objects.filter(**this_process).update(seen_at=Now(), **values):
        now = database_time()
        Process.objects.update_or_create(**this_process, defaults={**values, "started_at": now, "seen_at": now})
        Process.objects.filter(seen_at__lt=Now() - KEPT).delete()


def leave() -> None:
    """Remove the row of this process."""
    Process.objects.filter(host=socket.gethostname(), pid=os.getpid()).delete()


def is_silent() -> Q:
    """Return the condition of processes that have missed several reports, by the database's clock."""
    return Q(seen_at__lt=Now() - timedelta(seconds=3 * settings.WORKER_SWEEP_SECONDS + settings.WORKER_LEASE_SECONDS))


def living() -> list[Process]:
    """Return the processes that still report, oldest first."""
    return list(Process.objects.exclude(is_silent()).order_by("started_at"))


def takers_of(endpoint: Endpoint, processes: Sequence[Process]) -> tuple[int, str]:
    """Return how many of the processes can take work of the endpoint, and one sentence where none can."""
    in_process = endpoint.about.in_process
    queue = ENGINE + endpoint.name if in_process else CALLS
    serving = [process for process in processes if queue in process.serves]
    able = [process for process in serving if not endpoint.api_key_env or endpoint.api_key_env in process.keys]
    if able:
        return len(able), ""
    if serving:
        return 0, Sentence("No worker has the key {api_key_env}.", api_key_env=endpoint.api_key_env)
    if in_process:
        return 0, f"No worker holds this model: make engine-worker ENDPOINT={endpoint.name}"
    return 0, gettext_noop("No worker is running: make worker")
