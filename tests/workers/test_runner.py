"""Making calls with the scripted backend: each once, each to its own end, whatever goes wrong."""

import threading
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from core.database_clock import database_time
from workers.domain.rate_limit import BURST, RateLimit
from workers.models import Attempt, Call, CallState, Endpoint, EndpointRateLimit, Item, Job, Worker, WorkerState
from workers.providers.scripted.backend import FUNCTIONS
from workers.services import claims, jobs
from workers.services.channels import endpoints_with_work
from workers.services.progress import progress_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.xdist_group("waiting")]
CLAIM = "workers.services.runner.claim"


def states(job) -> dict[str, str]:
    return dict(Item.objects.filter(job=job).values_list("key", "state"))


def test_every_item_gets_its_answer_and_the_job_ends(make_endpoint, worked, trial):
    job = worked(make_endpoint(options={"delay": 0.01}), [f"q{at}" for at in range(200)])
    assert job.state == "finished" and trial.finished_jobs == [job.pk]
    assert trial.received == {f"q{at}": 1 for at in range(200)}
    assert Call.objects.filter(state="answered").count() == Attempt.objects.filter(outcome="answered").count() == 200
    assert not Worker.objects.filter(state=WorkerState.LIVE).exists()


def test_a_question_is_asked_once_of_jobs_one_after_the_other_and_at_once(
    make_endpoint, start, run_worker, worked, trial, tmp_path
):
    def asked() -> int:
        return len((tmp_path / "asked").read_text().splitlines())

    endpoint = make_endpoint(options={"log": str(tmp_path / "asked"), "delay": 0.05})
    worked(endpoint, ["a", "b"])
    again = worked(endpoint, ["a", "b", "c"])
    progress = progress_of(again)
    assert (asked(), progress.done, progress.made, progress.reused) == (3, 3, 1, 2)
    assert trial.received == {"a": 2, "b": 2, "c": 1}
    first, second = start(endpoint, ["d", "e"]), start(endpoint, ["d", "e"])
    run_worker()
    assert asked() == 5
    assert set(states(first).values()) == set(states(second).values()) == {"done"}


def test_an_answer_wakes_the_items_that_wait_for_the_same_call(make_endpoint, start, run_worker, monkeypatch):
    monkeypatch.setattr(claims, "LOOK_AGAIN", timedelta(hours=1))
    endpoint, stop = make_endpoint(), threading.Event()
    start(endpoint, ["a"])
    start(endpoint, ["a"])
    run_worker(stop=stop, on_turn=stop.set)  # ends when the answer is written
    answered = Item.objects.get(state="done").call.finished_at
    assert Item.objects.get(state="waiting").not_before - answered < claims.LOOK_AGAIN / 2


TWICE = "The outcome of 2 attempts is unknown; it may have been paid."
ENDLESS = [
    ("rejected", CallState.FAILED, 1, "Scripted to fail: rejected."),
    ("throttled", CallState.FAILED, 2, "Given up after 2 attempts."),
    ("overloaded", CallState.FAILED, 2, "Given up after 2 attempts."),
    ("lost", CallState.UNKNOWN, 2, TWICE),
    ("unreadable", CallState.UNKNOWN, 2, TWICE),
]


def test_one_endless_failure_costs_that_item_alone(make_endpoint, worked, monkeypatch):
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.05)
    script = [{"when": failure, "fail": failure} for failure, *_ in ENDLESS]
    script += [{"when": "once", "fail": "overloaded", "times": 1}, {"when": "hang", "delay": 60}]
    endpoint = make_endpoint(max_attempts=2, timeout_seconds=1, options={"script": script})
    job = worked(endpoint, ["good1", *(failure for failure, *_ in ENDLESS), "once", "hang", "good2"])
    items = {item.key: item for item in job.items.select_related("call")}
    assert job.state == "finished" and items["good1"].state == items["good2"].state == "done"
    for failure, state, attempts, sentence in [*ENDLESS, ("hang", CallState.UNKNOWN, 2, TWICE)]:
        item = items[failure]
        assert item.state == "failed" and item.problem.endswith(sentence), (failure, item.problem)
        assert (item.call.state, item.call.attempts_made) == (state, attempts), failure
    assert "No answer within 1 s." in items["hang"].problem, "a deadline ends a call that hangs"
    attempts = Attempt.objects.filter(call=items["once"].call).order_by("number")
    assert list(attempts.values_list("number", "outcome")) == [(1, "overloaded"), (2, "answered")]
    assert items["once"].state == "done", "a call that fails once is sent again"


def test_every_answer_has_its_own_end(make_endpoint, worked, trial, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "hostile", lambda body: "a\x00b\ud800c")
    script = [
        {"when": "no", "text": "I will not.", "stop": "refusal"},
        {"when": "long", "text": "and so", "stop": "length"},
        {"when": "b", "text": "poison"},
    ]
    job = worked(make_endpoint(options={"script": script}), ["no", "long", "plain", "impossible", "b"])
    unreadable = {"no": "unreadable", "long": "unreadable"}
    assert states(job) == unreadable | {"plain": "done", "impossible": "failed", "b": "failed"}
    assert set(Call.objects.values_list("state", flat=True)) == {"refused", "truncated", "answered"}
    assert Item.objects.get(key="impossible").problem == "This item has no story."
    # a mistake of the handler costs one item and no answer
    assert Call.objects.get(answer="poison").state == CallState.ANSWERED
    trial.answers.clear()
    trial.suffix = "nul \x00 and half a pair \udc00"
    worked(make_endpoint(options={"function": "hostile"}), ["a"])
    assert list(trial.answers.values()) == ["a␀b?c"]


def test_a_key_that_is_missing_or_refused_pauses_the_job_and_says_so(make_endpoint, worked, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    job = worked(make_endpoint("openai", name="gpt", api_key_env="NO_SUCH_KEY"), ["a"])
    told = "The key is not accepted: set the right one where the workers run, start them anew, then resume."
    missing = "The environment variable NO_SUCH_KEY is not set where the worker runs."
    assert (job.state, job.note) == ("paused", f"gpt: {told} ({missing})")
    endpoint = make_endpoint(name="other", max_concurrency=4, options={"script": [{"fail": "forbidden"}]})
    job = worked(endpoint, [f"q{at}" for at in range(60)])
    assert (job.state, job.note) == ("paused", f"other: {told} (Scripted to fail: forbidden.)")
    assert set(states(job).values()) == {"held"} and Call.objects.filter(attempts_made__gt=0).count() <= 8


def test_a_budget_is_never_exceeded(make_endpoint, worked, run_worker):
    # A body of some 130 characters is booked as 44 tokens at $0.1, and 50 tokens of output at $0.1: a call is reserved
    # at about $9.4 and costs far less; $30 leave room for one more until less than a reservation is left.
    endpoint = make_endpoint(price_input=Decimal(100_000), price_output=Decimal(100_000), max_concurrency=2)
    job = worked(endpoint, [f"q{at}" for at in range(100)], budget=Decimal(30))
    assert job.state == "paused" and "budget of $30.00" in job.note
    reserved = Call.objects.filter(state="planned").first().reserved_cost
    assert 30 - reserved < Item.objects.filter(job=job).spent() <= 30
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
    Endpoint.objects.update(options={})
    other = start(endpoint, ["c"])
    jobs.cancel_job(job=other, now=timezone.now())
    run_worker()
    assert (states(job), states(other)) == ({"a": "done", "b": "done"}, {"c": "cancelled"})


@pytest.mark.once  # a rule of the rate limit
def test_one_story_that_is_always_refused_does_not_slow_the_others(make_endpoint, worked, monkeypatch):
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.05)
    script = [{"when": "bad", "fail": "throttled"}, {"delay": 0.05}]
    endpoint = make_endpoint(max_attempts=5, max_concurrency=64, options={"script": script})
    worked(endpoint, ["bad", *(f"q{at}" for at in range(40))])
    assert Call.objects.get(state="failed").attempts_made == 5
    # Only its first two refusals are taken for the endpoint's limit.
    assert EndpointRateLimit.objects.get(endpoint=endpoint).state["denied"] == 2


def test_work_that_the_last_answer_brings_for_another_endpoint_is_done_in_the_same_run(
    make_endpoint, start, run_worker, trial
):
    judge, receive = make_endpoint(name="judge"), trial.receive
    job = start(make_endpoint(name="model"), ["story"])

    def and_judge(answered):
        if any(item.key == "story" for item, _ in answered):
            jobs.add_items(job=job, items=[(judge, "", "judgement")], now=timezone.now())
        return receive(answered)

    trial.receive = and_judge
    run_worker()
    assert states(job) == {"story": "done", "judgement": "done"}


def test_calls_are_planned_ahead_while_the_first_answers_are_awaited(make_endpoint, worked, trial, monkeypatch):
    planned: list[list[str]] = []
    answered: list[int] = []
    asking, taking = trial.ask, trial.receive
    monkeypatch.setattr(trial, "ask", lambda items: planned.append([item.key for item in items]) or asking(items))
    monkeypatch.setattr(trial, "receive", lambda pairs: answered.append(len(planned)) or taking(pairs))
    keys = [*(f"first {at}" for at in range(4)), *(f"q{at}" for at in range(196))]
    script = [{"when": "first", "delay": 1.0}, {"delay": 0.0}]
    worked(make_endpoint(max_concurrency=4, options={"script": script}), keys)
    assert [key for group in planned for key in group] == keys
    # 200 items in chunks of 64 are four plans, all made before the first of fifty rounds of answers
    assert (len(planned), answered[0]) == (4, 4)


def test_no_endpoint_takes_all_starts_of_the_process(make_endpoint, start, run_worker, monkeypatch):
    monkeypatch.setattr("workers.domain.rate_limit.RATE", 50.0)
    first, second = make_endpoint(max_concurrency=64), make_endpoint(max_concurrency=64)
    EndpointRateLimit.objects.update(state=RateLimit(rate=1000.0).as_json())  # both have proved what they bear
    both = [start(first, [f"a{at}" for at in range(60)]), start(second, [f"b{at}" for at in range(60)])]
    run_worker()
    attempts = [Attempt.objects.filter(call__items__job=job).order_by("id") for job in both]
    orders = [list(one.values_list("id", flat=True)) for one in attempts]
    # Both want 60 starts at once: neither is half through before the other has begun.
    assert max(order[0] for order in orders) < min(order[30] for order in orders)


@pytest.mark.parametrize("reads", [True, False])
def test_what_computes_its_answers_waits_for_nobody(make_endpoint, worked, trial, monkeypatch, reads):
    """Calls that leave the process start a few at a time; a baseline is asked as many as it may have in flight."""
    asked = []

    def claim(**options):
        asked.append((options["room"], options["rate_limited"]))
        return claims.claim(**options)

    monkeypatch.setattr(CLAIM, claim)
    about = Endpoint.about
    monkeypatch.setattr(Endpoint, "about", property(lambda self: replace(about.fget(self), reads_prompts=reads)))
    worked(make_endpoint(), [f"q{at}" for at in range(40)])
    assert len(trial.received) == 40
    assert {limited for _, limited in asked} == {reads}
    assert (max(room for room, _ in asked) > BURST) is not reads


def test_an_endpoint_with_nothing_to_claim_is_asked_for_none(make_endpoint, start, run_worker, monkeypatch):
    busy, later = make_endpoint(), make_endpoint()
    job, postponed = start(busy, ["a"]), start(later, ["b"])
    now = database_time()
    Item.objects.filter(job=postponed).update(not_before=now + timedelta(hours=1))
    both, asked = [busy.pk, later.pk], []
    assert claims.with_work(both, database_time()) == claims.with_work(both, database_time(), job.pk) == {busy.pk}
    assert claims.with_work([later.pk], database_time()) == claims.with_work(both, now, postponed.pk) == set()
    assert claims.with_work(both, now + timedelta(hours=2)) == set(both)
    monkeypatch.setattr(CLAIM, lambda **options: asked.append(options["endpoint"]) or claims.claim(**options))
    run_worker(only=job.pk)
    assert set(asked) == {busy} and states(job) == {"a": "done"}


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
