"""Registering models, and trying one."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
import socket
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
from workers.backends.vllm_engine import check_options as check_engine_options
from workers.domain.ledger_key import storable
from workers.models import Endpoint, EndpointPace
from workers.services.engine_drain import loaded_engine

QUESTION = "Answer with the single word yes: is three more than two?"
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
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


def check_endpoint(endpoint: Endpoint) -> None:
    """Raises ValidationError with every field that is wrong, not only the first."""
    problems: dict[str, list] = {}
    for check in (endpoint.full_clean, lambda: check_address(endpoint)):
        try:
            check()
        except ValidationError as error:
            error.update_error_dict(problems)
    if not {"provider", "model", "options"} & set(problems):
        try:
            check_options(endpoint)
        except ValidationError as error:
            error.update_error_dict(problems)
    if problems:
        raise ValidationError(problems)


def check_address(endpoint: Endpoint) -> None:
    """http and https only, and only hosts that the site allows; never an address that clouds keep their secrets at."""
    if not endpoint.base_url:
        return
    try:
        parts = urlsplit(endpoint.base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = None, "", None
    if parts is None or parts.scheme not in ("http", "https") or not _HOST.fullmatch(host) or not _is_plain(endpoint):
        raise ValidationError({"base_url": "An address that begins with http:// or https:// is expected."})
    if parts.username is not None or parts.query or parts.fragment:
        raise ValidationError(
            {"base_url": "An address without a user, password or query is expected; keys come from the environment."}
        )
    allowed = settings.ENDPOINT_HOSTS
    if allowed and host not in allowed and f"{host}:{port}" not in allowed:
        raise ValidationError({"base_url": f"This site allows only {', '.join(allowed)} (ENDPOINT_HOSTS)."})
    if _is_link_local(host):
        raise ValidationError({"base_url": "A link-local address is no model server."})


def _is_plain(endpoint: Endpoint) -> bool:
    """urlsplit drops some of the characters that no address holds."""
    return endpoint.base_url.isascii() and endpoint.base_url.isprintable() and " " not in endpoint.base_url


def _is_link_local(host: str) -> bool:
    """In every way of writing an address: 169.254.169.254 is also 2852039166 and ::ffff:169.254.169.254."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            address = ipaddress.ip_address(socket.inet_aton(host))
        except OSError:
            return False
    return (getattr(address, "ipv4_mapped", None) or address).is_link_local


def check_options(endpoint: Endpoint) -> None:
    """Options that can never work are refused when they are written, not when the first call fails."""
    if not isinstance(endpoint.options, dict):
        raise ValidationError({"options": "A JSON object is expected."})
    try:
        text = json.dumps(endpoint.options, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ValidationError({"options": "NaN and Infinity are no JSON."}) from error
    if "\\u0000" in text or storable(text) != text:
        raise ValidationError({"options": "NUL characters and halves of surrogate pairs cannot be stored."})
    if endpoint.provider in ("openai", "anthropic", "vllm"):
        return
    if endpoint.provider in backends.ENGINES:
        try:
            check_engine_options(endpoint.options)
        except BackendError as error:
            raise ValidationError({"options": str(error)}) from error
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
