from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta

from django.contrib import messages
from django.db.models import BooleanField, Count, ExpressionWrapper, Max, Min, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from core.database_clock import database_time
from workers.access import site_admin
from workers.models import EndpointRateLimit, Item, ItemState, Job, JobState, Process, Worker, WorkerState
from workers.services.failures import reasons_of
from workers.services.heartbeat import lease_is_over
from workers.services.jobs import apply_action
from workers.services.processes import ENGINE, is_silent, living, takers_of
from workers.services.progress import progress_of_all
from workers.views import live

RECENT = timedelta(hours=1)
GONE_SHOWN = 5
OPEN_JOBS = [JobState.RUNNING, JobState.PAUSED]


@site_admin
@require_GET
def work(request: HttpRequest) -> HttpResponse:
    """Who works, at what, how fast: the queues of this installation."""
    return render(request, "workers/work.html", _state())


@site_admin
@require_GET
def work_state(request: HttpRequest) -> HttpResponse:
    """The same as a fragment that the page asks for anew while something goes on."""
    return render(request, "workers/_work.html", _state())


def _state() -> dict:
    now = database_time()
    jobs = {"running": _jobs(OPEN_JOBS), "ended": _jobs([JobState.FINISHED, JobState.CANCELLED])}
    every = [one for rows in jobs.values() for one in rows]
    progress, reasons = progress_of_all(every, now=now), reasons_of(every)
    workers, queue = _workers(now), _queue(now)
    busy = any(one.state == JobState.RUNNING for one in jobs["running"])
    busy = busy or any(one["state"] == WorkerState.LIVE for one in workers)
    return {
        **{name: [_listed(one, progress, reasons) for one in rows] for name, rows in jobs.items()},
        "workers": workers,
        "queue": queue,
        "waiting": sum(one["waiting"] for one in queue),
        "every": 2 if busy else 10,
    }


def _listed(job: Job, progress: dict, reasons: dict[int, str]) -> dict:
    return {"job": job, "progress": progress[job.pk], "why": reasons.get(job.pk, "")}


def _jobs(states: list[JobState]) -> list[Job]:
    return list(Job.objects.filter(state__in=states).order_by("-id")[:20])


def _workers(now: datetime) -> list[dict]:
    """The processes that are there, working, idle or silent, and the last that were: one row each, though a process enters anew with
    every piece of work."""
    recent = Worker.objects.filter(Q(state=WorkerState.LIVE) | Q(heartbeat_at__gte=now - RECENT)).order_by()
    late = Count("pk", filter=lease_is_over())
    spans = recent.values("host", "pid", "kind", "state").annotate(
        began=Min("started_at"), seen=Max("heartbeat_at"), all=Count("pk"), late=late
    )
    rows: dict[tuple, dict] = {}
    for one in sorted(spans, key=lambda one: (one["state"] == WorkerState.LIVE, one["seen"])):
        held = rows.get((one["host"], one["pid"], one["kind"]), one)
        shown = SILENT if one["state"] == WorkerState.LIVE and one["late"] == one["all"] else one["state"]
        rows[one["host"], one["pid"], one["kind"]] = one | {"began": min(one["began"], held["began"]), "state": shown}
    there = [*rows.values(), *_idle([one for one in rows.values() if one["state"] in (WorkerState.LIVE, SILENT)])]
    idle = {(one["host"], one["pid"]) for one in there if one["state"] == IDLE}
    gone = [one for one in there if one["state"] in ENDED and (one["host"], one["pid"]) not in idle]
    gone = sorted(gone, key=lambda one: one["seen"], reverse=True)[:GONE_SHOWN]
    return [*sorted((one for one in there if one["state"] not in ENDED), key=lambda one: one["began"])[:100], *gone]


IDLE, SILENT = "idle", "silent"
ENDED = (WorkerState.GONE, WorkerState.LOST)


def _idle(working: list[dict]) -> list[dict]:
    """The processes that reported themselves and are not at work."""
    busy = {(one["host"], one["pid"]) for one in working}
    return [
        {
            "host": one.host, "pid": one.pid, "kind": ", ".join(name.removeprefix(ENGINE) for name in one.serves),
            "state": SILENT if one.silent else IDLE, "began": one.started_at, "seen": one.seen_at,
        }
        for one in Process.objects.annotate(silent=ExpressionWrapper(is_silent(), BooleanField()))
        if (one.host, one.pid) not in busy
    ]  # fmt: skip


def _queue(now: datetime) -> list[dict]:
    """Endpoints in use, with items that are open or asked within the last hour, those with work first; and who can take their work."""
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    open_ = Item.objects.filter(job__state__in=OPEN_JOBS).still_open().order_by()
    for endpoint, state, job, count in open_.values_list("endpoint", "state", "job__state").annotate(Count("id")):
        held = state
        if state == ItemState.HELD or (state == ItemState.WAITING and job == JobState.PAUSED):
            held = JobState.PAUSED
        counts[endpoint][held] += count
    rows = EndpointRateLimit.objects.select_related("endpoint").order_by("endpoint__name")
    since, there = (now - RECENT).timestamp(), living()
    found = [
        _queue_row(row, counts[row.endpoint_id], now)
        | dict(zip(("takers", "nobody"), takers_of(row.endpoint, there), strict=True))
        for row in rows
        if row.endpoint_id in counts or max(row.state.get("accepted_at", 0), row.state.get("changed_at", 0)) > since
    ]
    return sorted(found, key=lambda one: not any(one[name] for name in ("waiting", "paused", "batched", "in_flight")))


def _queue_row(row: EndpointRateLimit, counts: dict[str, int], now: datetime) -> dict:
    state = row.state
    blocked = max(0.0, state.get("blocked_until", 0) - now.timestamp())
    return {
        "endpoint": row.endpoint,
        "waiting": counts[ItemState.WAITING],
        "paused": counts[JobState.PAUSED],
        "batched": counts[ItemState.BATCHED],
        "in_flight": counts[ItemState.CLAIMED],
        "rate": state.get("rate"),
        "found": state.get("ceiling"),
        "blocked": blocked,
        "reason": state.get("reason", "") if blocked else "",
    }


@site_admin
@require_GET
def job(request: HttpRequest, uid: str) -> HttpResponse:
    held = get_object_or_404(Job, uid=uid)
    return render(request, "workers/job.html", _live(held) | {"page": live.items_page(request, held)})


@site_admin
@require_GET
def job_progress(request: HttpRequest, uid: str) -> HttpResponse:
    held = get_object_or_404(Job, uid=uid)
    return live.progress_response(request, _live(held), lambda: live.items_page(request, held))


def _live(held: Job) -> dict:
    return live.progress_context(held, reverse("workers:job", args=[held.uid]), takes_budget=True)


@site_admin
@require_POST
def job_action(request: HttpRequest, uid: str, action: str) -> HttpResponse:
    if told := apply_action(get_object_or_404(Job, uid=uid), action, budget=request.POST.get("budget", "")):
        messages.error(request, told)
    return redirect("workers:job", uid)
