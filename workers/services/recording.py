"""Recording of calls, many at once: marked as sent before they leave, and their outcomes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction

from core.digests import text_digest
from core.texts import storable
from workers.domain.outcomes import decide
from workers.domain.pricing import estimated_tokens
from workers.models import COMPLETED, IN_HAND, Attempt, Call, CallState, Endpoint, EndpointRateLimit, Item, Job, Worker
from workers.providers.contract import Completion, Stop, Usage
from workers.providers.errors import Again, BackendError, Filtered, Rejected, Throttled
from workers.providers.parsing import STOP_SENTENCES
from workers.services.claims import Claimed, lock_budgets
from workers.services.delivery import deliver, end_jobs
from workers.services.holding import hold_back_hopeless

STATES = {
    Stop.END: CallState.ANSWERED,
    Stop.LENGTH: CallState.TRUNCATED,
    Stop.REFUSAL: CallState.REFUSED,
    Stop.FILTER: CallState.REFUSED,
    Stop.OTHER: CallState.UNREADABLE,
}
"""States of a call that was answered, by the way in which the model stopped."""


@dataclass(slots=True)
class Outcome:
    """The answer or the error of a claimed call, at `finished_at` (seconds since the epoch)."""

    claimed: Claimed
    result: Completion | BackendError
    finished_at: float


def mark_sent(claims: Sequence[Claimed], *, worker: Worker, now: datetime) -> list[Claimed]:
    """Mark calls as sent before they leave. Returns those that may be sent: the others were taken from this worker
    meanwhile.

    May be called again with the same claims where its commit may have been lost: none is counted twice.
    """
    with transaction.atomic():
        own = Call.objects.select_for_update().filter(pk__in=[claimed.call for claimed in claims], worker=worker)
        states = {pk: (state, made) for pk, state, made in own.values_list("pk", "state", "attempts_made")}
        attempts_made = {pk: made for pk, (state, made) in states.items() if state == CallState.RESERVED}
        marked_before = [claimed for claimed in claims if states.get(claimed.call, ("",))[0] == CallState.SENT]
        ready = [claimed for claimed in claims if claimed.call in attempts_made]
        Call.objects.mark_sent(attempts_made, now=now)
        sendings = [(claimed.call, attempts_made[claimed.call] + 1) for claimed in ready]
        Attempt.objects.begin(sendings, worker=worker, now=now)
    for claimed in ready + marked_before:
        claimed.sent_at = now.timestamp()
        claimed.tries += 1
    return ready + marked_before


def record(
    outcomes: Sequence[Outcome], *, worker: Worker, endpoint: Endpoint, now: datetime, batch: bool = False
) -> None:
    """Write outcomes of one endpoint, deliver answers, and let the rate limit learn. All or nothing."""
    with transaction.atomic():
        if not batch:
            _learn(outcomes, endpoint, now)
        job_ids = {outcome.claimed.job for outcome in outcomes}
        lock_budgets(job_ids)  # before the calls: claims.py has the order
        ids = [outcome.claimed.call for outcome in outcomes]
        calls = Call.objects.in_bulk(ids)
        # Its own attempts alone: a worker that was declared lost must not close that of the one that took over.
        own = Attempt.objects.awaited().filter(call__in=ids, worker=None if batch else worker).order_by("number")
        attempts = dict(own.values_list("call", "pk"))
        jobs = Job.objects.in_bulk(job_ids)
        items = Item.objects.in_bulk([outcome.claimed.item for outcome in outcomes])
        for item in items.values():
            item.job = jobs[item.job_id]
        recording = _Recording(worker, endpoint, now, batch)
        for outcome in outcomes:
            claimed = outcome.claimed
            recording.take(outcome, calls[claimed.call], attempts.get(claimed.call), items[claimed.item])
        recording.write()


class _Recording:
    """The rows of one `record`, collected so that each kind is written by one statement."""

    def __init__(self, worker: Worker, endpoint: Endpoint, now: datetime, batch: bool) -> None:
        self.worker, self.endpoint, self.now, self.batch = worker, endpoint, now, batch
        self.prices, self.policy, self.about = endpoint.prices, endpoint.policy, endpoint.about
        self.answers: list[Call] = []
        self.problems: list[tuple[Any, ...]] = []
        self.attempts: list[tuple[Any, ...]] = []
        self.answered: list[tuple[Item, Call]] = []
        self.waiting: list[tuple[Any, ...]] = []
        self.failed: list[tuple[Any, ...]] = []
        self.ended: set[int] = set()
        self.hopeless: dict[int, BackendError] = {}

    def take(self, outcome: Outcome, call: Call, attempt: int | None, item: Item) -> None:
        at = datetime.fromtimestamp(outcome.finished_at, UTC)
        is_ours = item.state in IN_HAND and item.worker_id in (None, self.worker.pk)
        own, result = item if is_ours else None, outcome.result
        if isinstance(result, Filtered):
            outcome.result = result = refusal_of(result)
        if isinstance(result, Completion):
            claimed = outcome.claimed
            state = STATES[result.stop]
            usage = result.usage if result.usage.reported else _estimated(call, result)
            cost = self.prices.cost(usage, batch=self.batch)
            if not usage.reported and cost is not None and call.reserved_cost is not None:
                cost = min(cost, call.reserved_cost)  # an estimate cannot know better than the most that was reserved
            if attempt:
                problem = storable(result.problem or STOP_SENTENCES[result.stop])
                headers = self.about.kept_headers(result.headers)
                body = storable(result.body)
                self.attempts.append((state, at, result.status, headers, problem, body, 0.0, attempt))
            if call.state not in COMPLETED:  # an answer that came late, after another one, is an attempt and no more
                call.take_answer(
                    state, finished_at=at, answer=storable(result.text), reasoning=storable(result.reasoning),
                    stop=result.stop, answered_by=result.model[:200], request_id=result.request_id[:200],
                    fingerprint=storable(result.fingerprint)[:200],
                    input_tokens=usage.input, cached_tokens=usage.cached, cache_write_tokens=usage.cache_write,
                    output_tokens=usage.output, reasoning_tokens=usage.reasoning, usage_told=usage.reported, cost=cost,
                    problem=storable(result.problem or STOP_SENTENCES[result.stop]),
                    tries=claimed.tries, unknowns=claimed.unknowns,
                )  # fmt: skip
                self.answers.append(call)
            if own:
                own.book(cost)
                self.answered.append((own, call))
        else:
            self._problem(outcome.claimed, result, call, attempt, own, at)

    def _problem(
        self, claimed: Claimed, error: BackendError, call: Call, attempt: int | None, item: Item | None, at: datetime
    ) -> None:
        unknown = error.again is Again.UNKNOWN
        unknowns = claimed.unknowns + unknown
        jitter = int(text_digest(f"{call.uid}{claimed.tries}")[:4], 16) / 0xFFFF
        pause, reason = decide(error, attempts=claimed.tries, unknowns=unknowns, policy=self.policy, jitter=jitter)
        state = CallState.UNKNOWN if unknown else CallState.FAILED if pause is None else CallState.PLANNED
        if attempt:
            kind = CallState.UNKNOWN if unknown else error.kind
            headers = self.about.kept_headers(error.headers)
            problem, body = storable(str(error)), storable(error.body)
            self.attempts.append((kind, at, error.status, headers, problem, body, pause or 0.0, attempt))
        if (call.state == CallState.SENT and call.worker_id == self.worker.pk) or (
            self.batch and call.state not in COMPLETED
        ):
            self.problems.append((state, storable(reason), claimed.tries, unknowns, call.pk))
        if item:
            if unknown and claimed.reserved_cost != 0:  # None, too: it may have been paid
                item.book(claimed.reserved_cost)
            problem = storable(reason)
            if pause is not None:
                again_at = self.now + timedelta(seconds=pause)
                self.waiting.append((again_at, problem, *item.booked, item.pk))
                return
            self.failed.append((problem, *item.booked, item.pk))
            self.ended.add(item.job_id)
            if error.advice or (isinstance(error, Rejected) and error.status):
                self.hopeless[item.job_id] = error

    def write(self) -> None:
        Call.objects.answer(self.answers)
        Call.objects.record_failures(self.problems)
        Attempt.objects.close(self.attempts)
        Item.objects.wait_again(self.waiting)
        Item.objects.fail_asked(self.failed, now=self.now)
        for job, error in self.hopeless.items():
            hold_back_hopeless(job, self.endpoint, error)
        deliver(self.answered, now=self.now)
        end_jobs(self.ended, now=self.now)


def _estimated(call: Call, completion: Completion) -> Usage:
    """Estimate on the high side the usage that the provider did not tell, or told in part."""
    thought, usage = estimated_tokens(completion.reasoning), completion.usage
    output = usage.output or thought + estimated_tokens(completion.text)
    reasoning = usage.reasoning or min(thought, output)
    return replace(usage, input=usage.input or estimated_tokens(call.body), output=output, reasoning=reasoning)


def refusal_of(error: Filtered) -> Completion:
    """Return a refusal by the provider's content filter as the answer that it is: asking again would bring the same."""
    return Completion(
        "",
        Stop.FILTER,
        Usage(reported=False),
        "",
        problem=str(error),
        status=error.status or 200,
        body=error.body,
        headers=error.headers,
    )


def _learn(outcomes: Sequence[Outcome], endpoint: Endpoint, now: datetime) -> None:
    row = EndpointRateLimit.locked(endpoint.pk)
    rate_limit = row.rate_limit
    at = now.timestamp()
    completed = [
        (outcome.claimed, outcome.result.usage) for outcome in outcomes if isinstance(outcome.result, Completion)
    ]
    for claimed, usage in completed:
        if usage.reported:  # else what was booked stays booked
            rate_limit.correct_tokens(claimed.tokens - usage.input - usage.output, endpoint.token_rate)
    newest = max(outcomes, key=lambda outcome: outcome.finished_at).result.headers
    rate_limit.learn(*endpoint.about.request_limits(newest), now=at)
    throttled = [(outcome.claimed, outcome.result) for outcome in outcomes if isinstance(outcome.result, Throttled)]
    for claimed, error in sorted(throttled, key=lambda pair: pair[0].position):
        if claimed.tries > REFUSED_ALONE and rate_limit.accepted_at > claimed.start - 5:
            continue
        pause = min(error.retry_after or 1.0, endpoint.retry_after_cap)
        rate_limit.refused(position=claimed.position, started=claimed.start, now=at, pause=pause)
    if completed:
        rate_limit.succeeded(len(completed), now=at)
    row.keep(rate_limit)


REFUSED_ALONE = 2
"""Refusals of one call after which, while others are accepted, they concern that call and not the limit."""


def release(claims: Sequence[Claimed], *, worker: Worker, now: datetime) -> None:
    """Release what was claimed and not sent, at once claimable by others."""
    if claims:
        with transaction.atomic():
            _release([claimed.call for claimed in claims], worker, now)


def release_unconfirmed(confirmed: Collection[int], *, worker: Worker, now: datetime) -> None:
    """Release calls that this worker reserved without knowing it, because the confirmation of its commit was lost;
    `confirmed` are the ids of those that it knows of."""
    with transaction.atomic():
        reserved = Call.objects.filter(worker=worker, state=CallState.RESERVED).exclude(pk__in=confirmed)
        _release(list(reserved.values_list("pk", flat=True)), worker, now)


def _release(calls: Collection[int], worker: Worker, now: datetime) -> None:
    Call.objects.filter(pk__in=calls, worker=worker).release()
    Item.objects.filter(call__in=calls, worker=worker).release(now=now)
