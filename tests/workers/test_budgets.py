"""A budget is a hard cap: whatever runs at once, whatever language is asked in, whatever options say."""

from __future__ import annotations

import contextlib
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.utils import timezone

from workers.models import Item, ItemState, Job, Worker
from workers.providers import registry
from workers.providers.chat_completions import body_of
from workers.providers.contract import Message, Request, Spec
from workers.providers.errors import Rejected
from workers.providers.options import COSTLY, check_options, whole
from workers.services import claims, jobs, recovery
from workers.services.batching import make_batch
from workers.services.endpoints import save_endpoint

pytestmark = pytest.mark.django_db(transaction=True)
DEAR = {"price_input": Decimal(1000), "price_output": Decimal(1000)}


@pytest.fixture
def two_endpoints(make_endpoint, trial):
    """A job with a budget for one call and one item at each of two endpoints; no question is asked twice."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite lets one transaction write at a time.")
    first, second = make_endpoint(model="one", **DEAR), make_endpoint(model="two", batches=True, **DEAR)

    def begin(**fields):
        items = [(first, "", "a"), (second, "", "b")]
        job = jobs.start_job(by="alice", handler="trial", title="Trial", items=items, now=timezone.now(), **fields)
        for endpoint in (first, second):
            claims.plan_ahead(endpoint=endpoint, backend=registry.make(endpoint.spec), now=timezone.now())
        return job, (first, second)

    return begin


def _together(work, monkeypatch, name: str) -> list:
    """What `work` returns in two threads that meet, where nothing holds one of them back, when both have found the
    money there."""
    meeting, original = threading.Barrier(2), claims.affordable

    def affordable(items):
        bought = original(items)
        with contextlib.suppress(
            threading.BrokenBarrierError
        ):  # the other one waits for this transaction, as it should
            meeting.wait(1 if bought else 0)
        return bought

    monkeypatch.setattr(name, affordable)

    def in_thread(at: int):
        try:
            return work(at)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(in_thread, range(2)))


def test_two_endpoints_at_once_do_not_break_the_budget(two_endpoints, monkeypatch):
    job, endpoints = two_endpoints()
    dearest = max(Item.objects.values_list("call__reserved_cost", flat=True))
    Job.objects.update(budget=round(dearest * Decimal("1.5"), 4))
    workers: list[Worker] = [recovery.enter() for _ in endpoints]

    def work(at: int) -> int:
        endpoint, worker = endpoints[at], workers[at]
        backend = registry.make(endpoint.spec)
        result = claims.claim(worker=worker, endpoint=endpoint, backend=backend, room=8, now=timezone.now())
        return len(result.claimed)

    assert sorted(_together(work, monkeypatch, "workers.services.claims.affordable")) == [0, 1]
    job.refresh_from_db()
    reserved = sum(Item.objects.filter(state=ItemState.CLAIMED).values_list("call__reserved_cost", flat=True))
    assert 0 < reserved <= job.budget


def test_two_batches_at_once_do_not_break_the_budget(two_endpoints, monkeypatch):
    job, endpoints = two_endpoints()
    dearest = max(Item.objects.values_list("call__reserved_cost", flat=True))
    Job.objects.update(budget=round(dearest * Decimal("1.5"), 4))
    job.refresh_from_db()
    worker = recovery.enter()

    def work(at: int) -> bool:
        return make_batch(job=job, endpoint=endpoints[at], worker=worker, now=timezone.now()) is not None

    assert sorted(_together(work, monkeypatch, "workers.services.batching.affordable")) == [False, True]
    reserved = sum(Item.objects.filter(state=ItemState.BATCHED).values_list("call__reserved_cost", flat=True))
    assert 0 < reserved <= job.budget


# --- what options say -------------------------------------------------------------------------------------------------

REFUSED = [
    "n", "best_of", "n_cmpl", "num_return_sequences", "route", "preset", "fallbacks", "num_retries", "providerOptions",
    "speed", "N-Predict",
    "web_search", "use_search", "data_sources", "mcp_servers", "maxTokens", "max_tokens", "max_completion_tokens",
    "max_output_tokens", "tools", "functions", "service_tier", "model",
    "models", "messages", "stream", "use_beam_search", "web_search_options", "modalities", " N ", "Max_Tokens",
    "max_new_tokens", "num_predict", "candidate_count", "candidateCount", "generationConfig", "search_parameters",
    "enable_search",
    "plugins",
]  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_options_cannot_raise_what_a_call_costs(name):
    options = {"extra_body": {name: 2}}
    with pytest.raises(Rejected, match=f"extra_body cannot set '{name}'"):
        check_options(options, registry.find("openai").options)
    # an endpoint that was registered before, and a call that was planned before
    asked = Request((Message("user", "Who knows?"),), max_tokens=50)
    with pytest.raises(Rejected, match="extra_body cannot set"):
        body_of(Spec("openai", "small", options=options), asked)
    with pytest.raises(Rejected, match="extra_body cannot set"):
        whole({"model": "small", "max_tokens": 50} | options)


def test_nor_can_an_object_within_them():
    with pytest.raises(Rejected, match=r"extra_body cannot set 'options.num_predict': a call could cost more"):
        check_options({"extra_body": {"options": {"num_predict": 9}}}, registry.find("openai").options)
    check_options({"extra_body": {"options": {"num_ctx": 9}}}, registry.find("openai").options)


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("thinking_budget", lambda most: {"thinking_budget": most}),
        ("thinking.budget_tokens", lambda most: {"thinking": {"type": "enabled", "budget_tokens": most}}),
        ("reasoning.max_tokens", lambda most: {"reasoning": {"max_tokens": most}}),
    ],
)
def test_no_model_thinks_for_longer_than_is_reserved(name, extra):
    assert whole({"max_tokens": 50, "extra_body": extra(50)}) == {"max_tokens": 50} | extra(50)
    with pytest.raises(Rejected, match=f"extra_body cannot set '{name}': a call could cost more"):
        whole({"max_tokens": 50, "extra_body": extra(51)})


@pytest.mark.parametrize(
    "choice",
    [
        "dear-host", {}, {"order": ["dear-host"], "allow_fallbacks": False}, {"sort": "throughput"}, {"max_price": 1},
        {"max_price": {"prompt": 1}}, {"max_price": {"prompt": "1", "completion": 2}}, {"max_price": {"prompt": True, "completion": 2}},  # noqa: E501
        {"max_price": {"prompt": -1, "completion": 2}}, {"max_price": {"prompt": float("nan"), "completion": 2}},
    ],
)  # fmt: skip
def test_a_router_chooses_no_host_without_a_highest_price(choice):
    sentence = "extra_body's provider lets a router choose hosts of other prices. Add max_price to it"
    for name in ("provider", " Provider"):
        options = {"extra_body": {name: choice}}
        with pytest.raises(Rejected, match=sentence):
            check_options(options, registry.find("openai").options)
        with pytest.raises(Rejected, match=sentence):
            whole({"max_tokens": 50} | options)


@pytest.mark.parametrize(
    ("most", "fits"),
    [((0.15, 0.6), True), ((0, 0), True), ((0.16, 0.6), False), ((0.15, 0.61), False)],
)
def test_the_highest_price_of_a_router_is_not_above_that_of_the_model(most, fits):
    choice = {"only": ["host"], "max_price": {"prompt": most[0], "completion": most[1]}}
    values = {"name": "routed", "provider": "openai", "model": "small", "options": {"extra_body": {"provider": choice}}}
    prices = {"price_input": Decimal("0.15"), "price_output": Decimal("0.60")}
    save_endpoint(by="", values=values | {"name": "unpriced"})  # nothing is reserved where the price is unknown
    if fits:
        save_endpoint(by="", values=values | prices)
        return
    with pytest.raises(
        ValidationError, match=r"and the model's prices are \$0\.15 and \$0\.60: a call could cost more"
    ):
        save_endpoint(by="", values=values | prices)


def test_the_documentation_lists_what_is_refused():
    text = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|`]+) \| (`[^|]+`) \|$", text, flags=re.MULTILINE))
    listed = {asked: tuple(re.findall(r"`(\w+)`", rows.get(asked, ""))) for asked in COSTLY}
    assert listed == {asked: names for asked, names in COSTLY.items()}


def test_other_fields_of_a_request_can_be_set():
    extra = {
        "top_k": 20,
        "chat_template_kwargs": {"enable_thinking": False},
        "response_format": {"type": "json_object"},
    }
    check_options({"extra_body": extra, "max_tokens_field": "max_completion_tokens"}, registry.find("openai").options)
    assert whole({"max_tokens": 50, "extra_body": {"top_k": 20}}) == {"max_tokens": 50, "top_k": 20}


def test_a_call_of_an_older_endpoint_fails_before_it_is_sent(make_endpoint, start, run_worker):
    endpoint = make_endpoint("openai", base_url="http://127.0.0.1:9/v1", options={"extra_body": {"n": 8}})
    job = start(endpoint, ["a"])
    run_worker()
    item = Item.objects.get(job=job)
    assert (item.state, item.call) == (ItemState.FAILED, None)
    assert "extra_body cannot set 'n'" in item.problem


# --- lost answers -----------------------------------------------------------------------------------------------------


def test_a_new_model_that_is_billed_repeats_nothing_by_itself():
    values = {"name": "hosted", "provider": "openai", "model": "small"}
    assert save_endpoint(by="", values={**registry.find("openai").defaults, **values}).repeat_unknown == 0
    own = {"name": "own", "provider": "vllm", "model": "small", "base_url": "http://127.0.0.1:8000/v1"}
    assert save_endpoint(by="", values={**registry.find("vllm").defaults, **own}).repeat_unknown == 1


def test_a_lost_answer_is_listed_and_asked_again_only_by_hand(make_endpoint, start, run_worker, page):
    endpoint = make_endpoint(repeat_unknown=0, options={"script": [{"fail": "lost"}]}, **DEAR)
    job = start(endpoint, ["a"])
    run_worker()
    item = Item.objects.get()
    assert (item.state, item.call.attempts_made) == (ItemState.FAILED, 1)
    text = " ".join(page("workers:ledger").split())
    assert "1 answer was lost and may have been paid, up to $0." in text
    assert "None of these calls was sent again." in text and "Nothing is paid twice" not in text
    assert "1 answer was lost" in " ".join(page("workers:spending").split())
    jobs.retry_failed(job=job, now=timezone.now())
    run_worker()
    text = " ".join(page("workers:ledger").split())
    assert (
        "2 answers were lost" in text
        and "After 1 of them the call was sent again, so it may have been paid twice." in text
    )


def test_a_ledger_without_lost_answers_says_nothing_of_them(make_endpoint, start, run_worker, page):
    start(make_endpoint(), ["a"])
    run_worker()
    text = page("workers:ledger")
    assert "An answer that came is never paid for again." in text and "lost and may" not in text
