from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.db.models import BooleanField, Count, ExpressionWrapper, Max, Min, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from core.database_clock import database_time
from core.views.pages import Context
from workers.access import site_admin
from workers.models import UNENDED, EndpointRateLimit, Item, ItemState, Job, JobState, Process, Worker, WorkerState
from workers.services.jobs import apply_action
from workers.services.processes import ENGINE, is_silent, living, takers_of
from workers.services.progress import progress_of_all, reasons_of
from workers.services.recovery import lease_is_over
from workers.views import live

RECENT = timedelta(hours=1)
MOST_ENDED = 5


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


def _state() -> dict[str, Any]:
    now = database_time()
    querysets = {"running": Job.objects.unended(), "ended": Job.objects.ended()}
    jobs = {name: list(rows.order_by("-id")[:20]) for name, rows in querysets.items()}
    all_jobs = [job for rows in jobs.values() for job in rows]
    progress, reasons = progress_of_all(all_jobs, now=now), reasons_of(all_jobs)
    workers, queue = _workers(now), _queue(now)
    busy = any(job.state != JobState.PAUSED for job in jobs["running"])
    busy = busy or any(worker["state"] == WorkerState.LIVE for worker in workers)
    return {
        **{
            name: [{"job": job, "progress": progress[job.pk], "why": reasons.get(job.pk, "")} for job in rows]
            for name, rows in jobs.items()
        },
        "workers": workers,
        "queue": queue,
        "waiting": sum(row["waiting"] for row in queue),
        "every": 2 if busy else 10,
    }


IDLE, SILENT = "idle", "silent"
ENDED = (WorkerState.GONE, WorkerState.LOST)
Row = dict[str, Any]


def _workers(now: datetime) -> list[Row]:
    """Return {"host", "pid", "kind", "state", "began", "seen"} of each process that works, is idle or silent, and of
    the last ones that ended. A process has a `Worker` for every piece of work, and one row here."""
    recent = Worker.objects.filter(Q(state=WorkerState.LIVE) | Q(heartbeat_at__gte=now - RECENT)).order_by()
    late = Count("pk", filter=lease_is_over())
    spans: Any = recent.values("host", "pid", "kind", "state").annotate(
        began=Min("started_at"), seen=Max("heartbeat_at"), all=Count("pk"), late=late
    )
    rows: dict[tuple[str, int, str], Row] = {}
    for row in sorted(spans, key=lambda span: (span["state"] == WorkerState.LIVE, span["seen"])):
        if row["state"] == WorkerState.LIVE and row["late"] == row["all"]:
            row["state"] = SILENT
        key = (*_place(row), row["kind"])
        rows[key] = row | {"began": min(row["began"], rows.get(key, row)["began"])}
    processes = [*rows.values(), *_idle([row for row in rows.values() if row["state"] in (WorkerState.LIVE, SILENT)])]
    present = sorted((row for row in processes if row["state"] not in ENDED), key=lambda row: row["began"])
    idle = {_place(row) for row in processes if row["state"] == IDLE}
    ended = [row for row in processes if row["state"] in ENDED and _place(row) not in idle]
    return [*present[:100], *sorted(ended, key=lambda row: row["seen"], reverse=True)[:MOST_ENDED]]


def _place(row: Row) -> tuple[str, int]:
    return row["host"], row["pid"]


def _idle(working: list[Row]) -> list[Row]:
    """Return a row for each process that reported itself and is not at work."""
    busy = {_place(row) for row in working}
    processes = Process.objects.annotate(silent=ExpressionWrapper(is_silent(), BooleanField()))
    return [
        {
            "host": process.host,
            "pid": process.pid,
            "kind": ", ".join(name.removeprefix(ENGINE) for name in process.serves),
            "state": SILENT if process.silent else IDLE,
            "began": process.started_at,
            "seen": process.seen_at,
        }
        for process in processes
        if (process.host, process.pid) not in busy
    ]


def _queue(now: datetime) -> list[Row]:
    """Return a row for each endpoint with open items or recent calls, those with work first."""
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    items = Item.objects.filter(job__state__in=UNENDED).still_open().order_by()
    for endpoint, state, job, count in items.values_list("endpoint", "state", "job__state").annotate(Count("id")):
        paused = state == ItemState.HELD or (state == ItemState.WAITING and job == JobState.PAUSED)
        counts[endpoint][JobState.PAUSED if paused else state] += count
    rows = EndpointRateLimit.objects.select_related("endpoint").order_by("endpoint__name")
    since, processes = (now - RECENT).timestamp(), living()
    queue: list[Row] = []
    for row in rows:
        limit = row.rate_limit
        if row.endpoint_id not in counts and max(limit.accepted_at, limit.changed_at) <= since:
            continue
        of_endpoint = counts[row.endpoint_id]
        takers, nobody = takers_of(row.endpoint, processes)
        blocked = max(0.0, limit.blocked_until - now.timestamp())
        queue.append(
            {
                "endpoint": row.endpoint,
                "waiting": of_endpoint[ItemState.WAITING],
                "paused": of_endpoint[JobState.PAUSED],
                "batched": of_endpoint[ItemState.BATCHED],
                "in_flight": of_endpoint[ItemState.CLAIMED],
                "takers": takers,
                "nobody": nobody,
                "rate": limit.rate if row.state else None,
                "refused_at": limit.ceiling if row.state else None,
                "blocked": blocked,
                "reason": limit.reason if blocked else "",
            }
        )
    open_items = ("waiting", "paused", "batched", "in_flight")
    return sorted(queue, key=lambda row: not any(row[name] for name in open_items))


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
