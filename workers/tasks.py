"""Celery tasks of the workers. Messages carry no work: what there is to do lies in the database."""

import threading

from celery import current_app, shared_task
from django.db import connections

from core.database_clock import database_time
from workers.models import Endpoint, Job
from workers.providers import registry
from workers.services import notify, processes
from workers.services.channels import endpoints_with_work
from workers.services.endpoints import TRY_SECONDS, begin_try, try_endpoint
from workers.services.recovery import reap
from workers.services.run_to_end import prepare_all
from workers.services.runner import Runner

STOP = threading.Event()
"""Set when this process shuts down: nothing more is claimed, and what is in flight comes to its end."""
_working, _preparing = threading.Lock(), threading.Lock()


@shared_task(name="workers.work", ignore_result=True)
def work() -> None:
    """Make the calls that wait, of all endpoints whose model is elsewhere; returns when nothing is left."""
    if _working.acquire(blocking=False):  # one loop in a process has room for all calls
        try:
            Runner(stop=STOP).run()
        finally:
            _working.release()
            connections.close_all()


@shared_task(name="workers.prepare_jobs", ignore_result=True)
def prepare_jobs() -> None:
    """Make the items of jobs that are preparing; returns when all are there."""
    if _preparing.acquire(blocking=False):
        try:
            prepare_all(STOP)
        finally:
            _preparing.release()
            connections.close_all()


@shared_task(name="workers.work_engine", ignore_result=True)
def work_engine(endpoint: str) -> None:
    """Make the calls of an endpoint whose model this process holds."""
    from workers.services.engine_runner import EngineRunner

    try:
        EngineRunner.of(endpoint, stop=STOP).run()
    finally:
        connections.close_all()


@shared_task(name="workers.try_endpoint", ignore_result=True)
def try_one(endpoint: int) -> None:
    """Try an endpoint, by its id."""
    try:
        try_endpoint(endpoint=Endpoint.objects.get(pk=endpoint))
    finally:
        connections.close_all()


def ask_to_try(endpoint: Endpoint) -> bool:
    """Ask a worker to make one short call; False where the broker cannot be reached."""
    queue = queue_of_engine(endpoint.name) if endpoint.about.in_process else processes.CALLS
    try:
        try_one.apply_async([endpoint.pk], queue=queue, retry=False, expires=TRY_SECONDS)
    except Exception:
        return False
    return True


def start_try(endpoint: Endpoint) -> bool:
    """Ask a worker to make one short call, unless one is awaited already; False where the broker cannot be reached."""
    return not begin_try(endpoint) or ask_to_try(endpoint)


def queue_of_engine(endpoint: str) -> str:
    """Return the name of the queue for an endpoint whose model a worker holds."""
    return processes.ENGINE + endpoint


def notify_workers() -> None:
    """Notify the workers of everything that waits. Raises where the broker cannot be reached."""
    if Job.objects.preparing().exists():
        prepare_jobs.apply_async(queue=processes.CALLS, retry=False, expires=60)
    endpoints = endpoints_with_work()
    in_process = [pk for pk, provider in endpoints if registry.find(provider).in_process]
    if len(in_process) < len(endpoints):
        work.apply_async(queue=processes.CALLS, retry=False, expires=60)
    engines = Endpoint.objects.filter(pk__in=in_process)
    for name in engines.values_list("name", flat=True):
        work_engine.apply_async([name], queue=queue_of_engine(name), retry=False, expires=60)


def report_process() -> None:
    """Record that this worker is there, also while it has nothing to do."""
    processes.report(consumed_queues())


def recover() -> None:
    """Free what dead workers held and notify the others of what waits; without a broker this worker does it."""
    try:
        report_process()
        reap(now=database_time())
        if Job.objects.preparing().exists() or endpoints_with_work():
            try:
                notify_workers()
            except Exception:
                if processes.CALLS in consumed_queues():
                    prepare_jobs()
                    work()
    finally:
        connections.close_all()


def remove_process() -> None:
    """Take this worker off the list once its last answer is in."""
    try:
        processes.leave()
    finally:
        connections.close_all()


def announce() -> list[str]:
    """Return the sentences that a worker prints at start: the engines that it was started for and that are not
    registered."""
    names = [name.removeprefix(processes.ENGINE) for name in consumed_queues() if name.startswith(processes.ENGINE)]
    known = set(Endpoint.objects.filter(name__in=names).values_list("name", flat=True))
    connections.close_all()
    return [f"There is no endpoint {name!r}." for name in names if name not in known]


def consumed_queues() -> set[str]:
    """Return the names of the queues that this process takes."""
    return set(current_app.amqp.queues.consume_from)


notify.WORKERS.connect(notify_workers)
