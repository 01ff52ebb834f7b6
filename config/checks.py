"""Misconfiguration as system checks: each is one sentence that names the variable and what was expected.

Those on the environment have a tag of their own: our commands run it alone (`core/management/json_command.py`).
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register

from config import environment
from core.management.json_command import ENVIRONMENT

_ALLOWED = re.compile(r"\*|\.?[^\s/:*]+|\[[0-9a-fA-F:.]+\]")
"""A host as Django compares it: a name, a name with its subdomains, an address, or every one."""


@register(ENVIRONMENT)
def environment_is_readable(app_configs: Any, **kwargs: Any) -> list[Error]:
    return [Error(problem, id="credence.E001") for problem in environment.problems]


@register(ENVIRONMENT)
def settings_agree(app_configs: Any, **kwargs: Any) -> Iterator[Error]:
    """Yield what one setting says and another denies."""
    url, is_https = settings.SITE_URL, urlsplit(settings.SITE_URL).scheme == "https"
    if is_https and not settings.BEHIND_TLS:
        sentence = f"SITE_URL is {url}, but BEHIND_TLS is false; leave BEHIND_TLS out: SITE_URL decides."
        yield Error(sentence, id="credence.E002")
    elif settings.BEHIND_TLS and not is_https:
        yield Error(f"BEHIND_TLS is true, but SITE_URL is {url}; expected its https address.", id="credence.E002")
    if settings.BEHIND_TLS and not settings.TRUST_PROXY:
        yield Error(
            f"SITE_URL is {url}, but TRUST_PROXY is false, so every page would redirect to itself without end. Set "
            "TRUST_PROXY=true, and have the proxy in front set X-Forwarded-Proto.",
            id="credence.E003",
        )
    for name in settings.ALLOWED_HOSTS:
        if not _ALLOWED.fullmatch(name):
            sentence = f"ALLOWED_HOSTS names {name!r}; expected host names without a scheme, a port or a path."
            yield Error(sentence, id="credence.E004")
    for name in settings.CSRF_TRUSTED_ORIGINS:
        if not re.match("https?://[^/]+$", name):
            sentence = f"CSRF_TRUSTED_ORIGINS names {name!r}; expected origins such as https://credence.example."
            yield Error(sentence, id="credence.E005")
    if settings.REDIS_URL and not settings.REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
        sentence = "REDIS_URL has another scheme than redis, rediss or unix; expected redis://host:port/number."
        yield Error(sentence, id="credence.E006")


@register(Tags.security, deploy=True)
def teams_use_postgresql(app_configs: Any, **kwargs: Any) -> list[Warning]:
    if settings.DATABASES["default"]["ENGINE"].endswith("postgresql"):
        return []
    hint = "Set DATABASE_URL to a PostgreSQL database where more than one machine or more than a few people work."
    return [Warning("The database is SQLite.", hint=hint, id="credence.W001")]
