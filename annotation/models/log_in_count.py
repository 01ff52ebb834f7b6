from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import models


class LogInCountQuerySet(models.QuerySet):
    def of(self, digests: Iterable[str]) -> LogInCountQuerySet:
        """Always in one order, so that two that lock several rows wait for each other once."""
        return self.filter(digest__in=list(digests)).order_by("digest")

    def running(self, *, now: datetime) -> LogInCountQuerySet:
        return self.filter(until__gt=now)

    def over(self, *, now: datetime) -> LogInCountQuerySet:
        return self.filter(until__lte=now)


class LogInCount(models.Model):
    """Attempts to log in that count against one account, address or browser (`digest` stands for it) until `until`."""

    digest = models.CharField(max_length=64, primary_key=True)
    attempts = models.PositiveIntegerField()
    until = models.DateTimeField(db_index=True)

    objects = LogInCountQuerySet.as_manager()
