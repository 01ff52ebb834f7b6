"""The real openai and anthropic packages over loopback, from the item to the ledger: every way in which a server can go
wrong ends in its own state with a clear sentence, and the others go on."""

from __future__ import annotations

import json

import pytest

from tests.servers import ModelServer
from workers.models import Attempt, Call, Endpoint, Item
from workers.services.endpoints import save_endpoint, try_endpoint

pytestmark = [
    pytest.mark.once,
    pytest.mark.django_db(transaction=True),
    pytest.mark.dear,
    pytest.mark.xdist_group("waiting"),
]


@pytest.fixture(scope="module")
def server():
    with ModelServer() as running:
        yield running


@pytest.fixture(params=["openai", "anthropic", "vllm"])
def endpoint(request, server, monkeypatch):
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.05)
    monkeypatch.setenv("TRIAL_KEY", "secret-key-of-the-trial")
    server.control(rules=[], latency=0.0, answer="echo", headers=False, rate=0)
    tail = "" if request.param == "anthropic" else "/v1"
    values = {
        "name": f"{request.param}-trial", "provider": request.param, "model": "tiny", "base_url": server.url + tail,
        "api_key_env": "TRIAL_KEY", "timeout_seconds": 2, "max_attempts": 2, "repeat_unknown": 0,
        "sets_temperature": request.param != "anthropic", "retry_after_cap": 1,
        "price_input": "1", "price_output": "2",
    }  # fmt: skip
    return save_endpoint(by="alice", values=values)


@pytest.mark.parametrize(
    ("mode", "call_state", "attempts", "sentence"),
    [
        ("throttle", "failed", 2, "HTTP 429"),
        ("throttle-long", "failed", 2, "HTTP 429"),
        ("overloaded", "failed", 2, "HTTP 529"),
        ("error-500", "failed", 2, "HTTP 500"),
        ("error-400", "failed", 1, "HTTP 400"),
        ("error-401", "failed", 1, "HTTP 401"),
        ("error-404", "failed", 1, "HTTP 404"),
        ("hang", "unknown", 1, "No answer within 2 s."),
        ("cut", "unknown", 1, "The connection broke before the answer was whole"),
        ("drop", "unknown", 1, "The connection broke before the answer was whole"),
        ("half-json", "unknown", 1, "The answer is not JSON"),
        ("invalid-utf8", "unknown", 1, "The answer is not UTF-8"),
        ("refusal", "refused", 1, "It was refused."),
        ("length", "truncated", 1, "It was truncated."),
    ],
)
def test_each_trouble_has_its_own_end_and_the_others_go_on(
    endpoint, server, start, run_worker, mode, call_state, attempts, sentence
):
    server.control(rules=[{"when": "TROUBLE", "mode": mode}])
    job = start(endpoint, ["first", "TROUBLE", "second"])
    run_worker()
    items = {item.key: item for item in Item.objects.select_related("call")}
    assert items["first"].state == items["second"].state == "done"
    trouble = items["TROUBLE"]
    assert trouble.state == ("unreadable" if call_state in ("refused", "truncated") else "failed")
    assert trouble.problem.startswith(sentence)
    assert (trouble.call.state, trouble.call.attempts_made) == (call_state, attempts)
    job.refresh_from_db()
    assert job.state == "finished"


def test_five_megabytes_are_kept_whole(endpoint, server, start, run_worker):
    server.control(rules=[{"when": "HUGE", "mode": "huge"}])
    start(endpoint, ["HUGE", "small"])
    run_worker()
    assert Item.objects.get(key="HUGE").state == "done"
    assert len(Item.objects.get(key="HUGE").call.answer) == 5_000_000


def test_a_server_that_is_not_there_was_never_asked(endpoint, server, start, run_worker):
    # Port 9 (discard) is closed on a test machine; nothing can have been paid, so the call failed and is not unknown.
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url="http://127.0.0.1:9/v1")
    start(endpoint, ["a"])
    run_worker()
    call = Call.objects.get()
    assert (call.state, call.attempts_made) == ("failed", 2)
    assert call.problem.startswith("No connection")


def test_usage_and_cost_follow_the_providers_rules(endpoint, start, run_worker):
    start(endpoint, ["some words to count"])
    run_worker()
    call = Call.objects.get()
    assert call.input_tokens > 0 and call.output_tokens > 0
    assert float(call.cost) == pytest.approx((call.input_tokens * 1 + call.output_tokens * 2) / 1_000_000)
    assert call.answered_by == "tiny"
    assert call.fingerprint == ("" if endpoint.provider == "anthropic" else "fp_trial")


def test_the_key_reaches_the_server_and_nothing_else(endpoint, start, run_worker, caplog):
    start(endpoint, ["a"])
    run_worker()
    kept = json.dumps(
        list(Call.objects.values()) + list(Attempt.objects.values()) + list(Endpoint.objects.values()), default=str
    )
    assert "secret-key-of-the-trial" not in kept + caplog.text


def test_headers_of_the_provider_lower_the_rate(endpoint, server, start, run_worker):
    server.control(headers=True, rate=200, burst=50)
    start(endpoint, ["a", "b"])
    run_worker()
    endpoint.rate_limit.refresh_from_db()
    assert endpoint.rate_limit.state["header_rate"] > 0
    assert any("ratelimit" in name for name in Attempt.objects.first().headers)


def test_trying_says_what_came_back(endpoint, server):
    assert try_endpoint(endpoint=endpoint)["ok"] is True
    server.control(rules=[{"when": "three", "mode": "error-401"}])
    result = try_endpoint(endpoint=endpoint)
    assert (result["ok"], result["kind"]) == (False, "Forbidden")
    endpoint.refresh_from_db()
    assert endpoint.tried == result
    assert Call.objects.count() == 0
