"""The live page of a job, wherever it is shown: state and progress bar, buttons, and what came back."""

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Case, IntegerField, Q, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from core.views.pages import Context
from workers.models import CAME_BACK, TROUBLED, ItemState, Job, JobState
from workers.services.handlers import closed
from workers.services.jobs import ACTIONS, least_budget
from workers.services.progress import progress_of, shortfall_of

ITEMS_A_PAGE = 50


def progress_context(job: Job, job_url: str) -> Context:
    """Return the context of the state of a job. `job_url` is its page, and the addresses of its actions begin with it;
    `every` is in seconds, 0 where nothing changes any more."""
    progress = progress_of(job)
    changes = job.goes_on or progress.in_flight
    # The list of items is shown again at each tenth of them, and every half minute while some wait to be tried again.
    tenth = 1 + 10 * progress.ended // progress.total if progress.ended else 0
    half_minute = int(progress.retry_at.timestamp()) // 30 if progress.retry_at else 0
    return {
        "job": job,
        "job_url": job_url,
        "closed": closed(job),
        "actions": {name: f"{job_url}{name}/" for name in ACTIONS},
        "progress": progress,
        "shortfall": shortfall_of(job, total=progress.total) if progress.failed or progress.unreadable else None,
        "failed_href": f"{job_url}?state={ItemState.FAILED}#job-items",
        "unreadable_href": f"{job_url}?state={ItemState.UNREADABLE}#job-items",
        "every": (15 if job.batch else 1) if changes else 0,
        "left": time_left(progress.seconds_left),
        "seen": f"{job.state}-{progress.failed}-{progress.unreadable}-{tenth}-{half_minute}",
        **(budget_field(job) if job.state == JobState.PAUSED else {}),
    }


def budget_field(job: Job) -> Context:
    """Return the context of the field next to Resume: the least budget, and whether the present one is less."""
    least = least_budget(job).quantize(Decimal("0.0001"), ROUND_CEILING)
    return {"least_budget": least, "needs_budget": job.budget is not None and job.budget < least}


def time_left(seconds: float | None) -> str:
    """Return seconds in words: "40 s", "12 min", "3 h"; empty for None."""
    if seconds is None:
        return ""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1, seconds):.0f} s"


NameItems = Callable[[Sequence[str]], Mapping[str, dict[str, str]]]
"""Returns {"title", "href"} of items by their keys, without those that have no name but their key."""


def items_context(request: HttpRequest, job: Job, *, names: NameItems | None = None) -> Context:
    """Return the context of a page of what came back: failures first, then what waits to be tried again, then the
    newest. The address may name one state."""
    retrying = Q(state=ItemState.WAITING) & ~Q(problem="")
    came_back = Q(state__in=CAME_BACK) | retrying
    chosen = request.GET.get("state", "")
    chosen = chosen if chosen in TROUBLED else ""
    items = job.items.filter(Q(state=chosen) if chosen else came_back)
    items = items.select_related("call", "endpoint").defer("call__body", "call__answer", "call__reasoning")
    rank = Case(When(state__in=TROUBLED, then=0), When(retrying, then=1), default=2, output_field=IntegerField())
    page: Any = Paginator(items.order_by(rank, "-finished_at", "id"), ITEMS_A_PAGE).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    names_by_key = names([item.key for item in rows]) if names else {}
    page.object_list = [
        {"item": item, "name": (name := names_by_key.get(item.key)), "title": name["title"] if name else item.key}
        for item in rows
    ]
    return {"page": page, "query": f"state={chosen}" if chosen else ""}


def progress_response(request: HttpRequest, context: Context, items: Callable[[], Context]) -> HttpResponse:
    """Return the fragment of a page; buttons and items are part of it only if they changed."""
    changed = request.GET.get("seen", context["seen"]) != context["seen"]
    changes = {"oob": True, **items()} if changed else {}
    return render(request, "workers/_live.html", context | changes)
