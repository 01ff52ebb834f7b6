"""Calls in the providers' batches. A batch and all its custom ids are written before it is submitted, so that after a
crash it is found again by our id and never submitted twice."""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import Any, Protocol

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from core.bulk import insert_rows
from core.database_clock import database_time
from workers.models import (
    COMPLETED,
    IN_FLIGHT,
    Attempt,
    Batch,
    BatchEntry,
    BatchState,
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
from workers.providers import registry
from workers.providers.contract import BatchBackend, Body, Completion
from workers.providers.errors import Again, BackendError, Overloaded, Rejected, TooLong
from workers.services.claims import Claimed, affordable, lock_budgets
from workers.services.delivery import deliver
from workers.services.planning import plan
from workers.services.recording import Outcome, record

log = logging.getLogger(__name__)
MOST_CALLS = 10_000
"""Calls in one batch: below every provider's limit, and small enough that a part of a long job ends early."""
POLL, LOOK = 30.0, 1.0
"""Seconds between looks at a provider's batch (unless its endpoint says otherwise), and at the database."""
AT_ONCE = 200
"""Results that are written in one transaction."""


class NotOurs(Exception):
    """Raised where another worker watches the batch: this one was declared lost."""


class Host(Protocol):
    """The process that watches batches: its row, the job that it is limited to, its loop and the thread of its
    database."""

    worker: Worker
    only: int | None
    stop: threading.Event
    awake: asyncio.Event

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` as a task that the process waits for, on the loop's thread."""

    async def in_database(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Run `work` in the thread that owns the connection, and return its result."""


class BatchRunner:
    """Submits batches and takes their results, as tasks of its host's loop."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.loop = asyncio.get_running_loop()
        self.looked_at = 0.0
        self.watched: set[int] = set()

    def look(self) -> float | None:
        """Take over batches that nobody watches, and make new ones; in the database thread. Returns the seconds until
        the next look while there is a batch, else None."""
        if time.monotonic() - self.looked_at < LOOK:
            return LOOK if self.watched else None
        self.looked_at = time.monotonic()
        own, only = self.host.worker, self.host.only
        for batch in Batch.objects.unended():
            # Its own, too, where it does not watch them: taken by a commit whose confirmation was lost.
            is_free = batch.worker_id is None or (batch.worker_id == own.pk and batch.pk not in self.watched)
            if not is_free or only not in (None, batch.job_id):
                continue
            if Batch.objects.filter(Q(worker=None) | Q(worker=own), pk=batch.pk).watch(own):
                self._start(batch, fresh=False)
        has_work = Exists(Item.objects.filter(job=OuterRef("pk"), state=ItemState.WAITING))
        for job in Job.objects.filter(has_work, state=JobState.RUNNING, batch=True):
            if only not in (None, job.pk):
                continue
            for endpoint in Endpoint.objects.filter(items__job=job, items__state=ItemState.WAITING).distinct():
                if made := make_batch(job=job, endpoint=endpoint, worker=own, now=database_time()):
                    self._start(made, fresh=True)
        return LOOK if self.watched else None

    def _start(self, batch: Batch, *, fresh: bool) -> None:
        self.watched.add(batch.pk)
        self.loop.call_soon_threadsafe(lambda: self.host.spawn(self._watch(batch, fresh)))

    async def _watch(self, batch: Batch, fresh: bool) -> None:
        endpoint = await self.host.in_database(lambda: batch.endpoint)
        backend = registry.make(endpoint.spec)
        try:
            batch_ids = await self.host.in_database(provider_ids, endpoint)
            client = registry.make_batches(endpoint.spec, backend, others=batch_ids)
            assert client, "the endpoint's provider has batches"
            seconds = float(endpoint.options.get("batch_poll_seconds", POLL))
            while not self.host.stop.is_set():
                try:
                    if await self._advance(batch, client, fresh):
                        break
                    fresh = False
                except BackendError as error:
                    if error.again is Again.NEVER or isinstance(error, TooLong):  # another try would end the same
                        await self.host.in_database(end_batch, batch, self.host.worker, error)
                        break
                    log.warning("Batch %s: %s Trying again.", batch.uid, error)
                    fresh = False
                again_at = time.monotonic() + seconds
                while time.monotonic() < again_at and not self.host.stop.is_set():
                    await asyncio.sleep(min(0.5, max(0.01, again_at - time.monotonic())))
        except NotOurs:
            log.error("Batch %s is watched by another worker.", batch.uid)
        finally:
            self.watched.discard(batch.pk)
            self.host.awake.set()
            await backend.aclose()

    async def _advance(self, batch: Batch, client: BatchBackend, fresh: bool) -> bool:
        """Advance a batch by one step; True when it has ended."""
        if batch.state == BatchState.SUBMITTING:
            # A worker may have submitted it and died before the provider's id was written.
            provider_id = None if fresh else await client.find(batch.uid)
            if provider_id is None:
                bodies = await self.host.in_database(mark_batch_sent, batch, self.host.worker)
                provider_id = await client.submit(batch.uid, bodies)
            if not await self.host.in_database(submitted, batch, self.host.worker, provider_id):
                raise NotOurs
        status = await client.status(batch.provider_id)
        await self.host.in_database(note_progress, batch, self.host.worker, status.done)
        if not status.ended:
            return False
        if status.problem:
            await self.host.in_database(end_batch, batch, self.host.worker, Rejected(status.problem))
            return True
        chunk: list[tuple[str, Completion | BackendError]] = []
        async for pair in client.results(batch.provider_id):
            chunk.append(pair)
            if len(chunk) >= AT_ONCE:
                await self.host.in_database(take_results, batch, self.host.worker, chunk)
                chunk = []
        await self.host.in_database(take_results, batch, self.host.worker, chunk)
        await self.host.in_database(end_batch, batch, self.host.worker, None)
        return True


@transaction.atomic
def make_batch(*, job: Job, endpoint: Endpoint, worker: Worker, now: datetime) -> Batch | None:
    """Make a batch of waiting items; answers of the ledger are delivered at once. Returns None if nothing is left."""
    EndpointRateLimit.locked(endpoint.pk)  # the lock under which all work is claimed
    lock_budgets([job.pk])
    backend = registry.make(endpoint.spec)
    waiting = Item.objects.filter(job=job, endpoint=endpoint, state=ItemState.WAITING, not_before__lte=now).order_by(
        "id"
    )
    unplanned = list(waiting.filter(call__isnull=True).select_related("job")[:MOST_CALLS])
    if unplanned:
        plan(items=unplanned, endpoint=endpoint, backend=backend, now=now)
    items = list(waiting.filter(call__isnull=False).select_related("call", "job")[:MOST_CALLS])
    deliver([(item, item.planned) for item in items if item.planned.state in COMPLETED], now=now)
    calls = Call.objects.select_for_update().filter(pk__in=[item.planned.pk for item in items])
    idle = set(calls.exclude(state__in=[*COMPLETED, *IN_FLIGHT]).values_list("pk", flat=True))
    free = [item for item in items if item.planned.pk in idle]
    first_of_call = {item.planned.pk: item for item in reversed(free)}
    chosen = affordable([item for item in free if first_of_call[item.planned.pk] is item])
    rows = Item.objects.filter(pk__in=[item.pk for item in chosen])
    if rows.batch() != len(chosen):  # some were cancelled since they were read
        batched = set(rows.filter(state=ItemState.BATCHED).values_list("pk", flat=True))
        chosen = [item for item in chosen if item.pk in batched]
    Call.objects.filter(pk__in=[item.planned.pk for item in chosen]).reserve(None)
    if not chosen:
        return None
    batch = Batch.objects.begin(job, endpoint, worker)
    entries = [(batch.pk, item.planned.pk, f"{batch.uid}-{at}") for at, item in enumerate(chosen)]
    insert_rows(BatchEntry, ["batch", "call", "custom_id"], entries)
    return batch


def lock_batch(batch: Batch, worker: Worker) -> None:
    """Lock the batch in the caller's transaction. Raises NotOurs where `worker` does not watch it any more."""
    if Batch.objects.select_for_update().filter(pk=batch.pk, worker=worker).first() is None:
        raise NotOurs


@transaction.atomic
def mark_batch_sent(batch: Batch, worker: Worker) -> list[tuple[str, Body]]:
    """Mark the batch's calls as sent before they leave; returns (custom id, body) pairs. Raises NotOurs."""
    lock_batch(batch, worker)
    now = database_time()
    entries = list(batch.entries.select_related("call").order_by("id"))
    fresh = [entry.call for entry in entries if entry.call.state == CallState.RESERVED]
    Call.objects.mark_sent({call.pk: call.attempts_made for call in fresh}, now=now)
    Attempt.objects.begin([(call.pk, call.attempts_made + 1) for call in fresh], worker=None, now=now)
    return [(entry.custom_id, json.loads(entry.call.body)) for entry in entries]


def provider_ids(endpoint: Endpoint) -> list[str]:
    """Return the provider's ids of all batches of an endpoint."""
    return list(Batch.objects.filter(endpoint=endpoint).exclude(provider_id="").values_list("provider_id", flat=True))


@transaction.atomic
def submitted(batch: Batch, worker: Worker, provider_id: str) -> bool:
    """Write the provider's id of a batch. Returns False if another worker watches it: both are then paid and listed."""
    locked = Batch.objects.select_for_update().get(pk=batch.pk)
    if locked.worker_id == worker.pk:
        Batch.objects.filter(pk=batch.pk).run(provider_id)
        batch.refresh_from_db(fields=["provider_id", "state"])
    elif locked.provider_id != provider_id:
        now = database_time()
        calls = Call.objects.select_for_update().filter(pk__in=batch.entries.values("call"))
        problem = f"Handed over by a worker that had been declared lost, as {provider_id}; it may have been paid."
        Attempt.objects.begin_lost([(call.pk, call.attempts_made + 1) for call in calls], problem=problem, now=now)
        calls.count_attempt()
    return locked.worker_id == worker.pk


def note_progress(batch: Batch, worker: Worker, done: int) -> None:
    """Write how many calls of the batch are done. Raises NotOurs."""
    if not Batch.objects.filter(pk=batch.pk, worker=worker).count_done(done, now=database_time()):
        raise NotOurs


def take_results(batch: Batch, worker: Worker, results: Sequence[tuple[str, Completion | BackendError]]) -> None:
    """Record (custom id, completion or error) pairs; ids that are not of the batch are left out. Raises NotOurs."""
    ids = [custom_id for custom_id, _ in results]
    entries = {entry.custom_id: entry for entry in batch.entries.filter(custom_id__in=ids).select_related("call")}
    pairs = [(entries[custom_id].call, result) for custom_id, result in results if custom_id in entries]
    _record(batch, worker, pairs)


def end_batch(batch: Batch, worker: Worker, error: BackendError | None) -> None:
    """End a batch, with the error that ended it where it failed: its calls without a result fail with that error.

    Without an error such calls were not charged, and wait again.
    """
    problem = str(error) if error else ""
    error = error or Overloaded("The batch ended without an answer to this call.")
    left = Call.objects.filter(pk__in=batch.entries.values("call")).exclude(state__in=COMPLETED)
    left = left.filter(items__job=batch.job_id, items__state=ItemState.BATCHED).distinct()
    _record(batch, worker, [(call, error) for call in left])
    Batch.objects.filter(pk=batch.pk, worker=worker).end(problem=problem)


def _record(batch: Batch, worker: Worker, pairs: Sequence[tuple[Call, Completion | BackendError]]) -> None:
    batched = Item.objects.filter(job=batch.job_id, call__in=[call.pk for call, _ in pairs], state=ItemState.BATCHED)
    items = {item.planned.pk: item for item in batched}
    now = database_time().timestamp()
    outcomes = [
        Outcome(
            Claimed(
                item=items[call.pk].pk, job=batch.job_id, call=call.pk, uid=call.uid, body="", start=now, tokens=0,
                position=0,
                tries=call.tries + 1, unknowns=call.unknowns, reserved_cost=call.reserved_cost, sent_at=now,
            ),
            result,
            now,
        )
        for call, result in pairs
        if call.pk in items
    ]  # fmt: skip
    for at in range(0, len(outcomes), AT_ONCE):
        with transaction.atomic():
            lock_batch(batch, worker)  # two watchers would each hand over the same answers
            record(outcomes[at : at + AT_ONCE], worker=worker, endpoint=batch.endpoint, now=database_time(), batch=True)
