"""Writing down what happens to calls: the intent before a call leaves, and its outcome, many at once."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.db import transaction

from core.bulk import insert_rows, update_rows
from core.texts import storable
from workers.domain.pricing import estimated_tokens
from workers.domain.rate_limit import RateLimit
from workers.domain.retrying import Decision, decide
from workers.models import (
    COMPLETED,
    Attempt,
    Call,
    CallState,
    Endpoint,
    EndpointRateLimit,
    Item,
    ItemState,
    Job,
    Worker,
)
from workers.providers.contract import Completion, Stop, Usage
from workers.providers.errors import Again, BackendError, Filtered, Throttled
from workers.providers.headers import request_limits
from workers.providers.stops import TOLD
from workers.services.claims import Claimed, hold_budgets
from workers.services.delivery import deliver, end_jobs
from workers.services.holding import hold_back_hopeless

_STATES = {
    Stop.END: CallState.ANSWERED,
    Stop.LENGTH: CallState.TRUNCATED,
    Stop.REFUSAL: CallState.REFUSED,
    Stop.FILTER: CallState.REFUSED,
    Stop.OTHER: CallState.UNUSABLE,
}
_OUTCOME = ["outcome", "finished_at", "status", "headers", "problem", "body", "waits"]


@dataclass(slots=True)
class Outcome:
    """What came of a claimed call, at `finished_at` (seconds since the epoch)."""

    claimed: Claimed
    result: Completion | BackendError
    finished_at: float


def mark_sent(claims: Sequence[Claimed], *, worker: Worker, now: datetime) -> list[Claimed]:
    """Writes the intent to send. Returns those that may be sent: the others were taken from this worker meanwhile.

    To be called again with the same claims where its commit may have been lost: none is counted twice.
    """
    with transaction.atomic():
        mine = Call.objects.select_for_update().filter(pk__in=[one.call for one in claims], worker=worker)
        states = {pk: (state, made) for pk, state, made in mine.values_list("pk", "state", "attempts_made")}
        held = {pk: made for pk, (state, made) in states.items() if state == CallState.RESERVED}
        marked = [one for one in claims if states.get(one.call, ("",))[0] == CallState.SENT]
        ready = [one for one in claims if one.call in held]
        Call.objects.mark_sent(held, now=now)
        insert_rows(
            Attempt,
            ["call", "number", "worker", "sent_at", "outcome", "headers", "problem", "body", "waits"],
            [(one.call, held[one.call] + 1, worker.pk, now, "", {}, "", "", 0.0) for one in ready],
        )
    for one in ready + marked:
        one.sent_at = now.timestamp()
        one.tries += 1
    return ready + marked


def record(
    outcomes: Sequence[Outcome], *, worker: Worker, endpoint: Endpoint, now: datetime, batch: bool = False
) -> None:
    """Write outcomes of one endpoint down, deliver answers to their job handlers, and let the rate limit learn. All or nothing."""
    with transaction.atomic():
        if not batch:
            _learn(outcomes, endpoint, now)
        hold_budgets(
            Job.objects.filter(pk__in={one.claimed.job for one in outcomes})
        )  # before the calls: claims.py has the order
        ids = [one.claimed.call for one in outcomes]
        calls = Call.objects.in_bulk(ids)
        # Its own attempts alone: a worker that was declared lost must not close that of the one that took over.
        awaited = Attempt.objects.filter(call__in=ids, outcome="", worker=None if batch else worker)
        attempts = dict(awaited.values_list("call", "pk"))
        jobs = Job.objects.in_bulk({one.claimed.job for one in outcomes})
        items = Item.objects.in_bulk([one.claimed.item for one in outcomes])
        for item in items.values():
            item.job = jobs[item.job_id]
        writing = _Writing(worker, endpoint, now, batch)
        for one in outcomes:
            writing.take(one, calls[one.claimed.call], attempts.get(one.claimed.call), items[one.claimed.item])
        writing.write()


class _Writing:
    """Collects the rows of one `record`, so that each kind is written by one statement."""

    def __init__(self, worker: Worker, endpoint: Endpoint, now: datetime, batch: bool) -> None:
        self.worker, self.endpoint, self.now, self.batch = worker, endpoint, now, batch
        self.prices, self.policy = endpoint.prices, endpoint.policy
        self.answers: list[Call] = []
        self.problems: list[tuple] = []
        self.attempts: list[tuple] = []
        self.answered: list[tuple[Item, Call]] = []
        self.waiting: list[tuple] = []
        self.failed: list[tuple] = []
        self.ended: set[int] = set()
        self.hopeless: dict[int, BackendError] = {}

    def take(self, outcome: Outcome, call: Call, attempt: int | None, item: Item) -> None:
        at = datetime.fromtimestamp(outcome.finished_at, UTC)
        mine = item.state in (ItemState.CLAIMED, ItemState.BATCHED) and item.worker_id in (None, self.worker.pk)
        if isinstance(outcome.result, Filtered):
            outcome.result = refusal_of(outcome.result)
        if isinstance(outcome.result, Completion):
            self._answer(outcome, call, attempt, item if mine else None, at)
        else:
            self._problem(outcome, call, attempt, item if mine else None, at)

    def _answer(self, outcome: Outcome, call: Call, attempt: int | None, item: Item | None, at: datetime) -> None:
        completion = outcome.result
        state = _STATES[completion.stop]
        usage = completion.usage if completion.usage.told else _estimated(call, completion)
        cost = self.prices.cost(usage, batch=self.batch)
        if not usage.told and None not in (cost, call.reserved_cost):
            cost = min(cost, call.reserved_cost)  # an estimate cannot know better than the most that was reserved
        if attempt:
            problem = storable(completion.problem or TOLD[completion.stop])
            came = (completion.status, dict(completion.headers), problem, storable(completion.body))
            self.attempts.append((state, at, *came, 0.0, attempt))
        if call.state not in COMPLETED:  # an answer that came late, after another one, is an attempt and no more
            call.take_answer(
                state, finished_at=at, answer=storable(completion.text), reasoning=storable(completion.reasoning),
                stop=completion.stop, answered_by=completion.model[:200], request_id=completion.request_id[:200],
                input_tokens=usage.input, cached_tokens=usage.cached, cache_write_tokens=usage.cache_write,
                output_tokens=usage.output, reasoning_tokens=usage.reasoning, usage_told=usage.told, cost=cost,
                problem=storable(completion.problem or TOLD[completion.stop]),
                tries=outcome.claimed.tries, unknowns=outcome.claimed.unknowns,
            )  # fmt: skip
            self.answers.append(call)
        if item:
            _book(item, cost)
            self.answered.append((item, call))

    def _problem(self, outcome: Outcome, call: Call, attempt: int | None, item: Item | None, at: datetime) -> None:
        claimed, error = outcome.claimed, outcome.result
        unknown = error.again is Again.UNKNOWN
        unknowns = claimed.unknowns + unknown
        decision = decide(
            error, attempts=claimed.tries, unknowns=unknowns, policy=self.policy, jitter=_jitter(call, claimed.tries)
        )
        state = CallState.UNKNOWN if unknown else CallState.PLANNED if decision.again else CallState.FAILED
        if attempt:
            kind = "unknown" if unknown else error.kind
            came = (error.status, error.headers, storable(str(error)), storable(error.body))
            self.attempts.append((kind, at, *came, decision.pause, attempt))
        if (call.state == CallState.SENT and call.worker_id == self.worker.pk) or (
            self.batch and call.state not in COMPLETED
        ):
            self.problems.append((state, storable(decision.reason), claimed.tries, unknowns, call.pk))
        if item:
            if unknown and claimed.reserved_cost != 0:  # None, too: it may have been paid
                _book(item, claimed.reserved_cost)
            self._item(item, decision)
            if error.advice and not decision.again:
                self.hopeless[item.job_id] = error

    def _item(self, item: Item, decision: Decision) -> None:
        booked = (item.cost, item.unpriced, item.made)
        problem = storable(decision.reason)
        if decision.again:
            self.waiting.append((self.now + timedelta(seconds=decision.pause), problem, *booked, item.pk))
        else:
            self.failed.append((problem, *booked, item.pk))
            self.ended.add(item.job_id)

    def write(self) -> None:
        Call.objects.answer(self.answers)
        Call.objects.record_failures(self.problems)
        update_rows(Attempt, _OUTCOME, self.attempts)
        Item.objects.wait_again(self.waiting)
        Item.objects.fail_asked(self.failed, now=self.now)
        for job, error in self.hopeless.items():
            hold_back_hopeless(job, self.endpoint, error)
        deliver(self.answered, now=self.now)
        end_jobs(self.ended, now=self.now)


def _book(item: Item, cost: Decimal | None) -> None:
    """A call that was sent for the item and was paid, or may have been; None where its price is unknown."""
    item.made = True
    if cost is None:
        item.unpriced += 1
    else:
        item.cost += cost


def _estimated(call: Call, completion: Completion) -> Usage:
    """What an answer took whose usage the provider did not tell, or by half, on the high side."""
    said = estimated_tokens(completion.reasoning) + estimated_tokens(completion.text)
    told = completion.usage
    return replace(told, input=told.input or estimated_tokens(call.body), output=told.output or said)


def refusal_of(error: Filtered) -> Completion:
    """A refusal by the provider's content filter as the answer that it is: asking again would bring the same."""
    told = str(error)
    return Completion(
        "",
        Stop.FILTER,
        Usage(told=False),
        "",
        problem=told,
        status=error.status or 200,
        body=error.body,
        headers=error.headers,
    )


def _jitter(call: Call, tries: int) -> float:
    return int(hashlib.sha256(f"{call.uid}{tries}".encode()).hexdigest()[:4], 16) / 0xFFFF


def _learn(outcomes: Sequence[Outcome], endpoint: Endpoint, now: datetime) -> None:
    row = EndpointRateLimit.objects.select_for_update().get(endpoint=endpoint)
    rate_limit = row.rate_limit
    at = now.timestamp()
    good = [one for one in outcomes if isinstance(one.result, Completion)]
    for one in good:
        if not one.result.usage.told:
            continue  # what was booked stays booked
        rate_limit.correct_tokens(
            one.claimed.tokens - one.result.usage.input - one.result.usage.output, endpoint.token_rate
        )
    newest = max(outcomes, key=lambda one: one.finished_at).result.headers
    if newest:
        rate_limit.learn(*request_limits(newest), now=at)
    refused = [one for one in outcomes if isinstance(one.result, Throttled) and not _alone(one, rate_limit)]
    for one in sorted(refused, key=lambda one: one.claimed.position):
        pause = min(one.result.retry_after or 1.0, endpoint.retry_after_cap)
        rate_limit.refused(position=one.claimed.position, started=one.claimed.start, now=at, pause=pause)
    if good:
        rate_limit.succeeded(len(good), now=at)
    row.keep(rate_limit)


ALWAYS = 2
"""Refusals of one call after which, while others are accepted, they say something of that call and nothing of the limit."""


def _alone(one: Outcome, rate_limit: RateLimit) -> bool:
    return one.claimed.tries > ALWAYS and rate_limit.accepted_at > one.claimed.start - 5


def release(claims: Sequence[Claimed], *, worker: Worker, now: datetime) -> None:
    """Gives back what was claimed and not sent, at once claimable by others."""
    if claims:
        with transaction.atomic():
            _give_back([one.call for one in claims], worker, now)


def release_unheld(held: Collection[int], *, worker: Worker, now: datetime) -> None:
    """Gives back what this worker reserved but does not know of, because the answer to its commit was lost; `held` are the
    calls that it knows of."""
    with transaction.atomic():
        reserved = Call.objects.filter(worker=worker, state=CallState.RESERVED).exclude(pk__in=held)
        _give_back(list(reserved.values_list("pk", flat=True)), worker, now)


def _give_back(calls: Collection[int], worker: Worker, now: datetime) -> None:
    Call.objects.filter(pk__in=calls, worker=worker).release()
    Item.objects.filter(call__in=calls, worker=worker).release(now=now)
