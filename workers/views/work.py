from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from workers.access import site_admin
from workers.models import EndpointPace, Item, ItemState, Job, JobState, Worker, WorkerState
from workers.services import jobs as service
from workers.services.steering import steer


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
    recent = now - timedelta(hours=1)
    workers = Worker.objects.filter(state=WorkerState.LIVE) | Worker.objects.filter(heartbeat_at__gte=recent)
    running = list(Job.objects.filter(state__in=[JobState.RUNNING, JobState.PAUSED]).order_by("-id")[:20])
    ended = list(Job.objects.exclude(state__in=[JobState.RUNNING, JobState.PAUSED]).order_by("-id")[:20])
    in_flight = Item.objects.filter(state=ItemState.CLAIMED)
    return {
        "now": now,
        "workers": workers.order_by("-heartbeat_at")[:30],
        "running": [{"job": job, "progress": service.progress_of(job, now=now)} for job in running],
        "ended": [{"job": job, "progress": service.progress_of(job, now=now)} for job in ended],
        "paces": [_pace(row, in_flight, now) for row in EndpointPace.objects.select_related("endpoint")],
        "busy": any(job.state == JobState.RUNNING for job in running),
    }


def _pace(row: EndpointPace, in_flight, now) -> dict:
    state = row.state
    blocked = max(0.0, state.get("blocked_until", 0) - now.timestamp())
    return {
        "endpoint": row.endpoint,
        "in_flight": in_flight.filter(endpoint=row.endpoint_id).count(),
        "rate": state.get("rate"),
        "found": state.get("ceiling"),
        "blocked": blocked,
        "reason": state.get("reason", "") if blocked else "",
    }


@site_admin
@require_GET
def job(request: HttpRequest, uid: str) -> HttpResponse:
    held = get_object_or_404(Job, uid=uid)
    failed = held.items.filter(state__in=[ItemState.FAILED, ItemState.UNUSABLE]).select_related("call", "endpoint")[
        :100
    ]
    context = {"job": held, "progress": service.progress_of(held), "failed": failed}
    return render(request, "workers/job.html", context)


@site_admin
@require_GET
def job_progress(request: HttpRequest, uid: str) -> HttpResponse:
    held = get_object_or_404(Job, uid=uid)
    return render(request, "workers/_progress.html", {"job": held, "progress": service.progress_of(held)})


@site_admin
@require_POST
def job_action(request: HttpRequest, uid: str, action: str) -> HttpResponse:
    steer(get_object_or_404(Job, uid=uid), action)
    return redirect("workers:job", uid)
