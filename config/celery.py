"""Celery notifies the workers. What there is to do lies in the database, so that a lost message loses nothing."""

import logging
import math
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from celery import Celery
from celery.signals import celeryd_after_setup, worker_shutting_down
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# A worker's checks load every page, a third of its memory, and Celery throws away what they find.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
TRANSPORT_ALIASES["files"] = "config.broker:Transport"

app = Celery("credence")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["workers", "benchmark", "judge"])
log = logging.getLogger(__name__)


@celeryd_after_setup.connect  # worker_ready comes only once a broker was reached
def _start_recovery(**_: Any) -> None:
    """Have every worker look for work and for dead workers by itself: no scheduler and no broker has to be up."""
    threading.Thread(target=_recover_periodically, name="recovery", daemon=True).start()


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    from workers import tasks

    tasks.STOP.set()


def _recover_periodically() -> None:
    from django.conf import settings

    from workers import tasks

    _without_harm(_announce)
    _without_harm(tasks.report_process)
    done: dict[str, float] = {}
    while not tasks.STOP.wait(settings.WORKER_SWEEP_SECONDS):
        _without_harm(tasks.recover)
        for name in due_tasks(done, time.monotonic()):
            _without_harm(app.tasks[name])
    _without_harm(tasks.remove_process)


def due_tasks(done: dict[str, float], now: float) -> list[str]:
    """Return the tasks of the schedule (CELERY_BEAT_SCHEDULE) that are due at `now`, in seconds of any clock, and enter
    in `done` when each was last."""
    schedule = {entry["task"]: entry["schedule"] for entry in app.conf.beat_schedule.values()}
    due = [task for task, seconds in schedule.items() if now - done.get(task, -math.inf) >= seconds]
    done.update(dict.fromkeys(due, now))
    return due


def _announce() -> None:
    from workers import tasks

    for sentence in tasks.announce():
        print(sentence, flush=True)


def _without_harm(work: Callable[[], None]) -> None:
    from django.db import connections

    try:
        work()
    except Exception:  # the database may be away; the next look may find it, with a connection of its own
        log.warning("Recovery failed; trying again.", exc_info=True)  # a StorageFilter shortens it
        connections.close_all()
