"""A vLLM server of one's own."""

from core.messages import gettext_noop
from workers.providers import options
from workers.providers.addresses import host_of, is_private
from workers.providers.contract import Backend, Spec
from workers.providers.description import Provider
from workers.providers.headers import RateHeaders


def _backend(spec: Spec) -> Backend:
    from workers.providers.vllm.backend import VllmBackend

    return VllmBackend(spec)


def _is_hosted(spec: Spec) -> bool:
    """Return whether somebody else runs the server: it has a key, and an address outside private networks."""
    return bool(spec.api_key_env) and not is_private(host_of(spec.base_url))


PROVIDER = Provider(
    name="vllm",
    label=gettext_noop("vLLM server"),
    sentence=gettext_noop("A vLLM server that you run: answers are held to a JSON schema, token by token."),
    backend=_backend,
    hosted=False,
    hosted_at=_is_hosted,
    unset_price=(
        gettext_noop(
            "Empty: free where the server stands on this machine or in a private network, or has no key "
            "variable; else unknown. 0: free."
        )
    ),
    position=30,
    packages=("openai",),
    rate_headers=RateHeaders(  # vLLM sends none; a gateway before it does, as OpenAI
        prefix="x-ratelimit-",
        limit="x-ratelimit-limit-requests",
        remaining="x-ratelimit-remaining-requests",
        reset="x-ratelimit-reset-requests",
    ),
    defaults={"max_concurrency": 64, "repeat_unknown": 1},
    left_out=("batches", "price_batch", "price_cache_write"),
    placeholders={"name": "qwen-server", "model": "Qwen/Qwen2.5-7B-Instruct", "base_url": "http://127.0.0.1:8001/v1"},
    options=options.CHAT,
)
