"""A budget is a hard cap: whatever runs at once, whatever language is asked in, whatever options say."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from workers.domain.pricing import Money, Prices, about, dollars, estimated_tokens
from workers.models import Call, Endpoint, Item, ItemState, Job, JobState
from workers.providers import registry
from workers.providers.anthropic.backend import usage_of as anthropic_usage
from workers.providers.chat_completions import body_of, usage_of
from workers.providers.contract import Completion, Message, Request, Spec, Stop, Usage
from workers.providers.errors import Rejected
from workers.providers.options import COSTLY, check_options, whole
from workers.providers.scripted.backend import ScriptedBackend
from workers.services import claims, jobs, ledger, recovery
from workers.services.batching import make_batch
from workers.services.endpoints import save_endpoint
from workers.services.jobs import apply_action
from workers.services.progress import progress_of

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


def _both_at_once(begin, monkeypatch, module: str, work) -> None:
    """Have `work(job, endpoint)` done for two endpoints at once, with a budget for one call."""
    job, endpoints = begin()
    dearest = max(Item.objects.values_list("call__reserved_cost", flat=True))
    Job.objects.update(budget=round(dearest * Decimal("1.5"), 4))
    job.refresh_from_db()
    name = f"workers.services.{module}.affordable"
    assert sorted(_together(lambda at: work(job, endpoints[at]), monkeypatch, name)) == [0, 1]
    taken = Item.objects.filter(state__in=[ItemState.CLAIMED, ItemState.BATCHED])
    assert 0 < sum(taken.values_list("call__reserved_cost", flat=True)) <= job.budget


def test_two_endpoints_at_once_do_not_break_the_budget(two_endpoints, monkeypatch):
    workers = {}

    def claimed(job, endpoint) -> int:
        worker, backend = workers[endpoint.pk], registry.make(endpoint.spec)
        result = claims.claim(worker=worker, endpoint=endpoint, backend=backend, room=8, now=timezone.now())
        return len(result.claimed)

    def begin():
        job, endpoints = two_endpoints()
        workers.update({endpoint.pk: recovery.enter() for endpoint in endpoints})
        return job, endpoints

    _both_at_once(begin, monkeypatch, "claims", claimed)


def test_two_batches_at_once_do_not_break_the_budget(two_endpoints, monkeypatch):
    worker = recovery.enter() if connection.vendor == "postgresql" else None

    def batched(job, endpoint) -> int:
        return int(make_batch(job=job, endpoint=endpoint, worker=worker, now=timezone.now()) is not None)

    _both_at_once(two_endpoints, monkeypatch, "batching", batched)


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


def test_options_cannot_raise_what_a_call_costs():
    asked = Request((Message("user", "Who knows?"),), max_tokens=50)
    for name in REFUSED:
        options = {"extra_body": {name: 2}}
        with pytest.raises(Rejected, match=f"extra_body cannot set '{name}'"):
            check_options(options, registry.find("openai").options)
        # an endpoint that was registered before, and a call that was planned before
        with pytest.raises(Rejected, match="extra_body cannot set"):
            body_of(Spec("openai", "small", options=options), asked)
        with pytest.raises(Rejected, match="extra_body cannot set"):
            whole({"model": "small", "max_tokens": 50} | options)
    with pytest.raises(Rejected, match=r"extra_body cannot set 'options.num_predict': a call could cost more"):
        check_options({"extra_body": {"options": {"num_predict": 9}}}, registry.find("openai").options)
    other = {"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}, "options": {"num_ctx": 9}}
    check_options({"extra_body": other, "max_tokens_field": "max_completion_tokens"}, registry.find("openai").options)
    assert whole({"max_tokens": 50, "extra_body": {"top_k": 20}}) == {"max_tokens": 50, "top_k": 20}


CHOICES = [
    "dear-host", {}, {"order": ["dear-host"], "allow_fallbacks": False}, {"sort": "throughput"}, {"max_price": 1},
    {"max_price": {"prompt": 1}}, {"max_price": {"prompt": "1", "completion": 2}},
    {"max_price": {"prompt": True, "completion": 2}}, {"max_price": {"prompt": -1, "completion": 2}},
    {"max_price": {"prompt": float("nan"), "completion": 2}},
]  # fmt: skip


def test_no_model_thinks_for_longer_than_is_reserved():
    for name, extra in [
        ("thinking_budget", lambda most: {"thinking_budget": most}),
        ("thinking.budget_tokens", lambda most: {"thinking": {"type": "enabled", "budget_tokens": most}}),
        ("reasoning.max_tokens", lambda most: {"reasoning": {"max_tokens": most}}),
    ]:
        assert whole({"max_tokens": 50, "extra_body": extra(50)}) == {"max_tokens": 50} | extra(50)
        with pytest.raises(Rejected, match=f"extra_body cannot set '{name}': a call could cost more"):
            whole({"max_tokens": 50, "extra_body": extra(51)})


def test_a_router_chooses_no_host_without_a_highest_price():
    sentence = "extra_body's provider lets a router choose hosts of other prices. Add max_price to it"
    for choice, name in itertools.product(CHOICES, ("provider", " Provider")):
        options = {"extra_body": {name: choice}}
        with pytest.raises(Rejected, match=sentence):
            check_options(options, registry.find("openai").options)
        with pytest.raises(Rejected, match=sentence):
            whole({"max_tokens": 50} | options)


def test_the_highest_price_of_a_router_is_not_above_that_of_the_model(db):
    prices = {"price_input": Decimal("0.15"), "price_output": Decimal("0.60")}
    for prompt, completion, fits in ((0.15, 0.6, True), (0, 0, True), (0.16, 0.6, False), (0.15, 0.61, False)):
        choice = {"only": ["host"], "max_price": {"prompt": prompt, "completion": completion}}
        values = {"provider": "openai", "model": "small", "options": {"extra_body": {"provider": choice}}}
        save_endpoint(by="", values=values | {"name": "unpriced"})  # nothing is reserved where the price is unknown
        expected = contextlib.nullcontext()
        if not fits:
            told = r"and the model's prices are \$0\.15 and \$0\.60: a call could cost more"
            expected = pytest.raises(ValidationError, match=told)
        with expected:
            save_endpoint(by="", values=values | prices | {"name": "routed"})
        Endpoint.objects.all().delete()


def test_the_documentation_lists_what_is_refused():
    text = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|`]+) \| (`[^|]+`) \|$", text, flags=re.MULTILINE))
    listed = {asked: tuple(re.findall(r"`(\w+)`", rows.get(asked, ""))) for asked in COSTLY}
    assert listed == {asked: names for asked, names in COSTLY.items()}


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
    start(make_endpoint(), ["fine"])
    run_worker()
    text = page("workers:ledger")
    assert "An answer that came is never paid for again." in text and "lost and may" not in text
    endpoint = make_endpoint(repeat_unknown=0, options={"script": [{"fail": "lost"}]}, **DEAR)
    job = start(endpoint, ["a"])
    run_worker()
    item = job.items.get()
    assert (item.state, item.call.attempts_made) == (ItemState.FAILED, 1)
    text = page("workers:ledger")
    assert "1 answer was lost and may have been paid, up to $0." in text
    assert "None of these calls was sent again." in text and "Nothing is paid twice" not in text
    assert "1 answer was lost" in page("workers:spending")
    jobs.retry_failed(job=job, now=timezone.now())
    run_worker()
    text = page("workers:ledger")
    assert "2 answers were lost" in text
    assert "After 1 of them the call was sent again, so it may have been paid twice." in text


@pytest.fixture
def billed(monkeypatch) -> None:
    """Without a price, scripted answers cost what nobody knows, as those of a hosted model."""
    scripted = registry.find("scripted")
    monkeypatch.setitem(registry._providers, "scripted", replace(scripted, hosted=True))


@pytest.fixture
def unpriced(make_endpoint, billed):
    """A scripted model whose price nobody knows."""
    return make_endpoint


def test_prices_that_are_unknown_make_no_sum():
    usage = Usage(input=1000, cached=400, cache_write=100, output=200)
    for prices in (Prices(), Prices(input=Decimal(2)), Prices(output=Decimal(2))):
        assert not prices.are_known and prices.cost(usage) is None and prices.at_most(10, 10) is None
    free = Prices(input=Decimal(0), output=Decimal(0))
    assert free.are_known and free.cost(usage) == 0 == free.at_most(10, 10)
    # 1,000 in at 2 and 200 out at 10 dollars a million, wherever the input came from
    prices = Prices(input=Decimal(2), output=Decimal(10))
    assert prices.cost(usage) == Decimal("0.004") == prices.at_most(1000, 200)


def test_a_vllm_server_of_ones_own_is_free_and_one_elsewhere_with_a_key_may_send_bills(make_endpoint, capsys):
    keyed = {"api_key_env": "GPU_KEY"}
    for url in NEAR:
        assert make_endpoint("vllm", base_url=url, **keyed).prices.cost(Usage(input=9)) == 0
    for url in FAR:
        hosted = make_endpoint("vllm", base_url=url, **keyed)
        assert not hosted.prices.are_known and hosted.prices.at_most(9, 9) is None
        assert make_endpoint("vllm", base_url=url).prices.are_known  # nobody to send a bill to
        for price in (0, 2):
            stated = {"price_input": Decimal(price), "price_output": Decimal(price)}
            assert make_endpoint("vllm", base_url=url, **keyed, **stated).prices.cost(Usage(input=1_000_000)) == price
    asked = ("add_endpoint", "gpu", "--provider=vllm", "--model=small")
    for change, url, known in (("--api-key-env=GPU_KEY", NEAR[0], True), ("--update", FAR[1], False)):
        call_command(*asked, f"--base-url={url}", change)
        assert Endpoint.objects.get(name="gpu").prices.are_known == known, "a server that moves away is free no more"


def test_sums_say_what_they_do_not_hold():
    assert str(Money(Decimal("1.2"), 34)) == "$1.2000 and 34 calls of unknown price"
    assert str(Money(unpriced=1)) == "unknown (1 call)"
    assert str(Money(Decimal("1.2")) + Money(unpriced=2)) == "$1.2000 and 2 calls of unknown price"
    assert (str(Money()), dollars(None)) == ("$0.0000", "unknown")
    assert about(None, None) == about(Money(unpriced=3), Money(unpriced=3)) == "at a price that is unknown"
    assert about(Decimal(1), Decimal(2)) == "about $1.0000, at most $2.0000"
    assert "about $1.0000 and 2 calls of unknown price" in about(Money(Decimal(1), 2), Money(Decimal(2), 2))
    assert Money(Decimal("1.2"), 1).as_json == {"cost": None, "known_cost": 1.2, "unpriced_calls": 1}
    assert Money(Decimal("1.5")).as_json == {"cost": 1.5, "known_cost": 1.5, "unpriced_calls": 0}


def test_commands_print_the_known_part_and_how_many_calls_have_no_price(unpriced, trial, capsys):
    priced = unpriced(price_input=Decimal(1000), price_output=Decimal(1000))
    items = [(priced, "", "a"), (unpriced(), "", "b"), (unpriced(), "", "c")]
    job = jobs.start_job(by="alice", handler="trial", title="Trial", items=items, now=timezone.now())
    call_command("work", "--job", job.uid, "--json")
    cost = Call.objects.get(endpoint=priced).cost
    result = json.loads(capsys.readouterr().out)
    money = {name: result[name] for name in ("cost", "known_cost", "unpriced_calls")}
    assert cost > 0 and money == {"cost": None, "known_cost": float(cost), "unpriced_calls": 2}
    call_command("work", "--job", job.uid)
    lines = capsys.readouterr().out.splitlines()
    assert f"cost: {dollars(cost)} and 2 calls of unknown price" in lines and not any("None" in line for line in lines)


def test_what_nobody_bills_is_free_and_what_is_billed_is_unknown(make_endpoint):
    for provider in ("vllm", "vllm-engine", "baseline", "scripted"):
        assert make_endpoint(provider).prices.cost(Usage(input=9)) == 0
    assert not make_endpoint("openai").prices.are_known
    assert make_endpoint("openai", price_input=Decimal(0), price_output=Decimal(0)).prices.are_known


NEAR = [
    "http://127.0.0.1:8001/v1", "http://localhost:8001/v1", "http://[::1]:8001/v1", "http://10.1.2.3/v1",
    "http://172.31.0.9/v1",
    "http://192.168.1.5/v1", "http://[fd12::5]/v1", "http://[::ffff:10.1.2.3]/v1", "http://2130706433/v1",
    "http://gpu-box:8000/v1",
    "http://gpu.local/v1", "http://gpu.lab.internal/v1", "http://gpu.home.arpa/v1", "http://GPU.local./v1",
]  # fmt: skip
FAR = [
    "", "https://models.example/v1", "http://8.8.8.8/v1", "http://134744072/v1", "http://0x08080808/v1",
    "http://172.32.0.1/v1",
    "http://[2001:4860::8888]/v1", "http://[::ffff:8.8.8.8]/v1", "https://local.example/v1", "https://gpu.notlocal/v1",
]  # fmt: skip


def test_pages_and_the_api_say_what_a_hosted_vllm_server_costs(make_endpoint, page, admin):
    hosted = {"base_url": "https://models.example/v1", "api_key_env": "GPU_KEY"}
    make_endpoint("vllm", name="hosted", **hosted)
    listed = page("workers:endpoints")
    assert listed.count(">unknown</td>") == 2 and ">free</td>" not in listed
    make_endpoint("vllm", name="own", base_url="http://gpu-box:8000/v1")
    assert page("workers:endpoints").count(">free</td>") == 2
    read = {name: admin.get(f"/api/v1/endpoints/{name}/").json()["price_output"] for name in ("hosted", "own")}
    assert read == {"hosted": None, "own": "0.000000"}
    rule = (
        "Empty: free where the server stands on this machine or in a private network, or has no key variable; "
        "else unknown. 0: free."
    )
    assert page("workers:endpoint", "own").count(rule) == 2


def test_answers_of_unknown_price_are_counted_not_summed(unpriced, start, run_worker, page):
    endpoint = unpriced(options={"script": [{"when": "gone", "fail": "lost"}]}, repeat_unknown=0)
    job = start(endpoint, ["a", "b", "gone"])
    run_worker()
    progress = progress_of(job)
    assert progress.money == Money(unpriced=3)
    assert [call.cost for call in Call.objects.exclude(state="unknown")] == [None, None]
    assert ledger.totals()["money"] == Money(unpriced=2) and ledger.lost_answers()["at_most"] == Money(unpriced=1)
    money = "unknown (3 calls)"
    assert money in page("workers:job", job.uid) and money in page("workers:work")
    assert "unknown (2 calls)" in page("workers:spending")
    assert "may have been paid, at a price that is unknown:" in " ".join(page("workers:ledger").split())
    assert "<dd>unknown</dd>" in page("workers:call", Call.objects.filter(state="answered").first().uid)
    assert page("workers:endpoints").count(">unknown</td>") == 2  # input and output


def test_a_budget_is_refused_where_a_price_is_unknown(unpriced, start):
    endpoint = unpriced(name="hosted")
    with pytest.raises(jobs.JobRefused, match="The price of hosted is unknown, and a budget needs it"):
        start(endpoint, ["a"], budget=Decimal(1))
    job = start(endpoint, ["a"])
    jobs.pause_job(job=job)
    job.refresh_from_db()
    assert "The price of hosted is unknown" in apply_action(job, "resume", budget="5")
    assert apply_action(job, "resume") == ""
    job.refresh_from_db()
    assert (job.state, job.budget) == (JobState.RUNNING, None)


def test_a_price_that_is_taken_back_pauses_the_job(make_endpoint, billed, start, run_worker):
    endpoint = make_endpoint(name="hosted", price_input=Decimal(1), price_output=Decimal(1))
    job = start(endpoint, ["a"], budget=Decimal(1))
    Endpoint.objects.update(price_input=None)
    run_worker()
    job.refresh_from_db()
    assert job.state == JobState.PAUSED and "The price of hosted is unknown" in job.note
    assert not Call.objects.filter(state="answered").exists()


def test_a_price_that_rises_is_reserved_as_it_is_now(make_endpoint, start, run_worker):
    endpoint = make_endpoint(price_input=Decimal(1), price_output=Decimal(1))
    job = start(endpoint, ["a"], budget=Decimal("0.01"))
    claims.plan_ahead(endpoint=endpoint, backend=ScriptedBackend(endpoint.spec), now=timezone.now())
    Endpoint.objects.update(price_output=Decimal(10_000))  # fifty tokens out are half a dollar
    run_worker()
    job.refresh_from_db()
    assert job.state == JobState.PAUSED and "could exceed the budget" in job.note


def test_whether_a_provider_told_the_usage():
    for read, expected in [
        (usage_of({}), False),
        (usage_of({"prompt_tokens": 3, "completion_tokens": 1}), True),
        (usage_of({"prompt_tokens": 3, "completion_tokens": 1}, text="yes"), True),
        (usage_of({"prompt_tokens": 3}, text="yes"), False),
        (usage_of({"completion_tokens": 3}, text="yes"), False),
        (anthropic_usage({"input_tokens": 3}, text="yes"), False),
        (anthropic_usage({"input_tokens": 3}), True),
        (anthropic_usage({}), False),
        (anthropic_usage({"input_tokens": 3, "output_tokens": 0}), True),
    ]:
        assert read.reported is expected


def test_an_answer_without_usage_is_marked_and_estimated(make_endpoint, start, run_worker, page, monkeypatch):
    told = Usage(reported=False)

    async def complete(self, body, *, timeout, call):
        return Completion("她知道钥匙在哪里。", Stop.END, told, "tiny")

    monkeypatch.setattr(ScriptedBackend, "complete", complete)
    endpoint = make_endpoint(price_input=Decimal(1000), price_output=Decimal(1000))  # a thousand dollars a million
    job = start(endpoint, ["a"])
    run_worker()
    call = Call.objects.get()
    assert not call.usage_told
    assert (call.input_tokens, call.output_tokens) == (estimated_tokens(call.body), 27)
    assert call.cost == Decimal(call.input_tokens + 27) / 1000 == progress_of(job).cost
    assert "not reported by the provider; tokens and cost are estimated" in page("workers:call", call.uid)
    assert "The cost of 1 answer is estimated" in page("workers:job", job.uid) and "estimated" in page("workers:ledger")
    assert "The cost of 1 is estimated, as the provider did not report the usage" in page("workers:spending")
    told = Usage(input=7, reported=False)
    start(endpoint, ["half"])
    run_worker()
    call = Call.objects.latest("pk")
    assert (call.input_tokens, call.output_tokens, call.usage_told) == (7, 27, False), "the other half is estimated"
    assert call.cost == Decimal(7 + 27) / 1000


def test_the_command_takes_prices_and_takes_them_back(capsys):
    call_command("add_endpoint", "hosted", provider="openai", model="small", price_input="2", price_output="8")
    assert Endpoint.objects.get().prices.are_known
    call_command("add_endpoint", "hosted", "--provider=openai", "--model=small", "--update", "--price-output=unknown")
    endpoint = Endpoint.objects.get()
    assert (endpoint.price_input, endpoint.price_output, endpoint.price_cached) == (Decimal(2), None, None)
