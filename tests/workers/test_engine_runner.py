"""Work for a model that this very process holds: the backend is the real one, its engine is scripted."""

from __future__ import annotations

import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import OperationalError
from django.utils import timezone

from tests.patience import PATIENCE
from tests.workers.test_vllm_engine import SCHEMA, ScriptedEngine
from workers.models import Attempt, Call, Item, JobState, Worker, WorkerState
from workers.providers.contract import Message, Request
from workers.providers.vllm_engine.backend import NOT_INSTALLED
from workers.services import engine_runner
from workers.services.engine_runner import EngineRunner
from workers.services.recovery import reap
from workers.services.run_to_end import run_to_end

pytestmark = pytest.mark.django_db(transaction=True)


class Engine(ScriptedEngine):
    """Keeps the sampling parameters too; `dead` times it breaks, and it is busy with a list `until` something."""

    dead = 0

    def __init__(self) -> None:
        super().__init__()
        self.until = threading.Event()
        self.until.set()
        self.params_seen: list[dict] = []

    def chat(self, messages, sampling_params, use_tqdm):
        assert self.until.wait(PATIENCE)
        self.params_seen += sampling_params
        outputs = super().chat(messages, sampling_params, use_tqdm)
        if self.dead:
            self.dead -= 1
            raise OSError("CUDA error: out of memory")
        return outputs


class Garage:
    """Every engine that was loaded, in order."""

    def __init__(self) -> None:
        self.loaded: list[Engine] = []
        self.engine = Engine()

    def load(self, spec) -> Engine:
        self.loaded.append(self.engine)
        return self.engine


@pytest.fixture
def garage(monkeypatch):
    made = Garage()
    monkeypatch.setattr("workers.providers.vllm_engine.backend.load_vllm", made.load)
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.01)
    monkeypatch.setattr(engine_runner, "_loaded", {})
    return made


@pytest.fixture
def endpoint(make_endpoint):
    return make_endpoint("vllm-engine", name="gpu", max_concurrency=8)


def run(endpoint, **options) -> EngineRunner:
    runner = EngineRunner.of(endpoint.name, stop=options.pop("stop", threading.Event()), **options)
    runner.run()
    return runner


def time_passes() -> None:
    """What waits for its next try may be tried."""
    Item.objects.update(not_before=timezone.now() - timedelta(hours=1))


def states(job) -> dict[str, int]:
    return {state: count for state, count in Item.objects.filter(job=job).counts().items() if count}


def test_work_is_done_in_groups_by_one_engine(garage, endpoint, start, trial):
    job = start(endpoint, [f"q{at}" for at in range(20)])
    run(endpoint)
    # 20 at 8 in flight: 8 + 8 + 4
    assert [len(group) for group in garage.engine.lists] == [8, 8, 4]
    assert trial.answers == {f"q{at}": f"Q{at}" for at in range(20)}
    job.refresh_from_db()
    assert (job.state, states(job)) == (JobState.FINISHED, {"done": 20})
    again = start(endpoint, ["q0", "q1", "new"])
    run(endpoint)
    assert garage.engine.lists[3:] == [["new"]] and states(again) == {"done": 3}, "the ledger has the others"
    assert len(garage.loaded) == 1
    assert set(Worker.objects.values_list("kind", "state")) == {("gpu", WorkerState.GONE)}


def test_an_answer_in_the_ledger(garage, endpoint, start):
    endpoint.price_output = Decimal(3)
    endpoint.save()
    start(endpoint, ["who knows"])
    run(endpoint)
    call = Call.objects.get()
    assert (call.state, call.answer, call.stop, call.answered_by) == ("answered", "WHO KNOWS", "end", "tiny")
    # the scripted engine counts 7 tokens in, 4 of them cached, and a token a word out: 2 · $3 / 1,000,000
    assert (call.input_tokens, call.cached_tokens, call.output_tokens) == (7, 4, 2)
    assert call.cost == Decimal("0.000006")
    attempt = Attempt.objects.get()
    assert (attempt.outcome, attempt.number, attempt.worker.kind) == ("answered", 1, "gpu")


def test_a_schema_reaches_the_engine_where_the_endpoint_has_structured_output(garage, endpoint, start, trial):
    trial.request = lambda item: Request((Message("user", item.key),), max_tokens=9, schema=SCHEMA)
    start(endpoint, ["held"])
    run(endpoint)
    assert garage.engine.params_seen[0]["schema"] == SCHEMA == Call.objects.get().request["schema"]
    endpoint.json_schema = False
    endpoint.save()
    engine_runner._loaded.clear()
    start(endpoint, ["free"])
    run(endpoint)
    assert "schema" not in garage.engine.params_seen[1]


def test_questions_that_cannot_be_answered_fail_alone(garage, endpoint, start, trial):
    trial.request = lambda item: Request(
        (Message("user", "x " * 60 if item.key == "long" else item.key),), max_tokens=9
    )
    job = start(endpoint, ["a", "long", "b"])
    run(endpoint)
    # 60 words against 50 tokens
    assert states(job) == {"done": 2, "failed": 1}
    assert "60 tokens" in Item.objects.get(state="failed").problem
    garage.engine.finish_reason = "length"
    job = start(endpoint, ["c"])
    run(endpoint)
    assert (states(job), Call.objects.latest("pk").state) == ({"unreadable": 1}, "truncated")


def test_a_dead_engine_is_loaded_anew_and_everything_asked_again(garage, endpoint, start):
    garage.engine.dead = 1
    job = start(endpoint, ["a", "b"])
    run(endpoint)
    time_passes()
    run(endpoint)
    assert states(job) == {"done": 2}
    assert (len(garage.loaded), garage.engine.closed) == (2, 1)
    # nobody was paid: the outcome is known
    outcomes = Attempt.objects.order_by("call", "number").values_list("outcome", flat=True)
    assert list(outcomes) == ["overloaded", "answered"] * 2


def test_an_engine_that_always_dies_costs_its_items_and_ends(garage, endpoint, start):
    endpoint.max_attempts = 2
    endpoint.save()
    garage.engine.dead = 99
    job = start(endpoint, ["a"])
    run_to_end(job=job)
    job.refresh_from_db()
    assert (job.state, states(job)) == (JobState.FINISHED, {"failed": 1})
    problem = Item.objects.get().problem
    assert (
        problem.startswith("The engine failed (OSError: CUDA error: out of memory)") and "Given up after 2" in problem
    )


def test_seeing_a_job_through_waits_between_tries(garage, endpoint, start, monkeypatch):
    class Clock(threading.Event):
        waits = 0

        def wait(self, timeout=None):
            self.waits += 1
            time_passes()  # and at no other moment
            return self.is_set()

    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 1000.0)
    garage.engine.dead, clock = 1, Clock()
    job = start(endpoint, ["a"])
    run_to_end(job=job, stop=clock)
    assert (states(job), clock.waits) == ({"done": 1}, 1)


def test_calls_that_were_taken_from_the_worker_are_not_asked(garage, endpoint, start, trial, monkeypatch):
    """Between claim and sending one call of three goes back to the plan, as recovery does; another run asks it."""
    job = start(endpoint, ["a", "b", "c"])
    mark_sent, taken = engine_runner.mark_sent, []

    def late(claims, *, worker, now):
        if not taken:
            taken.append(claims[1].call)
            Call.objects.filter(pk__in=taken).release()
        return mark_sent(claims, worker=worker, now=now)

    monkeypatch.setattr(engine_runner, "mark_sent", late)
    run(endpoint)
    assert [len(group) for group in garage.engine.lists] == [2, 1]
    assert states(job) == {"done": 3} and set(trial.answers) == {"a", "b", "c"}
    assert set(Call.objects.values_list("attempts_made", flat=True)) == {1}


class Broken:
    """A backend that breaks in a way that it does not know itself."""

    def __init__(self, backend) -> None:
        self.body, self.asked = backend.body, 0

    def complete_many(self, bodies):
        self.asked += 1
        raise MemoryError


def test_a_backend_that_breaks_is_left_at_once_and_loaded_anew(garage, endpoint, start):
    job = start(endpoint, [f"q{at}" for at in range(20)])
    broken = Broken(engine_runner.loaded_engine(endpoint))
    runner = EngineRunner(endpoint, broken, stop=threading.Event())
    runner.run()
    assert broken.asked == 1
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"overloaded"}
    time_passes()
    run(endpoint)
    assert states(job) == {"done": 20} and len(garage.loaded) == 2


def test_an_engine_that_cannot_be_loaded_pauses_the_job_and_says_why(endpoint, start, monkeypatch):
    monkeypatch.setattr(engine_runner, "_loaded", {})
    monkeypatch.setattr("builtins.__import__", _without_vllm(__import__))
    job = start(endpoint, ["a"])
    run(endpoint)
    job.refresh_from_db()
    assert (job.state, job.note) == (JobState.PAUSED, f"gpu: {NOT_INSTALLED}")
    assert not Worker.objects.exists()


def _without_vllm(usual):
    def load(name, *rest, **more):
        if name == "vllm":
            raise ImportError(name)
        return usual(name, *rest, **more)

    return load


def test_what_could_not_be_written_down_is_recovered(garage, endpoint, start, monkeypatch):
    job = start(endpoint, ["a"])
    with monkeypatch.context() as broken:
        broken.setattr(engine_runner, "record", _away)
        with pytest.raises(OperationalError):
            run(endpoint)
    assert states(job) == {"claimed": 1}
    assert reap(now=timezone.now()) == 1
    run(endpoint)
    assert states(job) == {"done": 1}


def _away(*args, **kwargs):
    raise OperationalError("the database is away")


def test_heartbeats_go_on_while_the_engine_is_busy(garage, endpoint, start, monkeypatch):
    beat, beats = engine_runner.recovery.beat, []

    def counted(worker) -> None:
        beat(worker)
        beats.append(threading.current_thread())
        if beats.count(threading.current_thread()) == 2 and threading.current_thread() is not threading.main_thread():
            garage.engine.until.set()

    monkeypatch.setattr(engine_runner, "HEARTBEAT", 0.01)
    monkeypatch.setattr(engine_runner.recovery, "beat", counted)
    garage.engine.until.clear()
    job = start(endpoint, ["a"])
    run(endpoint)
    assert states(job) == {"done": 1} and len(beats) > 2


def test_stopping_and_keeping_to_one_job(garage, endpoint, start):
    first, second = start(endpoint, ["a"]), start(endpoint, ["b"])
    stopped = threading.Event()
    stopped.set()
    run(endpoint, stop=stopped)
    assert garage.engine.lists == []
    run(endpoint, only=second.pk)
    assert (states(first), states(second)) == ({"waiting": 1}, {"done": 1})
