"""What made a run: code, packages, and the endpoints as they are now."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.conf import settings

from workers.backends.baseline import LEXICAL
from workers.backends.lexical import RULES
from workers.models import Endpoint

PACKAGES = ("anthropic", "celery", "django", "matplotlib", "numpy", "openai", "rapidfuzz", "scipy", "vllm")


def versions() -> dict[str, Any]:
    """The code and the packages that work now."""
    return {
        "code": settings.CREDENCE_VERSION,
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _installed(name))},
    }


def spec_of(endpoint: Endpoint) -> dict[str, Any]:
    """An endpoint's settings without its prices and limits, of the lexical judge with the version of its rules. There is no key in it:
    endpoints hold none."""
    fields = (
        "name",
        "provider",
        "model",
        "revision",
        "base_url",
        "family",
        "options",
        "sets_temperature",
        "json_schema",
    )
    found = {name: getattr(endpoint, name) for name in fields}
    return found | ({"rules": RULES} if is_lexical(endpoint) else {})


def is_lexical(endpoint: Endpoint) -> bool:
    return (endpoint.provider, endpoint.model) == ("baseline", LEXICAL)


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
