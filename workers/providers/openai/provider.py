"""OpenAI, and servers elsewhere that speak its chat completions."""

from collections.abc import Sequence
from typing import Any

from core.messages import gettext_noop
from workers.providers import options
from workers.providers.contract import Backend, BatchBackend, Spec
from workers.providers.description import Provider
from workers.providers.headers import RateHeaders


def _backend(spec: Spec) -> Backend:
    from workers.providers.chat_completions import OpenAIBackend

    return OpenAIBackend(spec)


def _batches(backend: Any, others: Sequence[str]) -> BatchBackend:
    from workers.providers.openai.batches import OpenAIBatches

    return OpenAIBatches(backend.client)


PROVIDER = Provider(
    name="openai",
    label=gettext_noop("OpenAI, or a server that speaks its protocol"),
    sentence=(
        gettext_noop(
            "OpenAI itself, and every server that speaks its chat completions: Ollama, llama.cpp, a gateway of your "
            "institution."
        )
    ),
    backend=_backend,
    batches=_batches,
    position=10,
    packages=("openai",),
    rate_headers=RateHeaders(
        prefix="x-ratelimit-",
        limit="x-ratelimit-limit-requests",
        remaining="x-ratelimit-remaining-requests",
        reset="x-ratelimit-reset-requests",
    ),
    defaults={"batches": True},
    placeholders={
        "name": "my-model",
        "model": gettext_noop("the provider’s name of it"),
        "api_key_env": "OPENAI_API_KEY",
        "base_url": "http://127.0.0.1:11434/v1",
    },
    options={**options.CHAT, **options.BATCHED},
)
