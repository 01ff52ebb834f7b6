"""Notifications through a real Redis: a worker that would not look by itself for an hour takes up work at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest
import redis

from config.celery import app
from tests.patience import PATIENCE
from tests.workers.conftest import make_endpoint, run_worker, start, trial  # noqa: F401
from tests.workers.process import CELERY, start_process
from workers import tasks
from workers.models import Item, JobState
from workers.services import notify

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def broker() -> str:
    """A database of this test process's own in the Redis of TEST_REDIS_URL, empty."""
    url = os.environ.get("TEST_REDIS_URL", "")
    if not url:
        told = "TEST_REDIS_URL is not set: the broker of teams is not tested."
        pytest.fail(told) if os.environ.get("CI") == "true" else pytest.skip(told)
    own = urlsplit(url)._replace(path=f"/{int(os.environ.get('PYTEST_XDIST_WORKER', 'gw0')[2:]) % 15 + 1}").geturl()
    redis.Redis.from_url(own).flushdb()
    return own


def _options_for(url: str) -> dict:
    """What the settings make of a broker's URL."""
    script = "from config import settings; import json; print(json.dumps(settings.CELERY_BROKER_TRANSPORT_OPTIONS))"
    told = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | {"BROKER_URL": url}, capture_output=True, text=True, check=True
    )
    return json.loads(told.stdout)


@pytest.fixture
def notify_through():
    """Let this process notify through the broker at `url`, as a web process does."""
    before = app.conf.broker_url, app.conf.broker_transport_options

    def use(url: str, options: dict | None = None) -> None:
        app.conf.broker_url = url
        app.conf.broker_transport_options = options or _options_for(url)
        app.amqp._producer_pool = app._pool = None  # pools of the broker before
        notify.WORKERS.connect(tasks.notify_workers)  # the broker before may have been away, this one is not

    yield use
    use(*before)


@pytest.fixture
def worker(broker, tmp_path):
    arguments = "worker --pool threads --concurrency 2 -Q calls --without-gossip --without-mingle --loglevel WARNING"
    process = start_process(CELERY, *arguments.split(), folder=tmp_path, REDIS_URL=broker, WORKER_SWEEP_SECONDS="600")
    client, end = redis.Redis.from_url(broker), time.monotonic() + PATIENCE
    while not client.smembers("_kombu.binding.calls"):
        assert process.poll() is None and time.monotonic() < end, "the worker did not start"
        time.sleep(0.1)
    yield process
    process.kill()
    process.communicate()


def until_finished(job, *, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while job.state == JobState.RUNNING:
        assert time.monotonic() < end, "no worker took the job up"
        time.sleep(0.05)
        job.refresh_from_db()


def test_a_job_that_starts_wakes_a_worker(broker, worker, notify_through, make_endpoint, start):  # noqa: F811
    notify_through(broker)
    job = start(make_endpoint(), [f"q{at}" for at in range(30)])
    until_finished(job)
    assert Item.objects.filter(job=job, state="done").count() == 30
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=PATIENCE) == 0


def test_a_broker_that_is_away_stops_nobody(notify_through, make_endpoint, start, caplog, monkeypatch):  # noqa: F811
    notify_through("redis://127.0.0.1:1/0")
    endpoint = make_endpoint()
    pauses: list[float] = []
    monkeypatch.setattr("kombu.utils.functional.sleep", pauses.append)
    job = start(endpoint, ["a"])
    assert sum(pauses) < 1  # kombu's own pauses before it tries again add up to six seconds
    assert Item.objects.get(job=job).state == "waiting"
    assert "workers will find the work by themselves" in caplog.text


def test_notifications_are_sent_by_the_tasks():
    assert notify.WORKERS.send is tasks.notify_workers


def test_a_message_carries_no_work(broker, notify_through, make_endpoint, start):  # noqa: F811
    notify_through(broker)
    start(make_endpoint("scripted", name="far"), ["a", "b"])
    start(make_endpoint("vllm-engine", name="near"), ["a", "b"])
    client = redis.Redis.from_url(broker)
    # Once for each start; the second also notifies of what still waits of the first.
    assert (client.llen("calls"), client.llen("engine-near")) == (2, 1)
    assert b'"expires": "' in client.lindex("calls", 0)
