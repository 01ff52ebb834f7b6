"""Ringing the workers. A bell that nobody hears loses nothing: the sweep of every worker looks for itself."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.db import transaction

log = logging.getLogger(__name__)


class Bell:
    """Hangs at the broker from `connect` on; `unheard` says what happens where nobody can be reached."""

    def __init__(self, unheard: str) -> None:
        self.unheard = unheard
        self.rings: Callable[..., None] | None = None

    def connect(self, rings: Callable[..., None]) -> None:
        self.rings = rings

    def ring(self, *what: Any) -> None:
        """After commit. Never raises: a broker that is down must not stop anybody's work."""
        transaction.on_commit(lambda: self._ring_now(*what))

    def _ring_now(self, *what: Any) -> None:
        if self.rings is None:
            return
        try:
            self.rings(*what)
        except Exception as error:
            log.warning("The broker could not be reached (%s); %s.", error, self.unheard)


WORK = Bell("workers will find the work by themselves")
