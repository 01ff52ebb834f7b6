"""The loop of a worker: hundreds of calls in flight on one event loop, the database in one thread beside it.

A *turn* writes down every outcome since the last one, marks what is about to be sent, and claims more; while it runs,
outcomes gather for the next. So the number of transactions does not grow with the number of calls. The process may be
killed at any moment: another worker recovers what it held (workers/services/recovery.py).
"""

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, connections

from core.database_clock import database_time, last_database_time
from workers.domain.rate_limit import HORIZON, TokenBucket
from workers.providers.contract import Completion
from workers.providers.errors import Throttled
from workers.services import processes, recovery
from workers.services.batching import BatchRunner
from workers.services.channels import Channel, open_channels
from workers.services.claims import Claimed, claim, look_at_once, next_time, plan_ahead, with_work
from workers.services.recording import Outcome, mark_sent, record, release, release_unconfirmed
from workers.services.recovery import WorkerLost, reap, suspects

log = logging.getLogger(__name__)
ROOM = 512
"""Calls in flight in one process."""
LOOK, IDLE = 0.5, 0.25
"""Seconds between looks for new endpoints, and between turns that wait for something."""
GATHER = 0.005
"""Seconds in which outcomes gather for one turn while many calls are in flight."""


class Runner:
    """Makes calls until nothing is left to claim, or until `stop` is set and the last answer is in.

    `only` limits it to one job. `on_turn` is called in the loop after every turn that changed something.
    """

    def __init__(
        self, *, stop: threading.Event | None = None, only: int | None = None, on_turn: Callable[[], Any] | None = None
    ) -> None:
        self.stop = stop or threading.Event()
        self.only = only
        self.on_turn = on_turn
        self.channels: dict[int, Channel] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.unmarked: list[tuple[Channel, list[Claimed]]] = []
        self.unsent: list[tuple[Channel, list[Claimed]]] = []
        self.calls: set[int] = set()
        self.awaited: set[int] = set()
        self.in_doubt = False
        self.looked_at = self.beaten_at = self.reaped_at = 0.0
        self.bucket = TokenBucket()

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self.database = ThreadPoolExecutor(1, "ledger")
        self.awake = asyncio.Event()
        self.loop = asyncio.get_running_loop()
        self.beaten_at = time.monotonic()
        self.worker = await self.in_database(recovery.enter)
        self.batches = BatchRunner(self)
        try:
            while await self._step():
                pass
        except WorkerLost:
            log.error("The lease of this worker expired; others took over what it held.")
        finally:
            for task in self.tasks:
                task.cancel()
            await asyncio.gather(*self.tasks, return_exceptions=True)
            await self.in_database(self._leave)
            for channel in self.channels.values():
                await channel.aclose()
            self.database.shutdown()

    async def _step(self) -> bool:
        """Make one turn and wait after it. False when there is nothing left to do."""
        self.awake.clear()
        taken = {key: channel.take_pending() for key, channel in self.channels.items() if channel.has_pending}
        try:
            pause = await self.in_database(self._turn, taken)
        except WorkerLost:
            for key, (outcomes, _) in taken.items():
                self.channels[key].outcomes[:0] = outcomes  # answers that were paid: the ledger still takes them
            raise
        self._start_all(self.unsent)  # of a turn that was cut off
        self.unsent = []
        if self.on_turn and taken:
            self.on_turn()
        in_flight = sum(channel.in_flight for channel in self.channels.values())
        unwritten = any(channel.has_pending for channel in self.channels.values())
        if not (in_flight or unwritten or self.tasks) and (pause is None or self.stop.is_set()):
            return False
        if not self.awake.is_set():
            timeout = max(0.002, min(IDLE if pause is None else pause, recovery.pause()))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.awake.wait(), timeout)
        if in_flight >= 8:
            await asyncio.sleep(GATHER)
        return True

    # --- on the loop -------------------------------------------------------------------------------------------------

    def _start_all(self, unsent: list[tuple[Channel, list[Claimed]]]) -> None:
        for channel, claims in unsent:
            channel.in_flight += len(claims)
            for claimed in claims:
                self.spawn(self._make(channel, claimed))

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _make(self, channel: Channel, claimed: Claimed) -> None:
        try:
            if not claimed.sent_at:
                await asyncio.sleep(claimed.due - time.monotonic())
                may_send = asyncio.get_running_loop().create_future()
                channel.due.append((claimed, may_send))
                self.awake.set()
                if not await may_send:
                    return
            result = await channel.ask(claimed)
            channel.outcomes.append(Outcome(claimed, result, last_database_time().timestamp()))
        finally:
            channel.in_flight -= 1
            self.calls.discard(claimed.call)
            self.awake.set()

    # --- in the database thread --------------------------------------------------------------------------------------

    async def in_database(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Run `work` in the thread that owns the connection, as often as it takes until the database can be reached."""
        while True:
            try:
                return await self.loop.run_in_executor(self.database, work, *arguments)
            except (OperationalError, InterfaceError) as error:
                log.warning("The database cannot be reached (%s); trying again.", str(error).splitlines()[0])
                self.in_doubt = True
                await self.loop.run_in_executor(self.database, lambda: connection.close())  # the thread's own
                await asyncio.sleep(1)

    def _leave(self) -> None:
        """Write down the outcomes that are here and release what was not sent."""
        now = database_time()
        for channel in self.channels.values():
            if channel.outcomes:
                record(channel.outcomes, worker=self.worker, endpoint=channel.endpoint, now=now)
            release([claimed for claimed, _ in channel.due], worker=self.worker, now=now)
        recovery.leave(self.worker)
        connections.close_all()

    def _turn(self, taken: dict[int, tuple[list[Outcome], list[Any]]]) -> float | None:
        """Mark, claim and write. Returns the seconds until the next turn, None where nothing is left.

        Answers are written after new calls were claimed in their place, which halves the time that a place is empty.
        Refusals are written before, as they lower the rate, and so is everything after a lost commit.
        """
        if time.monotonic() - self.beaten_at >= recovery.pause():
            recovery.beat(self.worker)
            self.beaten_at = time.monotonic()
        write_first = self.in_doubt or self.stop.is_set()
        if self.in_doubt:  # a commit may have been made whose confirmation was lost
            release_unconfirmed(frozenset(self.calls), worker=self.worker, now=database_time())
            self.in_doubt = False
        wrote = any(outcomes for outcomes, _ in taken.values())
        for key, (outcomes, due) in taken.items():
            if write_first or any(isinstance(outcome.result, Throttled) for outcome in outcomes):
                self._write(key, outcomes)
            if due:
                self._send(self.channels[key], due)
        self._mark()
        if self.stop.is_set():
            return None
        self._look()
        pause = self._claim({key: len(outcomes) for key, (outcomes, _) in taken.items()})
        unsent, self.unsent = self.unsent, []
        if unsent:  # what was claimed and marked starts while this turn goes on
            self.loop.call_soon_threadsafe(self._start_all, unsent)
        for key, (outcomes, _) in taken.items():
            self._write(key, outcomes)
        self._plan_ahead()
        if pause is None and (self._look(at_once=True) or wrote):
            # an answer brought new work, perhaps for an endpoint that had none before; or the last was written
            return HORIZON / 2 if self.calls else 0.0
        return pause

    def _write(self, key: int, outcomes: list[Outcome]) -> None:
        if outcomes:
            record(outcomes, worker=self.worker, endpoint=self.channels[key].endpoint, now=database_time())
            answered = {outcome.claimed.call for outcome in outcomes if isinstance(outcome.result, Completion)}
            outcomes.clear()  # a turn that is tried again must not write them twice
            if shared := self.awaited & answered:
                look_at_once(shared, now=database_time())
                self.awaited -= shared
                self.loop.call_soon_threadsafe(self.awake.set)

    def _plan_ahead(self) -> None:
        for channel in self.channels.values():
            while channel.in_flight and not self.awake.is_set():
                if not plan_ahead(
                    endpoint=channel.endpoint, backend=channel.backend, now=database_time(), only=self.only
                ):
                    break

    def _send(self, channel: Channel, due: list[tuple[Claimed, asyncio.Future[bool]]]) -> None:
        ready = mark_sent([claimed for claimed, _ in due], worker=self.worker, now=database_time())
        ready_calls = {claimed.call for claimed in ready}
        dropped = [claimed for claimed, _ in due if claimed.call not in ready_calls]
        if dropped:
            release(dropped, worker=self.worker, now=database_time())
        resolved = [(may_send, claimed.call in ready_calls) for claimed, may_send in due]
        due.clear()
        self.loop.call_soon_threadsafe(_resolve, resolved)

    def _look(self, *, at_once: bool = False) -> bool:
        """Open a channel for each endpoint that has something to do. Returns whether there is a new one."""
        if time.monotonic() - self.looked_at < LOOK and not at_once:
            return False
        before = len(self.channels)
        self.looked_at = time.monotonic()
        if self.looked_at - self.reaped_at >= settings.WORKER_SWEEP_SECONDS:
            # What a dead worker holds counts as in flight: where it fills the endpoint, nobody else would get anything.
            self.reaped_at = self.looked_at
            processes.report([processes.CALLS])
            reap(now=database_time())
        open_channels(self.channels)
        return len(self.channels) > before

    def _claim(self, unwritten: dict[int, int]) -> float | None:
        """Claim for every channel. Returns the seconds until the next turn, None where nothing is left.

        `unwritten` counts by endpoint the answers that are here and, until they are written, in flight in the database.
        """
        waits = [self.batches.look(), LOOK if suspects() else None]
        in_flight = sum(channel.in_flight for channel in self.channels.values())
        busy = with_work(self.channels, database_time(), self.only)
        for channel in sorted(self.channels.values(), key=lambda channel: channel.served):
            if channel.endpoint.pk not in busy:
                continue
            computed = (
                not channel.endpoint.about.reads_prompts
            )  # answers at once in this process: none waits for another
            pause = 0.0 if computed else self.bucket.pause(now=time.monotonic())
            waits.append(pause or None)
            if pause:
                continue
            result = claim(
                worker=self.worker,
                endpoint=channel.endpoint,
                backend=channel.backend,
                room=ROOM - in_flight if computed else min(ROOM - in_flight, self.bucket.most),
                now=database_time(),
                only=self.only,
                rate_limited=not computed,
                unwritten=unwritten.get(channel.endpoint.pk, 0),
            )
            if result.claimed:
                in_flight += len(result.claimed)
                if not computed:
                    self.bucket.take(len(result.claimed))
                channel.served = time.monotonic()
                self.calls.update(claimed.call for claimed in result.claimed)
                self.unmarked.append((channel, result.claimed))
                self._mark()
            self.awaited |= result.awaited
            waits.append(0.0 if result.more else None)
        if (upcoming := next_time(self.channels, self.only)) is not None:
            ahead = (upcoming - database_time()).total_seconds()
            full = all(channel.in_flight >= channel.endpoint.max_concurrency for channel in self.channels.values())
            waits.append(LOOK if full else min(LOOK, max(ahead, HORIZON / 2)))
        return min((seconds for seconds in waits if seconds is not None), default=None)

    def _mark(self) -> None:
        """Mark as sent what is due of the new claims. Those of a turn that was cut off are still here in the next."""
        while self.unmarked:
            channel, claims = self.unmarked[-1]
            now = database_time()
            due = [claimed for claimed in claims if claimed.due <= time.monotonic()]
            ready = mark_sent(due, worker=self.worker, now=now) if due else []
            ready_calls = {claimed.call for claimed in ready}
            release([claimed for claimed in due if claimed.call not in ready_calls], worker=self.worker, now=now)
            later = [claimed for claimed in claims if claimed not in due]
            self.unmarked.pop()
            if ready or later:
                self.unsent.append((channel, ready + later))


def _resolve(resolved: list[tuple[asyncio.Future[bool], bool]]) -> None:
    for may_send, value in resolved:
        if not may_send.done():
            may_send.set_result(value)
