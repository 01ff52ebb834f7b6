"""Work for a model that this very process holds: the backend is the real one, its engine is scripted."""

from __future__ import annotations

import sys
import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import OperationalError
from django.utils import timezone

from tests.patience import PATIENCE
from tests.workers.conftest import states
from tests.workers.test_vllm_engine import SCHEMA, ScriptedEngine
from workers.models import Attempt, Call, Endpoint, Item, Worker, WorkerState
from workers.providers.contract import Message, Request
from workers.providers.vllm_engine.backend import NOT_INSTALLED
from workers.services import engine_runner
from workers.services.engine_runner import EngineRunner
from workers.services.recovery import reap
from workers.services.run_to_end import run_to_end

pytestmark = pytest.mark.django_db(transaction=True)


class Engine(ScriptedEngine):
    """Keeps the sampling parameters too; `dead` times it breaks, and it is busy with a list `until` something."""

    dead, loads = 0, 0

    def __init__(self) -> None:
        super().__init__()
        self.until = threading.Event()
        self.until.set()
        self.params_seen: list[dict] = []

    def load(self, spec) -> Engine:
        self.loads += 1
        return self

    def chat(self, messages, sampling_params, use_tqdm):
        assert self.until.wait(PATIENCE)
        self.params_seen += sampling_params
        outputs = super().chat(messages, sampling_params, use_tqdm)
        if self.dead:
            self.dead -= 1
            raise OSError("CUDA error: out of memory")
        return outputs


@pytest.fixture
def engine(monkeypatch) -> Engine:
    made = Engine()
    monkeypatch.setattr("workers.providers.vllm_engine.backend.load_vllm", made.load)
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.01)
    monkeypatch.setattr(engine_runner, "_loaded", {})
    return made


@pytest.fixture
def endpoint(make_endpoint):
    return make_endpoint("vllm-engine", name="gpu", max_concurrency=8, price_output=Decimal(3))


@pytest.fixture
def began(endpoint, start):
    """A job for the engine: `began("a", "b")`."""
    return lambda *keys: start(endpoint, keys)


def run(**options) -> None:
    EngineRunner.of("gpu", **{"stop": threading.Event(), **options}).run()


def time_passes() -> None:
    """What waits for its next try may be tried."""
    Item.objects.update(not_before=timezone.now() - timedelta(hours=1))


def outcomes() -> list[str]:
    return list(Attempt.objects.order_by("call", "number").values_list("outcome", flat=True))


def test_work_is_done_in_groups_by_one_engine_and_kept_in_the_ledger(engine, began, trial):
    job = began(*(f"q{at}" for at in range(20)))
    run()
    # 20 at 8 in flight: 8 + 8 + 4
    assert [len(group) for group in engine.lists] == [8, 8, 4]
    assert trial.answers == {f"q{at}": f"Q{at}" for at in range(20)}
    job.refresh_from_db()
    assert (job.state, states(job)) == ("finished", {"done": 20})
    again = began("q0", "q1", "who knows")
    run()
    assert engine.lists[3:] == [["who knows"]] and states(again) == {"done": 3}, "the ledger has the others"
    assert engine.loads == 1
    assert set(Worker.objects.values_list("kind", "state")) == {("gpu", WorkerState.GONE)}
    call = Call.objects.latest("pk")
    assert (call.state, call.answer, call.stop, call.answered_by) == ("answered", "WHO KNOWS", "end", "tiny")
    # the scripted engine counts 7 tokens in, 4 of them cached, and a token a word out: 2 · $3 / 1,000,000
    assert (call.input_tokens, call.cached_tokens, call.output_tokens) == (7, 4, 2)
    assert call.cost == Decimal("0.000006")
    attempt = call.attempts.get()
    assert (attempt.outcome, attempt.number, attempt.worker.kind) == ("answered", 1, "gpu")


def test_a_schema_reaches_the_engine_where_the_endpoint_has_structured_output(engine, began, trial):
    trial.request = lambda item: Request((Message("user", item.key),), max_tokens=9, schema=SCHEMA)
    began("held")
    run()
    assert engine.params_seen[0]["schema"] == SCHEMA == Call.objects.get().request["schema"]
    Endpoint.objects.update(json_schema=False)
    engine_runner._loaded.clear()
    began("free")
    run()
    assert "schema" not in engine.params_seen[1]


def test_questions_that_cannot_be_answered_fail_alone(engine, began, trial):
    def request(item) -> Request:
        return Request((Message("user", "x " * 60 if item.key == "long" else item.key),), max_tokens=9)

    trial.request = request
    job = began("a", "long", "b")
    run()
    # 60 words against 50 tokens
    assert states(job) == {"done": 2, "failed": 1}
    assert "60 tokens" in Item.objects.get(state="failed").problem
    engine.finish_reason = "length"
    job = began("c")
    run()
    assert (states(job), Call.objects.latest("pk").state) == ({"unreadable": 1}, "truncated")


def test_a_dead_engine_is_loaded_anew_and_everything_asked_again(engine, began):
    engine.dead = 1
    job = began("a", "b")
    run()
    time_passes()
    run()
    assert (states(job), engine.loads, engine.closed) == ({"done": 2}, 2, 1)
    assert outcomes() == ["overloaded", "answered"] * 2  # nobody was paid: the outcome is known
    # one that always dies costs its items and ends
    Endpoint.objects.update(max_attempts=2)
    engine.dead = 99
    job = began("c")
    run_to_end(job=job)
    job.refresh_from_db()
    assert (job.state, states(job)) == ("finished", {"failed": 1})
    problem = job.items.get().problem
    assert problem.startswith("The engine failed (OSError: CUDA error: out of memory)")
    assert "Given up after 2" in problem


def test_seeing_a_job_through_waits_between_tries(engine, began, monkeypatch):
    class Clock(threading.Event):
        waits = 0

        def wait(self, timeout=None):
            self.waits += 1
            time_passes()  # and at no other moment
            return self.is_set()

    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 1000.0)
    engine.dead, clock = 1, Clock()
    job = began("a")
    run_to_end(job=job, stop=clock)
    assert (states(job), clock.waits) == ({"done": 1}, 1)


def test_calls_that_were_taken_from_the_worker_are_not_asked(engine, began, trial, monkeypatch):
    """Between claim and sending one call of three goes back to the plan, as recovery does; another run asks it."""
    job = began("a", "b", "c")
    mark_sent, taken = engine_runner.mark_sent, []

    def late(claims, *, worker, now):
        if not taken:
            taken.append(claims[1].call)
            Call.objects.filter(pk__in=taken).release()
        return mark_sent(claims, worker=worker, now=now)

    monkeypatch.setattr(engine_runner, "mark_sent", late)
    run()
    assert [len(group) for group in engine.lists] == [2, 1]
    assert states(job) == {"done": 3} and set(trial.answers) == {"a", "b", "c"}
    assert set(Call.objects.values_list("attempts_made", flat=True)) == {1}


class Broken:
    """A backend that breaks in a way that it does not know itself."""

    def __init__(self, backend) -> None:
        self.body, self.asked = backend.body, 0

    def complete_many(self, bodies):
        self.asked += 1
        raise MemoryError


def test_a_backend_that_breaks_is_left_at_once_and_loaded_anew(engine, endpoint, began):
    job = began(*(f"q{at}" for at in range(20)))
    broken = Broken(engine_runner.loaded_engine(endpoint))
    EngineRunner(endpoint, broken, stop=threading.Event()).run()
    assert broken.asked == 1 and set(outcomes()) == {"overloaded"}
    time_passes()
    run()
    assert states(job) == {"done": 20} and engine.loads == 2


def test_an_engine_that_cannot_be_loaded_pauses_the_job_and_says_why(began, monkeypatch):
    monkeypatch.setattr(engine_runner, "_loaded", {})
    monkeypatch.setitem(sys.modules, "vllm", None)
    job = began("a")
    run()
    job.refresh_from_db()
    assert (job.state, job.note) == ("paused", f"gpu: {NOT_INSTALLED}")
    assert not Worker.objects.exists()


def test_what_could_not_be_written_down_is_recovered(engine, began, monkeypatch):
    def away(*args, **kwargs):
        raise OperationalError("the database is away")

    job = began("a")
    with monkeypatch.context() as broken, pytest.raises(OperationalError):
        broken.setattr(engine_runner, "record", away)
        run()
    assert states(job) == {"claimed": 1}
    assert reap(now=timezone.now()) == 1
    run()
    assert states(job) == {"done": 1}


def test_heartbeats_go_on_while_the_engine_is_busy(engine, began, monkeypatch):
    beat, beats = engine_runner.recovery.beat, []

    def counted(worker) -> None:
        beat(worker)
        beats.append(threading.current_thread())
        if beats.count(threading.current_thread()) == 2 and threading.current_thread() is not threading.main_thread():
            engine.until.set()

    monkeypatch.setattr(engine_runner, "HEARTBEAT", 0.01)
    monkeypatch.setattr(engine_runner.recovery, "beat", counted)
    engine.until.clear()
    job = began("a")
    run()
    assert states(job) == {"done": 1} and len(beats) > 2


def test_stopping_and_keeping_to_one_job(engine, began):
    first, second, stopped = began("a"), began("b"), threading.Event()
    stopped.set()
    run(stop=stopped)
    assert engine.lists == []
    run(only=second.pk)
    assert (states(first), states(second)) == ({"waiting": 1}, {"done": 1})
