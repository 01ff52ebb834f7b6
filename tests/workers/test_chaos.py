"""Processes that die, hang and lose their database: nothing is lost, and nothing counts twice. The long form is
bench/chaos.py."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.utils import timezone

from tests.chaos.database import own_database
from tests.chaos.site import Site
from tests.chaos.torment import Torment, account, faults
from tests.patience import PATIENCE
from tests.servers import ModelServer
from workers.models import Attempt, Batch, Call, CallState, EndpointRateLimit, Item, ItemState, Worker, WorkerState
from workers.providers import registry
from workers.services import batching, recording, recovery
from workers.services.claims import claim
from workers.services.recording import Outcome, mark_sent, record
from workers.services.recovery import reap
from workers.services.runner import Runner

in_database = pytest.mark.django_db(transaction=True)


@pytest.fixture
def place() -> dict:
    """Where the site keeps its work: files beside SQLite, Redis beside PostgreSQL, whichever this run of the tests is
    on."""
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        return {"database_url": "", "redis": False}
    if not shutil.which("redis-server"):
        reason = "redis-server is not installed: PostgreSQL with Redis is not tried."
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    return {"database_url": url, "redis": True}


@pytest.mark.dear
@pytest.mark.thorough
@pytest.mark.xdist_group("waiting")
def test_eight_kills_lose_nothing_and_count_nothing_twice(place, prepared, tmp_path):
    if not place["database_url"]:
        prepared(tmp_path / "var")
    with (
        own_database(place["database_url"]) as url,
        ModelServer(latency=0.8, jitter=0.5, batch_delay=1.5) as server,
        Site(tmp_path, database_url=url, redis=place["redis"]) as site,
    ):
        torment = Torment(site, server.url, random.Random(3), calls=100)
        torment.kill(5)
        assert site.finishes(seconds=PATIENCE)
        torment.kill(3, batch=True)
        assert site.finishes(seconds=PATIENCE)
        totals = account(site.ask("report"), server.paid())
        assert faults(totals, torment.asked) == []
        assert sum(site.kills.values()) == 8
        assert totals.batches >= 1
        assert site.fallen() == []
        assert site.web_answers()


# --- each moment at which something was lost once
# ----------------------------------------------------------------------


def working() -> Worker:
    """The row of a process that works elsewhere, with a connection of its own."""
    now = timezone.now()
    return Worker.objects.create(host="h", pid=1, started_at=now, heartbeat_at=now)


def claimed_by(worker: Worker, endpoint) -> list:
    backend = registry.make(endpoint.spec)
    return claim(worker=worker, endpoint=endpoint, backend=backend, room=100, now=timezone.now()).claimed


def lose(worker: Worker) -> None:
    """Reap, as another worker does after a lease of silence."""
    Worker.objects.filter(pk=worker.pk).update(heartbeat_at=timezone.now() - timedelta(hours=1))
    reap(now=timezone.now(), patience=0)


def run_within(seconds: float) -> None:
    """End an endless run, so that it fails a test instead of hanging it."""
    stop = threading.Event()
    timer = threading.Timer(seconds, stop.set)
    timer.start()
    Runner(stop=stop).run()
    timer.cancel()


def answer_of(claimed, endpoint):
    return asyncio.run(registry.make(endpoint.spec).complete(json.loads(claimed.body), timeout=5, call=claimed.uid))


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
    run_within(PATIENCE)
    assert set(Item.objects.filter(job=job).values_list("state", flat=True)) == {"done"}


@in_database
def test_a_late_answer_is_kept_and_given_to_nobody_twice(make_endpoint, start, run_worker, trial):
    endpoint = make_endpoint()
    start(endpoint, ["a"])
    late = working()
    (claimed,) = mark_sent(claimed_by(late, endpoint), worker=late, now=timezone.now())
    lose(late)
    second = working()
    assert len(mark_sent(claimed_by(second, endpoint), worker=second, now=timezone.now())) == 1
    record([Outcome(claimed, answer_of(claimed, endpoint), 0.0)], worker=late, endpoint=endpoint, now=timezone.now())
    # The answer counts, the item belongs to the second worker, whose attempt is still under way.
    assert Call.objects.get().state == CallState.ANSWERED
    assert list(Attempt.objects.values_list("number", "outcome")) == [(1, "unknown"), (2, "")]
    assert trial.received == {}
    recovery.leave(second)
    reap(now=timezone.now())
    run_worker()
    assert trial.received == {"a": 1}
    assert list(Attempt.objects.values_list("number", "outcome")) == [(1, "unknown"), (2, "unknown")]


@in_database
def test_an_answer_that_came_to_a_lost_worker_is_not_asked_for_again(
    make_endpoint, start, run_worker, trial, tmp_path, monkeypatch
):
    start(make_endpoint(options={"log": str(tmp_path / "asked")}), ["a"])
    turn = Runner._turn

    def turn_of_a_lost_one(self, taken):
        if any(outcomes for outcomes, _ in taken.values()):
            lose(self.worker)
            self.beaten_at = 0.0
        return turn(self, taken)

    with monkeypatch.context() as changed:
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
    run_within(PATIENCE)
    assert lost == [work]
    assert set(Item.objects.filter(job=job).values_list("state", flat=True)) == {"done"}
    assert trial.received == {"a": 1, "b": 1, "c": 1}
    assert list(Attempt.objects.values_list("number", "outcome")) == [(1, "answered")] * 3
    assert list(Worker.objects.values_list("state", flat=True)) == [WorkerState.GONE]


def look_at_once(job, endpoint) -> list[Batch | None]:
    """What two workers make of the same waiting items at the same moment."""

    def look(worker):
        try:
            return batching.make_batch(job=job, endpoint=endpoint, worker=worker, now=timezone.now())
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(look, [working(), working()]))


@in_database
def test_two_workers_that_look_at_once_make_one_batch(make_endpoint, start):
    endpoint = make_endpoint(batches=True)
    job = start(endpoint, [f"q{at}" for at in range(20)], batch=True)
    assert sum(batch is not None for batch in look_at_once(job, endpoint)) == 1
    assert Batch.objects.get().entries.count() == 20


@in_database
def test_two_workers_that_look_at_once_hand_on_a_known_answer_once(
    make_endpoint, start, run_worker, trial, monkeypatch
):
    endpoint = make_endpoint(batches=True)
    start(endpoint, ["known"])
    run_worker()
    job, deliver = start(endpoint, ["known"], batch=True), batching.deliver
    Item.objects.update(call=Call.objects.get())

    def deliver_slowly(*arguments, **named):
        time.sleep(0.3)  # by now the other has read what waits
        deliver(*arguments, **named)

    monkeypatch.setattr(batching, "deliver", deliver_slowly)
    assert look_at_once(job, endpoint) == [None, None]
    assert trial.received == {"known": 2}  # once in each job


@in_database
def test_a_batch_has_one_watcher(make_endpoint, start, trial):
    endpoint = make_endpoint("openai", base_url="http://127.0.0.1:1/v1", batches=True)
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
    assert list(Attempt.objects.values_list("number", "outcome")) == [(1, ""), (1, ""), (2, "unknown"), (2, "unknown")]


@in_database
def test_a_worker_that_ends_lets_go_of_its_batches(make_endpoint, start):
    endpoint = make_endpoint("openai", base_url="http://127.0.0.1:1/v1", batches=True)
    worker = working()
    job = start(endpoint, ["a"], batch=True)
    batching.make_batch(job=job, endpoint=endpoint, worker=worker, now=timezone.now())
    recovery.leave(worker)
    assert Batch.objects.get().worker is None
    assert Worker.objects.get().state == WorkerState.GONE


@in_database
def test_a_short_lease_leaves_time_for_several_heartbeats(settings):
    # A quarter of the lease, two seconds at most.
    for lease, seconds in ((2, 0.5), (8, 2.0), (20, 2.0)):
        settings.WORKER_LEASE_SECONDS = lease
        assert recovery.pause() == seconds
