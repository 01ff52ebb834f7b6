"""The live page of a job, wherever it is shown: state and bar, buttons, and what came back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Case, IntegerField, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from workers.models import ItemState, Job, JobState
from workers.services.jobs import Progress, progress_of

TROUBLED = [ItemState.FAILED, ItemState.UNUSABLE]
ITEMS_A_PAGE = 50


def progress_context(job: Job, job_url: str) -> dict[str, Any]:
    """`job_url` is the page that shows it; `every` is in seconds, 0 where nothing moves any more."""
    progress = progress_of(job)
    return {
        "job": job,
        "job_url": job_url,
        "progress": progress,
        "every": _every(job, progress),
        "left": _left(progress.seconds_left),
        "seen": f"{job.state}-{progress.failed}-{progress.unusable}-{_step(progress)}",
    }


def _every(job: Job, progress: Progress) -> int:
    moves = job.state == JobState.RUNNING or progress.in_flight
    return (15 if job.batch else 1) if moves else 0


def _step(progress: Progress) -> int:
    """Which tenth of the way: what came back is shown anew so often, and not under every click."""
    return 0 if not progress.ended else 1 + 10 * progress.ended // progress.total


def _left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1, seconds):.0f} s"


def items_page(request: HttpRequest, job: Job) -> Page:
    """What came back, trouble first, then the newest."""
    ended = job.items.filter(state__in=[ItemState.DONE, *TROUBLED]).select_related("call", "endpoint")
    calm = Case(When(state__in=TROUBLED, then=0), default=1, output_field=IntegerField())
    page = Paginator(ended.order_by(calm, "-finished_at", "id"), ITEMS_A_PAGE).get_page(request.GET.get("page"))
    page.object_list = list(page.object_list)
    return page


def progress_response(request: HttpRequest, context: dict[str, Any], items: Callable[[], Page]) -> HttpResponse:
    """The fragment that the page asks for. Buttons and items come along only when they changed: nothing moves under the
    reader's hands for no reason."""
    changed = request.GET.get("seen", context["seen"]) != context["seen"]
    news = {"oob": True, "page": items()} if changed else {}
    return render(request, "workers/_live.html", context | news)
