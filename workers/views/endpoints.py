from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from workers.access import site_admin
from workers.forms.endpoints import EndpointForm
from workers.models import Endpoint
from workers.services.endpoints import DEFAULTS, save_endpoint
from workers.tasks import ask_to_try


@site_admin
@require_GET
def endpoints(request: HttpRequest) -> HttpResponse:
    rows = Endpoint.objects.annotate(
        made=Count("calls", filter=Q(calls__state__in=["answered", "truncated", "refused"])), spent=Sum("calls__cost")
    )
    return render(request, "workers/endpoints.html", {"rows": rows})


@site_admin
def endpoint(request: HttpRequest, name: str = "") -> HttpResponse:
    """A new endpoint, or `name` to be changed."""
    held = get_object_or_404(Endpoint, name=name) if name else None
    provider = request.GET.get("provider", "")
    initial = {} if held else {"provider": provider or None, **DEFAULTS.get(provider, {})}
    form = EndpointForm(request.POST or None, instance=held, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            fresh = Endpoint.objects.get(pk=held.pk) if held else None  # the form has written into its own instance
            saved = save_endpoint(by=request.user.get_username(), values=form.cleaned_data, endpoint=fresh)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, f"{saved.name} is saved.")
            return redirect("workers:endpoint", saved.name)
    return render(request, "workers/endpoint.html", {"form": form, "endpoint": held})


@site_admin
@require_POST
def try_it(request: HttpRequest, name: str) -> HttpResponse:
    """Asks a worker to make one short call; the page looks until it has come back."""
    held = get_object_or_404(Endpoint, name=name)
    Endpoint.objects.filter(pk=held.pk).update(tried_at=timezone.now(), tried={})
    heard = ask_to_try(held)
    context = {"endpoint": held, "waiting": heard, "unheard": not heard}
    return render(request, "workers/_tried.html", context)


@site_admin
@require_GET
def tried(request: HttpRequest, name: str) -> HttpResponse:
    held = get_object_or_404(Endpoint, name=name)
    waiting = bool(held.tried_at) and not held.tried
    long_since = waiting and (timezone.now() - held.tried_at).total_seconds() > 90
    context = {"endpoint": held, "waiting": waiting and not long_since, "unheard": long_since}
    return render(request, "workers/_tried.html", context)
