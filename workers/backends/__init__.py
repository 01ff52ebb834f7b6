"""One backend a provider; `make` is the only place that knows them all. Each package loads when it is first needed."""

from __future__ import annotations

from importlib import import_module

from workers.backends.contract import Backend, EngineBackend, Spec

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
_BATCHES = {"openai": ("openai_batches", "OpenAIBatches"), "anthropic": ("anthropic_batches", "AnthropicBatches")}
ENGINES = {"vllm-engine"}
"""Providers whose model lives in the worker's own process."""


def make(spec: Spec) -> Backend | EngineBackend:
    """Raises a BackendError where the endpoint's settings cannot work, such as a missing key."""
    module, name = _CLASSES[spec.provider]
    return getattr(import_module(f"workers.backends.{module}"), name)(spec)


def make_batches(spec: Spec, backend: Backend):
    """The batch form of `backend`, or None where its provider has none."""
    if spec.provider not in _BATCHES:
        return None
    module, name = _BATCHES[spec.provider]
    return getattr(import_module(f"workers.backends.{module}"), name)(backend.client)
