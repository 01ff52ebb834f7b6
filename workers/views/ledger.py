from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from workers.access import site_admin
from workers.domain.ledger_key import storable
from workers.forms.endpoints import LedgerFilter
from workers.models import Attempt, Call, CallState, Endpoint, Job
from workers.services import ledger as service

LOST = ("lost", "Lost an answer")
"""Not a state of a call but of an attempt: the call itself may have been answered later."""
GROUPINGS = {"endpoint": "Model", "day": "Day", "purpose": "Purpose"}


@site_admin
@require_GET
def ledger(request: HttpRequest) -> HttpResponse:
    form = LedgerFilter(request.GET)
    form.is_valid()
    chosen = form.cleaned_data  # what is right counts, beside what is not
    page = Paginator(_calls(chosen), 50).get_page(request.GET.get("page"))
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "page": page,
        "query": query.urlencode(),
        "chosen": chosen,
        "filtered": any(chosen.values()),
        "form": form,
        "states": [*CallState.choices, LOST],
        "endpoints": Endpoint.objects.values_list("name", flat=True),
        "purposes": Job.objects.order_by("purpose").values_list("purpose", flat=True).distinct(),
    }
    return render(request, "workers/ledger.html", context)


def _calls(chosen: dict) -> QuerySet[Call]:
    if chosen.get("state") != LOST[0]:
        return service.search(**chosen)
    lost = Attempt.objects.filter(call=OuterRef("pk"), outcome="unknown")
    return service.search(**chosen | {"state": ""}).filter(Exists(lost))


@site_admin
@require_GET
def call(request: HttpRequest, uid: str) -> HttpResponse:
    """One call: what was asked, what came back, every attempt, and who asked for it."""
    held = get_object_or_404(Call.objects.select_related("endpoint"), uid=uid)
    body = _showable(held.request)
    said = body.get("messages") or []
    system = body.get("system") or []
    rest = {name: value for name, value in body.items() if name not in ("messages", "system")}
    timed = held.sent_at and held.finished_at
    context = {
        "call": held,
        "shown_at": held.finished_at or held.planned_at,
        "seconds": (held.finished_at - held.sent_at).total_seconds() if timed else None,
        "answer": _readable(held.answer),
        "messages_asked": [*({"role": "system", "content": one.get("text", "")} for one in system), *said],
        "rest": json.dumps(rest, indent=2, ensure_ascii=False),
        "attempts": held.attempts.select_related("worker"),
        "items": held.items.select_related("job")[:20],
    }
    return render(request, "workers/call.html", context)


def _readable(answer: str) -> str:
    """JSON with its lines indented; anything else as it came."""
    try:
        read = json.loads(answer)
        return json.dumps(_showable(read), indent=2, ensure_ascii=False) if isinstance(read, dict | list) else answer
    except (ValueError, RecursionError):
        return answer


def _showable(value: Any) -> Any:
    """Without the halves of surrogate pairs that JSON may hold and no page can."""
    if isinstance(value, dict):
        return {storable(name): _showable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_showable(inner) for inner in value]
    return storable(value) if isinstance(value, str) else value


@site_admin
@require_GET
def spending(request: HttpRequest) -> HttpResponse:
    by = request.GET.get("by") if request.GET.get("by") in GROUPINGS else "endpoint"
    rows = [row | _group(by, row["group"]) for row in service.spending(by)]
    most = max((row["total_cost"] or 0 for row in rows), default=0)
    context = {
        "by": by,
        "by_name": GROUPINGS[by],
        "tabs": GROUPINGS.items(),
        "rows": rows,
        "most": most,
        "totals": service.totals(),
    }
    return render(request, "workers/spending.html", context)


def _group(by: str, group) -> dict[str, str]:
    """How a row is called, and where its calls are."""
    shown = f"{group:%Y-%m-%d}" if by == "day" and group else str(group or "")
    return {"name": shown or "–", "href": f"{reverse('workers:ledger')}?{urlencode({by: shown})}" if shown else ""}
