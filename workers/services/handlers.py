"""What jobs ask and what becomes of the answers. An app above registers a handler for its kind of job at start; nothing here knows the apps above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from workers.models import Call, Item, ItemState, Job
from workers.providers.contract import Request


@dataclass(frozen=True, slots=True)
class Received:
    """What became of an item: DONE, UNUSABLE or FAILED, with a sentence where it is not done."""

    state: ItemState = ItemState.DONE
    problem: str = ""


class JobHandler(Protocol):
    """The moments at which an app above takes part. All are called in a transaction, and may be called again after a crash."""

    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        """By item id the request, or one sentence why it cannot be asked."""

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        """By item id what became of it; the calls are answered, truncated or refused. Exactly one commit holds each item."""

    def failed_before(self, job: Job) -> int:
        """How many failures the job took over from earlier work, which its own items do not count."""
        return 0

    def finished(self, job: Job) -> None:
        """No item of the job is open any more."""
        return None


_HANDLERS: dict[str, JobHandler] = {}


def register(name: str, handler: JobHandler) -> None:
    _HANDLERS[name] = handler


def handler_of(name: str) -> JobHandler:
    if name not in _HANDLERS:
        raise LookupError(f"No app registered a handler for {name!r} jobs.")
    return _HANDLERS[name]
