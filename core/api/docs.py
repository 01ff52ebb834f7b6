from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.views import SpectacularAPIView


class Schema(SpectacularAPIView):
    """The OpenAPI description: YAML, or JSON by `?format=json` or the Accept header."""


def docs(request: HttpRequest) -> HttpResponse:
    """The description as a page to read and try out. For people: a log-in is asked for, as on every page."""
    return render(request, "core/api_docs.html")
