from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta

from django.contrib import messages
from django.db.models import Count, Max, Min, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from workers.access import site_admin
from workers.models import EndpointPace, Item, ItemState, Job, JobState, Worker, WorkerState
from workers.services import jobs as service
from workers.services.steering import steer
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
    now = timezone.now()
    jobs = {"running": _jobs(OPEN_JOBS), "ended": _jobs([JobState.FINISHED, JobState.CANCELLED])}
    progress = service.progress_of_all([one for rows in jobs.values() for one in rows], now=now)
    workers = _workers(now)
    return {
        **{name: [{"job": one, "progress": progress[one.pk]} for one in rows] for name, rows in jobs.items()},
        "workers": workers,
        "paces": _paces(now),
        "busy": any(one.state == JobState.RUNNING for one in jobs["running"])
        or any(one["state"] == WorkerState.LIVE for one in workers),
    }


def _jobs(states: list[JobState]) -> list[Job]:
    return list(Job.objects.filter(state__in=states).order_by("-id")[:20])


def _workers(now: datetime) -> list[dict]:
    """The processes at work, and the last that were: one row each, though a process enters anew with every piece of work."""
    recent = Worker.objects.filter(Q(state=WorkerState.LIVE) | Q(heartbeat_at__gte=now - RECENT)).order_by()
    spans = recent.values("host", "pid", "kind", "state").annotate(began=Min("started_at"), seen=Max("heartbeat_at"))
    processes: dict[tuple, dict] = {}
    for one in sorted(spans, key=lambda one: (one["state"] == WorkerState.LIVE, one["seen"])):
        held = processes.setdefault((one["host"], one["pid"], one["kind"]), one)
        processes[one["host"], one["pid"], one["kind"]] = one | {"began": min(one["began"], held["began"])}
    live_ones = [one for one in processes.values() if one["state"] == WorkerState.LIVE]
    gone = [one for one in processes.values() if one["state"] != WorkerState.LIVE]
    gone = sorted(gone, key=lambda one: one["seen"], reverse=True)[:GONE_SHOWN]
    return [*sorted(live_ones, key=lambda one: one["began"])[:100], *gone]


def _paces(now: datetime) -> list[dict]:
    """Endpoints in use: with items that are open, or asked within the last hour."""
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    open_ = Item.objects.filter(job__state__in=OPEN_JOBS).still_open().order_by()
    for endpoint, state, count in open_.values_list("endpoint", "state").annotate(Count("id")):
        counts[endpoint][state] = count
    rows = EndpointPace.objects.select_related("endpoint").order_by("endpoint__name")
    since = (now - RECENT).timestamp()
    return [
        _pace(row, counts[row.endpoint_id].get(ItemState.CLAIMED, 0), now)
        for row in rows
        if row.endpoint_id in counts or max(row.state.get("accepted_at", 0), row.state.get("changed_at", 0)) > since
    ]


def _pace(row: EndpointPace, in_flight: int, now: datetime) -> dict:
    state = row.state
    blocked = max(0.0, state.get("blocked_until", 0) - now.timestamp())
    return {
        "endpoint": row.endpoint,
        "in_flight": in_flight,
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
    if told := steer(get_object_or_404(Job, uid=uid), action, budget=request.POST.get("budget", "")):
        messages.error(request, told)
    return redirect("workers:job", uid)
