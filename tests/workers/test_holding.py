"""What cannot succeed is not asked again and again: a wrong key, model or address and an empty account hold an
endpoint's items back."""

from __future__ import annotations

import json
import os
import re
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from core import database_clock
from core.database_clock import database_time
from tests.patience import PATIENCE
from tests.servers.odd import Odd, OddServer
from tests.workers.process import MANAGE, start_process
from tests.workers.test_chaos import claimed_by, working
from workers.models import Attempt, Call, Item, ItemState, Job, JobState, Worker, WorkerState
from workers.services import jobs, recovery
from workers.services.endpoints import save_endpoint
from workers.services.holding import FEW
from workers.services.jobs import apply_action
from workers.services.recording import mark_sent
from workers.services.recovery import reap

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.xdist_group("waiting")]
GOOD = {
    "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "content": [{"type": "text", "text": "yes"}],
    "stop_reason": "end_turn", "model": "tiny", "usage": {},
}  # fmt: skip


def error(message: str, **more) -> dict:
    return {"error": {"message": message, **more}}


QUOTA = "The provider says that the quota is exhausted: top it up, then resume."
MODEL = "The provider does not know this model: correct its name on the model's page, then resume."
ADDRESS = "No model answers at this address: correct it on the model's page, then resume."
CAUSES = {
    "402": (402, error("Payment required."), QUOTA),
    "quota": (429, error("You exceeded your current quota.", code="insufficient_quota"), QUOTA),
    "credit": (400, error("Your credit balance is too low to access the API.", type="invalid_request_error"), QUOTA),
    "openai model": (404, error("The model `x` does not exist.", code="model_not_found"), MODEL),
    "anthropic model": (404, {"type": "error"} | error("model: x", type="not_found_error"), MODEL),
    "ollama model": (404, error('model "x" not found, try pulling it first', type="api_error"), MODEL),
    "vllm model": (404, {"object": "error", "message": "The model `x` does not exist.", "code": 404}, MODEL),
    "azure deployment": (404, error("The API deployment does not exist.", code="DeploymentNotFound"), MODEL),
    "openrouter model": (400, error("x is not a valid model ID", code=400), MODEL),
    "fastapi path": (404, {"detail": "Not Found"}, ADDRESS),
    "openai path": (404, error("Invalid URL (POST /v1/x)", type="invalid_request_error"), ADDRESS),
    "method": (405, {}, ADDRESS),
}


def states(job: Job) -> dict[str, int]:
    return {state: count for state, count in Item.objects.filter(job=job).counts().items() if count}


ONCE = pytest.mark.once  # how a provider words it is no matter of the database


@pytest.mark.parametrize(
    ("provider", "cause"),
    [("openai", "402"), *(pytest.param("openai", cause, marks=ONCE) for cause in CAUSES if cause != "402"),
     *(pytest.param("anthropic", cause, marks=ONCE) for cause in ("402", "anthropic model", "fastapi path")),
     *(pytest.param("vllm", cause, marks=ONCE) for cause in ("vllm model", "fastapi path"))],
)  # fmt: skip
def test_what_no_call_can_pass_pauses_after_a_few(make_endpoint, start, run_worker, provider, cause):
    status, body, advice = CAUSES[cause]
    answers = [Odd(status, json.dumps(body).encode())]
    with OddServer(lambda *_: answers[0]) as server:
        endpoint = make_endpoint(provider, name="small", base_url=server.url + "/v1", max_concurrency=2)
        job = start(endpoint, [f"q{at}" for at in range(12)])
        run_worker()
        job.refresh_from_db()
        assert job.state == "paused" and job.note.startswith(f"small: {advice} (HTTP {status}")
        assert states(job) == {"held": 12}  # those that had failed wait with the others
        assert FEW <= server.asked <= FEW + 4  # two are under way, and two more when the third is written down
        answers[0] = Odd(200, json.dumps(GOOD).encode())
        assert apply_action(job, "resume") == ""
        run_worker()
    job.refresh_from_db()
    assert (job.state, job.outcome, job.note, states(job)) == ("finished", "finished", "", {"done": 12})


def worked(start, run_worker, endpoint, keys) -> Job:
    job = start(endpoint, keys)
    run_worker()
    job.refresh_from_db()
    return job


def test_a_server_that_is_not_there_pauses_after_a_few_calls_were_given_up(
    make_endpoint, start, run_worker, monkeypatch
):
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.01)
    fields = {"base_url": "http://127.0.0.1:9/v1", "max_attempts": 2, "max_concurrency": 2}
    keys = [f"q{at}" for at in range(20)]
    job = worked(start, run_worker, make_endpoint("openai", name="small", **fields), keys)
    assert job.state == "paused" and states(job) == {"held": 20}
    told = "The server cannot be reached: start it, or correct the address on the model's page, then resume."
    assert job.note.startswith(f"small: {told} (No connection")
    assert Attempt.objects.filter(waits=0).count() <= FEW + 4  # so many calls were given up
    # a name that nobody knows is a wrong address too
    unknown = make_endpoint("anthropic", base_url="http://no-such-host.invalid", max_attempts=1)
    job = worked(start, run_worker, unknown, ["a", "b", "c", "d"])
    assert job.state == "paused" and "The server cannot be reached" in job.note


def test_calls_fail_alone_where_they_are_few_or_not_in_a_row(make_endpoint, start, run_worker):
    script = [{"when": "bad", "fail": "unknown-model"}]
    endpoint = make_endpoint(max_concurrency=1, options={"script": script})
    job = worked(start, run_worker, endpoint, ["bad1", "a", "bad2", "b", "bad3", "c"])
    assert (job.state, states(job)) == ("finished", {"done": 3, "failed": 3})
    job = worked(start, run_worker, make_endpoint(options={"script": [{"fail": "quota"}]}), ["x", "y"])
    assert (job.state, job.outcome, states(job)) == ("finished", "failed", {"failed": 2})


@pytest.fixture
def mixed(make_endpoint, start, run_worker, trial):
    """A job of two models, one of whose accounts is empty, worked off: (job, the model without money)."""
    empty = make_endpoint(name="empty", options={"script": [{"fail": "quota"}]})
    good = make_endpoint(name="good", options={"default": "yes"})
    job = start(empty, [f"q{at}" for at in range(8)])
    jobs.add_items(job=job, items=[(good, "", f"q{at}") for at in range(8)], now=job.created_at)
    return job, empty


def test_the_other_models_of_a_job_go_on(mixed, run_worker):
    job, _ = mixed
    run_worker()
    job.refresh_from_db()
    assert job.state == "paused" and job.note.startswith("empty: The provider says that the quota is exhausted")
    assert states(job) == {"held": 8, "done": 8}
    apply_action(job, "cancel")
    assert states(job) == {"cancelled": 8, "done": 8}, "what is held back is cancelled with its job"


def test_a_running_job_says_what_it_holds_back_and_lets_it_go(mixed, page, press):
    job, empty = mixed
    Item.objects.filter(job=job, endpoint=empty).update(state="held")
    Job.objects.filter(pk=job.pk).update(note="empty: top it up, then resume.")
    text = page("workers:job", job.uid)
    assert "8 held back; the other models go on" in text and "top it up" in text
    assert "Resume what is held back" in text
    press(job, "resume")
    job.refresh_from_db()
    assert (job.state, job.note, states(job)) == ("running", "", {"waiting": 16})


@pytest.fixture
def press(admin):
    def push(job, action):
        return admin.post(reverse("workers:job_action", args=[job.uid, action]))

    return push


def test_a_batch_whose_account_is_empty_waits_too(make_endpoint, start, run_worker):
    with OddServer(lambda *_: Odd(402, json.dumps(error("Payment required.")).encode())) as server:
        endpoint = make_endpoint("openai", name="small", base_url=server.url + "/v1", batches=True)
        job = start(endpoint, ["a", "b", "c", "d"], batch=True)
        run_worker()
    job.refresh_from_db()
    assert job.state == "paused" and job.note.startswith(f"small: {QUOTA}") and states(job) == {"held": 4}


def test_a_wrong_address_can_be_corrected_before_anything_was_answered(make_endpoint, start, run_worker):
    def reply(path: str, headers: dict, body: bytes) -> Odd:
        right = path == "/v1/chat/completions" and re.search(rb'"model": ?"right"', body)
        return Odd(200, json.dumps(GOOD).encode()) if right else Odd(404, b'{"detail": "Not Found"}')

    with OddServer(reply) as server:
        endpoint = make_endpoint("openai", name="small", model="wrong", base_url=server.url)
        job = start(endpoint, [f"q{at}" for at in range(5)])
        run_worker()
        assert states(job) == {"held": 5}
        save_endpoint(by="alice", endpoint=endpoint, values={"base_url": server.url + "/v1", "model": "right"})
        job.refresh_from_db()
        apply_action(job, "resume")
        run_worker()
    assert states(job) == {"done": 5}
    assert {call.model for call in Call.objects.filter(state="answered")} == {"right"}
    with pytest.raises(ValidationError, match="has answered already"):
        save_endpoint(by="alice", endpoint=endpoint, values={"model": "another"})


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
