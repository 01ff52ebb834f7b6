"""Jobs: started, paused, resumed, cancelled and retried."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.http import Http404
from django.utils import timezone

from core.database_clock import at_once
from core.messages import Refusal, Sentence, gettext_noop
from workers.domain.pricing import budget_of, dollars, exact_dollars, unknown_price_sentence
from workers.models import (
    CANCELLABLE,
    COMPLETED,
    GIVEN_UP,
    IN_HAND,
    OPEN,
    PAUSABLE,
    RESUMABLE,
    UNSENT,
    Call,
    Endpoint,
    Item,
    ItemState,
    Job,
    JobState,
)
from workers.services.delivery import reopen_job
from workers.services.handlers import closed, tell_cancelled
from workers.services.holding import holds_back, release
from workers.services.notify import WORKERS

HandlerParameters = Mapping[str, Any]
"""What a job's handler is told of it besides its items, as JSON has it: it is kept, and nothing here reads it."""


class JobRefused(Refusal):
    """Raised with one sentence that says why something cannot be done."""


@transaction.atomic
def start_job(
    *,
    by: str,
    handler: str,
    title: str,
    items: Iterable[tuple[Endpoint, str, str]],
    now: datetime,
    params: HandlerParameters | None = None,
    budget: Decimal | None = None,
    batch: bool = False,
) -> Job:
    """Start a job of (endpoint, step, key) items. Raises JobRefused without items, or for unfit endpoints."""
    items = list(items)
    if not items:
        raise JobRefused(gettext_noop("There is nothing to do: no item was chosen."))
    endpoints = {endpoint.pk: endpoint for endpoint, _, _ in items}.values()
    job = open_job(by=by, handler=handler, title=title, endpoints=endpoints, params=params, budget=budget, batch=batch)
    add_items(job=job, items=items, now=now)
    return job


def open_job(
    *,
    by: str,
    handler: str,
    title: str,
    endpoints: Iterable[Endpoint],
    params: HandlerParameters | None = None,
    budget: Decimal | None = None,
    batch: bool = False,
    preparing: bool = False,
) -> Job:
    """Start a job without items, in the caller's transaction, which adds some: an empty job never ends. One that is
    `preparing` waits until its handler has made them (services/preparing.py). Raises JobRefused."""
    for endpoint in endpoints:
        if not endpoint.active:
            raise JobRefused(Sentence("The endpoint {endpoint} is switched off.", endpoint=endpoint.name))
        if batch and not endpoint.batches:
            raise JobRefused(Sentence("The endpoint {endpoint} has no batch form.", endpoint=endpoint.name))
        check_price(endpoint, budget)
    return Job.objects.begin(
        handler=handler, title=title, params=dict(params or {}), budget=budget, batch=batch, created_by=by,
        preparing=preparing,
    )  # fmt: skip


def check_price(endpoint: Endpoint, budget: Decimal | None) -> None:
    """Raise JobRefused where a budget cannot hold, because it is unknown what the endpoint's calls cost."""
    if budget is not None and not endpoint.prices.are_known:
        raise JobRefused(unknown_price_sentence(endpoint.name))


def add_items(*, job: Job, items: Iterable[tuple[Endpoint, str, str]], now: datetime) -> None:
    """Add items to a job, in the caller's transaction."""
    Item.objects.insert_waiting(job, items, start=at_once(now))
    WORKERS.notify()


@transaction.atomic
def pause_job(*, job: Job) -> bool:
    """Pause a job: nothing more is claimed, and calls in flight end."""
    return bool(Job.objects.filter(pk=job.pk).pause())


@transaction.atomic
def resume_job(*, job: Job, budget: Decimal | None = None) -> bool:
    """Resume a job; what was held back waits again, in a running job too. `budget` in US dollars is the new cap;
    without it the old one stays (`check_budget`)."""
    resumed = Job.objects.filter(pk=job.pk).resume(budget=budget)
    running = Job.objects.filter(pk=job.pk, state=JobState.RUNNING)
    freed = release(job.pk, start=at_once(timezone.now())) if running.exists() else 0
    if freed:
        running.note("")
    WORKERS.notify()
    return bool(resumed or freed)


MOST_MONEY = Decimal(100_000_000)
"""The limit that every budget stays below, in US dollars."""


def least_budget(job: Job) -> Decimal:
    """Return the US dollars below which the job would pause again: spent, in flight, and for the next call."""
    items = Item.objects.filter(job=job)
    in_flight = items.filter(state__in=IN_HAND)
    reserved = in_flight.aggregate(total=Sum("call__reserved_cost"))["total"] or Decimal(0)
    waiting = items.filter(state__in=UNSENT, call__isnull=False).exclude(call__state__in=COMPLETED)
    next_call = waiting.order_by("id").values_list("call__reserved_cost", flat=True).first()
    return items.spent() + reserved + (next_call or Decimal(0))


def check_budget(job: Job, budget: Decimal | None) -> None:
    """Raise JobRefused if the job would pause again at once with `budget`, or else with its present budget."""
    cap = job.budget if budget is None else budget
    if cap is None:
        return
    if not cap.is_finite() or not 0 <= cap < MOST_MONEY or cap != round(cap, 4):
        raise JobRefused(
            gettext_noop(
                "A budget is an amount of US dollars with up to four decimals, such as 25 or 2.50; the job "
                "stays as it is."
            )
        )
    for endpoint in Endpoint.objects.filter(items__job=job, items__state__in=OPEN).distinct():
        check_price(endpoint, cap)
    least, spent = least_budget(job), Item.objects.filter(job=job).spent()
    if cap < least or 0 < spent >= cap:
        needed = Sentence(
            "{spent} are spent, and with the next call it can be {least}", spent=dollars(spent), least=dollars(least)
        )
        raise JobRefused(
            Sentence("{needed}: a budget of {cap} is too small to go on.", needed=needed, cap=exact_dollars(cap))
        )


@transaction.atomic
def cancel_job(*, job: Job, now: datetime) -> bool:
    """Cancel a job and its waiting items; answers to calls in flight are still kept in the ledger."""
    cancelled = Job.objects.filter(pk=job.pk).cancel(now=now)
    if cancelled:
        Item.objects.filter(job=job).cancel(now=now)
        tell_cancelled(job)
    return bool(cancelled)


@transaction.atomic
def retry_failed(*, job: Job, now: datetime) -> int:
    """Let failed items wait again, and give their failed or unknown calls a new count of attempts. Returns how many
    items.

    Unreadable answers are answers, and stay. A finished job runs again, a paused one stays paused, a cancelled one
    stays as it is (0). One whose items could not be made is prepared again (0).
    """
    if Job.objects.filter(pk=job.pk).prepare_again():
        WORKERS.notify()
        return 0
    if Job.objects.select_for_update().get(pk=job.pk).state == JobState.CANCELLED:
        return 0
    failed = Item.objects.filter(job=job, state=ItemState.FAILED)
    calls = Call.objects.filter(items__in=failed, state__in=GIVEN_UP)
    Call.objects.filter(pk__in=list(calls.values_list("pk", flat=True))).retry()
    count = failed.retry(start=at_once(now))
    if count:
        reopen_job(job.pk)
        WORKERS.notify()
    return count


ACTIONS: dict[str, tuple[JobState, ...]] = {
    "pause": PAUSABLE,
    "resume": RESUMABLE,
    "retry": tuple(JobState),
    "cancel": CANCELLABLE,
}
"""Actions on a job, and the states that they need. A running one is resumed, too, where it holds items back."""


def fits(job: Job, action: str) -> bool:
    """Return whether an action would change a job in its state."""
    return job.state in ACTIONS[action] or _resumes_held(job, action)


def _resumes_held(job: Job, action: str) -> bool:
    return action == "resume" and job.state == JobState.RUNNING and holds_back(job)


def require_action(job: Job, action: str, *, budget: str = "", what: str = "job") -> None:
    """Apply an action, for callers without buttons. Raises JobRefused, in which the job is `what`."""
    if budget and _resumes_held(job, action):
        raise JobRefused(
            Sentence("The {what} holds items back and goes on beside; a budget is for one that is paused.", what=what)
        )
    if not fits(job, action):
        expected = " or ".join(ACTIONS[action])
        raise JobRefused(
            Sentence(
                "The {what} is {standing}; expected {expected} to {action} it.",
                what=what,
                standing=job.standing,
                expected=expected,
                action=action,
            )
        )
    if refusal := apply_action(job, action, budget=budget):
        raise JobRefused(refusal)


@transaction.atomic
def apply_action(job: Job, action: str, *, budget: str = "") -> str:
    """Pause, resume, cancel or retry a job. Returns one sentence where that is refused, else "". Raises Http404 for any
    other action.

    `budget` is what somebody typed beside Resume: US dollars, empty for the budget that the job has.
    """
    Job.objects.select_for_update().get(pk=job.pk)  # what it is for is deleted under the same lock
    if why := closed(job, action):
        return why
    now = timezone.now()
    match action:
        case "pause":
            pause_job(job=job)
        case "resume":
            try:
                resume_with(job, read_budget(budget))
            except JobRefused as refusal:
                return str(refusal)
            return ""
        case "cancel":
            cancel_job(job=job, now=now)
        case "retry":
            if job.state == JobState.CANCELLED:
                return gettext_noop(
                    "The job was cancelled, so its failed items are not asked again; start a new one instead."
                )
            retry_failed(job=job, now=now)
        case _:
            raise Http404(gettext_noop("There is no such action."))
    return ""


def resume_with(job: Job, budget: Decimal | None) -> None:
    """Resume a paused job, or what a running one holds back. Raises JobRefused for too small a budget."""
    if job.state == JobState.PAUSED:
        check_budget(job, budget)
        resume_job(job=job, budget=budget)
    elif job.state == JobState.RUNNING:
        resume_job(job=job)


def read_budget(text: str) -> Decimal | None:
    """Return the budget that somebody typed: None for "", NaN for no amount, which `check_budget` refuses."""
    if not text.strip():
        return None
    budget = budget_of(text)
    return Decimal("NaN") if budget is None else budget
