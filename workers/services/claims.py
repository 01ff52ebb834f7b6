"""Claiming of work. One transaction under the lock of the endpoint's rate limit decides for the whole fleet: how many
calls may be in flight, when each starts, and who makes a call that several ask for. What a budget allows is decided
under the lock of its job's row, because several endpoints may work for one job.

Whoever takes several of these locks takes them in this order, which no two transactions can cross: the endpoint's rate
limit, jobs with a budget by id, calls, items, jobs that end.
"""

import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from core.database_clock import database_time
from core.messages import Sentence, gettext_noop
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
from workers.providers.contract import Backend, EngineBackend
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
    backend: Backend | EngineBackend,
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
        in_flight = Item.objects.filter(endpoint=endpoint, state=ItemState.CLAIMED).count()
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
            taken = {item.planned.pk for item in chosen}
            chosen += _sort_out(items, endpoint, taken, missing, now, result)
        if chosen:
            result.claimed = _reserve(chosen, worker, endpoint, rate_limit, now)
            row.keep(rate_limit)
    return result


def running_ids() -> Sequence[tuple[int, bool]]:
    """Return (id, whether its calls are made in batches) of all running jobs."""
    return list(Job.objects.filter(state=JobState.RUNNING).order_by().values_list("pk", "batch"))


def running_jobs(only: int | None) -> Sequence[Job]:
    """Return the jobs that calls are made for one by one, in their order, or only that one."""
    running = Job.objects.filter(state=JobState.RUNNING, batch=False).order_by("-priority", "id")
    return list(running if only is None else running.filter(pk=only))


def _claimable(jobs: Sequence[Job], endpoint: Endpoint, now: datetime) -> Iterable[Job]:
    """Return the jobs that have something to claim, or no budget; budgets are locked until the transaction ends."""
    budgets = [job.pk for job in jobs if job.budget is not None]
    has_work = Exists(_waiting(OuterRef("pk"), endpoint, now))
    locked = {job.pk: job for job in _with_budget(budgets).filter(has_work)} if budgets else {}
    running = (job if job.budget is None else locked.get(job.pk) for job in jobs)
    return [job for job in running if job and job.state == JobState.RUNNING]


def _with_budget(jobs: Sequence[int]) -> QuerySet[Job]:
    budgets = Job.objects.filter(pk__in=jobs, budget__isnull=False).order_by("pk")
    return budgets.select_for_update(no_key=True, of=("self",))


def lock_budgets(jobs: Iterable[int]) -> None:
    """Lock those of the jobs (ids) that have a budget until the caller's transaction ends."""
    if ids := list(jobs):
        list(_with_budget(ids))


def _waiting(job: Any, endpoint: Endpoint, now: datetime) -> QuerySet[Item]:
    return Item.objects.filter(job=job, endpoint=endpoint, state=ItemState.WAITING, not_before__lte=now)


def _ready(job: Job, endpoint: Endpoint, backend: Backend | EngineBackend, count: int, now: datetime) -> list[Item]:
    """Return the next items with their calls, and plan more if there are not enough."""
    planned = _waiting(job, endpoint, now).filter(call__isnull=False).select_related("call").order_by("id")
    planned = planned.defer("call__reasoning", "problem")[:count]
    items = list(planned)
    if len(items) < count and _plan(job, endpoint, backend, max(CHUNK, count - len(items)), now):
        items = list(planned.all())
    for item in items:
        item.job = job
    return items


def _plan(job: Job, endpoint: Endpoint, backend: Backend | EngineBackend, count: int, now: datetime) -> int:
    items = list(_waiting(job, endpoint, now).filter(call=None).order_by("id")[:count])
    for item in items:
        item.job = job
    return plan(items=items, endpoint=endpoint, backend=backend, now=now) if items else 0


def plan_ahead(*, endpoint: Endpoint, backend: Backend | EngineBackend, now: datetime, only: int | None = None) -> bool:
    """Plan some of the next calls while nobody waits. Returns False if enough are planned."""
    with transaction.atomic():
        EndpointRateLimit.locked(endpoint.pk)
        missing = AHEAD
        for job in running_jobs(only):
            missing -= _waiting(job, endpoint, now).filter(call__isnull=False)[:missing].count()
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
    answered: list[tuple[Item, Call]] = []
    make: list[Item] = []
    hopeless: list[Item] = []
    later: list[int] = []
    for item in items:
        call = item.planned
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
        Item.objects.fail_unasked({item.pk: item.planned.problem or unknown for item in hopeless}, now=now)
    result.more = result.more or bool(answered or hopeless)
    deliver(answered, now=now, jobs={item.job_id for item in hopeless})
    return affordable(make)


def look_at_once(calls: Iterable[int], *, now: datetime) -> None:
    """Have the items that wait for the answers of `calls`, which are there, looked at in the next turn."""
    Item.objects.filter(call__in=calls).postpone(now)


def affordable(items: list[Item]) -> list[Item]:
    """Return the items that the locked budget of their job allows; a job that can pay for none is paused."""
    if not items or (budget := items[0].job.budget) is None:
        return items
    job = items[0].job
    in_flight = Q(state__in=IN_HAND)
    # One statement: between two, an answer that comes could leave the one sum and not yet be in the other.
    sums = Item.objects.filter(job=job).aggregate(
        spent=Sum("cost"), reserved=Sum("call__reserved_cost", filter=in_flight)
    )
    spent, reserved = sums["spent"] or Decimal(0), sums["reserved"] or Decimal(0)
    left = budget - spent - reserved
    _reprice(items)
    allowed = []
    for item in items:
        left -= Decimal("Infinity") if item.planned.reserved_cost is None else item.planned.reserved_cost
        if left < 0:
            break
        allowed.append(item)
    if not allowed and not reserved:
        note = (
            unknown_price_sentence(items[0].endpoint.name)
            if items[0].planned.reserved_cost is None
            else Sentence(
                "The next call could exceed the budget of {budget}; {spent} are spent.",
                budget=exact_dollars(budget),
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
        item.planned.endpoint = endpoint
        reserved = reserve_anew(item.planned, batch=item.job.batch)
        reserved = reserved if reserved is None else round(reserved, 8)
        if reserved != item.planned.reserved_cost:
            item.planned.reserved_cost = reserved
            changed.append((reserved, item.planned.pk))
    Call.objects.reprice(changed)


def _reserve(
    items: list[Item], worker: Worker, endpoint: Endpoint, rate_limit: RateLimit, now: datetime
) -> list[Claimed]:
    ids = [item.planned.pk for item in items]
    if Call.objects.filter(pk__in=ids).reserve(worker) != len(ids):
        # A worker of another endpoint row got one between our reading and this: only ours go on.
        reserved = set(
            Call.objects.filter(pk__in=ids, state=CallState.RESERVED, worker=worker).values_list("pk", flat=True)
        )
        items = [item for item in items if item.planned.pk in reserved]
    rows = Item.objects.filter(pk__in=[item.pk for item in items])
    if rows.claim(worker) != len(items):
        # Somebody cancelled their job between our reading and this: their calls are not sent.
        claimed_items = set(rows.filter(state=ItemState.CLAIMED, worker=worker).values_list("pk", flat=True))
        Call.objects.filter(
            pk__in=[item.planned.pk for item in items if item.pk not in claimed_items], worker=worker
        ).release()
        items = [item for item in items if item.pk in claimed_items]
    tokens = [estimated_tokens(item.planned.body) for item in items]
    first = rate_limit.booked + 1
    starts = rate_limit.start_times(
        tokens, now=now.timestamp(), most=endpoint.most, token_rate=endpoint.token_rate, flight=endpoint.max_concurrency
    )
    claimed = []
    for position, item, start, count in zip(itertools.count(first), items, starts, tokens, strict=False):
        call = item.planned
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


def with_work(endpoint_ids: Iterable[int], now: datetime, only: int | None = None) -> set[int]:
    """Return those of the endpoints that have an item to be claimed now, of job `only` if given."""
    jobs = [job for job, batch in running_ids() if not batch and only in (None, job)]
    endpoints = list(endpoint_ids)
    if not (jobs and endpoints):
        return set()
    # the first item of each is enough, as in `endpoints_with_work`
    waiting = Item.objects.filter(endpoint=OuterRef("pk"), state=ItemState.WAITING, not_before__lte=now)
    has_work = Exists(waiting.filter(job__in=jobs))
    return set(Endpoint.objects.filter(has_work, pk__in=endpoints).values_list("pk", flat=True))


def next_time(endpoint_ids: Iterable[int], only: int | None = None) -> datetime | None:
    """Return the time at which a waiting item may be claimed: any that has come, else the earliest, or None."""
    jobs, endpoints = [job for job, _ in running_ids() if only in (None, job)], list(endpoint_ids)
    if not (jobs and endpoints):
        return None
    waiting = Item.objects.filter(job__in=jobs, endpoint__in=endpoints, state=ItemState.WAITING).order_by()
    times = waiting.values_list("not_before", flat=True)
    # the earliest takes a look at every item that waits, which may be all of a long run
    due = times.filter(not_before__lte=database_time())[:1]
    return next(iter(due), None) or times.order_by("not_before").first()
