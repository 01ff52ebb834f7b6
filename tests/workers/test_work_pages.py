"""Work and jobs: what is shown, what the buttons do, and who may press them."""

from __future__ import annotations

import time
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from workers.models import EndpointRateLimit, Item, ItemState, JobState, Process, Worker, WorkerState
from workers.services import processes
from workers.services.delivery import end_jobs

pytestmark = pytest.mark.django_db
TITLE = "<script>alert(1)</script>"


@pytest.fixture
def press(admin):
    """Presses a button of a job: `press(job, "pause")`; the answer leads back to its page."""

    def post(job, action: str) -> None:
        response = admin.post(reverse("workers:job_action", args=[job.uid, action]))
        assert (response.status_code, response["Location"]) == (302, reverse("workers:job", args=[job.uid]))
        job.refresh_from_db()

    return post


def _set(job, **states: str) -> None:
    for key, state in states.items():
        Item.objects.filter(job=job, key=key).update(state=state, finished_at=timezone.now())


def _buttons(text: str) -> set[str]:
    return {action for action in ("pause", "resume", "retry", "cancel") if f"/{action}/" in text}


def test_a_job_is_paused_resumed_and_cancelled(admin, page, press, make_endpoint, start):
    job = start(make_endpoint(), ["a", "b"])
    assert _buttons(page("workers:job", job.uid)) == {"pause", "cancel"}
    assert admin.post(reverse("workers:job_action", args=[job.uid, "explode"])).status_code == 404
    assert admin.post(reverse("workers:job_action", args=["nowhere", "pause"])).status_code == 404
    assert admin.get(reverse("workers:job_action", args=[job.uid, "pause"])).status_code == 405
    press(job, "pause")
    assert (job.state, _buttons(page("workers:job", job.uid))) == (JobState.PAUSED, {"resume", "cancel"})
    note = "The next call could exceed the budget of $3.00; $2.9 are spent."
    type(job).objects.filter(pk=job.pk).update(note=note)
    assert page("workers:job", job.uid).count(note) == page("workers:work").count(note) == 1
    press(job, "resume")
    assert job.state == JobState.RUNNING
    press(job, "cancel")
    assert (job.state, job.finished_at is not None) == (JobState.CANCELLED, True)
    assert Item.objects.filter(job=job, state=ItemState.CANCELLED).count() == 2
    assert _buttons(page("workers:job", job.uid)) == set()


def test_a_button_of_an_ended_job_changes_nothing(press, make_endpoint, start):
    job = start(make_endpoint(), ["a"])
    _set(job, a="done")
    end_jobs([job.pk], now=timezone.now())
    for action in ("pause", "resume", "cancel", "retry"):
        press(job, action)
        assert job.state == JobState.FINISHED and Item.objects.get().state == "done", action


def test_the_work_page_shows_processes_once_and_rates(page, make_endpoint, start):
    text = page("workers:work")
    assert "Pre-filling" in text and "benchmark run" in text, "without work both ways to begin are named"
    now = timezone.now()
    long_ago = now - timedelta(hours=2)

    def worker(host: str, pid: int, state=WorkerState.LIVE, at=now) -> None:
        Worker.objects.create(host=host, pid=pid, started_at=at, heartbeat_at=at, state=state)

    worker("lost-host", 2, WorkerState.LOST)
    worker("old-host", 3, WorkerState.GONE, long_ago)
    for minutes in range(50, 0, -10):  # a process that entered often
        worker("box", 7, WorkerState.GONE, now - timedelta(minutes=minutes))
    worker("box", 7)
    for pid in (8, 9):
        worker("box", pid, WorkerState.GONE)
    endpoint = make_endpoint(name="slow")
    start(endpoint, ["a"])
    state = {"rate": 4.25, "ceiling": 5.0, "blocked_until": now.timestamp() + 40, "reason": "429 from the provider"}
    EndpointRateLimit.objects.filter(endpoint=endpoint).update(state=state)
    text = page("workers:work")
    assert "lost-host" in text and "old-host" not in text and "slow" in text and "429 from the provider" in text
    assert [text.count(f">box:{pid}</th>") for pid in (7, 8, 9)] == [1, 1, 1]
    assert (text.count(">working</span>"), text.count(">ended</span>")) == (1, 2)


def test_failed_items_are_asked_again_and_no_others(page, press, make_endpoint, start):
    job = start(make_endpoint(), ["good", "bad", "odd"])
    _set(job, good="done", bad="failed", odd="unreadable")
    Item.objects.filter(key="bad").update(problem="Busy. Given up after 6 attempts.")
    end_jobs([job.pk], now=timezone.now())
    text = page("workers:job", job.uid)
    assert _buttons(text) == {"retry"} and "Given up after 6 attempts." in text
    press(job, "retry")
    assert job.state == JobState.RUNNING
    assert dict(Item.objects.values_list("key", "state")) == {"good": "done", "bad": "waiting", "odd": "unreadable"}
    assert Item.objects.get(key="bad").problem == ""


def test_progress_asks_for_itself_while_something_moves(admin, make_endpoint, start):
    job = start(make_endpoint(), ["a", "b"], budget=Decimal(5))
    _set(job, a="done")
    address = reverse("workers:job_progress", args=[job.uid])
    moving = admin.get(address).content.decode()
    assert "hx-get" in moving and "<html" not in moving and "of at most $5.00" in moving
    _set(job, b="done")
    end_jobs([job.pk], now=timezone.now())
    assert "hx-get" not in admin.get(address).content.decode()


def test_titles_and_problems_are_text(page, make_endpoint, start):
    job = start(make_endpoint(), [TITLE])
    type(job).objects.filter(pk=job.pk).update(title=TITLE, note=TITLE)
    Item.objects.update(state="failed", problem=TITLE)
    for text in (page("workers:job", job.uid), page("workers:work"), page("workers:work_state")):
        assert TITLE not in text and "&lt;script&gt;alert(1)" in text


def test_the_work_page_is_read_in_few_statements(statements, make_endpoint, start):
    start(make_endpoint(), ["a"])
    few = statements("workers:work")
    for _ in range(12):
        job = start(make_endpoint(), ["a", "b"])
        start(make_endpoint(), ["c"])
        _set(job, a="done", b="failed")
        end_jobs([job.pk], now=timezone.now())
    assert statements("workers:work") == few <= 12


def test_a_job_is_read_in_few_statements(admin, make_endpoint, make_call, start, django_assert_max_num_queries):
    job = start(make_endpoint(), [f"q{at}" for at in range(60)])
    Item.objects.filter(job=job).update(state="failed", finished_at=timezone.now(), call=make_call())
    with django_assert_max_num_queries(10):
        admin.get(reverse("workers:job", args=[job.uid]))


def _addresses(call, job) -> dict[str, str]:
    values = {"uid": call.uid, "name": call.endpoint.name, "action": "pause"}
    addresses = {}
    for pattern in get_resolver("workers.urls").url_patterns:
        kwargs = {name: values[name] for name in pattern.pattern.converters}
        kwargs |= {"uid": job.uid} if pattern.name.startswith("job") else {}
        addresses[pattern.name] = reverse(f"workers:{pattern.name}", kwargs=kwargs)
    return addresses


def test_nobody_but_the_site_admin_opens_any_of_it(cast, make_call, make_endpoint, start):
    addresses = _addresses(make_call(answer="secret answer"), start(make_endpoint(), ["a"]))
    assert len(addresses) == 13
    client = Client()
    for name in ("alice", "bob", "esi", "charlie"):
        client.force_login(getattr(cast, name))
        for address in addresses.values():
            for response in (client.get(address), client.post(address)):
                assert response.status_code in (403, 405), address
                assert "secret answer" not in response.content.decode()
    assert not Item.objects.exclude(state="waiting").exists()


# --- who is there -----------------------------------------------------------------------------------------------------


def _process(pid: int, *serves: str, keys=(), ago: int = 0) -> Process:
    at = timezone.now() - timedelta(seconds=ago)
    return Process.objects.create(host="box", pid=pid, serves=list(serves), keys=list(keys), started_at=at, seen_at=at)


def test_idle_working_and_silent_workers_are_told_apart(page):
    now = timezone.now()
    long_ago = now - timedelta(minutes=10)
    for pid, ago in ((1, 0), (2, 0), (3, 600)):
        _process(pid, "calls", ago=ago)
    for pid, at, state in (
        (2, now, WorkerState.LIVE),
        (1, now, WorkerState.GONE),  # its last piece of work
        (5, long_ago, WorkerState.LIVE),  # whose lease is over
    ):
        Worker.objects.create(host="box", pid=pid, started_at=at, heartbeat_at=at, state=state)
    text = page("workers:work")
    states = {pid: text.split(f">box:{pid}</th>")[1].split("</span>")[0].rsplit(">")[-1] for pid in (1, 2, 3, 5)}
    assert states == {1: "idle", 2: "working", 3: "silent", 5: "silent"}
    assert all(text.count(f">box:{pid}</th>") == 1 for pid in states)


def test_the_queue_says_what_waits_and_who_can_take_it(page, make_endpoint, start):
    start(make_endpoint(name="open"), ["a", "b", "c"])
    start(make_endpoint("openai", name="dear", base_url="https://x.test", api_key_env="DEAR_API_KEY"), ["a"])
    start(make_endpoint("vllm-engine", name="own"), ["a"])
    paused = start(make_endpoint(name="held"), ["a", "b"])
    type(paused).objects.filter(pk=paused.pk).update(state=JobState.PAUSED)
    EndpointRateLimit.objects.filter(endpoint=make_endpoint(name="a-idle")).update(state={"accepted_at": time.time()})
    text = page("workers:work")
    assert text.index('id="workers-title"') < text.index('id="queue-title"')
    rows = [text.index(f'endpoint/{name}/">') for name in ("held", "open", "a-idle")]
    assert rows == sorted(rows)  # who has nothing to do comes last
    assert "5 items of running jobs wait for a worker." in text and "and 2 paused" in text
    assert text.count("No worker is running: make worker") == 2 and "make engine-worker ENDPOINT=own" in text
    _process(1, "calls")
    text = page("workers:work")
    assert text.count("No worker is running") == 0 and "No worker has the key DEAR_API_KEY." in text
    _process(2, "calls", keys=["DEAR_API_KEY"])
    _process(3, "engine-own")
    assert ">none</span>" not in page("workers:work")


def test_a_process_reports_the_names_of_its_keys_and_nothing_of_them(make_endpoint, monkeypatch, page):
    make_endpoint(name="dear", api_key_env="DEAR_API_KEY")
    make_endpoint(name="other", api_key_env="OTHER_API_KEY")
    monkeypatch.setenv("DEAR_API_KEY", "very-secret-value")
    for _ in range(2):
        processes.report(["calls"])
    process = Process.objects.get()
    assert (process.serves, process.keys) == (["calls"], ["DEAR_API_KEY"])
    assert "very-secret-value" not in page("workers:work")
    processes.leave()
    assert not Process.objects.exists()
