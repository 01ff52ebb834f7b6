"""Garbage collection around code that holds very many objects for a while."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OLD = gc.get_threshold()[2]
_NEVER = 1_000_000_000


@contextmanager
def without_full_collections() -> Iterator[None]:
    """Restrict garbage collection to young objects. A pass over half a million rows takes up to half a second, in which
    no other thread of the process answers anybody, and one within a transaction keeps the lock for as long. It finds
    nothing; what is left over is looked at afterwards."""
    _look_at_old_objects_after(_NEVER)
    try:
        yield
    finally:
        _look_at_old_objects_after(_OLD)


def _look_at_old_objects_after(number: int) -> None:
    """Change this alone: how often young ones are looked at is for each process to say."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, number)
