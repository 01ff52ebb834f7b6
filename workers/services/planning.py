"""From items to calls: each waiting item gets its row in the ledger before it is claimed."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from workers.backends.contract import Backend, Request
from workers.backends.errors import BackendError
from workers.domain.ledger_key import call_key, canonical
from workers.domain.pricing import fewest_tokens
from workers.models import Call, CallState, Endpoint, Item, ItemState
from workers.models.bulk import update_rows
from workers.models.opaque import new_uid
from workers.services.purposes import purpose_of

log = logging.getLogger(__name__)
AHEAD = 256
"""Items that get their calls at once."""


def plan(*, items: Sequence[Item], endpoint: Endpoint, backend: Backend, now: datetime) -> int:
    """Gives `items` of one endpoint their calls; those that cannot be asked fail with a sentence. Returns how many were planned.

    The caller holds a transaction. Equal questions share a row, also with calls that other workers plan at the same time.
    """
    keys: dict[int, str] = {}
    rows: dict[str, Call] = {}
    problems: dict[int, str] = {}
    for item, request in _asked(items):
        if isinstance(request, str):
            problems[item.pk] = request
            continue
        try:
            body = backend.body(request)
        except BackendError as error:
            problems[item.pk] = str(error)
            continue
        if problem := _too_long(endpoint, body, request):
            problems[item.pk] = problem
            continue
        call = _call(endpoint, item, request, body, now)
        keys[item.pk] = call.key
        rows.setdefault(call.key, call)
    Call.objects.bulk_create(rows.values(), ignore_conflicts=True)
    ids = dict(Call.objects.filter(key__in=rows).values_list("key", "id"))
    update_rows(Item, ["call"], [(ids[key], item) for item, key in keys.items()])
    update_rows(
        Item,
        ["state", "problem", "finished_at"],
        [(ItemState.FAILED, problem, now, item) for item, problem in problems.items()],
    )
    return len(keys)


def _asked(items: Sequence[Item]):
    by_purpose: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_purpose[item.job.purpose].append(item)
    for name, group in by_purpose.items():
        try:
            requests = purpose_of(name).ask(group)
        except LookupError as error:
            requests = dict.fromkeys((item.pk for item in group), str(error))
        except Exception:
            log.exception("The purpose %s could not ask.", name)
            told = "The question could not be made; the worker's log says why."
            requests = dict.fromkeys((item.pk for item in group), told)
        for item in group:
            yield item, requests.get(item.pk, "There is nothing to ask for this item any more.")


def _too_long(endpoint: Endpoint, body: dict, request: Request) -> str:
    """A sentence where question and answer cannot fit into the endpoint's context, counted in its favour."""
    needed = fewest_tokens(len(canonical(body))) + request.max_tokens
    if not endpoint.context_tokens or needed <= endpoint.context_tokens:
        return ""
    return f"Question and answer take at least {needed:,} tokens; the context of {endpoint.name} holds {endpoint.context_tokens:,}."


def _call(endpoint: Endpoint, item: Item, request: Request, body: dict, now: datetime) -> Call:
    text = canonical(body)
    return Call(
        uid=new_uid(),
        key=call_key(
            provider=endpoint.provider,
            base_url=endpoint.base_url,
            model=endpoint.model,
            revision=endpoint.revision,
            body=body,
            sample=request.sample,
        ),
        endpoint=endpoint,
        provider=endpoint.provider,
        model=endpoint.model,
        revision=endpoint.revision,
        body=text,
        sample=request.sample,
        purpose=item.job.purpose,
        state=CallState.PLANNED,
        reserved_cost=endpoint.prices.at_most(len(text), request.max_tokens, batch=item.job.batch),
        planned_at=now,
    )
