"""Planning of calls: each waiting item gets its row in the ledger before it is claimed."""

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from core.digests import json_digest
from core.ids import new_uid
from core.messages import Sentence, gettext_noop
from core.texts import canonical
from workers.domain.pricing import Extent, estimated_tokens
from workers.models import Call, CallState, Endpoint, Item
from workers.models.call import COMPLETED
from workers.providers.contract import Backend, EngineBackend, Request, for_endpoint
from workers.providers.errors import BackendError
from workers.providers.options import LIMITS
from workers.services.handlers import HandlerUnknown, handler_of


def call_key(*, provider: str, base_url: str, model: str, revision: str, body: Mapping[str, Any], sample: int) -> str:
    """Return the key of a call: SHA-256, 64 hexadecimal digits.

    The model is part of the key beside the body, and so is the server: two servers may offer different weights under
    one name.
    """
    parts = [provider, base_url.rstrip("/"), model, revision, sample, canonical(body)]
    return json_digest(parts, ensure_ascii=False)


log = logging.getLogger(__name__)
AHEAD, CHUNK = 256, 64
"""How many items are planned ahead of their claim, and how many in one step."""
_CALL_COLUMNS = [
    "uid", "key", "endpoint", "provider", "model", "revision", "body", "sample", "handler", "reserved_cost",
    "planned_at",
]  # fmt: skip


def plan(*, items: Sequence[Item], endpoint: Endpoint, backend: Backend | EngineBackend, now: datetime) -> int:
    """Give `items` of one endpoint their calls; those that cannot be asked fail with a sentence. Returns how many were
    planned.

    The caller holds a transaction. Equal questions share a row, also with calls that other workers plan at the same
    time.
    """
    keys: dict[int, str] = {}
    rows: dict[str, tuple[Any, ...]] = {}
    problems: dict[int, str] = {}
    preset_answers: dict[str, str] = {}
    for item, request in _requests(items):
        if isinstance(request, str):
            problems[item.pk] = request
            continue
        try:
            body = backend.body(for_endpoint(request, endpoint.spec))
        except BackendError as error:
            problems[item.pk] = str(error)
            continue
        text = canonical(body)
        if problem := _too_long(endpoint, text, request):
            problems[item.pk] = problem
            continue
        keys[item.pk] = key = key_of(endpoint, body, request.sample)
        rows.setdefault(key, _row(endpoint, item, request, key, text, now))
        if request.preset_answer is not None:
            preset_answers[key] = request.preset_answer
    Call.objects.plan(_CALL_COLUMNS, rows.values())
    _answer_preset(preset_answers, now)
    ids = dict(Call.objects.filter(key__in=rows).values_list("key", "id"))
    Item.objects.attach({item: ids[key] for item, key in keys.items()})
    Item.objects.fail_unasked(problems, now=now)
    return len(keys)


BY_RULE = "rule"
"""Source of the answer to a call whose answer is known without asking."""


def _answer_preset(answers: Mapping[str, str], now: datetime) -> None:
    """Complete the calls, by key, whose answers are known: no attempt is made for them, and they cost nothing."""
    calls = list(Call.objects.filter(key__in=answers).exclude(state__in=COMPLETED)) if answers else []
    for call in calls:
        call.take_answer(CallState.ANSWERED, finished_at=now, answer=answers[call.key], answered_by=BY_RULE, cost=0)
    Call.objects.answer(calls)


def key_of(endpoint: Endpoint, body: Mapping[str, Any], sample: int) -> str:
    """Return the ledger's key of a call of the endpoint."""
    return call_key(
        provider=endpoint.provider,
        base_url=endpoint.base_url,
        model=endpoint.model,
        revision=endpoint.revision,
        body=body,
        sample=sample,
    )


def _requests(items: Sequence[Item]) -> Iterator[tuple[Item, Request | str]]:
    by_handler: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_handler[item.job.handler].append(item)
    for name, group in by_handler.items():
        try:
            requests = handler_of(name).ask(group)
        except HandlerUnknown as error:
            requests = dict.fromkeys((item.pk for item in group), str(error))
        except Exception:
            log.exception("The job handler %s could not ask.", name)
            problem = gettext_noop("The question could not be made; the worker's log says why.")
            requests = dict.fromkeys((item.pk for item in group), problem)
        for item in group:
            yield item, requests.get(item.pk, "There is nothing to ask for this item any more.")


def _too_long(endpoint: Endpoint, body: str, request: Request) -> str:
    """Return a sentence if question and answer cannot fit into the endpoint's context by a low estimate, else ""."""
    needed = Extent.of(body).fewest_tokens + request.max_tokens
    if not endpoint.context_tokens or needed <= endpoint.context_tokens:
        return ""
    return Sentence(
        "Question and answer take at least {needed} tokens; the context of {endpoint} holds {context_tokens}.",
        needed=f"{needed:,}",
        endpoint=endpoint.name,
        context_tokens=f"{endpoint.context_tokens:,}",
    )


def _row(endpoint: Endpoint, item: Item, request: Request, key: str, body: str, now: datetime) -> tuple[Any, ...]:
    """Return the values of a planned call, in the order of `_CALL_COLUMNS`."""
    values = (endpoint.provider, endpoint.model, endpoint.revision, body, request.sample, item.job.handler)
    reserved = reserve(endpoint, body, request.max_tokens, batch=item.job.batch)
    return new_uid(), key, endpoint.pk, *values, reserved, now


def reserve(endpoint: Endpoint, body: str, max_tokens: int, *, batch: bool) -> Decimal | None:
    """Return what a call can cost at most at the present prices; None where they are unknown."""
    return endpoint.prices.at_most(estimated_tokens(body), max_tokens, batch=batch)


def reserve_anew(call: Call, *, batch: bool) -> Decimal | None:
    """Return the most that a planned call can cost at present prices, by the limit of the answer in its body."""
    body = call.request
    max_tokens = next((body[name] for name in LIMITS if name in body), 0)
    return reserve(call.endpoint, call.body, max_tokens, batch=batch)
