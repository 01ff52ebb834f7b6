"""Mounted by the one root of the API (`config.api`)."""

from django.urls import path

from workers.api import endpoints

urlpatterns = [
    path("v1/endpoints/", endpoints.Endpoints.as_view(), name="endpoints"),
    path("v1/endpoints/<slug:name>/", endpoints.OneEndpoint.as_view(), name="endpoint"),
    path("v1/endpoints/<slug:name>/try/", endpoints.TryEndpoint.as_view(), name="try_endpoint"),
]
