from __future__ import annotations

from datetime import UTC, datetime

import pytest

from workers.providers import registry
from workers.providers.headers import retry_after, seconds

NOW = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
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
    ],
    ids=str,
)
def test_retry_after_in_seconds_milliseconds_or_as_a_date(headers, expected):
    assert retry_after(headers, now=NOW) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
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
    ],
)
def test_the_time_until_a_count_resets(text, expected):
    assert seconds(text, now=NOW) == pytest.approx(expected)


@pytest.mark.parametrize("provider", ["openai", "vllm"])
def test_limits_as_openai_says_them(provider):
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


@pytest.mark.parametrize("limit", ["many", "inf", "nan"])
def test_limits_that_cannot_be_read(limit):
    assert registry.find("openai").request_limits({"x-ratelimit-limit-requests": limit}) == (None, None, None)


@pytest.mark.parametrize(
    ("provider", "rate"),
    [
        ("openai", {"x-ratelimit-limit-tokens": "1"}),
        ("anthropic", {"anthropic-ratelimit-tokens-limit": "2"}),
        ("scripted", {}),
        ("gone", {}),
    ],
)
def test_only_what_matters_is_kept(provider, rate):
    headers = {
        "X-RateLimit-Limit-Tokens": "1", "Anthropic-RateLimit-Tokens-Limit": "2", "Request-Id": "r",
        "Set-Cookie": "secret", "Authorization": "Bearer k",
    }  # fmt: skip
    assert registry.find(provider).kept_headers(headers) == rate | {"request-id": "r"}


@pytest.mark.parametrize("provider", registry.registered(), ids=lambda provider: provider.name)
def test_a_description_keeps_the_headers_that_it_reads(provider):
    """What is not kept could never lower the rate."""
    if rate := provider.rate_headers:
        headers = {rate.limit: "60", rate.remaining: "0", rate.reset: "2s"}
        assert provider.request_limits(provider.kept_headers(headers)) == (60.0, 0.0, 2.0)
