"""Garbage collection around code that holds very many objects for a while."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG, _MIDDLE, _OLD = gc.get_threshold()
_NEVER = 1_000_000_000


@contextmanager
def without_full_collections() -> Iterator[None]:
    """Restrict garbage collection to young objects. A pass over half a million rows takes up to half a second, in which
    no other thread of the process answers anybody, and one within a transaction keeps the lock for as long. It finds
    nothing; what is left over is looked at afterwards."""
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
