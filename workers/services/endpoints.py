"""Registering models, and trying one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from workers import backends
from workers.backends import contract
from workers.backends.errors import BackendError
from workers.models import Endpoint, EndpointPace
from workers.services.endpoint_rules import check_endpoint
from workers.services.engine_drain import loaded_engine

QUESTION = "Answer with the single word yes: is three more than two?"
DEFAULTS: dict[str, dict[str, Any]] = {
    "anthropic": {"sets_temperature": False, "batches": True},
    "openai": {"batches": True},
    "vllm": {"max_concurrency": 64},
    "vllm-engine": {"max_concurrency": 512},
    "baseline": {"max_concurrency": 64},
    "scripted": {"max_concurrency": 64},
}
"""Where a provider differs from the model's defaults."""


@transaction.atomic
def save_endpoint(*, by: str, values: Mapping[str, Any], endpoint: Endpoint | None = None) -> Endpoint:
    """Makes an endpoint, or changes `endpoint`. Raises ValidationError with sentences by field.

    The provider and the model of an endpoint that has been asked stay what they are: its answers are theirs.
    """
    endpoint = endpoint or Endpoint(created_by=by)
    before = (endpoint.provider, endpoint.model, endpoint.revision, endpoint.base_url)
    for name, value in values.items():
        setattr(endpoint, name, value)
    after = (endpoint.provider, endpoint.model, endpoint.revision, endpoint.base_url)
    if endpoint.pk and before != after and endpoint.calls.exists():
        raise ValidationError(
            {"model": "This endpoint has answered already; register another one for another model or address."}
        )
    check_endpoint(endpoint)
    endpoint.save()
    EndpointPace.objects.get_or_create(endpoint=endpoint)
    return endpoint


class EndpointInUse(ValueError):
    """Says in one sentence why an endpoint stays."""


def is_used(endpoint: Endpoint) -> bool:
    """Whether anything refers to it, of whatever app: calls, items, batches, rounds, runs."""
    fields = Endpoint._meta.get_fields(include_hidden=True)
    relations = [one for one in fields if one.auto_created and not one.concrete and one.related_model != EndpointPace]
    return any(one.related_model.objects.filter(**{one.field.name: endpoint}).exists() for one in relations)


@transaction.atomic
def delete_endpoint(*, endpoint: Endpoint) -> None:
    """Raises EndpointInUse where it has ever been put to work: answers keep the model that gave them."""
    held = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    if is_used(held):
        raise EndpointInUse(f"{held.name} has been used, so it stays; it can be switched off.")
    held.delete()


def try_endpoint(*, endpoint: Endpoint) -> dict[str, Any]:
    """Asks one short question and keeps what came back. It costs a few tokens and is not in the ledger, which knows only work.

    Called by a task: it may take as long as the endpoint's timeout.
    """
    started = timezone.now()
    try:
        request = contract.Request(
            (contract.Message("user", QUESTION),), max_tokens=200, temperature=0.0, task=_task(endpoint)
        )
        if endpoint.provider in backends.ENGINES:
            completion = _ask_engine(endpoint, request)
        else:
            backend = backends.make(endpoint.spec)
            completion = asyncio.run(_ask(backend, request, min(60, endpoint.timeout_seconds)))
        seconds = (timezone.now() - started).total_seconds()
        said = completion.text.strip()[:300] or "(nothing)"
        result = {"ok": True, "said": said, "model": completion.model, "seconds": round(seconds, 2)}
        result |= {"input": completion.usage.input, "output": completion.usage.output, "stop": completion.stop}
    except BackendError as error:
        result = {"ok": False, "said": str(error), "kind": type(error).__name__}
    Endpoint.objects.filter(pk=endpoint.pk).update(tried_at=started, tried=result)
    return result


def _task(endpoint: Endpoint) -> dict[str, Any]:
    kind = {"majority": "label", "random": "label", "omniscient": "extract", "lexical-judge": "judge"}.get(
        endpoint.model, ""
    )
    label = {
        "rows": [{"id": 1, "actor": "Ines", "belief": "Three is more than two"}],
        "dimensions": {"truth": ["True", "False"]},
    }
    rows = {"predictions": [["Ines", "three"]], "gold": [["Ines", "three"]]}
    return {"kind": kind} | {"label": label, "extract": {"story": "Ines counts to three."}, "judge": rows}.get(kind, {})


def _ask_engine(endpoint: Endpoint, request: contract.Request) -> contract.Completion:
    engine = loaded_engine(endpoint)
    (result,) = engine.complete_many([engine.body(request)])
    if isinstance(result, Exception):
        raise result
    return result


async def _ask(backend, request: contract.Request, timeout: float):
    try:
        return await backend.complete(backend.body(request), timeout=timeout, call="try")
    finally:
        await backend.aclose()


SAMPLES = {
    "majority": ("baseline", "majority"),
    "random": ("baseline", "random"),
    "omniscient": ("baseline", "omniscient"),
    "lexical-judge": ("baseline", "lexical-judge"),
    "scripted": ("scripted", "scripted-answers"),
}


def add_samples() -> None:
    """The endpoints that need no key and no network, where their names are free."""
    for name, (provider, model) in SAMPLES.items():
        if not Endpoint.objects.filter(name=name).exists():
            values = {"name": name, "provider": provider, "model": model, "family": "built in"}
            save_endpoint(by="", values=DEFAULTS.get(provider, {}) | values)
