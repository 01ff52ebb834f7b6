from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from core.idempotency.forms import made_before, made_once
from core.messages import Sentence
from core.views.pages import Context
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
    rows: Any = Endpoint.objects.annotate(
        made=Count("calls", filter=Q(calls__state__in=COMPLETED)),
        spent=Sum("calls__cost", default=Decimal(0)),
        unpriced=Count("calls", filter=Q(calls__state__in=COMPLETED, calls__cost=None)),
    )
    context = [{"endpoint": row, "spent": Money(row.spent, row.unpriced), **_tried(row)} for row in rows]
    return render(request, "workers/endpoints.html", {"rows": context})


@site_admin
def endpoint(request: HttpRequest, name: str = "") -> HttpResponse:
    """Change or delete the endpoint `name`, or register one after its provider was chosen."""
    if name:
        existing = get_object_or_404(Endpoint, name=name)
        if request.method == "POST" and "delete" in request.POST:
            try:
                delete_endpoint(endpoint=existing)
            except EndpointInUse as refusal:
                messages.error(request, str(refusal))
                return redirect("workers:endpoint", existing.name)
            messages.success(request, Sentence("{existing} is deleted.", existing=existing.name))
            return redirect("workers:endpoints")
        return _edit(request, existing.provider, existing)
    provider = request.GET.get("provider") or request.POST.get("provider", "")
    if registry.problem_of(provider):
        return render(request, "workers/providers.html", {"providers": registry.registered()})
    return _edit(request, provider, None)


def _edit(request: HttpRequest, provider: str, existing: Endpoint | None) -> HttpResponse:
    about = registry.find(provider)
    initial = {} if existing else dict(about.defaults)
    form = EndpointForm(request.POST or None, instance=existing, initial=initial, provider=provider)
    if request.method == "POST" and form.is_valid():
        values = ({} if existing else {**initial, "provider": provider}) | form.cleaned_data
        try:
            # not `existing`, into which the form has written
            stored = Endpoint.objects.get(pk=existing.pk) if existing else None
            name = made_once(
                request, lambda: save_endpoint(by=request.user.get_username(), values=values, endpoint=stored).name
            )
        except ValidationError as error:
            for field, sentences in error.message_dict.items():
                form.add_error(field if field in form.fields else None, sentences)
        else:
            messages.success(request, Sentence("{name} is saved.", name=name))
            return redirect("workers:endpoint", name)
    elif name := made_before(request):
        return redirect("workers:endpoint", name)
    context = {"form": form, "provider": about.label}
    if existing:
        existing.refresh_from_db()
        context |= {"endpoint": existing, "is_used": is_used(existing), **_tried(existing)}
    return render(request, "workers/endpoint.html", context)


@site_admin
@require_POST
def try_it(request: HttpRequest, name: str) -> HttpResponse:
    """Ask a worker to make one short call; the page asks for the result until it is there."""
    existing = get_object_or_404(Endpoint, name=name)
    started = start_try(existing)
    context = {"endpoint": existing, "waiting": started, "unanswered": not started}
    return render(request, "workers/_tried.html", context)


@site_admin
@require_GET
def tried(request: HttpRequest, name: str) -> HttpResponse:
    existing = get_object_or_404(Endpoint, name=name)
    return render(request, "workers/_tried.html", {"endpoint": existing, **_tried(existing)})


def _tried(existing: Endpoint) -> Context:
    """Return whether the last try is `waiting` for its result, or `unanswered` in time."""
    state = try_state(existing)
    return {"waiting": state == TryState.WAITING, "unanswered": state == TryState.NO_WORKER}
