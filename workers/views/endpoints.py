from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from core.idempotency.forms import made_before, made_once
from workers.access import site_admin
from workers.domain.pricing import Money
from workers.forms.endpoints import EndpointForm
from workers.models import COMPLETED, Endpoint
from workers.providers import registry
from workers.services.endpoints import EndpointInUse, TryState, delete_endpoint, is_used, save_endpoint, try_state
from workers.tasks import start_try


@site_admin
@require_GET
def endpoints(request: HttpRequest) -> HttpResponse:
    rows = Endpoint.objects.annotate(
        made=Count("calls", filter=Q(calls__state__in=COMPLETED)),
        spent=Sum("calls__cost", default=Decimal(0)),
        unpriced=Count("calls", filter=Q(calls__state__in=COMPLETED, calls__cost=None)),
    )
    shown = [{"endpoint": row, "spent": Money(row.spent, row.unpriced), **_tried(row)} for row in rows]
    return render(request, "workers/endpoints.html", {"rows": shown})


@site_admin
def endpoint(request: HttpRequest, name: str = "") -> HttpResponse:
    """`name` to be changed or deleted, or a new one: then the provider comes first, because it decides what else is to be said."""
    if name:
        held = get_object_or_404(Endpoint, name=name)
        if request.method == "POST" and "delete" in request.POST:
            return _delete(request, held)
        return _edit(request, held.provider, held)
    provider = request.GET.get("provider") or request.POST.get("provider", "")
    if registry.problem_of(provider):
        return render(request, "workers/providers.html", {"providers": registry.registered()})
    return _edit(request, provider, None)


def _edit(request: HttpRequest, provider: str, held: Endpoint | None) -> HttpResponse:
    about = registry.find(provider)
    initial = {} if held else dict(about.defaults)
    form = EndpointForm(request.POST or None, instance=held, initial=initial, provider=provider)
    if request.method == "POST" and form.is_valid():
        values = ({} if held else {**initial, "provider": provider}) | form.cleaned_data
        try:
            fresh = Endpoint.objects.get(pk=held.pk) if held else None  # the form has written into its own instance
            made = made_once(
                request, lambda: save_endpoint(by=request.user.get_username(), values=values, endpoint=fresh).name
            )
        except ValidationError as error:
            _add_errors(form, error)
        else:
            messages.success(request, f"{made} is saved.")
            return redirect("workers:endpoint", made)
    elif made := made_before(request):
        return redirect("workers:endpoint", made)
    context = {"form": form, "provider": about.label}
    if held:
        held.refresh_from_db()
        context |= {"endpoint": held, "is_used": is_used(held), **_tried(held)}
    return render(request, "workers/endpoint.html", context)


def _add_errors(form: EndpointForm, error: ValidationError) -> None:
    """Beside the fields that the form shows, the others above it."""
    for name, sentences in error.message_dict.items():
        form.add_error(name if name in form.fields else None, sentences)


def _delete(request: HttpRequest, held: Endpoint) -> HttpResponse:
    try:
        delete_endpoint(endpoint=held)
    except EndpointInUse as refusal:
        messages.error(request, str(refusal))
        return redirect("workers:endpoint", held.name)
    messages.success(request, f"{held.name} is deleted.")
    return redirect("workers:endpoints")


@site_admin
@require_POST
def try_it(request: HttpRequest, name: str) -> HttpResponse:
    """Asks a worker to make one short call; the page looks until it has come back."""
    held = get_object_or_404(Endpoint, name=name)
    heard = start_try(held)
    context = {"endpoint": held, "waiting": heard, "unanswered": not heard}
    return render(request, "workers/_tried.html", context)


@site_admin
@require_GET
def tried(request: HttpRequest, name: str) -> HttpResponse:
    held = get_object_or_404(Endpoint, name=name)
    return render(request, "workers/_tried.html", {"endpoint": held, **_tried(held)})


def _tried(held: Endpoint) -> dict[str, Any]:
    """`waiting` for an answer to the last try, or `unanswered` because none came in time."""
    state = try_state(held)
    return {"waiting": state == TryState.WAITING, "unanswered": state == TryState.NO_WORKER}
