"""Seeing a job through to its end from a command."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from core.database_clock import database_time
from workers.models import Item, Job, JobState, Worker, WorkerState
from workers.providers import registry
from workers.services import processes
from workers.services.heartbeat import lease_is_over
from workers.services.recovery import reap
from workers.services.runner import Runner

PATIENCE = 3.0
"""Seconds in which a worker that runs should have taken up the job."""


def see_through(*, job: Job, on_look: Callable[[], None] = lambda: None, stop: threading.Event | None = None) -> Job:
    """Returns when the job is finished, paused or cancelled. Works it off in this process where no worker takes it up.

    Once `stop` is set it claims nothing more, and returns when what this process has in flight has come to its end.
    """
    stop = stop or threading.Event()
    began = time.monotonic()
    while True:
        job.refresh_from_db()
        on_look()
        if job.state != JobState.RUNNING or stop.is_set():
            return job
        reap(now=database_time())
        if not _somebody_works(job) and time.monotonic() - began > PATIENCE * bool(_live()):
            _work(job, on_look, stop)
        if Item.objects.filter(job=job).still_open().exists():
            stop.wait(0.2)  # also where this process has just worked: what is left waits for its time


def _live() -> bool:
    return Worker.objects.live().exclude(lease_is_over()).exists()


def _somebody_works(job: Job) -> bool:
    held = Item.objects.filter(job=job).exclude(worker=None).filter(worker__state=WorkerState.LIVE)
    return held.exists()


def _work(job: Job, on_look: Callable[[], None], stop: threading.Event) -> None:
    from workers.services.engine_runner import EngineRunner

    for name, provider in set(job.items.values_list("endpoint__name", "endpoint__provider")):
        if registry.find(provider).in_process:
            EngineRunner.of(name, stop=stop, only=job.pk).run()
    # The bar reads the database, which an event loop must not wait for: a thread of its own draws it.
    done = threading.Event()

    def draw() -> None:
        while not done.wait(0.5):
            on_look()

    drawer = threading.Thread(target=draw, daemon=True)
    drawer.start()
    try:
        Runner(only=job.pk, stop=stop).run()
    finally:
        processes.leave()
        done.set()
        drawer.join(5)
