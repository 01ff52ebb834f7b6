"""Processes whose clock is wrong lose no worker and pay no call again: leases and start times are the database's."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from core import database_clock
from core.database_clock import database_time
from tests.patience import PATIENCE
from tests.workers.process import MANAGE, start_process
from tests.workers.test_chaos import claimed_by, working
from workers.models import Attempt, Item, ItemState, JobState, Worker, WorkerState
from workers.services import jobs, recovery
from workers.services.recording import mark_sent
from workers.services.recovery import reap

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.xdist_group("waiting")]
OFFSETS = pytest.mark.parametrize("seconds", [25, -25, 3600, -3600])
SHIFTED = """
import datetime, time
from django.utils import timezone
offset, now, seconds = float(sys.argv.pop(1)), timezone.now, time.time
timezone.now = lambda: now() + datetime.timedelta(seconds=offset)
time.time = lambda: seconds() + offset
"""
LIBRARIES = list(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))


@pytest.fixture
def shifted(monkeypatch):
    """Set the clock of this process wrong: `shifted(25)`, in seconds."""

    def shift(seconds: float) -> None:
        now, epoch = timezone.now, time.time
        monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(seconds=seconds))
        monkeypatch.setattr(time, "time", lambda: epoch() + seconds)

    return shift


@OFFSETS
def test_recovery_by_a_wrong_clock_takes_nothing_from_a_living_worker(make_endpoint, start, shifted, seconds):
    endpoint = make_endpoint()
    start(endpoint, [f"q{at}" for at in range(21)])
    worker = recovery.enter()
    mark_sent(claimed_by(worker, endpoint), worker=worker, now=timezone.now())
    claimed = Item.objects.filter(state="claimed", worker=worker).count()
    shifted(seconds)
    assert reap(now=timezone.now(), patience=0) == 0
    assert Item.objects.filter(state="claimed", worker=worker).count() == claimed > 0
    recovery.beat(worker)  # raises where it was declared lost
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {""}


@OFFSETS
def test_a_worker_whose_own_clock_is_wrong_keeps_its_lease(make_endpoint, start, shifted, seconds):
    with pytest.MonkeyPatch.context() as wrong:
        now = timezone.now
        wrong.setattr(timezone, "now", lambda: now() + timedelta(seconds=seconds))
        worker = recovery.enter()
        recovery.beat(worker)
    assert reap(now=timezone.now(), patience=0) == 0
    assert Worker.objects.get(heartbeat_at__lte=Now()).state == WorkerState.LIVE


@OFFSETS
def test_work_that_was_added_or_retried_by_a_wrong_clock_waits_for_nothing(
    make_endpoint, start, run_worker, shifted, seconds
):
    endpoint = make_endpoint(options={"script": [{"fail": "rejected"}]})
    with pytest.MonkeyPatch.context() as wrong:
        now = timezone.now
        wrong.setattr(timezone, "now", lambda: now() + timedelta(seconds=seconds))
        job = start(endpoint, ["a", "b"])
    run_worker()
    assert set(Item.objects.values_list("state", flat=True)) == {"failed"}
    type(endpoint).objects.update(options={})
    shifted(seconds)
    assert jobs.retry_failed(job=job, now=timezone.now()) == 2
    run_worker()
    assert set(Item.objects.values_list("state", flat=True)) == {"done"}


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


def test_a_clock_that_was_set_forward_makes_nobody_lost_who_shows_a_sign_of_life(make_endpoint, start, monkeypatch):
    """As after a step of the machine's clock: by the database all heartbeats are old at once."""
    worker = working()
    endpoint = make_endpoint()
    start(endpoint, ["a"])
    mark_sent(claimed_by(worker, endpoint), worker=worker, now=timezone.now())
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


@pytest.mark.parametrize(
    "how",
    [
        "by patching",
        pytest.param(
            "by libfaketime",  # which changes the clock of SQLite alone, that runs in the process
            marks=[
                pytest.mark.once,
                pytest.mark.skipif(
                    not LIBRARIES and os.environ.get("CI") != "true", reason="libfaketime is not installed"
                ),
            ],
        ),
    ],
)
def test_two_processes_with_clocks_25_seconds_apart_send_each_call_once(make_endpoint, start, tmp_path, how):
    """Before, one recovery at +25 s led to 34 calls for 21 items. With libfaketime SQLite's own clock is wrong as
    well."""
    job = start(make_endpoint(options={"delay": 1.0}, max_concurrency=3), [f"q{at}" for at in range(21)])
    steady = start_process(MANAGE, "work", folder=tmp_path)
    until(lambda: Item.objects.filter(state="claimed").exists())
    if how == "by patching":
        hasty = start_process(SHIFTED + MANAGE, "25", "work", folder=tmp_path)
    else:
        wrong = {"LD_PRELOAD": str(LIBRARIES[0]), "FAKETIME": "+25s"}
        hasty = start_process(MANAGE, "work", folder=tmp_path, **wrong)
    for process in (steady, hasty):
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
    job.refresh_from_db()
    assert (job.state, Attempt.objects.count()) == (JobState.FINISHED, 21)
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"answered"}
    assert not Worker.objects.filter(state=WorkerState.LOST).exists()


def until(condition, *, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
