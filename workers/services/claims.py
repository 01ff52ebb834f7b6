"""Claiming of work. One transaction under the lock of the endpoint's rate limit decides for the whole fleet: how many
calls may be in flight, when each starts, and who makes a call that several ask for. What a budget allows is decided
under the lock of its job's row, because several endpoints may work for one job.

Whoever takes several of these locks takes them in this order, which no two transactions can cross: the endpoint's rate
limit, jobs with a budget by id, calls, items, jobs that end.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from core.database_clock import database_time
from core.messages import Sentence, gettext_noop
from core.reads import Read
from workers.domain.pricing import dollars, estimated_tokens, exact_dollars, unknown_price_sentence
from workers.domain.rate_limit import RateLimit
from workers.models import (
    COMPLETED,
    IN_FLIGHT,
    IN_HAND,
    Call,
    CallState,
    Endpoint,
    EndpointRateLimit,
    Item,
    ItemState,
    Job,
    JobState,
    Worker,
)
from workers.providers.contract import Backend
from workers.services.delivery import deliver
from workers.services.planning import AHEAD, CHUNK, plan, reserve_anew

LOOK_AGAIN = timedelta(seconds=0.5)
"""When an item is looked at again whose call another worker is making; one that this process makes wakes it
(`look_at_once`)."""


@dataclass(slots=True)
class Claimed:
    """A call that this worker makes now, by ids.

    `start` is in seconds since the epoch by the database's clock, `due` the same moment by this process's monotonic
    one; `tokens` were booked for it; `position` counts all starts that its endpoint gave out.
    """

    item: int
    job: int
    call: int
    uid: str
    body: str
    start: float
    tokens: int
    position: int
    tries: int
    unknowns: int
    reserved_cost: Decimal | None
    sent_at: float = 0.0
    due: float = 0.0


@dataclass(slots=True)
class ClaimResult:
    """Result of one claim. `more`: items ended without a call, so it is worth claiming again at once; `awaited` are
    calls in flight whose answers are also those of items that wait."""

    claimed: list[Claimed] = field(default_factory=list)
    more: bool = False
    awaited: set[int] = field(default_factory=set)


def claim(
    *,
    worker: Worker,
    endpoint: Endpoint,
    backend: Backend,
    room: int,
    now: datetime,
    only: int | None = None,
    rate_limited: bool = True,
    unwritten: int = 0,
) -> ClaimResult:
    """Claim up to `room` calls of `endpoint`, of job `only` where given; not `rate_limited` where the model runs in
    this process.

    `unwritten` calls have ended, though that is not written down yet: they do not count as in flight.
    """
    with transaction.atomic():
        row = EndpointRateLimit.locked(endpoint.pk)
        rate_limit = row.rate_limit
        in_flight = sum(count for (count,) in _IN_FLIGHT(endpoint=endpoint.pk))
        free = min(room, endpoint.max_concurrency - in_flight + unwritten)
        if rate_limited:
            free = min(free, rate_limit.room(now=now.timestamp(), most=endpoint.most, flight=endpoint.max_concurrency))
        result = ClaimResult()
        if free <= 0:
            return result
        chosen: list[Item] = []
        for job in _claimable(running_jobs(only), endpoint, now):
            missing = free - len(chosen)
            if not missing:
                break
            items = _ready(job, endpoint, backend, missing, now)
            taken = {item.call_id for item in chosen}
            chosen += _sort_out(items, endpoint, taken, missing, now, result)
        if chosen:
            result.claimed = _reserve(chosen, worker, endpoint, rate_limit, now)
            row.keep(rate_limit)
    return result


_IN_FLIGHT = Read[tuple[int]](
    lambda given: (
        Item.objects.filter(endpoint=given.endpoint, state=ItemState.CLAIMED)
        .order_by()
        .values("endpoint")
        .annotate(claimed=Count("id"))
        .values_list("claimed")
    ),
    planned_once=False,
)
_RUNNING = Read[Job](
    lambda given: Job.objects.filter(state=JobState.RUNNING, batch=False).order_by("-priority", "id"),
    planned_once=False,
)
_IDS = Read[tuple[int, bool]](
    lambda given: Job.objects.filter(state=JobState.RUNNING).order_by().values_list("pk", "batch"), planned_once=False
)


def running_ids() -> Sequence[tuple[int, bool]]:
    """Return (id, whether its calls are made in batches) of all jobs that run."""
    return _IDS()


def running_jobs(only: int | None) -> Sequence[Job]:
    """Return the jobs that calls are made for one by one, in their order, of `only` that one where given."""
    return [job for job in _RUNNING() if only in (None, job.pk)]


def _claimable(jobs: Sequence[Job], endpoint: Endpoint, now: datetime) -> Iterable[Job]:
    """Return the jobs that have something to claim, or no budget. Their budgets are locked until the transaction
    ends."""
    budgets = [job.pk for job in jobs if job.budget is not None]
    with_budget = _WAITING_WITH_BUDGET(jobs=budgets, endpoint=endpoint.pk, now=now) if budgets else []
    locked = {job.pk: job for job in with_budget}
    running = (job if job.budget is None else locked.get(job.pk) for job in jobs)
    return [job for job in running if job and job.state == JobState.RUNNING]


def _with_budget(jobs: Sequence[int]) -> QuerySet[Job]:
    budgets = Job.objects.filter(pk__in=jobs, budget__isnull=False).order_by("pk")
    return budgets.select_for_update(no_key=True, of=("self",))


_WITH_BUDGET = Read[Job](lambda given: _with_budget(given.jobs), planned_once=False)
_WAITING_WITH_BUDGET = Read[Job](
    lambda given: _with_budget(given.jobs).filter(
        Exists(
            Item.objects.filter(
                job=OuterRef("pk"), endpoint=given.endpoint, state=ItemState.WAITING, not_before__lte=given.now
            )
        )
    ),
    planned_once=False,
)


def lock_budgets(jobs: Iterable[int]) -> None:
    """Lock those of the jobs (ids) that have a budget until the caller's transaction ends."""
    if ids := list(jobs):
        _WITH_BUDGET(jobs=ids)


def _ready(job: Job, endpoint: Endpoint, backend: Backend, count: int, now: datetime) -> list[Item]:
    """Return the next items with their calls, and plan more where there are not enough."""
    items = _planned(count)(job=job.pk, endpoint=endpoint.pk, now=now)
    if len(items) < count and _plan(job, endpoint, backend, max(CHUNK, count - len(items)), now):
        items = _planned(count)(job=job.pk, endpoint=endpoint.pk, now=now)
    for item in items:
        item.job = job
    return items


def _waiting(given: Any, *, planned: bool) -> QuerySet[Item]:
    waiting = Item.objects.filter(
        job=given.job, endpoint=given.endpoint, state=ItemState.WAITING, not_before__lte=given.now
    )
    return waiting.filter(call__isnull=not planned).order_by("id")


@lru_cache
def _planned(most: int) -> Read[Item]:
    """Return the read of so many items; the number stands in the statement's text, so each has one of its own."""

    def write(given: Any) -> QuerySet[Item]:
        waiting = _waiting(given, planned=True).select_related("call")
        return waiting.defer("call__reasoning", "problem")[:most]

    return Read(write, planned_once=False)


@lru_cache
def _planned_ids(most: int) -> Read[tuple[int]]:
    return Read(lambda given: _waiting(given, planned=True).values_list("pk")[:most], planned_once=False)


@lru_cache
def _unplanned(most: int) -> Read[Item]:
    return Read(lambda given: _waiting(given, planned=False)[:most], planned_once=False)


def _plan(job: Job, endpoint: Endpoint, backend: Backend, count: int, now: datetime) -> int:
    items = _unplanned(count)(job=job.pk, endpoint=endpoint.pk, now=now)
    for item in items:
        item.job = job
    return plan(items=items, endpoint=endpoint, backend=backend, now=now) if items else 0


def plan_ahead(*, endpoint: Endpoint, backend: Backend, now: datetime, only: int | None = None) -> bool:
    """Plan some of the calls that are claimed next, while nobody waits for this. False where enough of them are
    planned."""
    with transaction.atomic():
        EndpointRateLimit.locked(endpoint.pk)
        missing = AHEAD
        for job in running_jobs(only):
            missing -= len(_planned_ids(missing)(job=job.pk, endpoint=endpoint.pk, now=now))
            if missing <= 0:
                return False
            if _plan(job, endpoint, backend, min(CHUNK, missing), now):
                return missing > CHUNK
    return False


def _sort_out(
    items: list[Item], endpoint: Endpoint, taken: set[int], count: int, now: datetime, result: ClaimResult
) -> list[Item]:
    """Return up to `count` items whose calls are made now. Answers that the ledger has are delivered, hopeless items
    fail, and calls that another worker makes are looked at again later."""
    answered, make, hopeless, later = [], [], [], []
    for item in items:
        call = item.call
        if call.state in COMPLETED:
            answered.append((item, call))
        elif call.state in IN_FLIGHT or call.pk in taken:
            later.append(item.pk)
            result.awaited.add(call.pk)
        elif call.state == CallState.UNKNOWN and call.unknowns > endpoint.repeat_unknown:
            hopeless.append(item)
        elif len(make) < count:
            taken.add(call.pk)
            make.append(item)
    if later:
        Item.objects.filter(pk__in=later).postpone(now + LOOK_AGAIN)
    if hopeless:
        unknown = gettext_noop(
            "Its call was sent and no answer is known; it may have been paid, so it is not sent again by itself."
        )
        Item.objects.fail_unasked({item.pk: item.call.problem or unknown for item in hopeless}, now=now)
    result.more = result.more or bool(answered or hopeless)
    deliver(answered, now=now, jobs={item.job_id for item in hopeless})
    return affordable(make)


def look_at_once(calls: Iterable[int], *, now: datetime) -> None:
    """Have the items that wait for the answers of `calls`, which are there, looked at in the next turn."""
    Item.objects.filter(call__in=calls).postpone(now)


def affordable(items: list[Item]) -> list[Item]:
    """Return the items that their job's budget allows; the caller holds it (`lock_budgets`). A job with nothing in
    flight and no money left is paused."""
    if not items or items[0].job.budget is None:
        return items
    job = items[0].job
    in_flight = Q(state__in=IN_HAND)
    # One statement: between two, an answer that comes could leave the one sum and not yet be in the other.
    sums = Item.objects.filter(job=job).aggregate(
        spent=Sum("cost"), reserved=Sum("call__reserved_cost", filter=in_flight)
    )
    spent, reserved = sums["spent"] or Decimal(0), sums["reserved"] or Decimal(0)
    left = job.budget - spent - reserved
    _reprice(items)
    allowed = []
    for item in items:
        left -= Decimal("Infinity") if item.call.reserved_cost is None else item.call.reserved_cost
        if left < 0:
            break
        allowed.append(item)
    if not allowed and not reserved:
        note = (
            unknown_price_sentence(items[0].endpoint.name)
            if items[0].call.reserved_cost is None
            else Sentence(
                "The next call could exceed the budget of {budget}; {spent} are spent.",
                budget=exact_dollars(job.budget),
                spent=dollars(spent),
            )
        )
        Job.objects.filter(pk=job.pk).pause(note=note)
    return allowed


def _reprice(items: list[Item]) -> None:
    """Reserve what the calls can cost at the prices of now, which may have changed since they were planned."""
    endpoint = items[0].endpoint
    changed = []
    for item in items:
        item.call.endpoint = endpoint
        reserved = reserve_anew(item.call, batch=item.job.batch)
        reserved = reserved if reserved is None else round(reserved, 8)
        if reserved != item.call.reserved_cost:
            item.call.reserved_cost = reserved
            changed.append((reserved, item.call_id))
    Call.objects.reprice(changed)


def _reserve(
    items: list[Item], worker: Worker, endpoint: Endpoint, rate_limit: RateLimit, now: datetime
) -> list[Claimed]:
    ids = [item.call_id for item in items]
    if Call.objects.filter(pk__in=ids).reserve(worker) != len(ids):
        # A worker of another endpoint row got one between our reading and this: only ours go on.
        reserved = set(
            Call.objects.filter(pk__in=ids, state=CallState.RESERVED, worker=worker).values_list("pk", flat=True)
        )
        items = [item for item in items if item.call_id in reserved]
    rows = Item.objects.filter(pk__in=[item.pk for item in items])
    if rows.claim(worker) != len(items):
        # Somebody cancelled their job between our reading and this: their calls are not sent.
        claimed_items = set(rows.filter(state=ItemState.CLAIMED, worker=worker).values_list("pk", flat=True))
        Call.objects.filter(
            pk__in=[item.call_id for item in items if item.pk not in claimed_items], worker=worker
        ).release()
        items = [item for item in items if item.pk in claimed_items]
    tokens = [estimated_tokens(item.call.body) for item in items]
    first = rate_limit.booked + 1
    starts = rate_limit.start_times(
        tokens,
        now=now.timestamp(),
        most=endpoint.most,
        token_rate=endpoint.token_rate,
        flight=endpoint.max_concurrency,
    )
    claimed = []
    for position, item, start, count in zip(itertools.count(first), items, starts, tokens, strict=False):
        call = item.call
        again = call.state == CallState.FAILED  # asked again after it failed: a new count
        claimed.append(
            Claimed(
                item=item.pk,
                job=item.job_id,
                call=call.pk,
                uid=call.uid,
                body=call.body,
                start=start,
                tokens=count,
                position=position,
                tries=0 if again else call.tries,
                unknowns=0 if again else call.unknowns,
                reserved_cost=call.reserved_cost,
                due=time.monotonic() + start - now.timestamp(),
            )
        )
    return claimed


_WITH_WORK = Read[tuple[int]](
    lambda given: (
        Endpoint.objects.filter(
            Exists(  # the first of them is enough, as in `endpoints_with_work`
                Item.objects.filter(
                    job__in=given.jobs,
                    endpoint=OuterRef("pk"),
                    state=ItemState.WAITING,
                    not_before__lte=given.now,
                )
            ),
            pk__in=given.endpoints,
        )
        .order_by()
        .values_list("pk")
    ),
    planned_once=False,
)


def with_work(endpoint_ids: Iterable[int], now: datetime, only: int | None = None) -> set[int]:
    """Return those of the endpoints that have an item to be claimed now, of job `only` where given: an idle one takes
    no lock and no query of its own."""
    jobs = [job for job, batch in running_ids() if not batch and only in (None, job)]
    endpoints = list(endpoint_ids)
    rows = _WITH_WORK(jobs=jobs, endpoints=endpoints, now=now) if jobs and endpoints else []
    return {pk for (pk,) in rows}


def _times(given: Any) -> QuerySet[Item]:
    waiting = Item.objects.filter(job__in=given.jobs, endpoint__in=given.endpoints, state=ItemState.WAITING)
    return waiting.order_by().values_list("not_before")


_DUE = Read[tuple[datetime]](lambda given: _times(given).filter(not_before__lte=given.now)[:1], planned_once=False)
_NEXT = Read[tuple[datetime]](lambda given: _times(given).order_by("not_before")[:1], planned_once=False)


def next_time(endpoint_ids: Iterable[int], only: int | None = None) -> datetime | None:
    """Return when a waiting item of a running job may be claimed, None where nothing waits: any time that has come,
    else the earliest."""
    jobs, endpoints = [job for job, _ in running_ids() if only in (None, job)], list(endpoint_ids)
    if not (jobs and endpoints):
        return None
    # the earliest takes a look at every item that waits, which may be all of a long run
    rows = _DUE(jobs=jobs, endpoints=endpoints, now=database_time()) or _NEXT(jobs=jobs, endpoints=endpoints)
    return rows[0][0] if rows else None
