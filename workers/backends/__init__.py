"""One backend a provider; `make` is the only place that knows them all. Each package loads when it is first needed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from workers.backends.contract import Backend, BatchBackend, EngineBackend, Spec

PROVIDERS = {
    "openai": "OpenAI, or a server that speaks its protocol",
    "anthropic": "Anthropic",
    "vllm": "vLLM server",
    "vllm-engine": "vLLM inside a GPU worker",
    "baseline": "Built-in baseline",
    "scripted": "Scripted answers",
}
_CLASSES = {
    "openai": ("openai", "OpenAIBackend"),
    "anthropic": ("anthropic", "AnthropicBackend"),
    "vllm": ("vllm", "VllmBackend"),
    "vllm-engine": ("vllm_engine", "VllmEngine"),
    "baseline": ("baseline", "BaselineBackend"),
    "scripted": ("scripted", "ScriptedBackend"),
}
ENGINES = {"vllm-engine"}
"""Providers whose model lives in the worker's own process."""


def make(spec: Spec) -> Backend | EngineBackend:
    """Raises a BackendError where the endpoint's settings cannot work, such as a missing key."""
    module, name = _CLASSES[spec.provider]
    return getattr(import_module(f"workers.backends.{module}"), name)(spec)


def make_batches(spec: Spec, backend: Backend, *, others: Sequence[str] = ()) -> BatchBackend | None:
    """The batch form of `backend`, or None where its provider has none. `others`: ids of the provider's batches that are known,
    so that a search for a lost one passes them by."""
    if spec.provider == "openai":
        return import_module("workers.backends.openai_batches").OpenAIBatches(backend.client)
    if spec.provider == "anthropic":
        return import_module("workers.backends.anthropic_batches").AnthropicBatches(backend.client, others=others)
    return None
