"""Pages of benchmarks, all below a project's address."""

from django.urls import include, path

app_name = "benchmark"
urlpatterns = [
    path("p/<slug:slug>/", include("benchmark.urls.runs")),
    path("p/<slug:slug>/", include("benchmark.urls.results")),
]
