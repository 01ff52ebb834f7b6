"""The real openai and anthropic packages over loopback, from the item to the ledger: every way in which a server can go
wrong ends in its own state with a clear sentence, and the others go on."""

import json

import pytest
from django.core.management import call_command

from tests.servers import ModelServer
from tests.servers.odd import Odd, OddServer
from workers.models import Attempt, Call, Endpoint, Item
from workers.providers.contract import Completion, Stop, Usage
from workers.services import endpoints
from workers.services.endpoints import save_endpoint, try_endpoint

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.xdist_group("waiting")]


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
    values = {"provider": request.param, "model": "tiny", "base_url": server.url + tail, "api_key_env": "TRIAL_KEY"}
    limits = {"timeout_seconds": 2, "max_attempts": 2, "repeat_unknown": 0, "retry_after_cap": 1}
    prices = {"price_input": "1", "price_output": "2", "sets_temperature": request.param != "anthropic"}
    return save_endpoint(by="alice", values={"name": f"{request.param}-trial"} | values | limits | prices)


BROKE = "The connection broke before the answer was whole"
TROUBLES = {
    "throttle": ("failed", 2, "HTTP 429"),
    "throttle-long": ("failed", 2, "HTTP 429"),
    "overloaded": ("failed", 2, "HTTP 529"),
    "error-500": ("failed", 2, "HTTP 500"),
    "error-400": ("failed", 1, "HTTP 400"),
    "error-401": ("failed", 1, "HTTP 401"),
    "error-404": ("failed", 1, "HTTP 404"),
    "hang": ("unknown", 1, "No answer within 2 s."),
    "cut": ("unknown", 1, BROKE),
    "drop": ("unknown", 1, BROKE),
    "half-json": ("unknown", 1, "The answer is not JSON"),
    "invalid-utf8": ("unknown", 1, "The answer is not UTF-8"),
    "refusal": ("refused", 1, "It was refused."),
    "length": ("truncated", 1, "It was truncated."),
}


@pytest.mark.once
def test_each_trouble_has_its_own_end_and_the_others_go_on(endpoint, server, worked):
    server.control(rules=[{"when": f"MODE {mode}.", "mode": mode} for mode in (*TROUBLES, "huge")])
    job = worked(endpoint, ["first", *(f"MODE {mode}." for mode in (*TROUBLES, "huge")), "second"])
    items = {item.key: item for item in Item.objects.select_related("call")}
    assert items["first"].state == items["second"].state == items["MODE huge."].state == "done"
    assert len(items["MODE huge."].call.answer) == 5_000_000, "five megabytes are kept whole"
    for mode, (state, attempts, sentence) in TROUBLES.items():
        item = items[f"MODE {mode}."]
        assert item.state == ("unreadable" if state in ("refused", "truncated") else "failed"), mode
        assert item.problem.startswith(sentence), (mode, item.problem)
        assert (item.call.state, item.call.attempts_made) == (state, attempts), mode
    assert job.state == "finished"


@pytest.mark.once
def test_usage_cost_and_rate_are_read_and_the_key_is_kept_nowhere(endpoint, server, worked, caplog):
    server.control(headers=True, rate=200, burst=50)
    worked(endpoint, ["some words to count"])
    call = Call.objects.get()
    assert call.input_tokens > 0 and call.output_tokens > 0
    assert float(call.cost) == pytest.approx((call.input_tokens * 1 + call.output_tokens * 2) / 1_000_000)
    assert call.answered_by == "tiny"
    assert call.fingerprint == ("" if endpoint.provider == "anthropic" else "fp_trial")
    endpoint.rate_limit.refresh_from_db()
    assert endpoint.rate_limit.state["header_rate"] > 0
    assert any("ratelimit" in name for name in Attempt.objects.first().headers)
    rows = [list(model.objects.values()) for model in (Call, Attempt, Endpoint)]
    assert "secret-key-of-the-trial" not in json.dumps(rows, default=str) + caplog.text
    # Port 9 (discard) is closed on a test machine; nothing can have been paid, so the call failed and is not unknown.
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url="http://127.0.0.1:9/v1")
    call = worked(endpoint, ["a"]).items.get().call
    assert (call.state, call.attempts_made) == ("failed", 2) and call.problem.startswith("No connection")


@pytest.mark.once
def test_trying_says_what_came_back(endpoint, server):
    assert try_endpoint(endpoint=endpoint)["ok"] is True
    server.control(rules=[{"when": "three", "mode": "error-401"}])
    result = try_endpoint(endpoint=endpoint)
    assert (result["ok"], result["kind"]) == (False, "Forbidden")
    endpoint.refresh_from_db()
    assert endpoint.tried == result
    assert Call.objects.count() == 0


# --- trying a model says what it supports: whether it answers, and whether it holds the JSON schema that is claimed

BY_SCHEMA = '{"three_is_more": "yes"}'


def answer(text: str, reason: str = "stop", reasoning: int = 0) -> Odd:
    usage = {"prompt_tokens": 5, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": reasoning}}
    openai = {"choices": [{"message": {"content": text}, "finish_reason": reason}], "usage": usage}
    stopped = {"stop": "end_turn", "length": "max_tokens"}[reason]
    return Odd(body=openai | {"content": [{"type": "text", "text": text}], "stop_reason": stopped, "model": "tiny"})


def schema_gets(odd: Odd):
    """What a server replies where a call with a schema gets `odd`."""

    def reply(path: str, headers: dict, body: bytes) -> Odd:
        fields = ("response_format", "structured_outputs", "output_config")
        return odd if any(name in json.loads(body) for name in fields) else answer("Yes.", reasoning=4)

    return reply


UNHELD = "The JSON schema was ignored: the answer does not fit it."
CASES = [
    (answer(BY_SCHEMA), "Its answer was held to the JSON schema."),
    (answer("Yes."), UNHELD),
    (answer('{"three_is_more": "perhaps"}'), UNHELD),
    (answer('{"thr', "length"), "With a JSON schema there was no whole answer. The answer ended at the token limit."),
    (
        Odd(400, {"error": {"message": "response_format is not supported"}}),
        "A call with a JSON schema fails: HTTP 400: response_format is not supported",
    ),
]


@pytest.mark.parametrize("provider", ["openai", "anthropic", "vllm"])
def test_the_schema_is_tried_where_it_is_claimed(make_endpoint, page, provider):
    for odd, sentence in CASES:
        Endpoint.objects.all().delete()
        with OddServer(schema_gets(odd)) as server:
            endpoint = make_endpoint(provider, name="small", base_url=server.url_for(provider))
            result = try_endpoint(endpoint=endpoint)
            assert result["ok"] is True and server.asked == 2
        held = odd is CASES[0][0]
        assert (result["schema"]["held"], result["schema"]["told"]) == (held, sentence)
        assert result["supported"]["json_schema"] is held
        text = page("workers:tried", "small")
        assert sentence in text and ("structured runs are unreadable" in text) != held
        # a model that reasons needs room
        assert result["supported"]["reasons"] is ("give it room for reasoning" in text) is (provider != "anthropic")


def test_it_is_not_tried_where_it_is_not_claimed_and_the_command_says_what_is_supported(make_endpoint, page, capsys):
    with OddServer(schema_gets(answer(BY_SCHEMA))) as server:
        url = f"{server.url}/v1"
        result = try_endpoint(endpoint=make_endpoint("openai", name="free", base_url=url, json_schema=False))
        assert server.asked == 1 and "schema" not in result and result["supported"]["json_schema"] is None
        assert "not claimed, not tried" in page("workers:tried", "free")
        call_command(
            "add_endpoint", "small", "--provider=openai", "--model=tiny", f"--base-url={url}", "--json", "--try"
        )
    told = json.loads(capsys.readouterr().out)
    assert told["endpoint"] == "small" and told["tried"]["supported"]["json_schema"] is True


def test_an_engine_is_tried_in_the_same_way(make_endpoint, monkeypatch):
    class Engine:
        def body(self, request):
            return {"schema": request.schema, "max_tokens": request.max_tokens}

        def complete_many(self, bodies):
            asked.extend(bodies)
            return [Completion(BY_SCHEMA if body["schema"] else "yes", Stop.END, Usage(), "tiny") for body in bodies]

    asked: list[dict] = []
    monkeypatch.setattr(endpoints, "loaded_engine", lambda endpoint: Engine())
    result = try_endpoint(endpoint=make_endpoint("vllm-engine", reasoning_tokens=3000))
    assert result["schema"]["held"]
    assert [body["max_tokens"] for body in asked] == [3200, 3200]  # a model that reasons has its room here, too
