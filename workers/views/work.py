from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.contrib import messages
from django.db.models import BooleanField, Count, ExpressionWrapper, Max, Min, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from core.database_clock import database_time
from core.views.pages import Context
from workers.access import site_admin
from workers.domain.rate_limit import RateLimit
from workers.models import (
    UNENDED,
    Endpoint,
    EndpointRateLimit,
    Item,
    ItemState,
    Job,
    JobState,
    Process,
    Worker,
    WorkerState,
)
from workers.services.jobs import apply_action
from workers.services.processes import ENGINE, is_silent, living, takers_of
from workers.services.progress import Progress, progress_of_all, reasons_of
from workers.services.recovery import lease_is_over
from workers.views import live

RECENT = timedelta(hours=1)
MOST_ENDED = 5


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job, how it stands, and why it failed or waits; empty where it does neither."""

    job: Job
    progress: Progress
    why: str


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A process, and what it works for. `state` is a worker's, or idle or silent."""

    host: str
    pid: int
    kind: str
    state: str
    began: datetime
    seen: datetime

    @property
    def place(self) -> tuple[str, int]:
        return self.host, self.pid


@dataclass(frozen=True, slots=True)
class QueueRow:
    """An endpoint with its open items by what becomes of them, and its rate in calls a second.

    `takers` workers can take them; without any `nobody` says why. It is blocked for so many seconds, for a `reason`.
    """

    endpoint: Endpoint
    waiting: int
    paused: int
    batched: int
    in_flight: int
    takers: int
    nobody: str
    rate: float | None
    refused_at: float | None
    blocked: float
    reason: str

    @property
    def is_empty(self) -> bool:
        return not (self.waiting or self.paused or self.batched or self.in_flight)


@site_admin
@require_GET
def work(request: HttpRequest) -> HttpResponse:
    """Show the jobs, the workers and the queues of this installation."""
    return render(request, "workers/work.html", _state())


@site_admin
@require_GET
def work_state(request: HttpRequest) -> HttpResponse:
    """Return the work page's fragment, which the page asks for again and again."""
    return render(request, "workers/_work.html", _state())


def _state() -> dict:
    now = database_time()
    jobs = {"running": _jobs(Job.objects.unended()), "ended": _jobs(Job.objects.ended())}
    all_jobs = [job for rows in jobs.values() for job in rows]
    progress, reasons = progress_of_all(all_jobs, now=now), reasons_of(all_jobs)
    workers, queue = _workers(now), _queue(now)
    busy = any(job.state != JobState.PAUSED for job in jobs["running"])
    busy = busy or any(worker.state == WorkerState.LIVE for worker in workers)
    return {
        **{
            name: [JobRow(job, progress[job.pk], reasons.get(job.pk, "")) for job in rows]
            for name, rows in jobs.items()
        },
        "workers": workers,
        "queue": queue,
        "waiting": sum(row.waiting for row in queue),
        "every": 2 if busy else 10,
    }


def _jobs(jobs: QuerySet[Job]) -> list[Job]:
    return list(jobs.order_by("-id")[:20])


def _workers(now: datetime) -> list[ProcessRow]:
    """Return a row for each process that works, is idle or silent, and for the last ones that ended; a process has a
    `Worker` for every piece of work, and one row here."""
    recent = Worker.objects.filter(Q(state=WorkerState.LIVE) | Q(heartbeat_at__gte=now - RECENT)).order_by()
    late = Count("pk", filter=lease_is_over())
    spans = recent.values("host", "pid", "kind", "state").annotate(
        began=Min("started_at"), seen=Max("heartbeat_at"), all=Count("pk"), late=late
    )
    rows: dict[tuple[str, int, str], ProcessRow] = {}
    for span in sorted(spans, key=lambda span: (span["state"] == WorkerState.LIVE, span["seen"])):
        silent = span["state"] == WorkerState.LIVE and span["late"] == span["all"]
        row = ProcessRow(
            span["host"], span["pid"], span["kind"], SILENT if silent else span["state"], span["began"], span["seen"]
        )
        key = (*row.place, row.kind)
        rows[key] = replace(row, began=min(row.began, rows.get(key, row).began))
    processes = [*rows.values(), *_idle([row for row in rows.values() if row.state in (WorkerState.LIVE, SILENT)])]
    present = sorted((row for row in processes if row.state not in ENDED), key=lambda row: row.began)
    idle = {row.place for row in processes if row.state == IDLE}
    ended = [row for row in processes if row.state in ENDED and row.place not in idle]
    return [*present[:100], *sorted(ended, key=lambda row: row.seen, reverse=True)[:MOST_ENDED]]


IDLE, SILENT = "idle", "silent"
ENDED = (WorkerState.GONE, WorkerState.LOST)


def _idle(working: list[ProcessRow]) -> list[ProcessRow]:
    """Return a row for each process that reported itself and is not at work."""
    busy = {row.place for row in working}
    return [
        ProcessRow(
            process.host, process.pid, ", ".join(name.removeprefix(ENGINE) for name in process.serves),
            SILENT if process.silent else IDLE, process.started_at, process.seen_at,
        )
        for process in Process.objects.annotate(silent=ExpressionWrapper(is_silent(), BooleanField()))
        if (process.host, process.pid) not in busy
    ]  # fmt: skip


def _queue(now: datetime) -> list[QueueRow]:
    """Return a row for each endpoint with open items or calls within the last hour, those with work first, and how many
    workers can take it."""
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    items = Item.objects.filter(job__state__in=UNENDED).still_open().order_by()
    for endpoint, state, job, count in items.values_list("endpoint", "state", "job__state").annotate(Count("id")):
        paused = state == ItemState.HELD or (state == ItemState.WAITING and job == JobState.PAUSED)
        counts[endpoint][JobState.PAUSED if paused else state] += count
    rows = EndpointRateLimit.objects.select_related("endpoint").order_by("endpoint__name")
    since, processes = (now - RECENT).timestamp(), living()
    queue = [
        _queue_row(row, counts[row.endpoint_id], takers_of(row.endpoint, processes), now)
        for row in rows
        if row.endpoint_id in counts or _moved_at(row.rate_limit) > since
    ]
    return sorted(queue, key=lambda row: row.is_empty)


def _moved_at(limit: RateLimit) -> float:
    """Return when a call was last accepted or the rate last lowered, in seconds since the epoch."""
    return max(limit.accepted_at, limit.changed_at)


def _queue_row(row: EndpointRateLimit, counts: dict[str, int], takers: tuple[int, str], now: datetime) -> QueueRow:
    limit = row.rate_limit
    blocked = max(0.0, limit.blocked_until - now.timestamp())
    return QueueRow(
        endpoint=row.endpoint,
        waiting=counts[ItemState.WAITING],
        paused=counts[JobState.PAUSED],
        batched=counts[ItemState.BATCHED],
        in_flight=counts[ItemState.CLAIMED],
        takers=takers[0],
        nobody=takers[1],
        rate=limit.rate if row.state else None,
        refused_at=limit.ceiling if row.state else None,
        blocked=blocked,
        reason=limit.reason if blocked else "",
    )


@site_admin
@require_GET
def job(request: HttpRequest, uid: str) -> HttpResponse:
    current = get_object_or_404(Job, uid=uid)
    return render(request, "workers/job.html", _live(current) | live.items_context(request, current))


@site_admin
@require_GET
def job_progress(request: HttpRequest, uid: str) -> HttpResponse:
    current = get_object_or_404(Job, uid=uid)
    return live.progress_response(request, _live(current), lambda: live.items_context(request, current))


def _live(job: Job) -> Context:
    return live.progress_context(job, reverse("workers:job", args=[job.uid]))


@site_admin
@require_POST
def job_action(request: HttpRequest, uid: str, action: str) -> HttpResponse:
    if refusal := apply_action(get_object_or_404(Job, uid=uid), action, budget=request.POST.get("budget", "")):
        messages.error(request, refusal)
    return redirect("workers:job", uid)
