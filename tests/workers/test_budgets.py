"""A budget is a hard cap: whatever runs at once, whatever language is asked in, whatever options say."""

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
from workers.models import Call, Endpoint, Item, ItemState, Job
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
"""A thousand dollars a million tokens."""


def claimed(job, endpoint) -> int:
    backend = registry.make(endpoint.spec)
    found = claims.claim(worker=recovery.enter(), endpoint=endpoint, backend=backend, room=8, now=timezone.now())
    return len(found.claimed)


def batched(job, endpoint) -> int:
    batch = make_batch(job=job, endpoint=endpoint, worker=recovery.enter(), now=timezone.now())
    return int(batch is not None)


@pytest.mark.parametrize(("module", "work"), [("claims", claimed), ("batching", batched)])
def test_two_endpoints_at_once_do_not_break_the_budget(make_endpoint, trial, monkeypatch, module, work):
    """A job with a budget for one call and one item at each of two endpoints, which are served by two threads that
    meet, where nothing holds one of them back, when both have found the money there."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite lets one transaction write at a time.")
    endpoints = make_endpoint(model="one", **DEAR), make_endpoint(model="two", batches=True, **DEAR)
    items = [(endpoint, "", key) for endpoint, key in zip(endpoints, "ab", strict=True)]
    job = jobs.start_job(by="alice", handler="trial", title="Trial", items=items, now=timezone.now())
    for endpoint in endpoints:
        claims.plan_ahead(endpoint=endpoint, backend=registry.make(endpoint.spec), now=timezone.now())
    dearest = max(Item.objects.values_list("call__reserved_cost", flat=True))
    Job.objects.update(budget=round(dearest * Decimal("1.5"), 4))
    job.refresh_from_db()
    meeting, original = threading.Barrier(2), claims.affordable

    def affordable(items):
        bought = original(items)
        with contextlib.suppress(
            threading.BrokenBarrierError
        ):  # the other one waits for this transaction, as it should
            meeting.wait(1 if bought else 0)
        return bought

    monkeypatch.setattr(f"workers.services.{module}.affordable", affordable)

    def in_thread(endpoint):
        try:
            return work(job, endpoint)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(in_thread, endpoints)) == [0, 1]
    taken = Item.objects.filter(state__in=[ItemState.CLAIMED, ItemState.BATCHED])
    assert 0 < sum(taken.values_list("call__reserved_cost", flat=True)) <= job.budget


# --- what options say

REFUSED = """
    n best_of n_cmpl num_return_sequences route preset fallbacks num_retries providerOptions speed N-Predict web_search
    use_search data_sources mcp_servers maxTokens max_tokens max_completion_tokens max_output_tokens tools functions
    service_tier model models messages stream use_beam_search web_search_options modalities Max_Tokens max_new_tokens
    num_predict candidate_count candidateCount generationConfig search_parameters enable_search plugins
"""


def test_options_cannot_raise_what_a_call_costs(make_endpoint, worked):
    asked, openai = Request((Message("user", "Who knows?"),), max_tokens=50), registry.find("openai").options
    for name in (*REFUSED.split(), " N "):
        options = {"extra_body": {name: 2}}
        with pytest.raises(Rejected, match=f"extra_body cannot set '{name}'"):
            check_options(options, openai)
        # an endpoint that was registered before, and a call that was planned before
        with pytest.raises(Rejected, match="extra_body cannot set"):
            body_of(Spec("openai", "small", options=options), asked)
        with pytest.raises(Rejected, match="extra_body cannot set"):
            whole({"model": "small", "max_tokens": 50} | options)
    with pytest.raises(Rejected, match=r"extra_body cannot set 'options.num_predict': a call could cost more"):
        check_options({"extra_body": {"options": {"num_predict": 9}}}, openai)
    other = {"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}, "options": {"num_ctx": 9}}
    check_options({"extra_body": other, "max_tokens_field": "max_completion_tokens"}, openai)
    assert whole({"max_tokens": 50, "extra_body": {"top_k": 20}}) == {"max_tokens": 50, "top_k": 20}
    # nobody thinks for longer than is reserved
    for name, extra in [
        ("thinking_budget", lambda most: {"thinking_budget": most}),
        ("thinking.budget_tokens", lambda most: {"thinking": {"type": "enabled", "budget_tokens": most}}),
        ("reasoning.max_tokens", lambda most: {"reasoning": {"max_tokens": most}}),
    ]:
        assert whole({"max_tokens": 50, "extra_body": extra(50)}) == {"max_tokens": 50} | extra(50)
        with pytest.raises(Rejected, match=f"extra_body cannot set '{name}': a call could cost more"):
            whole({"max_tokens": 50, "extra_body": extra(51)})
    text = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|`]+) \| (`[^|]+`) \|$", text, flags=re.MULTILINE))
    listed = {asked: tuple(re.findall(r"`(\w+)`", rows.get(asked, ""))) for asked in COSTLY}
    assert listed == COSTLY, "the documentation lists what is refused"
    # a call of an older endpoint fails before it is sent
    older = make_endpoint("openai", base_url="http://127.0.0.1:9/v1", options={"extra_body": {"n": 8}})
    item = worked(older, ["a"]).items.get()
    assert (item.state, item.call) == ("failed", None) and "extra_body cannot set 'n'" in item.problem


def test_a_router_chooses_no_host_without_a_highest_price_or_above_that_of_the_model():
    sentence = "extra_body's provider lets a router choose hosts of other prices. Add max_price to it"
    highest = [1, {"prompt": 1}, {"prompt": "1", "completion": 2}]
    highest += [{"prompt": odd, "completion": 2} for odd in (True, -1, float("nan"))]
    choices = ["dear-host", {}, {"order": ["dear-host"], "allow_fallbacks": False}, {"sort": "throughput"}]
    choices += [{"max_price": price} for price in highest]
    for choice, name in itertools.product(choices, ("provider", " Provider")):
        options = {"extra_body": {name: choice}}
        with pytest.raises(Rejected, match=sentence):
            check_options(options, registry.find("openai").options)
        with pytest.raises(Rejected, match=sentence):
            whole({"max_tokens": 50} | options)
    prices = {"price_input": Decimal("0.15"), "price_output": Decimal("0.60")}
    for prompt, completion, fits in ((0.15, 0.6, True), (0, 0, True), (0.16, 0.6, False), (0.15, 0.61, False)):
        choice = {"only": ["host"], "max_price": {"prompt": prompt, "completion": completion}}
        values = {"provider": "openai", "model": "small", "options": {"extra_body": {"provider": choice}}}
        save_endpoint(by="", values=values | {"name": "unpriced"})  # nothing is reserved where the price is unknown
        told = r"and the model's prices are \$0\.15 and \$0\.60: a call could cost more"
        with contextlib.nullcontext() if fits else pytest.raises(ValidationError, match=told):
            save_endpoint(by="", values=values | prices | {"name": "routed"})
        Endpoint.objects.all().delete()


# --- lost answers


def test_a_lost_answer_is_listed_and_asked_again_only_by_hand(make_endpoint, worked, run_worker, page):
    for provider, repeats in (("openai", 0), ("vllm", 1)):  # what is billed repeats nothing by itself
        values = {"name": provider, "provider": provider, "model": "small", "base_url": "http://127.0.0.1:8000/v1"}
        assert save_endpoint(by="", values={**registry.find(provider).defaults, **values}).repeat_unknown == repeats
    worked(make_endpoint(), ["fine"])
    text = page("workers:ledger")
    assert "An answer that came is never paid for again." in text and "lost and may" not in text
    job = worked(make_endpoint(repeat_unknown=0, options={"script": [{"fail": "lost"}]}, **DEAR), ["a"])
    item = job.items.get()
    assert (item.state, item.call.attempts_made) == ("failed", 1)
    text = page("workers:ledger")
    assert "1 answer was lost and may have been paid, up to $0." in text
    assert "None of these calls was sent again." in text and "Nothing is paid twice" not in text
    assert "1 answer was lost" in page("workers:spending")
    jobs.retry_failed(job=job, now=timezone.now())
    run_worker()
    text = page("workers:ledger")
    assert "2 answers were lost" in text
    assert "After 1 of them the call was sent again, so it may have been paid twice." in text


# --- prices that are unknown


@pytest.fixture
def billed(monkeypatch) -> None:
    """Without a price, scripted answers cost what nobody knows, as those of a hosted model."""
    scripted = registry.find("scripted")
    monkeypatch.setitem(registry._providers, "scripted", replace(scripted, hosted=True))


def test_prices_that_are_unknown_make_no_sum():
    usage = Usage(input=1000, cached=400, cache_write=100, output=200)
    for prices in (Prices(), Prices(input=Decimal(2)), Prices(output=Decimal(2))):
        assert not prices.are_known and prices.cost(usage) is None and prices.at_most(10, 10) is None
    free = Prices(input=Decimal(0), output=Decimal(0))
    assert free.are_known and free.cost(usage) == 0 == free.at_most(10, 10)
    # 1,000 in at 2 and 200 out at 10 dollars a million, wherever the input came from
    prices = Prices(input=Decimal(2), output=Decimal(10))
    assert prices.cost(usage) == Decimal("0.004") == prices.at_most(1000, 200)
    # and sums say what they do not hold
    assert str(Money(Decimal("1.2"), 34)) == "$1.2000 and 34 calls of unknown price"
    assert str(Money(unpriced=1)) == "unknown (1 call)"
    assert str(Money(Decimal("1.2")) + Money(unpriced=2)) == "$1.2000 and 2 calls of unknown price"
    assert (str(Money()), dollars(None)) == ("$0.0000", "unknown")
    assert about(None, None) == about(Money(unpriced=3), Money(unpriced=3)) == "at a price that is unknown"
    assert about(Decimal(1), Decimal(2)) == "about $1.0000, at most $2.0000"
    assert "about $1.0000 and 2 calls of unknown price" in about(Money(Decimal(1), 2), Money(Decimal(2), 2))
    assert Money(Decimal("1.2"), 1).as_json == {"cost": None, "known_cost": 1.2, "unpriced_calls": 1}
    assert Money(Decimal("1.5")).as_json == {"cost": 1.5, "known_cost": 1.5, "unpriced_calls": 0}


NEAR = """
    127.0.0.1:8001 localhost:8001 [::1]:8001 10.1.2.3 172.31.0.9 192.168.1.5 [fd12::5] [::ffff:10.1.2.3] 2130706433
    gpu-box:8000 gpu.local gpu.lab.internal gpu.home.arpa GPU.local.
"""
FAR = """
    models.example 8.8.8.8 134744072 0x08080808 172.32.0.1 [2001:4860::8888] [::ffff:8.8.8.8] local.example gpu.notlocal
"""


def test_what_nobody_bills_is_free_and_what_is_billed_is_unknown(make_endpoint, page, admin):
    for provider in ("vllm", "vllm-engine", "baseline", "scripted"):
        assert make_endpoint(provider).prices.cost(Usage(input=9)) == 0
    assert not make_endpoint("openai").prices.are_known
    assert make_endpoint("openai", price_input=Decimal(0), price_output=Decimal(0)).prices.are_known
    # a vLLM server of one's own is free, and one elsewhere with a key may send bills
    keyed = {"api_key_env": "GPU_KEY"}
    for host in NEAR.split():
        near = make_endpoint("vllm", base_url=f"http://{host}/v1", **keyed)
        assert near.prices.cost(Usage(input=9)) == 0, host
    for url in ("", *(f"http://{host}/v1" for host in FAR.split())):
        hosted = make_endpoint("vllm", base_url=url, **keyed)
        assert not hosted.prices.are_known and hosted.prices.at_most(9, 9) is None, url
        assert make_endpoint("vllm", base_url=url).prices.are_known  # nobody to send a bill to
        for price in (0, 2):
            stated = {"price_input": Decimal(price), "price_output": Decimal(price)}
            assert make_endpoint("vllm", base_url=url, **keyed, **stated).prices.cost(Usage(input=1_000_000)) == price
    Endpoint.objects.all().delete()
    asked = ("add_endpoint", "hosted", "--provider=vllm", "--model=small")
    for change, url, known in (
        ("--api-key-env=GPU_KEY", "http://gpu/v1", True),
        ("--update", "https://m.ai/v1", False),
    ):
        call_command(*asked, f"--base-url={url}", change)
        assert Endpoint.objects.get().prices.are_known == known, "a server that moves away is free no more"
    listed = page("workers:endpoints")
    assert listed.count(">unknown</td>") == 2 and ">free</td>" not in listed
    make_endpoint("vllm", name="own", base_url="http://gpu-box:8000/v1")
    assert page("workers:endpoints").count(">free</td>") == 2
    read = {name: admin.get(f"/api/v1/endpoints/{name}/").json()["price_output"] for name in ("hosted", "own")}
    assert read == {"hosted": None, "own": "0.000000"}
    rule = "Empty: free where the server stands on this machine or in a private network, or has no key variable; else"
    assert page("workers:endpoint", "own").count(f"{rule} unknown. 0: free.") == 2


def test_the_command_prints_the_known_part_and_how_many_calls_have_no_price(
    make_endpoint, billed, start, worked, capsys
):
    priced = make_endpoint(**DEAR)
    job, other = start(priced, ["a"]), make_endpoint()
    jobs.add_items(job=job, items=[(other, "", "b"), (other, "", "c")], now=timezone.now())
    call_command("work", "--job", job.uid, "--json")
    cost = Call.objects.get(endpoint=priced).cost
    money = {"cost": None, "known_cost": float(cost), "unpriced_calls": 2}
    assert cost > 0 and json.loads(capsys.readouterr().out).items() >= money.items()
    call_command("work", "--job", job.uid)
    lines = capsys.readouterr().out.splitlines()
    assert f"cost: {dollars(cost)} and 2 calls of unknown price" in lines and not any("None" in line for line in lines)


def test_answers_of_unknown_price_are_counted_not_summed(make_endpoint, billed, worked, page):
    job = worked(
        make_endpoint(options={"script": [{"when": "gone", "fail": "lost"}]}, repeat_unknown=0), ["a", "b", "gone"]
    )
    assert progress_of(job).money == Money(unpriced=3)
    assert [call.cost for call in Call.objects.exclude(state="unknown")] == [None, None]
    assert ledger.totals()["money"] == Money(unpriced=2) and ledger.lost_answers()["at_most"] == Money(unpriced=1)
    money = "unknown (3 calls)"
    assert money in page("workers:job", job.uid) and money in page("workers:work")
    assert "unknown (2 calls)" in page("workers:spending")
    assert "may have been paid, at a price that is unknown:" in page("workers:ledger")
    assert "<dd>unknown</dd>" in page("workers:call", Call.objects.filter(state="answered").first().uid)
    assert page("workers:endpoints").count(">unknown</td>") == 2  # input and output


def test_a_budget_needs_prices(make_endpoint, billed, start, worked, run_worker):
    endpoint = make_endpoint(name="hosted")
    with pytest.raises(jobs.JobRefused, match="The price of hosted is unknown, and a budget needs it"):
        start(endpoint, ["a"], budget=Decimal(1))
    job = start(endpoint, ["a"])
    jobs.pause_job(job=job)
    job.refresh_from_db()
    assert "The price of hosted is unknown" in apply_action(job, "resume", budget="5")
    assert apply_action(job, "resume") == ""
    job.refresh_from_db()
    assert (job.state, job.budget) == ("running", None)
    # one that is taken back pauses the job
    endpoint = make_endpoint(name="other", model="other", price_input=Decimal(1), price_output=Decimal(1))
    job = start(endpoint, ["a"], budget=Decimal(1))
    Endpoint.objects.filter(pk=endpoint.pk).update(price_input=None)
    run_worker()
    job.refresh_from_db()
    assert job.state == "paused" and "The price of other is unknown" in job.note
    assert not Call.objects.filter(endpoint=endpoint, state="answered").exists()
    # one that rises is reserved as it is now
    endpoint = make_endpoint(model="third", price_input=Decimal(1), price_output=Decimal(1))
    job = start(endpoint, ["a"], budget=Decimal("0.01"))
    claims.plan_ahead(endpoint=endpoint, backend=ScriptedBackend(endpoint.spec), now=timezone.now())
    Endpoint.objects.filter(pk=endpoint.pk).update(price_output=Decimal(10_000))  # fifty tokens out are half a dollar
    run_worker()
    job.refresh_from_db()
    assert job.state == "paused" and "could exceed the budget" in job.note


def test_an_answer_without_usage_is_marked_and_estimated(make_endpoint, worked, page, monkeypatch):
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
        assert read.reported is expected, read

    async def complete(self, body, *, timeout, call):
        return Completion("她知道钥匙在哪里。", Stop.END, told, "tiny")

    monkeypatch.setattr(ScriptedBackend, "complete", complete)
    endpoint, told = make_endpoint(**DEAR), Usage(reported=False)
    job = worked(endpoint, ["a"])
    call = Call.objects.get()
    assert not call.usage_told
    assert (call.input_tokens, call.output_tokens) == (estimated_tokens(call.body), 27)
    assert call.cost == Decimal(call.input_tokens + 27) / 1000 == progress_of(job).cost
    assert "not reported by the provider; tokens and cost are estimated" in page("workers:call", call.uid)
    assert "The cost of 1 answer is estimated" in page("workers:job", job.uid) and "estimated" in page("workers:ledger")
    assert "The cost of 1 is estimated, as the provider did not report the usage" in page("workers:spending")
    told = Usage(input=7, reported=False)
    call = worked(endpoint, ["half"]).items.get().call
    assert (call.input_tokens, call.output_tokens, call.usage_told) == (7, 27, False), "the other half is estimated"
    assert call.cost == Decimal(7 + 27) / 1000
