"""What calls are made for. An app above registers its purpose at start; nothing here knows the apps above."""

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


class Purpose(Protocol):
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


_PURPOSES: dict[str, Purpose] = {}


def register(name: str, purpose: Purpose) -> None:
    _PURPOSES[name] = purpose


def purpose_of(name: str) -> Purpose:
    if name not in _PURPOSES:
        raise LookupError(f"No app registered the purpose {name!r}.")
    return _PURPOSES[name]
