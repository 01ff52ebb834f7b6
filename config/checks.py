"""Misconfiguration as system checks: each is one sentence that names the variable and what was expected.

Those on the environment have a tag of their own: our commands run it alone (`core/management/json_command.py`).
"""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register

from config import environment
from core.management.json_command import ENVIRONMENT


@register(ENVIRONMENT)
def environment_is_readable(app_configs, **kwargs) -> list[Error]:
    return [Error(problem, id="credence.E001") for problem in environment.problems]


@register(ENVIRONMENT)
def site_url_is_a_url(app_configs, **kwargs) -> list[Error]:
    parts = urlsplit(settings.SITE_URL)
    if parts.scheme in {"http", "https"} and parts.hostname:
        return []
    return [Error(f"SITE_URL is {settings.SITE_URL!r}; expected an http or https address.", id="credence.E002")]


@register(Tags.security, deploy=True)
def teams_use_postgresql(app_configs, **kwargs) -> list[Warning]:
    if settings.DATABASES["default"]["ENGINE"].endswith("postgresql"):
        return []
    hint = "Set DATABASE_URL to a PostgreSQL database where more than one machine or more than a few people work."
    return [Warning("The database is SQLite.", hint=hint, id="credence.W001")]
