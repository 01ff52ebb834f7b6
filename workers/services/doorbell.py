"""Ringing the workers. A bell that nobody hears loses nothing: the sweep of every worker looks for itself."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import transaction

log = logging.getLogger(__name__)
_ring: Callable[[], None] | None = None


def connect(ring: Callable[[], None]) -> None:
    """Where the bell hangs: config's Celery app, at start."""
    global _ring
    _ring = ring


def ring() -> None:
    """After commit. Never raises: a broker that is down must not stop anybody's work."""
    transaction.on_commit(ring_now)


def ring_now() -> None:
    if _ring is None:
        return
    try:
        _ring()
    except Exception as error:
        log.warning("The broker could not be reached (%s); workers will find the work by themselves.", error)
