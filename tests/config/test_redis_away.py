"""A Redis that is away, hangs or refuses: nobody's work stops, and no page breaks."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
import redis
from django.core.cache import cache, caches
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotation.models import Proposition, Vote
from annotation.services.effort import effort_of
from config.cache import Outage, _outages
from tests.api.conftest import address, api, change, story  # noqa: F401
from tests.copies import copied
from tests.patience import PATIENCE
from tests.test_urlconf import PAGES, URLS, _held, opener
from workers.services.notify import Notifier

RATES = "rest_framework.throttling.SimpleRateThrottle.THROTTLE_RATES"


class Server:
    """A Redis of this test's own, on a port of its own."""

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
    """Yield a running Redis that both caches use."""
    if not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed")
    running = Server(tmp_path)
    _outages.clear()
    settings.CACHES = {
        name: {"BACKEND": "config.cache.Cache", "LOCATION": running.url, "KEY_PREFIX": name} for name in settings.CACHES
    }
    yield running
    running.end()


@pytest.fixture
def no_pause(monkeypatch):
    """Have every command try Redis again."""
    monkeypatch.setattr("config.cache.PAUSE_SECONDS", 0)


WAYS = {"ended": Server.end, "hanging": Server.hang}


def test_the_cache_keeps_while_redis_is_there(server):
    cache.set("key", {"figure": 1}, 60)
    assert cache.get("key") == {"figure": 1} and "key" in cache
    assert cache.get_or_set("other", lambda: 2, 60) == cache.get("other") == 2
    assert caches["plots"].get("key") is None
    assert cache.delete("key") and cache.get("key") is None


@pytest.mark.parametrize("away", WAYS.values(), ids=WAYS)
def test_without_redis_nothing_is_found(server, no_pause, away, caplog):
    cache.set("key", "kept", 60)
    away(server)
    assert cache.get("key") is None and cache.get("key", "default") == "default"
    assert "key" not in cache
    assert cache.get_or_set("other", lambda: 2, 60) == 2
    assert not cache.touch("key") and not cache.delete("key")
    cache.set("key", "again", 60)
    cache.clear()
    assert caplog.text.count("the site goes on without its cache") == 1


def test_a_hanging_redis_is_waited_for_once(server, monkeypatch):
    failures: list[Exception] = []
    monkeypatch.setattr(Outage, "log", lambda outage, error: failures.append(error))
    server.hang()
    for at in range(50):
        cache.set(f"key{at}", at, 60)
        assert cache.get(f"key{at}") is None
    assert [str(error) for error in failures] == ["Timeout reading from socket"]


def test_a_returned_redis_is_used_again(server, no_pause):
    cache.set("key", "kept", 60)
    server.end()
    assert cache.get("key") is None
    server.start()
    cache.set("key", "again", 60)
    assert cache.get("key") == "again"


def test_a_refused_command_costs_no_other(server):
    """Full memory refuses writing; what is kept is still found."""
    cache.set("key", "kept", 60)
    redis.Redis(port=server.port).config_set("maxmemory", "1")
    cache.set("other", "x" * 1000, 60)
    assert (cache.get("key"), cache.get("other")) == ("kept", None)


def test_a_password_is_not_logged(caplog, server, settings):
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": "redis://:secret@127.0.0.1:1/0"}}
    assert cache.get("key") is None
    assert "127.0.0.1:1" in caplog.text and "secret" not in caplog.text


@pytest.mark.parametrize("away", WAYS.values(), ids=WAYS)
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


@pytest.mark.parametrize("away", WAYS.values(), ids=WAYS)
def test_every_page_answers_without_redis(server, away, db, client, subtests):
    cast, addresses = copied("addresses", _held)
    away(server)
    for name, _ in URLS:
        person = opener(PAGES[name], cast)
        client.force_login(person or cast.bob)
        with subtests.test(name), transaction.atomic():
            assert client.get(addresses[name]).status_code < 500
            transaction.set_rollback(True)


def test_time_on_task_is_whole_without_redis(server, no_pause, cast, story, cast_vote, monkeypatch):  # noqa: F811
    """With the cache each look counts on; without it the first look counts everything."""
    bob, propositions = story.assignments.get(annotator=cast.bob), Proposition.objects.gold_of(story)
    earlier = timezone.now() - timedelta(minutes=30)
    for at in range(4):
        cast_vote(bob, propositions[0], "order", str(at), at=earlier + timedelta(seconds=at), key=f"k{at}")
    monkeypatch.setattr("annotation.services.effort._SETTLED", timedelta(0))

    def look() -> bool:
        return effort_of(cast.project, now=timezone.now(), most=1)["whole"]

    assert not look()
    server.end()
    assert look() and look()


def test_a_broker_that_fails_is_left_alone_for_a_while(monkeypatch):
    notifier, sent = Notifier("nothing is lost"), []

    def fail() -> None:
        sent.append(time.monotonic())
        raise OSError("away")

    notifier.connect(fail)
    for _ in range(5):
        notifier._send_now()
    assert len(sent) == 1
    monkeypatch.setattr(time, "monotonic", lambda: sent[0] + 11)
    notifier._send_now()
    assert len(sent) == 2


def test_after_the_pause_one_thread_tries_again(monkeypatch):
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
