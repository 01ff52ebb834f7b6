from __future__ import annotations

import json

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from workers.access import site_admin
from workers.forms.endpoints import LedgerFilter
from workers.models import Call, CallState, Endpoint
from workers.services import ledger as service


@site_admin
@require_GET
def ledger(request: HttpRequest) -> HttpResponse:
    form = LedgerFilter(request.GET)
    chosen = form.cleaned_data if form.is_valid() else {}
    page = Paginator(service.search(**chosen), 50).get_page(request.GET.get("page"))
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "page": page,
        "query": query.urlencode(),
        "chosen": chosen,
        "form": form,
        "states": CallState.choices,
        "endpoints": Endpoint.objects.values_list("name", flat=True),
        "purposes": Call.objects.order_by("purpose").values_list("purpose", flat=True).distinct(),
    }
    return render(request, "workers/ledger.html", context)


@site_admin
@require_GET
def call(request: HttpRequest, uid: str) -> HttpResponse:
    """One call: what was asked, what came back, every attempt, and who asked for it."""
    held = get_object_or_404(Call.objects.select_related("endpoint"), uid=uid)
    body = held.request
    said = body.get("messages") or []
    system = body.get("system") or []
    rest = {name: value for name, value in body.items() if name not in ("messages", "system")}
    context = {
        "call": held,
        "messages_asked": [*({"role": "system", "content": one.get("text", "")} for one in system), *said],
        "rest": json.dumps(rest, indent=2, ensure_ascii=False),
        "attempts": held.attempts.select_related("worker"),
        "items": held.items.select_related("job")[:20],
    }
    return render(request, "workers/call.html", context)


@site_admin
@require_GET
def spending(request: HttpRequest) -> HttpResponse:
    by = request.GET.get("by") if request.GET.get("by") in ("endpoint", "day", "purpose") else "endpoint"
    rows = service.spending(by)
    most = max((row["total_cost"] or 0 for row in rows), default=0)
    context = {"by": by, "rows": rows, "most": most, "totals": service.totals(), "tabs": ("endpoint", "day", "purpose")}
    return render(request, "workers/spending.html", context)
