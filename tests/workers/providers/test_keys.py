"""Texts that look like a key are told from the names and ids that models have."""

from __future__ import annotations

import base64
import hashlib
import random
import string

import pytest

from workers.providers.client import api_key
from workers.providers.contract import Spec
from workers.providers.errors import Forbidden
from workers.providers.keys import looks_like_key


@pytest.mark.parametrize(
    "text",
    [
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
    ],
    ids=str,
)
def test_a_key(text):
    assert looks_like_key(text)


@pytest.mark.parametrize(
    "text",
    [
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
    ],
    ids=str,
)
def test_no_key(text):
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
