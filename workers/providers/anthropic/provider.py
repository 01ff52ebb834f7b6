"""Anthropic's Messages."""

from collections.abc import Sequence
from typing import Any

from core.messages import gettext_noop
from workers.providers import options
from workers.providers.contract import Backend, BatchBackend, Spec
from workers.providers.description import Provider
from workers.providers.headers import RateHeaders


def _backend(spec: Spec) -> Backend:
    from workers.providers.anthropic.backend import AnthropicBackend

    return AnthropicBackend(spec)


def _batches(backend: Any, others: Sequence[str]) -> BatchBackend:
    from workers.providers.anthropic.batches import AnthropicBatches

    return AnthropicBatches(backend.client, others=others)


PROVIDER = Provider(
    name="anthropic",
    label=gettext_noop("Anthropic"),
    sentence=gettext_noop("Anthropic’s Messages, with its batches."),
    backend=_backend,
    batches=_batches,
    position=20,
    packages=("anthropic",),
    rate_headers=RateHeaders(
        prefix="anthropic-ratelimit-",
        limit="anthropic-ratelimit-requests-limit",
        remaining="anthropic-ratelimit-requests-remaining",
        reset="anthropic-ratelimit-requests-reset",
    ),
    defaults={"sets_temperature": False, "batches": True},
    placeholders={
        "name": "my-model",
        "model": gettext_noop("the provider’s name of it"),
        "api_key_env": "ANTHROPIC_API_KEY",
    },
    options={"effort": (str,), "cache": (bool,), **options.BATCHED},
)
