"""Asking a worker to compute a run's report. Where nobody hears it, the first who opens the page computes it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import transaction

from workers.models import Job

log = logging.getLogger(__name__)
_ring: Callable[[int], None] | None = None


def connect(ring: Callable[[int], None]) -> None:
    global _ring
    _ring = ring


def ring_for_report(job: Job) -> None:
    """After commit. Never raises: a broker that is away must not keep a run from ending."""
    transaction.on_commit(lambda: _ring_now(job.pk))


def _ring_now(job: int) -> None:
    if _ring is None:
        return
    try:
        _ring(job)
    except Exception as error:
        log.warning("The broker could not be reached (%s); the report is computed when somebody opens it.", error)
