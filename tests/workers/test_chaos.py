"""Processes that die, hang, lose their database or have a wrong clock: nothing is lost, and nothing counts twice. The
long form is bench/chaos.py."""

import asyncio
import json
import os
import random
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.db.models.functions import Now
from django.utils import timezone

from core import database_clock
from core.database_clock import database_time
from tests.chaos.database import own_database
from tests.chaos.site import Site
from tests.chaos.torment import Torment, account, faults
from tests.patience import PATIENCE
from tests.servers import ModelServer
from tests.workers.conftest import states
from tests.workers.process import MANAGE, start_process, until
from workers.models import Attempt, Batch, Call, CallState, EndpointRateLimit, Item, ItemState, Worker, WorkerState
from workers.providers import registry
from workers.services import batching, jobs, recording, recovery
from workers.services.claims import claim
from workers.services.planning import plan
from workers.services.recording import Outcome, mark_sent, record
from workers.services.recovery import reap
from workers.services.runner import Runner

in_database = pytest.mark.django_db(transaction=True)
NOWHERE = {"base_url": "http://127.0.0.1:1/v1", "batches": True}


@pytest.mark.dear
@pytest.mark.thorough
@pytest.mark.xdist_group("waiting")
def test_eight_kills_lose_nothing_and_count_nothing_twice(prepared, tmp_path):
    """With its files beside SQLite, with Redis beside PostgreSQL, whichever this run of the tests is on."""
    place = os.environ.get("DATABASE_URL", "")
    redis = place.startswith("postgres")
    if not redis:
        place = ""
        prepared(tmp_path / "var")
    elif not shutil.which("redis-server"):
        reason = "redis-server is not installed: PostgreSQL with Redis is not tried."
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    with (
        own_database(place) as url,
        ModelServer(latency=0.8, jitter=0.5, batch_delay=1.5) as server,
        Site(tmp_path, database_url=url, redis=redis) as site,
    ):
        torment = Torment(site, server.url, random.Random(3), calls=100)
        torment.kill(5)
        assert site.finishes(seconds=PATIENCE)
        torment.kill(3, batch=True)
        assert site.finishes(seconds=PATIENCE)
        totals = account(site.ask("report"), server.paid())
        assert faults(totals, torment.asked) == []
        assert sum(site.kills.values()) == 8 and totals.batches >= 1
        assert site.fallen() == [] and site.web_answers()


# --- each moment at which something was lost once


def working() -> Worker:
    """The row of a process that works elsewhere, with a connection of its own."""
    now = timezone.now()
    return Worker.objects.create(host="h", pid=1, started_at=now, heartbeat_at=now)


def claimed_by(worker: Worker, endpoint) -> list:
    backend = registry.make(endpoint.spec)
    return claim(worker=worker, endpoint=endpoint, backend=backend, room=100, now=timezone.now()).claimed


def sent_by(worker: Worker, endpoint) -> list:
    return mark_sent(claimed_by(worker, endpoint), worker=worker, now=timezone.now())


def lose(worker: Worker) -> None:
    """Reap, as another worker does after a lease of silence."""
    Worker.objects.filter(pk=worker.pk).update(heartbeat_at=timezone.now() - timedelta(hours=1))
    reap(now=timezone.now(), patience=0)


def outcomes() -> list[tuple[int, str]]:
    return list(Attempt.objects.values_list("number", "outcome"))


def run_within_patience() -> None:
    """End an endless run, so that it fails a test instead of hanging it."""
    stop = threading.Event()
    timer = threading.Timer(PATIENCE, stop.set)
    timer.start()
    Runner(stop=stop).run()
    timer.cancel()


@in_database
def test_what_a_lost_worker_claims_is_freed(make_endpoint, start):
    endpoint = make_endpoint()
    job = start(endpoint, ["a"])
    worker = working()
    lose(worker)
    assert len(claimed_by(worker, endpoint)) == 1  # it was stopped before its claim, and does not know yet
    assert reap(now=timezone.now()) == 1
    assert (Item.objects.get(job=job).state, Call.objects.get().state) == (ItemState.WAITING, CallState.PLANNED)
    with pytest.raises(recovery.WorkerLost):
        recovery.beat(worker)


@in_database
def test_recovery_frees_what_a_dead_worker_held(make_endpoint, start, run_worker):
    endpoint = make_endpoint(price_output=100_000)
    start(endpoint, ["not sent", "sent", "sent twice"])
    long_ago = timezone.now() - timedelta(hours=1)
    dead = Worker.objects.create(host="h", pid=1, started_at=long_ago, heartbeat_at=long_ago)
    for item, state, unknowns in zip(Item.objects.order_by("id"), ("reserved", "sent", "sent"), (0, 0, 1), strict=True):
        plan(items=[item], endpoint=endpoint, backend=registry.make(endpoint.spec), now=long_ago)
        item.refresh_from_db()
        Call.objects.filter(pk=item.call_id).update(state=state, worker=dead, attempts_made=1, unknowns=unknowns)
        Item.objects.filter(pk=item.pk).update(state=ItemState.CLAIMED, worker=dead)
        if state == "sent":
            Attempt.objects.create(call=item.call, number=1, sent_at=long_ago)
    assert (reap(now=timezone.now(), patience=0), reap(now=timezone.now())) == (1, 0)
    dead.refresh_from_db()
    assert dead.state == WorkerState.LOST and outcomes() == [(1, "unknown"), (1, "unknown")]
    run_worker()
    items = {item.key: item for item in Item.objects.all()}
    assert [items[key].state for key in ("not sent", "sent", "sent twice")] == ["done", "done", "failed"]
    assert items["sent twice"].cost == Call.objects.get(state="unknown").reserved_cost
    assert items["not sent"].cost < items["sent"].cost


@in_database
def test_a_worker_that_hangs_in_a_transaction_keeps_no_lock(make_endpoint, start):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one lock for all writers, and nobody can take it from a process that hangs.")
    endpoint, entered, go_on = make_endpoint(), threading.Event(), threading.Event()
    start(endpoint, ["a"])

    def hang():
        recovery.enter()
        try:
            with pytest.raises(OperationalError), transaction.atomic():
                EndpointRateLimit.objects.select_for_update().get()
                entered.set()
                go_on.wait(PATIENCE)
                EndpointRateLimit.objects.update(state={"written": "too late"})
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        hung = pool.submit(hang)
        assert entered.wait(PATIENCE)
        lose(Worker.objects.get())
        assert len(claimed_by(working(), endpoint)) == 1
        go_on.set()
        hung.result(timeout=PATIENCE)
    assert "written" not in EndpointRateLimit.objects.get().state


@in_database
def test_a_dead_worker_that_fills_an_endpoint_stops_nobody(make_endpoint, start, settings):
    settings.WORKER_LEASE_SECONDS, settings.WORKER_SWEEP_SECONDS = 2, 1
    endpoint = make_endpoint(max_concurrency=2)
    job = start(endpoint, ["a", "b", "c"])
    assert len(claimed_by(working(), endpoint)) == 2
    run_within_patience()
    assert states(job) == {"done": 3}
    # heartbeats come in a quarter of the lease, two seconds at most
    for lease, seconds in ((2, 0.5), (8, 2.0), (20, 2.0)):
        settings.WORKER_LEASE_SECONDS = lease
        assert recovery.pause() == seconds


@in_database
def test_a_late_answer_is_kept_and_given_to_nobody_twice(make_endpoint, start, run_worker, trial):
    endpoint = make_endpoint()
    start(endpoint, ["a"])
    late, second = working(), working()
    (claimed,) = sent_by(late, endpoint)
    lose(late)
    assert len(sent_by(second, endpoint)) == 1
    asking = registry.make(endpoint.spec).complete(json.loads(claimed.body), timeout=5, call=claimed.uid)
    answer = Outcome(claimed, asyncio.run(asking), 0.0)
    record([answer], worker=late, endpoint=endpoint, now=timezone.now())
    # The answer counts, the item belongs to the second worker, whose attempt is still under way.
    assert Call.objects.get().state == CallState.ANSWERED
    assert outcomes() == [(1, "unknown"), (2, "")] and trial.received == {}
    recovery.leave(second)
    reap(now=timezone.now())
    run_worker()
    assert outcomes() == [(1, "unknown"), (2, "unknown")] and trial.received == {"a": 1}


@in_database
def test_an_answer_that_came_to_a_lost_worker_is_not_asked_for_again(make_endpoint, start, run_worker, trial, tmp_path):
    start(make_endpoint(options={"log": str(tmp_path / "asked")}), ["a"])
    turn = Runner._turn

    def turn_of_a_lost_one(self, taken):
        if any(outcomes for outcomes, _ in taken.values()):
            lose(self.worker)
            self.beaten_at = 0.0
        return turn(self, taken)

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(Runner, "_turn", turn_of_a_lost_one)
        run_worker()
    assert Worker.objects.get().state == WorkerState.LOST
    assert (Call.objects.get().state, trial.received) == (CallState.ANSWERED, {})
    run_worker()
    assert len((tmp_path / "asked").read_text().splitlines()) == 1
    assert trial.received == {"a": 1}


@in_database
@pytest.mark.parametrize("work", ["claim", "mark_sent", "record"])
def test_a_commit_whose_confirmation_was_lost_counts_once(make_endpoint, start, trial, monkeypatch, work):
    """The database goes away between its commit and its word of it."""
    real, lost = {"claim": claim, "mark_sent": mark_sent, "record": record}[work], []

    def cut_off(*arguments, **named):
        result = real(*arguments, **named)
        if not lost:
            lost.append(work)
            raise OperationalError("server closed the connection unexpectedly")
        return result

    monkeypatch.setattr(f"workers.services.runner.{work}", cut_off)
    job = start(make_endpoint(max_concurrency=2), ["a", "b", "c"])
    run_within_patience()
    assert lost == [work] and states(job) == {"done": 3} and trial.received == {"a": 1, "b": 1, "c": 1}
    assert outcomes() == [(1, "answered")] * 3
    assert list(Worker.objects.values_list("state", flat=True)) == [WorkerState.GONE]


@in_database
def test_two_workers_that_look_at_once_make_one_batch_and_hand_on_a_known_answer_once(
    make_endpoint, start, run_worker, trial, monkeypatch
):
    def look_at_once(job) -> list[Batch | None]:
        """What two workers make of the same waiting items at the same moment."""

        def look(worker):
            try:
                return batching.make_batch(job=job, endpoint=endpoint, worker=worker, now=timezone.now())
            finally:
                connections.close_all()

        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(look, [working(), working()]))

    endpoint = make_endpoint(batches=True)
    start(endpoint, ["known"])
    run_worker()
    job, deliver = start(endpoint, ["known"], batch=True), batching.deliver
    Item.objects.update(call=Call.objects.get())

    def deliver_slowly(*arguments, **named):
        time.sleep(0.3)  # by now the other has read what waits
        deliver(*arguments, **named)

    monkeypatch.setattr(batching, "deliver", deliver_slowly)
    assert look_at_once(job) == [None, None]
    assert trial.received == {"known": 2}  # once in each job
    job = start(endpoint, [f"q{at}" for at in range(20)], batch=True)
    assert sum(batch is not None for batch in look_at_once(job)) == 1
    assert Batch.objects.get().entries.count() == 20


@in_database
def test_a_batch_has_one_watcher_and_who_ends_lets_it_go(make_endpoint, start, trial):
    endpoint = make_endpoint("openai", **NOWHERE)
    job = start(endpoint, ["a", "b"], batch=True)
    late, second = working(), working()
    batch = batching.make_batch(job=job, endpoint=endpoint, worker=late, now=timezone.now())
    bodies = batching.mark_batch_sent(batch, late)
    lose(late)
    assert Batch.objects.get().worker is None
    Batch.objects.update(worker=second)
    assert batching.mark_batch_sent(batch, second) == bodies  # no second attempt: the provider did not know the first
    assert batching.submitted(batch, second, "batch_2")
    for work in (batching.note_progress, batching.take_results):
        with pytest.raises(batching.NotOurs):
            work(batch, late, 0 if work is batching.note_progress else [(bodies[0][0], recording.Throttled("late"))])
    # The late worker wakes up in the middle of handing it over: two batches may be paid, one is listed as unknown.
    assert not batching.submitted(batch, late, "batch_1")
    assert Batch.objects.get().provider_id == "batch_2"
    assert outcomes() == [(1, ""), (1, ""), (2, "unknown"), (2, "unknown")]
    recovery.leave(second)
    second.refresh_from_db()
    assert Batch.objects.get().worker is None and second.state == WorkerState.GONE


# --- clocks that are wrong

SHIFTED = """
import datetime, time
from django.utils import timezone
offset, now, seconds = float(sys.argv.pop(1)), timezone.now, time.time
timezone.now = lambda: now() + datetime.timedelta(seconds=offset)
time.time = lambda: seconds() + offset
"""
LIBRARIES = list(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))


@contextmanager
def shifted(seconds: float) -> Iterator[None]:
    """Within, the clock of this process is wrong."""
    now, epoch = timezone.now, time.time
    with pytest.MonkeyPatch.context() as wrong:
        wrong.setattr(timezone, "now", lambda: now() + timedelta(seconds=seconds))
        wrong.setattr(time, "time", lambda: epoch() + seconds)
        yield


@in_database
@pytest.mark.parametrize("seconds", [25, -25, 3600, -3600])
def test_a_wrong_clock_takes_nothing_from_a_worker_and_lets_nothing_wait(make_endpoint, start, run_worker, seconds):
    endpoint = make_endpoint(options={"script": [{"fail": "rejected"}]})
    with shifted(seconds):
        job = start(endpoint, ["a", "b"])
    run_worker()
    assert states(job) == {"failed": 2}
    type(endpoint).objects.update(options={})
    with shifted(seconds):
        assert jobs.retry_failed(job=job, now=timezone.now()) == 2
        run_worker()
    assert states(job) == {"done": 2}
    with shifted(seconds):
        own_is_wrong = recovery.enter()
        recovery.beat(own_is_wrong)
    assert reap(now=timezone.now(), patience=0) == 0
    assert Worker.objects.get(heartbeat_at__lte=Now(), pk=own_is_wrong.pk).state == WorkerState.LIVE
    start(endpoint, [f"q{at}" for at in range(21)])
    worker = recovery.enter()
    sent_by(worker, endpoint)
    claimed = Item.objects.filter(state="claimed", worker=worker)
    before = claimed.count()
    with shifted(seconds):
        assert reap(now=timezone.now(), patience=0) == 0
        recovery.beat(worker)  # raises where it was declared lost
    assert claimed.count() == before > 0
    assert set(Attempt.objects.filter(worker=worker).values_list("outcome", flat=True)) == {""}


@in_database
def test_a_worker_that_showed_signs_of_life_and_then_fell_silent_is_lost(make_endpoint, start, settings):
    settings.WORKER_LEASE_SECONDS = 0
    start(make_endpoint(), ["a"])
    worker = recovery.enter()
    recovery.beat(worker)  # the database writes the time, and SQLite with fewer decimals than Django does
    assert len(claimed_by(worker, Item.objects.get().endpoint)) == 1
    time.sleep(0.01)  # a lease of nothing is over by then
    assert reap(now=database_time(), patience=0) == 1
    worker.refresh_from_db()
    assert (worker.state, Item.objects.get().state) == (WorkerState.LOST, ItemState.WAITING)


@in_database
def test_a_clock_that_was_set_forward_makes_nobody_lost_who_shows_a_sign_of_life(make_endpoint, start, monkeypatch):
    """As after a step of the machine's clock: by the database all heartbeats are old at once."""
    worker, endpoint = working(), make_endpoint()
    start(endpoint, ["a"])
    sent_by(worker, endpoint)
    at = time.monotonic()
    monkeypatch.setattr(recovery.time, "monotonic", lambda: at)
    Worker.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
    assert reap(now=timezone.now()) == 0 and recovery.suspects()
    Worker.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=59))  # it beats, by a clock that is behind
    at += 60
    assert reap(now=timezone.now()) == 0
    at += 60
    assert reap(now=timezone.now()) == 1 and not recovery.suspects()  # nothing came any more
    worker.refresh_from_db()
    assert worker.state == WorkerState.LOST


@in_database
def test_the_databases_time_goes_on_between_two_readings(monkeypatch):
    recovery.beat(worker := recovery.enter())  # which the database times
    worker.refresh_from_db()
    at = time.monotonic()
    monkeypatch.setattr(database_clock, "_read", None)
    monkeypatch.setattr(database_clock.time, "monotonic", lambda: at)
    first = database_time()
    assert worker.heartbeat_at <= first <= database_clock._ask()
    at += 1.5
    monkeypatch.setattr(database_clock, "_ask", None)  # nobody asks within two seconds
    assert database_time() - first == timedelta(seconds=1.5)


@in_database
@pytest.mark.dear
@pytest.mark.xdist_group("waiting")
@pytest.mark.parametrize("how", ["by patching", pytest.param("by libfaketime", marks=pytest.mark.once)])
def test_two_processes_with_clocks_25_seconds_apart_send_each_call_once(make_endpoint, start, tmp_path, how):
    """Before, one recovery at +25 s led to 34 calls for 21 items. With libfaketime SQLite's own clock is wrong, too."""
    by_patching = how == "by patching"
    if not (by_patching or LIBRARIES or os.environ.get("CI") == "true"):
        pytest.skip("libfaketime is not installed")
    job = start(make_endpoint(options={"delay": 1.0}, max_concurrency=3), [f"q{at}" for at in range(15)])
    steady = start_process(MANAGE, "work", folder=tmp_path)
    until(lambda: Item.objects.filter(state="claimed").exists())
    if by_patching:
        hasty = start_process(SHIFTED + MANAGE, "25", "work", folder=tmp_path)
    else:
        wrong = {"LD_PRELOAD": str(LIBRARIES[0]), "FAKETIME": "+25s"}
        hasty = start_process(MANAGE, "work", folder=tmp_path, **wrong)
    for process in (steady, hasty):
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
    job.refresh_from_db()
    assert (job.state, Attempt.objects.count()) == ("finished", 15)
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"answered"}
    assert not Worker.objects.filter(state=WorkerState.LOST).exists()
