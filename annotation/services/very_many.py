"""Garbage collection around code that holds very many objects for a while."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_NEVER = 1_000_000_000
_YOUNG = 20_000
"""A pass over so many takes a millisecond. Of Python's own 700 most are still held by the next pass, and a row would go
through several."""
_guard = threading.Lock()
_before: list[tuple[int, int, int]] = []
"""What the process had set, once for each that is within."""


@contextmanager
def without_full_collections() -> Iterator[None]:
    """Restrict garbage collection to young objects, many at a time. A pass over half a million rows takes up to half a
    second, in which no other thread of the process answers anybody, and one within a transaction keeps the lock for as
    long. It finds nothing; what is left over is looked at when the last thread that is within has left."""
    with _guard:
        young, middle, old = _before[0] if _before else gc.get_threshold()
        _before.append((young, middle, old))
        gc.set_threshold(max(young, _YOUNG), middle, _NEVER)
    try:
        yield
    finally:
        with _guard:
            was = _before.pop()
            if not _before:
                gc.set_threshold(*was)
