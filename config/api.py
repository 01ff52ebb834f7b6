"""The one root of the API: its description, the operations of every app, and an answer for every other address."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView

from annotation.api import urls as annotation
from benchmark.api import urls as benchmark
from core.api.errors import Nothing
from judge.api import urls as judge
from workers.api import urls as workers

app_name = "api"


class Schema(SpectacularAPIView):
    """The OpenAPI description: YAML, or JSON by `?format=json` or the Accept header."""


def docs(request: HttpRequest) -> HttpResponse:
    """The description as a page to read and try out. For people: a log-in is asked for, as on every page."""
    return render(request, "core/api_docs.html")


urlpatterns = [
    path("docs/", docs, name="docs"),
    path("v1/schema/", Schema.as_view(), name="schema"),
    *annotation.urlpatterns,
    *judge.urlpatterns,
    *benchmark.urlpatterns,
    *workers.urlpatterns,
    re_path("", Nothing.as_view(), name="nothing"),
]
