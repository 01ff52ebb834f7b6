"""Running a job to its end from a command."""

import logging
import threading
import time
from collections.abc import Callable

from django.db import DatabaseError
from django.utils import timezone

from core.database_clock import database_time
from core.messages import gettext_noop
from workers.models import Item, Job, JobState, Worker, WorkerState
from workers.providers import registry
from workers.services import processes
from workers.services.handlers import HandlerUnknown, handler_of
from workers.services.recovery import lease_is_over, reap
from workers.services.runner import Runner

log = logging.getLogger(__name__)
UNPREPARED = gettext_noop("Its questions could not be made; the worker's log says why. Retry makes them again.")


def prepare_all(stop: threading.Event) -> None:
    """Make the items of all jobs that are preparing, or until `stop` is set."""
    for job in Job.objects.preparing().order_by("-priority", "id"):
        if not stop.is_set():
            prepare(job, stop)


def prepare(job: Job, stop: threading.Event) -> None:
    """Make the items of a job that is preparing. A job whose handler fails ends as failed, with a sentence; where the
    database cannot be written to it is left to be tried again."""
    try:
        handler_of(job.handler).prepare(job, stop.is_set)
    except DatabaseError:
        log.exception("Job %s could not be prepared now.", job.uid)
    except HandlerUnknown as error:
        Job.objects.filter(pk=job.pk).fail_preparation(str(error), now=timezone.now())
    except Exception:
        log.exception("The job handler %s could not prepare job %s.", job.handler, job.uid)
        Job.objects.filter(pk=job.pk).fail_preparation(UNPREPARED, now=timezone.now())


PATIENCE = 3.0
"""Seconds within which a running worker should have taken up the job."""


def run_to_end(*, job: Job, on_progress: Callable[[], None] = lambda: None, stop: threading.Event | None = None) -> Job:
    """Wait until the job is finished, paused or cancelled, and return it. Run it in this process where no worker takes
    it up.

    `on_progress` is called at every look. Once `stop` is set nothing more is claimed, and this returns when no call of
    this process is in flight.
    """
    stop = stop or threading.Event()
    began = time.monotonic()
    while True:
        job.refresh_from_db()
        on_progress()
        if job.state == JobState.PREPARING and not stop.is_set():
            prepare(job, stop)
            job.refresh_from_db()
        if job.state != JobState.RUNNING or stop.is_set():
            return job
        reap(now=database_time())
        is_taken_up = Item.objects.filter(job=job, worker__state=WorkerState.LIVE).exists()
        if not is_taken_up:
            any_lives = Worker.objects.live().exclude(lease_is_over()).exists()
            is_taken_up = time.monotonic() - began <= (PATIENCE if any_lives else 0)  # or will be
        if not is_taken_up:
            _run_here(job, on_progress, stop)
        if Item.objects.filter(job=job).still_open().exists():
            stop.wait(0.2)  # also where this process has just worked: what is left waits for its time


def _run_here(job: Job, on_progress: Callable[[], None], stop: threading.Event) -> None:
    from workers.services.engine_runner import EngineRunner

    for name, provider in set(job.items.values_list("endpoint__name", "endpoint__provider")):
        if registry.find(provider).in_process:
            EngineRunner.of(name, stop=stop, only=job.pk).run()
    # The bar reads the database, which an event loop must not wait for: a thread of its own draws it.
    done = threading.Event()

    def draw() -> None:
        while not done.wait(0.5):
            on_progress()

    drawer = threading.Thread(target=draw, daemon=True)
    drawer.start()
    try:
        Runner(only=job.pk, stop=stop).run()
    finally:
        processes.leave()
        done.set()
        drawer.join(5)
