"""Starting, pausing and ending work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Max, Q, Sum
from django.utils import timezone

from core.database_clock import at_once
from workers.domain.pricing import Money, dollars, exact_dollars, unknown_price_told
from workers.models import COMPLETED, OPEN, Call, CallState, Endpoint, Item, ItemState, Job, JobState
from workers.services.delivery import reopen_job
from workers.services.holding import release
from workers.services.notify import WORKERS


class JobRefused(ValueError):
    """Says in one sentence why it cannot be done."""


@transaction.atomic
def start_job(
    *,
    by: str,
    purpose: str,
    title: str,
    items: Iterable[tuple[Endpoint, str, str]],
    now: datetime,
    params: Mapping[str, Any] | None = None,
    budget: Decimal | None = None,
    batch: bool = False,
) -> Job:
    """A running job of (endpoint, stage, key) items. Raises JobRefused where there are none, or an endpoint cannot do it."""
    wanted = list(items)
    if not wanted:
        raise JobRefused("There is nothing to do: no item was chosen.")
    endpoints = {endpoint.pk: endpoint for endpoint, _, _ in wanted}.values()
    job = open_job(by=by, purpose=purpose, title=title, endpoints=endpoints, params=params, budget=budget, batch=batch)
    add_items(job=job, items=wanted, now=now)
    return job


def open_job(
    *,
    by: str,
    purpose: str,
    title: str,
    endpoints: Iterable[Endpoint],
    params: Mapping[str, Any] | None = None,
    budget: Decimal | None = None,
    batch: bool = False,
) -> Job:
    """A running job without items, in the caller's transaction, which adds some: an empty job never ends. Raises JobRefused."""
    for endpoint in endpoints:
        if not endpoint.active:
            raise JobRefused(f"The endpoint {endpoint.name} is switched off.")
        if batch and not endpoint.batches:
            raise JobRefused(f"The endpoint {endpoint.name} has no batch form.")
        check_price(endpoint, budget)
    return Job.objects.create(
        purpose=purpose, title=title, params=dict(params or {}), budget=budget, batch=batch, created_by=by
    )


def check_price(endpoint: Endpoint, budget: Decimal | None) -> None:
    """Raises JobRefused where a budget cannot hold, because nobody knows what the endpoint's calls cost."""
    if budget is not None and not endpoint.prices.are_known:
        raise JobRefused(unknown_price_told(endpoint.name))


def add_items(*, job: Job, items: Iterable[tuple[Endpoint, str, str]], now: datetime) -> None:
    """More items for a job, in the caller's transaction."""
    Item.objects.insert_waiting(job, items, start=at_once(now))
    WORKERS.notify()


@transaction.atomic
def pause_job(*, job: Job, note: str = "") -> bool:
    """Nothing more is claimed; what is in flight comes to its end. A note about what is held back stays where there is no other."""
    return bool(Job.objects.filter(pk=job.pk).pause(note=note))


@transaction.atomic
def resume_job(*, job: Job, budget: Decimal | None = None) -> bool:
    """What was held back waits again, in a running job too. `budget` in US dollars is the new cap; without it the old one stays. See
    `check_budget`."""
    resumed = Job.objects.filter(pk=job.pk).resume(budget=budget)
    open_ = Job.objects.filter(pk=job.pk, state=JobState.RUNNING)
    freed = release(job.pk, start=at_once(timezone.now())) if open_.exists() else 0
    if freed:
        open_.update(note="")
    WORKERS.notify()
    return bool(resumed or freed)


MOST_MONEY = Decimal(100_000_000)


def least_budget(job: Job) -> Decimal:
    """US dollars below which the job would pause again at once: what is spent, in flight, and the next call at its most."""
    items = Item.objects.filter(job=job)
    flying = items.filter(state__in=[ItemState.CLAIMED, ItemState.BATCHED])
    reserved = flying.aggregate(total=Sum("call__reserved_cost"))["total"] or Decimal(0)
    waiting = items.filter(state__in=[ItemState.WAITING, ItemState.HELD], call__isnull=False).exclude(
        call__state__in=COMPLETED
    )
    following = waiting.order_by("id").values_list("call__reserved_cost", flat=True).first()
    return items.spent() + reserved + (following or Decimal(0))


def check_budget(job: Job, budget: Decimal | None) -> None:
    """Raises JobRefused where the job would pause again at once, with `budget` or, without one, with that which it has."""
    wanted = job.budget if budget is None else budget
    if wanted is None:
        return
    if not wanted.is_finite() or not 0 <= wanted < MOST_MONEY or wanted != round(wanted, 4):
        raise JobRefused(
            "A budget is an amount of US dollars with up to four decimals, such as 25 or 2.50; the job stays as it is."
        )
    for endpoint in Endpoint.objects.filter(items__job=job, items__state__in=OPEN).distinct():
        check_price(endpoint, wanted)
    least, spent = least_budget(job), Item.objects.filter(job=job).spent()
    if wanted < least or 0 < spent >= wanted:
        needed = f"{dollars(spent)} are spent, and with the next call it can be {dollars(least)}"
        raise JobRefused(f"{needed}: a budget of {exact_dollars(wanted)} is too small to go on.")


@transaction.atomic
def cancel_job(*, job: Job, now: datetime) -> bool:
    """Waiting items are cancelled; answers that are on their way are still kept in the ledger."""
    done = Job.objects.filter(pk=job.pk).cancel(now=now)
    if done:
        Item.objects.filter(job=job).cancel(now=now)
    return bool(done)


@transaction.atomic
def retry_failed(*, job: Job, now: datetime) -> int:
    """Failed items wait again, and their failed or unknown calls get a new count of attempts. Unusable answers are answers.

    A finished job runs again, a paused one stays paused. A cancelled one stays as it is: 0, as where nothing failed.
    """
    if Job.objects.select_for_update().get(pk=job.pk).state == JobState.CANCELLED:
        return 0
    failed = Item.objects.filter(job=job, state=ItemState.FAILED)
    calls = Call.objects.filter(items__in=failed, state__in=[CallState.FAILED, CallState.UNKNOWN])
    Call.objects.filter(pk__in=list(calls.values_list("pk", flat=True))).retry()
    count = failed.retry(start=at_once(now))
    if count:
        reopen_job(job.pk)
        WORKERS.notify()
    return count


@dataclass(frozen=True, slots=True)
class Progress:
    """How a job stands. `cost` and `rate` in US dollars and items a minute; `seconds_left` is None where nothing can be said.

    `unpriced` calls are not in `cost`, as their price is unknown; of `estimated` answers the provider did not tell the usage.
    `lost` is the part of `cost` that lost answers can have cost at most; `retrying` items of `waiting` have failed before, the
    last of them waits until `retry_at`. `held` items of `waiting` wait for a person.
    """

    total: int
    done: int
    unusable: int
    failed: int
    cancelled: int
    in_flight: int
    waiting: int
    made: int
    reused: int
    cost: Decimal
    input_tokens: int
    output_tokens: int
    unknown: int
    rate: float
    seconds_left: float | None
    lost: Decimal = Decimal(0)
    retrying: int = 0
    retry_at: datetime | None = None
    held: int = 0
    unpriced: int = 0
    estimated: int = 0

    @property
    def money(self) -> Money:
        return Money(self.cost, self.unpriced)

    @property
    def minutes_left(self) -> float | None:
        return None if self.seconds_left is None else self.seconds_left / 60

    @property
    def ended(self) -> int:
        return self.done + self.unusable + self.failed + self.cancelled


RECENT = timedelta(seconds=30)


def progress_of(job: Job, *, now: datetime | None = None) -> Progress:
    return progress_of_all([job], now=now)[job.pk]


def progress_of_all(jobs: Sequence[Job], *, now: datetime | None = None) -> dict[int, Progress]:
    """By job id. Two queries, however many the jobs and their items."""
    now = now or timezone.now()
    items = Item.objects.filter(job__in=jobs).order_by()
    counts: dict[int, dict[str, int]] = {job.pk: dict.fromkeys(ItemState.values, 0) for job in jobs}
    for job, state, count in items.values_list("job", "state").annotate(Count("id")):
        counts[job][state] = count
    asked, again = Q(made=True), Q(state=ItemState.WAITING) & ~Q(problem="")
    # An answer that came after the item had ended was paid by another job.
    own = Q(made=True, call__state__in=COMPLETED, call__finished_at__lte=F("finished_at"))
    sums = items.values("job").annotate(
        total_cost=Sum("cost"),
        own_cost=Sum("call__cost", filter=own),
        retrying=Count("pk", filter=again),
        retry_at=Max("not_before", filter=again),
        total_unpriced=Sum("unpriced"),
        estimated=Count("pk", filter=asked & Q(call__usage_told=False)),
        calls=Count("pk", filter=asked),
        input=Sum("call__input_tokens", filter=asked),
        output=Sum("call__output_tokens", filter=asked),
        unknown=Count("pk", filter=Q(call__state=CallState.UNKNOWN)),
        recent=Count("pk", filter=Q(finished_at__gte=now - RECENT)),
    )
    held = {row["job"]: row for row in sums}
    return {job.pk: _progress(job, counts[job.pk], held.get(job.pk, _NOTHING), now) for job in jobs}


_NOTHING = {
    "total_cost": None, "total_unpriced": None, "estimated": 0, "own_cost": None, "retrying": 0, "retry_at": None, "calls": 0, "input": None, "output": None, "unknown": 0,
    "recent": 0,
}  # fmt: skip


def _progress(job: Job, counts: Mapping[str, int], sums: Mapping[str, Any], now: datetime) -> Progress:
    done, unusable = counts[ItemState.DONE], counts[ItemState.UNUSABLE]
    open_ = counts[ItemState.WAITING] + counts[ItemState.CLAIMED] + counts[ItemState.BATCHED]
    span = min(RECENT.total_seconds(), max(1.0, (now - job.created_at).total_seconds()))
    rate = sums["recent"] / span
    running = job.state == JobState.RUNNING
    cost = sums["total_cost"] or Decimal(0)
    return Progress(
        total=sum(counts.values()),
        done=done,
        unusable=unusable,
        failed=counts[ItemState.FAILED],
        cancelled=counts[ItemState.CANCELLED],
        in_flight=counts[ItemState.CLAIMED] + counts[ItemState.BATCHED],
        waiting=counts[ItemState.WAITING] + counts[ItemState.HELD],
        held=counts[ItemState.HELD],
        made=sums["calls"],
        reused=max(0, done + unusable - sums["calls"]),
        cost=cost,
        input_tokens=sums["input"] or 0,
        output_tokens=sums["output"] or 0,
        unknown=sums["unknown"],
        rate=rate * 60,
        seconds_left=open_ / rate if running and open_ and rate else None,
        lost=max(Decimal(0), round(cost - (sums["own_cost"] or 0), 8)),
        retrying=sums["retrying"],
        retry_at=sums["retry_at"],
        unpriced=sums["total_unpriced"] or 0,
        estimated=sums["estimated"],
    )
