"""Registering of models, and trying one."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models.fields.reverse_related import ForeignObjectRel
from django.utils import timezone

from core.messages import Sentence, gettext_noop
from core.plain import Json
from workers.models import COMPLETED, IN_FLIGHT, CallState, Endpoint, EndpointRateLimit
from workers.providers import contract, registry
from workers.providers.contract import closed_object
from workers.providers.errors import BackendError
from workers.providers.parsing import STOP_SENTENCES
from workers.services.endpoint_rules import check_endpoint
from workers.services.engine_runner import loaded_engine

QUESTION = "Answer with the single word yes: is three more than two?"
SCHEMA = closed_object({"three_is_more": {"type": "string", "enum": ["yes", "no"]}})
"""The question does not mention it: an answer that fits was constrained by it."""


@transaction.atomic
def save_endpoint(*, by: str, values: Mapping[str, Any], endpoint: Endpoint | None = None) -> Endpoint:
    """Register an endpoint, or change `endpoint`. Raises ValidationError with sentences by field.

    The provider and the model of an endpoint that has answered stay what they are: its answers are theirs. Before that
    they can be corrected. What waits, is held back or failed is then asked with the settings of now.
    """
    endpoint = endpoint or Endpoint(created_by=by)
    before, shaped_before = _identity(endpoint), _shape(endpoint)
    for name, value in values.items():
        setattr(endpoint, name, value)
    corrected = endpoint.pk and before != _identity(endpoint)
    if corrected and endpoint.calls.filter(state__in=[*COMPLETED, *IN_FLIGHT, CallState.UNKNOWN]).exists():
        raise ValidationError(
            {
                "model": gettext_noop(
                    "This endpoint has answered already; register another one for another model or address."
                )
            }
        )
    check_endpoint(endpoint)
    endpoint.save()
    EndpointRateLimit.objects.get_or_create(endpoint=endpoint)
    if corrected or (endpoint.items.exists() and shaped_before != _shape(endpoint)):
        EndpointRateLimit.locked(endpoint.pk)  # no worker claims them meanwhile
        endpoint.items.all().detach()
    return endpoint


def _identity(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the settings that say which model answers."""
    return endpoint.provider, endpoint.model, endpoint.revision, endpoint.base_url


def _shape(endpoint: Endpoint) -> tuple[Any, ...]:
    """Return the settings that shape a request beside those: one that waits is made again where they change."""
    return endpoint.sets_temperature, endpoint.json_schema, endpoint.no_system_role, endpoint.options


class EndpointInUse(ValueError):
    """Raised with one sentence that says why an endpoint stays."""


def is_used(endpoint: Endpoint) -> bool:
    """Return whether anything of any app refers to the endpoint: calls, items, batches, rounds, runs."""
    fields = Endpoint._meta.get_fields(include_hidden=True)
    relations = [field for field in fields if isinstance(field, ForeignObjectRel)]
    return any(
        relation.related_model._base_manager.filter(**{relation.field.name: endpoint}).exists()
        for relation in relations
        if relation.related_model != EndpointRateLimit
    )


@transaction.atomic
def delete_endpoint(*, endpoint: Endpoint) -> None:
    """Delete an endpoint that was never used. Raises EndpointInUse for another."""
    locked = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    if is_used(locked):
        raise EndpointInUse(
            Sentence("{locked} has been used, so it stays; it can be switched off.", locked=locked.name)
        )
    locked.delete()


TRY_SECONDS = 90
"""Seconds that a page waits for a try; the message to the workers expires then, too."""


class TryState(models.TextChoices):
    """The state of the last try of an endpoint. `NO_WORKER`: no worker answered in time; `DONE`: there is a result."""

    NEVER = "never", "never"
    WAITING = "waiting", "waiting"
    NO_WORKER = gettext_noop("no worker"), gettext_noop("no worker")
    DONE = "done", "done"


def try_state(endpoint: Endpoint) -> TryState:
    """Return the state of the endpoint's last try."""
    if endpoint.tried_at is None:
        return TryState.NEVER
    if endpoint.tried:
        return TryState.DONE
    late = (timezone.now() - endpoint.tried_at).total_seconds() > TRY_SECONDS
    return TryState.NO_WORKER if late else TryState.WAITING


def begin_try(endpoint: Endpoint) -> bool:
    """Note that a try begins. False where one is awaited already; of several that begin at once, one does."""
    if try_state(endpoint) == TryState.WAITING:
        return False
    before, now = Endpoint.objects.filter(pk=endpoint.pk, tried_at=endpoint.tried_at), timezone.now()
    begun = bool(before.update(tried_at=now, tried={}))
    endpoint.refresh_from_db(fields=["tried_at", "tried"])
    return begun


def try_endpoint(*, endpoint: Endpoint) -> Json:
    """Ask one short question, once more with a JSON schema where the endpoint claims structured output, and keep what
    came of it: {ok, said[, kind][, model, seconds, input, output, stop, problem, supported[, schema]]}.

    `said` is the beginning of the answer, or the sentence of an error of this `kind`. It costs a few tokens and is not
    in the ledger, which holds only the calls of jobs. Called by a task: it may take as long as the endpoint's timeout.
    """
    started = timezone.now()
    try:
        tried = _tried(endpoint, started)
    except BackendError as error:
        tried = {"ok": False, "said": str(error), "kind": type(error).__name__}
    Endpoint.objects.filter(pk=endpoint.pk).update(tried_at=started, tried=tried)
    return tried


def _tried(endpoint: Endpoint, started: datetime) -> Json:
    fixed = endpoint.about.models.get(endpoint.model)
    request = contract.Request(
        (contract.Message("user", QUESTION),),
        max_tokens=200 + endpoint.reasoning_tokens,
        temperature=0.0,
        task=fixed.sample if fixed else {"kind": ""},
    )
    completion = _ask_once(endpoint, request)
    seconds = (timezone.now() - started).total_seconds()
    reads = endpoint.about.reads_prompts
    schema = _try_schema(endpoint, request) if endpoint.json_schema and reads else None
    others = {
        "model": completion.model,
        "seconds": round(seconds, 2),
        "input": completion.usage.input,
        "output": completion.usage.output,
        "stop": completion.stop,
        "problem": completion.problem or STOP_SENTENCES[completion.stop],
        "supported": {  # None for what was not asked for
            "temperature": True if endpoint.sets_temperature and reads else None,
            "json_schema": schema and schema["held"],
            "reasons": bool(completion.reasoning or completion.usage.reasoning),
        },
        "schema": schema,
    }
    said = completion.text.strip()[:300] or "(nothing)"
    return {"ok": True, "said": said} | {name: value for name, value in others.items() if value is not None}


def _try_schema(endpoint: Endpoint, request: contract.Request) -> Json:
    """Try whether answers are constrained by a JSON schema: {held, told, said}."""
    try:
        completion = _ask_once(endpoint, replace(request, schema=SCHEMA))
    except BackendError as error:
        return {"held": False, "told": Sentence("A call with a JSON schema fails: {error}", error=error), "said": ""}
    held = fits(completion.text)
    if held:
        told: str = gettext_noop("Its answer was held to the JSON schema.")
    elif completion.stop is not contract.Stop.END:
        problem = completion.problem or STOP_SENTENCES[completion.stop]
        told = Sentence("With a JSON schema there was no whole answer. {problem}", problem=problem)
    else:
        told = gettext_noop("The JSON schema was ignored: the answer does not fit it.")
    return {"held": held, "told": told, "said": completion.text.strip()[:300]}


def fits(text: str) -> bool:
    """Return whether an answer is an instance of SCHEMA."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(answer, dict) and list(answer) == ["three_is_more"] and answer["three_is_more"] in ("yes", "no")


def _ask_once(endpoint: Endpoint, request: contract.Request) -> contract.Completion:
    if endpoint.about.in_process:
        engine = loaded_engine(endpoint)
        (result,) = engine.complete_many([engine.body(request)])
        if isinstance(result, Exception):
            raise result
        return result
    return asyncio.run(_ask(registry.make(endpoint.spec), request, min(60, endpoint.timeout_seconds)))


async def _ask(backend: contract.Backend, request: contract.Request, timeout: float) -> contract.Completion:
    try:
        return await backend.complete(backend.body(request), timeout=timeout, call="try")
    finally:
        await backend.aclose()


def add_samples() -> None:
    """Register the endpoints that need no key and no network, where their names are free."""
    for provider in registry.registered():
        for name, model in provider.samples.items():
            if not Endpoint.objects.filter(name=name).exists():
                values = {"name": name, "provider": provider.name, "model": model, "family": gettext_noop("built in")}
                save_endpoint(by="", values={**provider.defaults, **values})
