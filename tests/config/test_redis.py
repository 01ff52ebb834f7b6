"""Redis: a notification wakes a worker that would not look for an hour; and where it is away, hangs or refuses, no
page breaks and nobody's work stops."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import redis
from django.core.cache import cache, caches
from django.db import transaction
from django.urls import reverse

from annotation.models import Proposition, Vote
from config.cache import Outage, _outages
from config.celery import app
from tests.api.conftest import address, api, change, story  # noqa: F401
from tests.copies import copied
from tests.patience import PATIENCE
from tests.test_urlconf import PAGES, URLS, _held, opener
from tests.workers.conftest import make_endpoint, run_worker, start, trial  # noqa: F401
from tests.workers.process import CELERY, start_process
from workers import tasks
from workers.models import Item, JobState
from workers.services import notify
from workers.services.notify import Notifier

RATES = "rest_framework.throttling.SimpleRateThrottle.THROTTLE_RATES"
WORKER = "worker --pool threads --concurrency 2 -Q calls --without-gossip --without-mingle --loglevel WARNING"


# --- notifications, through the Redis of TEST_REDIS_URL


@pytest.fixture
def broker() -> str:
    """A database of this test process's own in it, empty."""
    url = os.environ.get("TEST_REDIS_URL", "")
    if not url:
        told = "TEST_REDIS_URL is not set: the broker of teams is not tested."
        pytest.fail(told) if os.environ.get("CI") == "true" else pytest.skip(told)
    own = urlsplit(url)._replace(path=f"/{int(os.environ.get('PYTEST_XDIST_WORKER', 'gw0')[2:]) % 15 + 1}").geturl()
    redis.Redis.from_url(own).flushdb()
    return own


@pytest.fixture
def notify_through():
    """Let this process notify through the broker at `url`, as a web process does."""
    before = app.conf.broker_url, app.conf.broker_transport_options

    def options_for(url: str) -> dict:
        """What the settings make of a broker's URL."""
        script = "from config import settings; import json; print(json.dumps(settings.CELERY_BROKER_TRANSPORT_OPTIONS))"
        command, own = [sys.executable, "-c", script], os.environ | {"BROKER_URL": url}
        return json.loads(subprocess.run(command, env=own, capture_output=True, text=True, check=True).stdout)

    def use(url: str, options: dict | None = None) -> None:
        app.conf.broker_url = url
        app.conf.broker_transport_options = options or options_for(url)
        app.amqp._producer_pool = app._pool = None  # pools of the broker before
        notify.WORKERS.connect(tasks.notify_workers)  # the broker before may have been away, this one is not

    yield use
    use(*before)


@pytest.mark.django_db(transaction=True)
def test_a_message_that_carries_no_work_wakes_a_worker(broker, notify_through, make_endpoint, start, tmp_path):  # noqa: F811
    assert notify.WORKERS.send is tasks.notify_workers
    notify_through(broker)
    client = redis.Redis.from_url(broker)
    start(make_endpoint("scripted", name="far"), ["a", "b"])
    start(make_endpoint("vllm-engine", name="near"), ["a", "b"])
    # Once for each start; the second also notifies of what still waits of the first.
    assert (client.llen("calls"), client.llen("engine-near")) == (2, 1)
    assert b'"expires": "' in client.lindex("calls", 0)
    worker = start_process(CELERY, *WORKER.split(), folder=tmp_path, REDIS_URL=broker, WORKER_SWEEP_SECONDS="600")
    end = time.monotonic() + PATIENCE
    try:
        while not client.smembers("_kombu.binding.calls"):
            assert worker.poll() is None and time.monotonic() < end, "the worker did not start"
            time.sleep(0.1)
        job = start(make_endpoint(name="third"), [f"q{at}" for at in range(30)])
        while job.state == JobState.RUNNING:
            assert time.monotonic() < end, "no worker took the job up"
            time.sleep(0.05)
            job.refresh_from_db()
        assert Item.objects.filter(job=job, state="done").count() == 30
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=PATIENCE) == 0
    finally:
        worker.kill()
        worker.communicate()


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_away_stops_nobody(notify_through, make_endpoint, start, caplog, monkeypatch):  # noqa: F811
    notify_through("redis://127.0.0.1:1/0")
    endpoint, pauses, sent = make_endpoint(), [], []
    with monkeypatch.context() as patch:
        patch.setattr("kombu.utils.functional.sleep", pauses.append)
        job = start(endpoint, ["a"])
    assert sum(pauses) < 1  # kombu's own pauses before it tries again add up to six seconds
    assert Item.objects.get(job=job).state == "waiting"
    assert "workers will find the work by themselves" in caplog.text

    def fail() -> None:
        sent.append(time.monotonic())
        raise OSError("away")

    notifier = Notifier("nothing is lost")  # which leaves it alone for a while
    notifier.connect(fail)
    for _ in range(5):
        notifier._send_now()
    assert len(sent) == 1
    monkeypatch.setattr(time, "monotonic", lambda: sent[0] + 11)
    notifier._send_now()
    assert len(sent) == 2


# --- a Redis of the test's own, which both caches use


class Server:
    def __init__(self, folder) -> None:
        self._folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        options = ("--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self._folder))
        self.process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                redis.Redis(port=self.port).ping()
                return
            except redis.ConnectionError:
                assert self.process.poll() is None and time.monotonic() < end, "Redis did not start"
                time.sleep(0.02)

    def hang(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def server(tmp_path, settings) -> Iterator[Server]:
    if not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed")
    running = Server(tmp_path)
    _outages.clear()
    own = {"BACKEND": "config.cache.Cache", "LOCATION": running.url}
    settings.CACHES = {name: own | {"KEY_PREFIX": name} for name in settings.CACHES}
    yield running
    running.end()


@pytest.fixture
def no_pause(monkeypatch):
    """Have every command try Redis again."""
    monkeypatch.setattr("config.cache.PAUSE_SECONDS", 0)


WAYS = {"ended": Server.end, "hanging": Server.hang}
each_way = pytest.mark.parametrize("away", WAYS.values(), ids=WAYS)


@each_way
def test_the_cache_keeps_while_redis_is_there_and_finds_nothing_without_it(server, no_pause, away, caplog):
    cache.set("key", {"figure": 1}, 60)
    assert cache.get("key") == {"figure": 1} and "key" in cache and caches["plots"].get("key") is None
    assert cache.get_or_set("other", lambda: 2, 60) == cache.get("other") == 2
    assert cache.delete("other") and cache.get("other") is None
    away(server)
    assert cache.get("key") is None and cache.get("key", "default") == "default" and "key" not in cache
    assert cache.get_or_set("other", lambda: 2, 60) == 2
    assert not cache.touch("key") and not cache.delete("key")
    cache.set("key", "again", 60)
    cache.clear()
    assert caplog.text.count("the site goes on without its cache") == 1
    if away == Server.end:  # a returned one is used again
        server.start()
        cache.set("key", "again", 60)
        assert cache.get("key") == "again"


def test_a_hanging_redis_is_waited_for_once_and_then_by_one_thread_after_a_pause(server, monkeypatch):
    failures: list[Exception] = []
    with monkeypatch.context() as patch:
        patch.setattr(Outage, "log", lambda outage, error: failures.append(error))
        server.hang()
        for at in range(50):
            cache.set(f"key{at}", at, 60)
            assert cache.get(f"key{at}") is None
        assert [str(error) for error in failures] == ["Timeout reading from socket"]
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    outage = Outage("redis:6379")
    assert not outage.lasts
    outage.begin(OSError("away"))
    assert outage.lasts
    now[0] += 11
    assert [outage.lasts for _ in range(3)] == [False, True, True]  # the first tries, the others go on without
    outage.end()
    assert not outage.lasts


def test_a_refused_command_costs_no_other_and_no_password_is_logged(caplog, server, settings):
    cache.set("key", "kept", 60)
    redis.Redis(port=server.port).config_set("maxmemory", "1")  # it refuses writing; what is kept is found
    cache.set("large", "x" * 1000, 60)
    assert (cache.get("key"), cache.get("large")) == ("kept", None)
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": "redis://:secret@127.0.0.1:1/0"}}
    assert cache.get("key") is None
    assert "127.0.0.1:1" in caplog.text and "secret" not in caplog.text


@each_way
def test_votes_are_saved_without_redis(server, away, cast, client, api, address, story, change, monkeypatch):  # noqa: F811
    monkeypatch.setattr(RATES, {"user": "600/min", "anon": "60/min"})
    bob, proposition = api(cast.bob), Proposition.objects.gold_of(story).first()
    client.force_login(cast.bob)
    page = reverse("annotation:save_votes", args=["minds", story.uid])
    away(server)
    for at in range(20):
        sent = {"changes": [change(proposition, label=str(at % 4), key=f"k{at}")]}
        assert bob.post(address("votes", story), sent, format="json").status_code == 200
        own = {"changes": [change(proposition, label=str(at % 3), key=f"p{at}")]}
        answer = client.post(page, json.dumps(own), content_type="application/json")
        assert answer.status_code == 200, answer.content
    assert Vote.objects.get().label == "1"


def test_requests_are_limited_again_with_redis(server, no_pause, cast, api, monkeypatch):  # noqa: F811
    monkeypatch.setattr(RATES, {"user": "3/min", "anon": "3/min"})
    bob, projects = api(cast.bob), "/api/v1/projects/"
    assert [bob.get(projects).status_code for _ in range(4)] == [200, 200, 200, 429]
    server.end()
    assert {bob.get(projects).status_code for _ in range(8)} == {200}
    server.start()
    assert [bob.get(projects).status_code for _ in range(4)] == [200, 200, 200, 429]


@each_way
def test_every_page_answers_without_redis(server, away, db, client, subtests):
    cast, addresses = copied("addresses", _held)
    away(server)
    for name, _ in URLS:
        client.force_login(opener(PAGES[name], cast) or cast.bob)
        with subtests.test(name), transaction.atomic():
            assert client.get(addresses[name]).status_code < 500
            transaction.set_rollback(True)
