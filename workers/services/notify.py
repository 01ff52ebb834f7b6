"""Notifying workers of new work. A lost notification loses nothing: every worker looks for work by itself, too."""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.db import transaction

log = logging.getLogger(__name__)
PAUSE_SECONDS = 10
"""Time for which a process notifies nobody after a failure: each attempt at a broker that hangs holds a request."""


class Notifier:
    """Sends through the broker once `connect` was called; `fallback` says what happens where the broker cannot be
    reached."""

    def __init__(self, fallback: str) -> None:
        self.fallback = fallback
        self.send: Callable[..., None] | None = None
        self._silent_until = 0.0

    def connect(self, send: Callable[..., None]) -> None:
        """Notify through `send` from now on; a failure of the way before it holds nothing back."""
        self.send = send
        self._silent_until = 0.0

    def notify(self, *arguments: Any) -> None:
        """Call `send` after commit. Never raises: a broker that is down must not stop anybody's work."""
        transaction.on_commit(lambda: self._send_now(*arguments))

    def _send_now(self, *arguments: Any) -> None:
        if self.send is None or time.monotonic() < self._silent_until:
            return
        try:
            self.send(*arguments)
        except Exception as error:
            self._silent_until = time.monotonic() + PAUSE_SECONDS
            log.warning("The broker could not be reached (%s); %s.", error, self.fallback)


WORKERS = Notifier("workers will find the work by themselves")
