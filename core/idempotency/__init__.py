"""Making something once, however often and however simultaneously it is asked for under one key."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import models, transaction

from core.digests import json_digest


class IdempotencyRecord(models.Model):
    """One press of a button that makes something, and what came of it. Kept for a day, so that the press repeated makes
    nothing.

    `key` is a digest of who pressed, where, and the one-time key of the page or the request; `content` of what was
    sent, where a different content under the same key is refused. `outcome` finds what was made; no secret is in it.
    """

    key = models.CharField(max_length=64, unique=True)
    content = models.CharField(max_length=64, blank=True)
    outcome = models.CharField(max_length=500, blank=True)
    made_at = models.DateTimeField(db_index=True)

    class Meta:
        abstract = True


KEPT = timedelta(days=1)
"""The time for which a key is known. After that the same key makes anew."""


class OtherContent(ValueError):
    """The key was used already, for a request that said something else."""


@transaction.atomic
def made_once(*, key: str, content: str = "", make: Callable[[], str], now: datetime) -> str:
    """Return what `make` said of what it made: now, or when the key was first used.

    The key is taken by an insert in the transaction of the making, so a second one waits until it is known whether the
    first succeeded. Whatever `make` raises leaves the key free. Raises OtherContent.
    """
    record, first = _records().get_or_create(key=key, defaults={"content": content, "made_at": now})
    if first:
        outcome = make()
        _records().filter(pk=record.pk).update(outcome=outcome)
        _records().filter(made_at__lt=now - KEPT).delete()
        return outcome
    if record.content != content:
        raise OtherContent("This key was used already for a request that said something else; expected a new key.")
    return record.outcome


def made_before(*, key: str) -> str:
    """Return what came of the key so far; empty where it is free."""
    return _records().filter(key=key).values_list("outcome", flat=True).first() or ""


def digest_of(*parts: Any) -> str:
    """One digest of values that JSON knows."""
    return json_digest(parts, sort_keys=True)


def _records() -> models.Manager[Any]:
    """The rows of the site's table, which `IDEMPOTENCY_MODEL` names: a subclass of `IdempotencyRecord`."""
    return apps.get_model(settings.IDEMPOTENCY_MODEL)._default_manager
