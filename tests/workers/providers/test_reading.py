"""What is read of an answer: limits in its headers, thoughts in its text; and what looks like a key."""

import base64
import hashlib
import random
import string
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.marked import MARKS, UNCLOSED, completed
from workers.domain.pricing import estimated_tokens
from workers.models import Call
from workers.providers import registry
from workers.providers.anthropic.backend import completion_of as anthropic_completion
from workers.providers.chat_completions import completion_of
from workers.providers.client import api_key
from workers.providers.contract import EMPTY, ONLY_REASONING, Completion, Spec, Stop, Usage
from workers.providers.contract import UNCLOSED as WITHIN_REASONING
from workers.providers.errors import Forbidden
from workers.providers.headers import retry_after, seconds
from workers.providers.keys import looks_like_key
from workers.providers.scripted.backend import ScriptedBackend

NOW = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)


def test_retry_after_in_seconds_milliseconds_or_as_a_date():
    for headers, expected in [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "Wed, 21 Oct 2026 07:29:30 GMT"}, 90.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:20:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:29:30"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after-ms": "soon"}, None),
    ]:
        assert retry_after(headers, now=NOW) == expected, headers


def test_the_time_until_a_count_resets():
    openai = ["1s", "20ms", "6m0s", "1m30.5s", "1h2m3s", "1d", "12", "-12"]
    assert [seconds(text, now=NOW) for text in openai] == pytest.approx([1, 0.02, 360, 90.5, 3723, 86400, 12, 0])
    anthropic = ["2026-10-21T07:28:30Z", "2026-10-21T09:29:00.500+02:00", "2026-10-21T07:20:00Z"]
    assert [seconds(text, now=NOW) for text in anthropic] == pytest.approx([30, 60.5, 0])
    for neither in ("2026-10-21T07:28:30", "soon", "nan", "", None):
        assert seconds(neither, now=NOW) is None


def test_limits_as_providers_say_them():
    openai = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-limit-tokens": "30000",
    }
    anthropic = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2001-01-01T00:00:00Z",
    }
    for provider, headers, limits in [
        ("openai", openai, (500.0, 499.0, 0.12)),
        ("vllm", openai, (500.0, 499.0, 0.12)),
        ("anthropic", anthropic, (50.0, 0.0, 0.0)),
        *(("openai", {"x-ratelimit-limit-requests": odd}, (None, None, None)) for odd in ("many", "inf", "nan")),
    ]:
        assert registry.find(provider).request_limits(headers) == limits
    for provider in registry.registered():  # what a description did not keep could never lower the rate
        if rate := provider.rate_headers:
            headers = {rate.limit: "60", rate.remaining: "0", rate.reset: "2s"}
            assert provider.request_limits(provider.kept_headers(headers)) == (60.0, 0.0, 2.0)


def test_only_headers_that_matter_are_kept():
    rates = {"X-RateLimit-Limit-Tokens": "1", "Anthropic-RateLimit-Tokens-Limit": "2"}
    headers = rates | {"Request-Id": "r", "Set-Cookie": "secret", "Authorization": "Bearer k"}
    for provider, rate in [
        ("openai", {"x-ratelimit-limit-tokens": "1"}),
        ("anthropic", {"anthropic-ratelimit-tokens-limit": "2"}),
        ("scripted", {}),
        ("gone", {}),
    ]:
        assert registry.find(provider).kept_headers(headers) == rate | {"request-id": "r"}


KEYS = """
    sk-a1B2c3D4e5 sk-proj-0123456789abcdef0123 sk-ant-api03-Zx9Kq2Lm7Np4Rt6Vw8Yb hf_a1B2c3D4 gsk_0a1b2c3d4e5f6a7b8c9d
    AIzaSyA-1234567890abcdefghijk 0123456789abcdef0123456789abcdef
"""
NO_KEYS = """
    gpt-4o-mini-2024-07-18 claude-3-5-sonnet-20241022 meta-llama/Meta-Llama-3.1-405B-Instruct-FP8
    deepseek-ai/DeepSeek-R1-Distill-Qwen-32B TheBloke/OpenHermes-2.5-Mistral-7B-GPTQ NousHermes2Mixtral8x7BInstruct
    ft:gpt-4o-mini-2024-07-18:my-org::AbC12dEf sk-learn hf_transfer hf_mistral7b task-sk-2
    123e4567-e89b-12d3-a456-426614174000
"""


def test_a_key_is_told_from_names_and_digests():
    nested = {"headers": [{"Authorization": "Bearer hf_a1B2c3D4"}]}
    for text in (*KEYS.split(), "Bearer sk-a1B2c3D4e5", nested, {"sk-a1B2c3D4e5": True}):
        assert looks_like_key(text), text
    digests = [hashlib.new(name, b"weights").hexdigest() for name in ("sha1", "sha256")]
    ordinary = {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 20}}
    for text in (*NO_KEYS.split(), "", *digests, ordinary):
        assert not looks_like_key(text), text
    # 36 neighbours, each of another kind with 1 - (26² + 26² + 10²) / 62² = 0.62: to fall to 0.4 takes 2.7 standard
    # deviations
    noise = random.Random(1)
    tokens = ["".join(noise.choices(string.ascii_letters + string.digits, k=37)) for _ in range(1000)]
    assert sum(map(looks_like_key, tokens)) >= 985
    assert looks_like_key(base64.urlsafe_b64encode(noise.randbytes(48)).decode().replace("-", "0").replace("_", "1"))


def test_a_variable_of_the_site_is_never_sent(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "the site's own")
    with pytest.raises(Forbidden, match="belongs to the site itself"):
        api_key(Spec("openai", "tiny", api_key_env="SECRET_KEY"))


def chat(content: object, **message) -> Completion:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": content, **message}}
    return completion_of({"model": "tiny", "choices": [choice]}, {})


def test_a_thought_in_the_text_is_reasoning_with_every_provider():
    for mark in MARKS:
        text = MARKS[mark].format(thought="Maybe no.", answer="Yes")
        blocks = [{"type": "text", "text": text}]
        by_anthropic = anthropic_completion({"content": blocks, "stop_reason": "end_turn"}, {})
        for completion in (completed(text), chat(text), chat(blocks), by_anthropic):
            assert (completion.text, completion.stop, completion.problem) == ("Yes", Stop.END, ""), mark
            assert "Maybe no." in completion.reasoning
    for mark in UNCLOSED:  # an unclosed thought is no answer
        text = UNCLOSED[mark].format(thought="Maybe no.")
        completion = chat(text)
        assert (completion.text, completion.stop, completion.problem) == ("", Stop.OTHER, WITHIN_REASONING), mark
        assert "Maybe no." in completion.reasoning
        cut = completed(text, Stop.LENGTH)
        assert (cut.text, cut.stop) == ("", Stop.LENGTH)
    completion = chat("<think>in the text</think>Yes", reasoning_content="apart")
    assert (completion.text, completion.reasoning) == ("Yes", "apart\n\nin the text")
    made = Completion("<think>no</think>Yes", Stop.END, Usage(), "tiny", reasoning="apart")
    assert replace(made, body="as it came") == replace(replace(made), body="as it came"), "made again it is the same"
    assert replace(made).reasoning == "apart\n\nno"


def test_an_answer_without_a_word_says_what_it_lacks():
    assert (completed(" \n").stop, completed("").problem) == (Stop.OTHER, EMPTY)
    assert completed("<think>no</think>\n").problem == ONLY_REASONING
    assert completed("", Stop.FILTER).stop is Stop.FILTER


def test_a_part_that_is_a_thought_is_reasoning():
    for part in [
        {"type": "thinking", "thinking": "Maybe no."},
        {"type": "thinking", "thinking": [{"type": "text", "text": "Maybe no."}]},
        {"type": "reasoning", "reasoning": "Maybe no."},
        {"type": "reasoning", "text": "Maybe no."},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Maybe no."}]},
        {"type": "reasoning_content", "content": "Maybe no."},
        {"type": "thought", "thought": "Maybe no."},
        {"type": "text", "thought": True, "text": "Maybe no."},
    ]:
        completion = chat([part, {"type": "text", "text": "Yes"}])
        assert (completion.text, completion.reasoning) == ("Yes", "Maybe no."), part
        assert (chat([part]).problem, chat([part]).text) == (ONLY_REASONING, "")
    # parts that hold nothing to read are no thoughts
    completion = chat([{"type": "thinking", "thinking": 7}, {"type": "redacted_thinking", "data": "x"}, 3, "Yes"])
    assert (completion.text, completion.reasoning, completion.problem) == ("", "", EMPTY)


@pytest.mark.django_db(transaction=True)
def test_thoughts_count_where_tokens_are_estimated(make_endpoint, worked, monkeypatch):
    thought = "Ines was away when it happened. " * 40

    async def complete(self, body, *, timeout, call):
        text = {"type": "text", "text": f"<think>{thought}</think>Yes"}
        return chat([{"type": "thinking", "thinking": thought}, text])

    monkeypatch.setattr(ScriptedBackend, "complete", complete)
    worked(make_endpoint(), ["a"])
    call = Call.objects.get()
    assert (call.answer, call.state, call.usage_told) == ("Yes", "answered", False)
    assert call.reasoning == f"{thought}\n\n{thought.strip()}"
    assert call.reasoning_tokens == estimated_tokens(call.reasoning)
    assert call.output_tokens == call.reasoning_tokens + estimated_tokens("Yes")
