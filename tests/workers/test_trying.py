"""Trying a model says what it supports: whether it answers, and whether it holds the JSON schema that its endpoint
claims."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from tests.servers.odd import Odd, OddServer
from workers.providers.contract import Completion, Stop, Usage
from workers.services import endpoints
from workers.services.endpoints import try_endpoint

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.xdist_group("waiting")]
PROVIDERS = ["openai", "anthropic", "vllm"]
BY_SCHEMA = '{"three_is_more": "yes"}'


def answer(text: str, reason: str = "stop", reasoning: int = 0) -> Odd:
    stopped = {"stop": "end_turn", "length": "max_tokens"}[reason]
    usage = {"prompt_tokens": 5, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": reasoning}}
    choice = {"message": {"content": text}, "finish_reason": reason}
    both = {"choices": [choice], "content": [{"type": "text", "text": text}], "stop_reason": stopped}
    return Odd(200, json.dumps(both | {"model": "tiny", "usage": usage}).encode())


def asks_schema(body: bytes) -> bool:
    return any(name in json.loads(body) for name in ("response_format", "structured_outputs", "output_config"))


@pytest.fixture
def tried(make_endpoint):
    """What trying says where a call with a schema gets `odd`: `tried("openai", Odd(…))`."""

    def work(provider: str, odd: Odd, **fields) -> tuple[dict, int]:
        def reply(path: str, headers: dict, body: bytes) -> Odd:
            return odd if asks_schema(body) else answer("Yes.", reasoning=4)

        with OddServer(reply) as server:
            url = server.url + ("" if provider == "anthropic" else "/v1")
            return try_endpoint(endpoint=make_endpoint(provider, name="small", base_url=url, **fields)), server.asked

    return work


CASES = [
    (answer(BY_SCHEMA), True, "Its answer was held to the JSON schema."),
    (answer("Yes."), False, "The JSON schema was ignored: the answer does not fit it."),
    (answer('{"three_is_more": "perhaps"}'), False, "The JSON schema was ignored: the answer does not fit it."),
    (
        answer('{"thr', "length"),
        False,
        "With a JSON schema there was no whole answer. The answer ended at the token limit.",
    ),
    (
        Odd(400, b'{"error": {"message": "response_format is not supported"}}'),
        False,
        "A call with a JSON schema fails: HTTP 400: response_format is not supported",
    ),
]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_schema_is_tried_where_it_is_claimed(tried, page, provider):
    for at, (odd, held, sentence) in enumerate(CASES):
        result, asked = tried(provider, odd) if not at else tried_again(tried, provider, odd)
        assert result["ok"] is True and asked == 2
        assert (result["schema"]["held"], result["schema"]["told"]) == (held, sentence)
        assert result["supported"]["json_schema"] is held
        text = page("workers:tried", "small")
        assert sentence in text and ("structured runs are unreadable" in text) != held
    assert result["supported"]["reasons"] is (provider != "anthropic")


def tried_again(tried, provider, odd):
    from workers.models import Endpoint

    Endpoint.objects.filter(name="small").delete()
    return tried(provider, odd)


def test_it_is_not_tried_where_it_is_not_claimed(tried, page):
    result, asked = tried("openai", answer(BY_SCHEMA), json_schema=False)
    assert asked == 1 and "schema" not in result and result["supported"]["json_schema"] is None
    assert "not claimed, not tried" in page("workers:tried", "small")


def test_the_command_says_what_is_supported(capsys):
    with OddServer(lambda path, headers, body: answer(BY_SCHEMA if asks_schema(body) else "yes")) as server:
        common = ["--provider=openai", "--model=tiny", f"--base-url={server.url}/v1", "--json"]
        call_command("add_endpoint", "small", *common, "--try")
    result = json.loads(capsys.readouterr().out)
    assert result["endpoint"] == "small" and result["tried"]["supported"]["json_schema"] is True


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


def test_a_model_that_reasons_is_said_to_need_room(tried, page):
    tried("openai", answer(BY_SCHEMA))
    assert "give it room for reasoning" in page("workers:tried", "small")
