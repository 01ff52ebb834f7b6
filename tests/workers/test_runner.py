"""Making calls with the scripted backend: each once, each to its own end, whatever goes wrong."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from core.database_clock import database_time
from workers.domain.rate_limit import BURST, RateLimit
from workers.models import (
    Attempt,
    Call,
    CallState,
    Endpoint,
    EndpointRateLimit,
    Item,
    ItemState,
    Job,
    JobState,
    Worker,
    WorkerState,
)  # fmt: skip
from workers.providers.scripted.backend import FUNCTIONS
from workers.services import claims, jobs
from workers.services.channels import endpoints_with_work
from workers.services.progress import progress_of
from workers.services.recovery import reap

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.xdist_group("waiting")]


def states(job) -> dict[str, str]:
    return dict(Item.objects.filter(job=job).values_list("key", "state"))


def test_every_item_gets_its_answer_and_the_job_ends(make_endpoint, start, run_worker, trial):
    job = start(make_endpoint(options={"delay": 0.01}), [f"q{at}" for at in range(200)])
    run_worker()
    job.refresh_from_db()
    assert job.state == JobState.FINISHED
    assert trial.received == {f"q{at}": 1 for at in range(200)}
    assert trial.finished_jobs == [job.pk]
    assert (
        Call.objects.filter(state=CallState.ANSWERED).count()
        == Attempt.objects.filter(outcome="answered").count()
        == 200
    )
    assert not Worker.objects.filter(state=WorkerState.LIVE).exists()


def test_a_second_job_asks_nothing_again(make_endpoint, start, run_worker, trial, tmp_path):
    endpoint = make_endpoint(options={"log": str(tmp_path / "asked")})
    start(endpoint, ["a", "b"])
    run_worker()
    again = start(endpoint, ["a", "b", "c"])
    run_worker()
    assert len((tmp_path / "asked").read_text().splitlines()) == 3
    progress = progress_of(again)
    assert (progress.done, progress.made, progress.reused) == (3, 1, 2)
    assert trial.received == {"a": 2, "b": 2, "c": 1}


def test_equal_questions_of_two_jobs_at_once_are_one_call(make_endpoint, start, run_worker, tmp_path):
    endpoint = make_endpoint(options={"log": str(tmp_path / "asked"), "delay": 0.05})
    first, second = start(endpoint, ["a", "b"]), start(endpoint, ["a", "b"])
    run_worker()
    assert len((tmp_path / "asked").read_text().splitlines()) == 2
    assert set(states(first).values()) == set(states(second).values()) == {"done"}


def test_an_answer_wakes_the_items_that_wait_for_the_same_call(make_endpoint, start, run_worker, monkeypatch):
    monkeypatch.setattr(claims, "LOOK_AGAIN", timedelta(hours=1))
    endpoint, stop = make_endpoint(), threading.Event()
    start(endpoint, ["a"])
    start(endpoint, ["a"])
    run_worker(stop=stop, on_turn=stop.set)  # ends when the answer is written
    answered = Item.objects.get(state=ItemState.DONE).call.finished_at
    assert Item.objects.get(state=ItemState.WAITING).not_before - answered < claims.LOOK_AGAIN / 2


ENDLESS = [
    ("rejected", CallState.FAILED, 1, "Scripted to fail: rejected."),
    ("throttled", CallState.FAILED, 2, "Given up after 2 attempts."),
    ("overloaded", CallState.FAILED, 2, "Given up after 2 attempts."),
    ("lost", CallState.UNKNOWN, 2, "The outcome of 2 attempts is unknown; it may have been paid."),
    ("unreadable", CallState.UNKNOWN, 2, "The outcome of 2 attempts is unknown; it may have been paid."),
]


def test_one_endless_failure_costs_that_item_alone(make_endpoint, start, run_worker, monkeypatch):
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.05)
    for failure, state, attempts, sentence in ENDLESS:
        script = [{"when": "bad", "fail": failure}]
        endpoint = make_endpoint(model=failure, max_attempts=2, options={"script": script})
        job = start(endpoint, ["good1", "bad", "good2"])
        run_worker()
        assert states(job) == {"good1": "done", "bad": "failed", "good2": "done"}, failure
        item = Item.objects.get(job=job, key="bad")
        assert item.problem.endswith(sentence)
        assert (item.call.state, item.call.attempts_made) == (state, attempts)
        job.refresh_from_db()
        assert job.state == JobState.FINISHED
    job = start(make_endpoint(options={"script": [{"fail": "overloaded", "times": 1}]}), ["a"])
    run_worker()
    assert states(job) == {"a": "done"}, "a call that fails once is sent again"
    attempts = Attempt.objects.filter(call__items__job=job).order_by("number")
    assert list(attempts.values_list("number", "outcome")) == [(1, "overloaded"), (2, "answered")]


def test_every_answer_has_its_own_end(make_endpoint, start, run_worker, trial, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "hostile", lambda body: "a\x00b\ud800c")
    script = [
        {"when": "no", "text": "I will not.", "stop": "refusal"},
        {"when": "long", "text": "and so", "stop": "length"},
        {"when": "b", "text": "poison"},
    ]
    job = start(make_endpoint(options={"script": script}), ["no", "long", "plain", "impossible", "b"])
    run_worker()
    assert states(job) == {
        "no": "unreadable", "long": "unreadable", "plain": "done", "impossible": "failed", "b": "failed",
    }  # fmt: skip
    assert set(Call.objects.values_list("state", flat=True)) == {"refused", "truncated", "answered"}
    assert Item.objects.get(key="impossible").problem == "This item has no story."
    # a mistake of the handler costs one item and no answer
    assert Call.objects.get(answer="poison").state == CallState.ANSWERED
    trial.answers.clear()
    trial.suffix = "nul \x00 and half a pair \udc00"
    start(make_endpoint(options={"function": "hostile"}), ["a"])
    run_worker()
    assert list(trial.answers.values()) == ["a␀b?c"]


def test_a_key_that_is_missing_or_refused_pauses_the_job_and_says_so(make_endpoint, start, run_worker, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    job = start(make_endpoint("openai", name="gpt", api_key_env="NO_SUCH_KEY"), ["a"])
    run_worker()
    job.refresh_from_db()
    assert job.state == JobState.PAUSED
    assert job.note == (
        "gpt: The key is not accepted: set the right one where the workers run, start them anew, then resume. (The "
        "environment variable NO_SUCH_KEY is not set where the worker runs.)"
    )
    endpoint = make_endpoint(name="other", max_concurrency=4, options={"script": [{"fail": "forbidden"}]})
    job = start(endpoint, [f"q{at}" for at in range(60)])
    run_worker()
    job.refresh_from_db()
    assert job.state == JobState.PAUSED
    assert job.note.startswith("other: The key is not accepted") and job.note.endswith("(Scripted to fail: forbidden.)")
    assert set(states(job).values()) == {"held"} and Call.objects.filter(attempts_made__gt=0).count() <= 8


def test_a_deadline_ends_a_call_that_hangs(make_endpoint, start, run_worker):
    endpoint = make_endpoint(timeout_seconds=1, repeat_unknown=0, options={"script": [{"when": "hang", "delay": 60}]})
    job = start(endpoint, ["a", "hang"])
    run_worker()
    assert states(job) == {"a": "done", "hang": "failed"}
    assert "No answer within 1 s." in Item.objects.get(key="hang").problem


def test_a_budget_is_never_exceeded(make_endpoint, start, run_worker):
    # A body of some 130 characters is booked as 44 tokens at $0.1, and 50 tokens of output at $0.1: a call is reserved
    # at about $9.4 and costs far less; $30 leave room for one more until less than a reservation is left.
    endpoint = make_endpoint(price_input=Decimal(100_000), price_output=Decimal(100_000), max_concurrency=2)
    job = start(endpoint, [f"q{at}" for at in range(100)], budget=Decimal(30))
    run_worker()
    job.refresh_from_db()
    spent = Item.objects.filter(job=job).spent()
    assert job.state == JobState.PAUSED
    assert "budget of $30.00" in job.note
    reserved = Call.objects.filter(state=CallState.PLANNED).first().reserved_cost
    assert 30 - reserved < spent <= 30
    jobs.resume_job(job=job, budget=Decimal(10_000))
    run_worker()
    assert set(states(job).values()) == {"done"}


def test_pause_cancel_and_retry(make_endpoint, start, run_worker):
    endpoint = make_endpoint(max_attempts=1, options={"script": [{"when": "b", "fail": "overloaded", "times": 1}]})
    job = start(endpoint, ["a", "b"])
    jobs.pause_job(job=job)
    run_worker()
    assert states(job) == {"a": "waiting", "b": "waiting"}
    jobs.resume_job(job=job)
    run_worker()
    assert states(job) == {"a": "done", "b": "failed"}
    assert jobs.retry_failed(job=job, now=timezone.now()) == 1
    endpoint.options = {}
    endpoint.save()
    run_worker()
    assert states(job) == {"a": "done", "b": "done"}
    other = start(endpoint, ["c"])
    jobs.cancel_job(job=other, now=timezone.now())
    run_worker()
    assert states(other) == {"c": "cancelled"}


@pytest.mark.once  # a rule of the rate limit
def test_one_story_that_is_always_refused_does_not_slow_the_others(make_endpoint, start, run_worker, monkeypatch):
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.05)
    script = [{"when": "bad", "fail": "throttled"}, {"delay": 0.05}]
    endpoint = make_endpoint(max_attempts=5, max_concurrency=64, options={"script": script})
    start(endpoint, ["bad", *(f"q{at}" for at in range(40))])
    run_worker()
    assert Call.objects.get(state="failed").attempts_made == 5
    # Only its first two refusals are taken for the endpoint's limit.
    assert EndpointRateLimit.objects.get(endpoint=endpoint).state["denied"] == 2


def test_work_that_the_last_answer_brings_for_another_endpoint_is_done_in_the_same_run(
    make_endpoint, start, run_worker, trial
):
    judge = make_endpoint(name="judge")
    job = start(make_endpoint(name="model"), ["story"])
    receive = trial.receive

    def and_judge(answered):
        if any(item.key == "story" for item, _ in answered):
            jobs.add_items(job=job, items=[(judge, "", "judgement")], now=timezone.now())
        return receive(answered)

    trial.receive = and_judge
    run_worker()
    assert states(job) == {"story": "done", "judgement": "done"}


def test_recovery_frees_what_a_dead_worker_held(make_endpoint, start, run_worker, trial, settings):
    endpoint = make_endpoint(price_output=Decimal(100_000))
    job = start(endpoint, ["not sent", "sent", "sent twice"])
    long_ago = timezone.now() - timedelta(hours=1)
    dead = Worker.objects.create(host="h", pid=1, started_at=long_ago, heartbeat_at=long_ago)
    for item, state, unknowns in zip(Item.objects.order_by("id"), ("reserved", "sent", "sent"), (0, 0, 1), strict=True):
        from workers.providers.registry import make
        from workers.services.planning import plan

        plan(items=[item], endpoint=endpoint, backend=make(endpoint.spec), now=long_ago)
        item.refresh_from_db()
        Call.objects.filter(pk=item.call_id).update(state=state, worker=dead, attempts_made=1, unknowns=unknowns)
        Item.objects.filter(pk=item.pk).update(state=ItemState.CLAIMED, worker=dead)
        if state == "sent":
            Attempt.objects.create(call=item.call, number=1, sent_at=long_ago)
    assert reap(now=timezone.now(), patience=0) == 1
    assert reap(now=timezone.now()) == 0
    dead.refresh_from_db()
    assert dead.state == WorkerState.LOST
    assert list(Attempt.objects.values_list("outcome", flat=True)) == ["unknown", "unknown"]
    run_worker()
    assert states(job) == {"not sent": "done", "sent": "done", "sent twice": "failed"}
    assert Item.objects.get(key="sent twice").cost == Call.objects.get(state="unknown").reserved_cost
    assert Item.objects.get(key="not sent").cost < Item.objects.get(key="sent").cost


def test_calls_are_planned_ahead_while_the_first_answers_are_awaited(
    make_endpoint, start, run_worker, trial, monkeypatch
):
    started: list[list[str]] = []
    asking = trial.ask
    monkeypatch.setattr(trial, "ask", lambda items: started.append([item.key for item in items]) or asking(items))
    answered: list[int] = []
    taking = trial.receive
    monkeypatch.setattr(trial, "receive", lambda pairs: answered.append(len(started)) or taking(pairs))
    keys = [*(f"first {at}" for at in range(4)), *(f"q{at}" for at in range(196))]
    script = [{"when": "first", "delay": 1.0}, {"delay": 0.0}]
    start(make_endpoint(max_concurrency=4, options={"script": script}), keys)
    run_worker()
    assert [key for group in started for key in group] == keys
    # 200 items in chunks of 64 are four plans, all made before the first of fifty rounds of answers
    assert (len(started), answered[0]) == (4, 4)


def test_no_endpoint_takes_all_starts_of_the_process(make_endpoint, start, run_worker, monkeypatch):
    monkeypatch.setattr("workers.domain.rate_limit.RATE", 50.0)
    first, second = make_endpoint(max_concurrency=64), make_endpoint(max_concurrency=64)
    EndpointRateLimit.objects.update(state=RateLimit(rate=1000.0).as_json())  # both have proved what they bear
    jobs_of = [start(first, [f"a{at}" for at in range(60)]), start(second, [f"b{at}" for at in range(60)])]
    run_worker()
    orders = [
        list(Attempt.objects.filter(call__items__job=job).order_by("id").values_list("id", flat=True))
        for job in jobs_of
    ]
    # Both want 60 starts at once: neither is half through before the other has begun.
    assert max(order[0] for order in orders) < min(order[30] for order in orders)


@pytest.mark.parametrize("reads", [True, False])
def test_what_computes_its_answers_waits_for_nobody(make_endpoint, start, run_worker, trial, monkeypatch, reads):
    """Calls that leave the process start a few at a time; a baseline is asked as many as it may have in flight."""
    asked = []

    def claim(**options):
        asked.append((options["room"], options["rate_limited"]))
        return claims.claim(**options)

    monkeypatch.setattr("workers.services.runner.claim", claim)
    about = Endpoint.about
    monkeypatch.setattr(Endpoint, "about", property(lambda self: replace(about.fget(self), reads_prompts=reads)))
    start(make_endpoint(), [f"q{at}" for at in range(40)])
    run_worker()
    assert len(trial.received) == 40
    assert {limited for _, limited in asked} == {reads}
    assert (max(room for room, _ in asked) > BURST) is not reads


def test_an_endpoint_with_nothing_to_claim_is_asked_for_none(make_endpoint, start, run_worker, monkeypatch):
    busy, later = make_endpoint(), make_endpoint()
    job = start(busy, ["a"])
    postponed = start(later, ["b"])
    now = database_time()
    Item.objects.filter(job=postponed).update(not_before=now + timedelta(hours=1))
    both = [busy.pk, later.pk]
    assert claims.with_work(both, database_time()) == claims.with_work(both, database_time(), job.pk) == {busy.pk}
    assert claims.with_work([later.pk], database_time()) == claims.with_work(both, now, postponed.pk) == set()
    assert claims.with_work(both, now + timedelta(hours=2)) == set(both)
    asked = []
    monkeypatch.setattr(
        "workers.services.runner.claim", lambda **options: asked.append(options["endpoint"]) or claims.claim(**options)
    )
    run_worker(only=job.pk)
    assert set(asked) == {busy} and Item.objects.get(job=job).state == ItemState.DONE


def test_the_next_time_is_any_that_has_come_else_the_earliest(make_endpoint, start):
    endpoint, now = make_endpoint(), database_time()
    job = start(endpoint, ["a", "b", "c"])
    items = Item.objects.filter(job=job)
    assert claims.next_time([endpoint.pk]) <= database_time()
    for minutes, item in enumerate(items.order_by("-pk"), 1):
        items.filter(pk=item.pk).update(not_before=now + timedelta(minutes=minutes))
    assert claims.next_time([endpoint.pk]) == claims.next_time([endpoint.pk], job.pk) == now + timedelta(minutes=1)
    items.filter(key="a").update(not_before=now - timedelta(minutes=1))
    assert claims.next_time([endpoint.pk]) == now - timedelta(minutes=1)
    assert claims.next_time([], job.pk) is claims.next_time([endpoint.pk], job.pk + 1) is None
    assert [key for key, _ in endpoints_with_work()] == [endpoint.pk]
    Job.objects.filter(pk=job.pk).pause(note="")
    assert claims.next_time([endpoint.pk]) is None and endpoints_with_work() == []
