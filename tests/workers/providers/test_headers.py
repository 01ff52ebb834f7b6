"""Texts that look like a key are told from the names and ids that models have."""

from __future__ import annotations

import base64
import hashlib
import random
import string
from datetime import UTC, datetime

import pytest

from workers.providers import registry
from workers.providers.client import api_key
from workers.providers.contract import Spec
from workers.providers.errors import Forbidden
from workers.providers.headers import retry_after, seconds
from workers.providers.keys import looks_like_key

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
        assert retry_after(headers, now=NOW) == expected


def test_the_time_until_a_count_resets():
    for text, expected in [
        # OpenAI
        ("1s", 1.0),
        ("20ms", 0.02),
        ("6m0s", 360.0),
        ("1m30.5s", 90.5),
        ("1h2m3s", 3723.0),
        ("1d", 86400.0),
        ("12", 12.0),
        ("-12", 0.0),
        # Anthropic
        ("2026-10-21T07:28:30Z", 30.0),
        ("2026-10-21T09:29:00.500+02:00", 60.5),
        ("2026-10-21T07:20:00Z", 0.0),
        # neither
        ("2026-10-21T07:28:30", None),
        ("soon", None),
        ("nan", None),
        ("", None),
        (None, None),
    ]:
        assert seconds(text, now=NOW) == pytest.approx(expected)


def test_limits_as_openai_says_them():
    for provider in ["openai", "vllm"]:
        headers = {
            "x-ratelimit-limit-requests": "500",
            "x-ratelimit-remaining-requests": "499",
            "x-ratelimit-reset-requests": "120ms",
            "x-ratelimit-limit-tokens": "30000",
        }
        assert registry.find(provider).request_limits(headers) == (500.0, 499.0, 0.12)


def test_limits_as_anthropic_says_them():
    headers = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2001-01-01T00:00:00Z",
    }
    assert registry.find("anthropic").request_limits(headers) == (50.0, 0.0, 0.0)


def test_limits_that_cannot_be_read():
    for limit in ["many", "inf", "nan"]:
        assert registry.find("openai").request_limits({"x-ratelimit-limit-requests": limit}) == (None, None, None)


def test_only_what_matters_is_kept():
    for provider, rate in [
        ("openai", {"x-ratelimit-limit-tokens": "1"}),
        ("anthropic", {"anthropic-ratelimit-tokens-limit": "2"}),
        ("scripted", {}),
        ("gone", {}),
    ]:
        headers = {
            "X-RateLimit-Limit-Tokens": "1", "Anthropic-RateLimit-Tokens-Limit": "2", "Request-Id": "r",
            "Set-Cookie": "secret", "Authorization": "Bearer k",
        }  # fmt: skip
        assert registry.find(provider).kept_headers(headers) == rate | {"request-id": "r"}


def test_a_description_keeps_the_headers_that_it_reads():
    """What is not kept could never lower the rate."""
    for provider in registry.registered():
        if rate := provider.rate_headers:
            headers = {rate.limit: "60", rate.remaining: "0", rate.reset: "2s"}
            assert provider.request_limits(provider.kept_headers(headers)) == (60.0, 0.0, 2.0)


def test_a_key():
    for text in [
        "sk-a1B2c3D4e5",
        "sk-proj-0123456789abcdef0123",
        "sk-ant-api03-Zx9Kq2Lm7Np4Rt6Vw8Yb",
        "hf_a1B2c3D4",
        "gsk_0a1b2c3d4e5f6a7b8c9d",
        "AIzaSyA-1234567890abcdefghijk",
        "0123456789abcdef0123456789abcdef",
        "Bearer sk-a1B2c3D4e5",
        {"headers": [{"Authorization": "Bearer hf_a1B2c3D4"}]},
        {"sk-a1B2c3D4e5": True},
    ]:
        assert looks_like_key(text)


def test_no_key():
    for text in [
        "",
        "gpt-4o-mini-2024-07-18",
        "claude-3-5-sonnet-20241022",
        "meta-llama/Meta-Llama-3.1-405B-Instruct-FP8",
        "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B",
        "TheBloke/OpenHermes-2.5-Mistral-7B-GPTQ",
        "NousHermes2Mixtral8x7BInstruct",
        "ft:gpt-4o-mini-2024-07-18:my-org::AbC12dEf",
        "sk-learn",
        "hf_transfer",
        "hf_mistral7b",
        "task-sk-2",
        hashlib.sha1(b"weights").hexdigest(),
        hashlib.sha256(b"weights").hexdigest(),
        "123e4567-e89b-12d3-a456-426614174000",
        {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 20}},
    ]:
        assert not looks_like_key(text)


def test_nearly_every_random_token_is_seen():
    # 36 neighbours, each of another kind with 1 - (26² + 26² + 10²) / 62² = 0.62: to fall to 0.4 takes 2.7 standard
    # deviations
    noise = random.Random(1)
    letters = string.ascii_letters + string.digits
    tokens = ["".join(noise.choices(letters, k=37)) for _ in range(1000)]
    assert sum(map(looks_like_key, tokens)) >= 985
    assert looks_like_key(base64.urlsafe_b64encode(noise.randbytes(48)).decode().replace("-", "0").replace("_", "1"))


def test_a_variable_of_the_site_is_never_sent(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "the site's own")
    with pytest.raises(Forbidden, match="belongs to the site itself"):
        api_key(Spec("openai", "tiny", api_key_env="SECRET_KEY"))
