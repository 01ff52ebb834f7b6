"""A job handler of the tests' own ("trial"): asks each item's key, keeps what comes back in memory."""

import itertools
import json
import re
from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from tests.api.conftest import token_of
from workers.models import Call, Endpoint, EndpointRateLimit, Item, ItemState
from workers.providers.contract import Message, Request
from workers.services import handlers, jobs
from workers.services.handlers import JobHandler, Received
from workers.services.runner import Runner


class Trial(JobHandler):
    def __init__(self) -> None:
        self.received: Counter[str] = Counter()
        self.answers: dict[str, str] = {}
        self.finished_jobs: list[int] = []
        self.suffix = ""

    def ask(self, items):
        return {item.pk: self.request(item) for item in items}

    def request(self, item):
        if item.key.startswith("impossible"):
            return "This item has no story."
        return Request((Message("user", item.key + self.suffix),), max_tokens=50, temperature=0.0)

    def receive(self, answered):
        outcomes = {}
        for item, call in answered:
            if "poison" in call.answer:
                raise ValueError("a mistake in the handler")
            self.received[item.key] += 1
            self.answers[item.key] = call.answer
            unreadable = call.state != "answered"
            outcomes[item.pk] = Received(ItemState.UNREADABLE, f"It was {call.state}.") if unreadable else Received()
        return outcomes

    def finished(self, job):
        self.finished_jobs.append(job.pk)


@pytest.fixture(autouse=True)
def calls_start_at_once() -> None:
    """Here they wait, as they do in production."""


@pytest.fixture(autouse=True)
def scripts_of_the_test(monkeypatch, tmp_path) -> None:
    """Scripts and logs of scripted answers lie beside the test."""
    monkeypatch.setenv("SCRIPTED_DIR", str(tmp_path))


@pytest.fixture
def trial():
    handler = Trial()
    handlers.register("trial", handler)
    yield handler
    handlers._HANDLERS.pop("trial")


@pytest.fixture
def make_endpoint(db):
    count = itertools.count(1)

    def make(provider="scripted", **fields):
        fields = {"name": f"model-{next(count)}", "model": "tiny", "repeat_unknown": 1, **fields}
        endpoint = Endpoint.objects.create(provider=provider, **fields)
        EndpointRateLimit.objects.create(endpoint=endpoint)
        return endpoint

    return make


@pytest.fixture
def start(trial):
    def begin(endpoint, keys, **fields):
        items = [(endpoint, "", key) for key in keys]
        return jobs.start_job(by="alice", handler="trial", title="Trial", items=items, now=timezone.now(), **fields)

    return begin


@pytest.fixture
def run_worker():
    """Work everything off in this process: `run_worker()`."""
    return lambda **options: Runner(**options).run()


@pytest.fixture
def worked(start, run_worker):
    """Makes a job and works everything off: `worked(endpoint, ["a", "b"])` is the job as it ended."""

    def work(endpoint, keys, **fields):
        job = start(endpoint, keys, **fields)
        run_worker()
        job.refresh_from_db()
        return job

    return work


def states(job) -> dict[str, int]:
    """How many items of the job are in which state."""
    return {state: count for state, count in Item.objects.filter(job=job).counts().items() if count}


@pytest.fixture
def make_call(make_endpoint):
    """An answered call of the ledger, without a job: `make_call(answer="yes")`."""
    count = itertools.count(1)

    def make(endpoint=None, *, body=None, **fields):
        number = next(count)
        held = endpoint or Endpoint.objects.filter(name="tiny-1").first() or make_endpoint(name="tiny-1")
        asked = body or {"messages": [{"role": "user", "content": f"Who knows {number}?"}]}
        fields = {"state": "answered", "answer": f"Answer {number}", "finished_at": timezone.now(), **fields}
        return Call.objects.create(
            key=f"{number:064d}", endpoint=held, provider=held.provider, model=held.model, body=json.dumps(asked),
            planned_at=timezone.now(), **fields,
        )  # fmt: skip

    return make


@pytest.fixture
def admin(cast, client):
    """A browser in which the site admin is logged in."""
    cast.charlie.is_superuser = True
    cast.charlie.save()
    client.force_login(cast.charlie)
    return client


@pytest.fixture
def admins_api(cast, admin) -> APIClient:
    """The API with a token of the site admin."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(cast.charlie)}")
    return client


@pytest.fixture
def page(admin):
    """The text of a page, blanks and line breaks as one blank: `page("workers:call", uid)`; keywords are its query."""

    def read(name: str, *args, **query) -> str:
        response = admin.get(reverse(name, args=args), query)
        assert response.status_code == 200
        return re.sub(r"[ \n]+", " ", response.content.decode())

    return read


@pytest.fixture
def press(admin):
    """The page after pressing a button of a job: `press(job, "resume", budget="20")`."""

    def post(job, action: str, **fields: str) -> str:
        response = admin.post(reverse("workers:job_action", args=[job.uid, action]), fields, follow=True)
        assert response.redirect_chain == [(reverse("workers:job", args=[job.uid]), 302)]
        job.refresh_from_db()
        return response.content.decode()

    return post


@pytest.fixture
def statements(admin):
    """How many statements a page takes: `statements("workers:ledger")`."""

    def count(name: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert admin.get(reverse(name)).status_code == 200
        return len(captured)

    return count
