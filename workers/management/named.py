"""Endpoints as commands name them."""

from __future__ import annotations

from workers.models import Endpoint


def endpoint_named(name: str) -> Endpoint:
    """Return the endpoint of that name. Raises ValueError, which says what there is."""
    endpoint = Endpoint.objects.filter(name=name).first()
    if endpoint is None:
        names = ", ".join(Endpoint.objects.values_list("name", flat=True)) or "none"
        raise ValueError(f"There is no endpoint {name!r}; there are: {names}.")
    return endpoint
