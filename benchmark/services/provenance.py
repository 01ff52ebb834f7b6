"""The provenance of a run: code, packages, and the endpoints as they are now."""

import platform
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from django.conf import settings

from benchmark.domain.provenance import EndpointSpec, Versions
from benchmark.models import Entrant
from core.plain import plain
from workers.models import Endpoint
from workers.providers.registry import registered

PACKAGES = ("celery", "django", "matplotlib", "numpy", "rapidfuzz", "scipy")
"""Beside those of the providers."""


def versions() -> Versions:
    """The code and the packages that work now."""
    return Versions(code=settings.CREDENCE_VERSION, python=platform.python_version(), packages=_packages())


def spec_of(endpoint: Endpoint) -> EndpointSpec:
    """An endpoint's settings without its prices and limits, of a fixed model with the version of its rules where it has
    any. There is no key in it: endpoints hold none."""
    fixed = endpoint.about.models.get(endpoint.model)
    return EndpointSpec(
        name=endpoint.name,
        provider=endpoint.provider,
        model=endpoint.model,
        revision=endpoint.revision,
        base_url=endpoint.base_url,
        family=endpoint.family,
        options=endpoint.options,
        sets_temperature=endpoint.sets_temperature,
        json_schema=endpoint.json_schema,
        no_system_role=endpoint.no_system_role or None,
        rules=fixed.rules if fixed else None,
    )


def record_settings(entrants: Iterable[Entrant]) -> None:
    """Write down the settings that models are asked with now, where nothing of theirs was answered before: a setting
    that a server refuses is corrected after the launch. `endpoint` of each is loaded."""
    for entrant in entrants:
        spec = spec_of(entrant.endpoint)
        if entrant.asked_as != spec and not entrant.items.filter(call__isnull=False).exists():
            Entrant.objects.filter(pk=entrant.pk).update(spec=plain(spec))


@cache
def _packages() -> dict[str, str]:
    """Return the versions of the packages that are installed, by name."""
    packages = {}
    for name in sorted({*PACKAGES, *(name for provider in registered() for name in provider.packages)}):
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    return packages
