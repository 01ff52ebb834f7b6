"""Registering models, and trying one."""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from workers import backends
from workers.backends import contract
from workers.backends.errors import BackendError
from workers.models import Endpoint, EndpointPace

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
    endpoint.full_clean()
    check_address(endpoint)
    check_options(endpoint)
    endpoint.save()
    EndpointPace.objects.get_or_create(endpoint=endpoint)
    return endpoint


def check_address(endpoint: Endpoint) -> None:
    """http and https only, and only hosts that the site allows; never an address that clouds keep their secrets at."""
    if not endpoint.base_url:
        return
    parts = urlsplit(endpoint.base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValidationError({"base_url": "An address that begins with http:// or https:// is expected."})
    if parts.username or parts.password or parts.query:
        raise ValidationError(
            {"base_url": "An address without a user, password or query is expected; keys come from the environment."}
        )
    allowed = settings.ENDPOINT_HOSTS
    if allowed and parts.hostname not in allowed and f"{parts.hostname}:{parts.port}" not in allowed:
        raise ValidationError({"base_url": f"This site allows only {', '.join(allowed)} (ENDPOINT_HOSTS)."})
    try:
        link_local = ipaddress.ip_address(parts.hostname).is_link_local
    except ValueError:
        link_local = False
    if link_local:
        raise ValidationError({"base_url": "A link-local address is no model server."})


def check_options(endpoint: Endpoint) -> None:
    """Options that can never work are refused when they are written, not when the first call fails."""
    if not isinstance(endpoint.options, dict):
        raise ValidationError({"options": "A JSON object is expected."})
    if "\\u0000" in json.dumps(endpoint.options):
        raise ValidationError({"options": "NUL characters cannot be stored."})
    if endpoint.provider in ("openai", "anthropic", "vllm", "vllm-engine"):
        return
    try:
        backends.make(endpoint.spec)
    except BackendError as error:
        raise ValidationError({"model" if endpoint.provider == "baseline" else "options": str(error)}) from error


def try_endpoint(*, endpoint: Endpoint) -> dict[str, Any]:
    """Asks one short question and keeps what came back. It costs a few tokens and is not in the ledger, which knows only work.

    Called by a task: it may take as long as the endpoint's timeout.
    """
    started = timezone.now()
    try:
        backend = backends.make(endpoint.spec)
        request = contract.Request(
            (contract.Message("user", QUESTION),), max_tokens=200, temperature=0.0, task=_task(endpoint)
        )
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


async def _ask(backend, request: contract.Request, timeout: float):
    try:
        return await backend.complete(backend.body(request), timeout=timeout, call="try")
    finally:
        await backend.aclose()
