import json
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef
from django.db.models.functions import Left, Length
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from core.catalogues.sentences import translated
from core.messages import gettext_noop
from core.texts import storable
from workers.access import site_admin
from workers.forms.endpoints import LedgerFilter
from workers.models import Attempt, Call, CallState, Endpoint, Job
from workers.services import ledger as service

LOST = ("lost", gettext_noop("Lost an answer"))
"""Not a state of a call but of an attempt: the call itself may have been answered later."""
MOST_CHARACTERS = 20_000
"""Characters of a text that a page shows: a browser cannot lay out megabytes."""
ROLES = (gettext_noop("system"), gettext_noop("user"), gettext_noop("assistant"))
"""Roles of messages, which the page of a call translates."""
GROUPINGS = {"endpoint": gettext_noop("Model"), "day": gettext_noop("Day"), "handler": gettext_noop("Job handler")}


@site_admin
@require_GET
def ledger(request: HttpRequest) -> HttpResponse:
    form = LedgerFilter(request.GET)
    form.is_valid()
    chosen = form.cleaned_data  # valid fields count beside invalid ones; an invalid text finds nothing
    is_lost = chosen.get("state") == LOST[0]
    calls = service.search(**{"handler": ""} | chosen | ({"state": ""} if is_lost else {}))
    if is_lost:
        calls = calls.filter(Exists(Attempt.objects.lost().filter(call=OuterRef("pk"))))
    if form.errors.get("text"):
        calls = calls.none()
    page = Paginator(calls, 50).get_page(request.GET.get("page"))
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "page": page,
        "query": query.urlencode(),
        "chosen": chosen,
        "filtered": any(chosen.values()) or bool(form.errors),
        "form": form,
        "states": [*CallState.choices, LOST],
        "lost": service.lost_answers(),
        "endpoints": Endpoint.objects.values_list("name", flat=True),
        "handlers": Job.objects.order_by("handler").values_list("handler", flat=True).distinct(),
    }
    return render(request, "workers/ledger.html", context)


@site_admin
@require_GET
def call(request: HttpRequest, uid: str) -> HttpResponse:
    """Show one call: what was asked, what came back, every attempt, and who asked for it."""
    current = get_object_or_404(Call.objects.select_related("endpoint"), uid=uid)
    asked, rest = _asked(current)
    if (name := request.GET.get("text")) is not None:
        return _download(current, name, asked, rest)
    sized = current.attempts.annotate(beginning=Left("body", MOST_CHARACTERS), size=Length("body"))
    attempts: list[Any] = list(sized.select_related("worker").defer("body"))
    for attempt in attempts:
        read = cut(attempt.beginning) | {"whole": attempt.size, "is_cut": attempt.size > MOST_CHARACTERS}
        attempt.response = read
    took = current.finished_at - current.sent_at if current.finished_at and current.sent_at else None
    context = {
        "call": current,
        "shown_at": current.finished_at or current.planned_at,
        "seconds": took.total_seconds() if took else None,
        "answer": cut(_readable(current.answer)),
        "as_it_came": cut(current.answer),
        "reasoning": cut(current.reasoning),
        "messages_asked": [{"role": role, "content": cut(text)} for role, text in asked],
        "rest": cut(rest),
        "shown_at_most": MOST_CHARACTERS,
        "attempts": attempts,
        "unread": next((attempt for attempt in reversed(attempts) if attempt.size), None),
        "items": current.items.select_related("job")[:20],
    }
    return render(request, "workers/call.html", context)


def cut(text: str) -> dict[str, Any]:
    """Return the beginning of a text that a page shows, the number of all its characters, and whether it is cut."""
    return {"text": text[:MOST_CHARACTERS], "whole": len(text), "is_cut": len(text) > MOST_CHARACTERS}


def _asked(call: Call) -> tuple[list[tuple[str, str]], str]:
    """Return the messages as (role, text), and the rest of the request as indented JSON."""
    body = _showable(call.request)
    system = [("system", str(part.get("text", ""))) for part in body.get("system") or []]
    messages = [(str(part.get("role", "")), str(part.get("content", ""))) for part in body.get("messages") or []]
    rest = {name: value for name, value in body.items() if name not in ("messages", "system")}
    return [*system, *messages], json.dumps(rest, indent=2, ensure_ascii=False)


def _download(call: Call, name: str, asked: list[tuple[str, str]], rest: str) -> HttpResponse:
    """Return one text of a call, whole, as a file: a browser must neither render it nor guess its type."""
    texts = {
        "answer": call.answer,
        "reasoning": call.reasoning,
        "prompt": "\n\n".join(f"[{role}]\n{text}" for role, text in asked),
        "settings": rest,
    }
    if name.startswith("body-") and name[5:].isdecimal():
        texts[name] = get_object_or_404(Attempt, call=call, number=int(name[5:])).body
    if name not in texts:
        raise Http404(gettext_noop("There is no such text."))
    headers = {
        "Content-Disposition": f'attachment; filename="{call.uid}-{name}.txt"',
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(texts[name], content_type="text/plain; charset=utf-8", headers=headers)


def _readable(answer: str) -> str:
    """Return JSON with its lines indented; anything else, and what is too long to be shown whole, as it came."""
    if len(answer) > MOST_CHARACTERS:
        return answer
    try:
        value = json.loads(answer)
        return json.dumps(_showable(value), indent=2, ensure_ascii=False) if isinstance(value, dict | list) else answer
    except (ValueError, RecursionError):
        return answer


def _showable(value: Any) -> Any:
    """Return a JSON value without halves of surrogate pairs, which JSON may hold and no page can."""
    if isinstance(value, dict):
        return {storable(name): _showable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_showable(inner) for inner in value]
    return storable(value) if isinstance(value, str) else value


@site_admin
@require_GET
def spending(request: HttpRequest) -> HttpResponse:
    by = request.GET.get("by", "")
    by = by if by in GROUPINGS else "endpoint"
    groups = service.spending(by)
    context = {
        "by": by,
        "by_name": GROUPINGS[by],
        "tabs": GROUPINGS.items(),
        "rows": [_row(by, spent) for spent in groups],
        "most": max((spent["total_cost"] for spent in groups), default=0),
        "totals": service.totals(),
        "lost": service.lost_answers(),
    }
    return render(request, "workers/spending.html", context)


def _row(by: str, spent: dict[str, Any]) -> dict[str, Any]:
    """Return a group of calls with its name, and the address of its calls if it has a name."""
    group = spent["group"]
    name = f"{group:%Y-%m-%d}" if by == "day" and group else str(group or "")
    label = translated(name) if by == "handler" else name
    href = f"{reverse('workers:ledger')}?{urlencode({by: name})}" if name else ""
    return {"name": label or "–", "href": href, "spent": spent}
