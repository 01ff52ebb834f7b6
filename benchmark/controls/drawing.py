"""Seeded draws that depend on nothing else than what they are named by."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache


def drawn_order(items: Iterable[str], *named: object) -> list[str]:
    """Return the items in an order that depends on the names alone, whatever else is drawn before."""
    return [*_order(tuple(items), "\n".join(map(str, named)))]


@lru_cache(4096)
def _order(items: tuple[str, ...], named: str) -> tuple[str, ...]:
    """All samples of a cluster draw the same."""
    return tuple(sorted(items, key=lambda item: (_digest(named, item), item)))


def drawn_number(below: int, *named: object) -> int:
    """Return a whole number from 0 to `below` - 1."""
    return int.from_bytes(_digest(*named)[:8]) % below


def _digest(*named: object) -> bytes:
    return hashlib.sha256("\n".join(map(str, named)).encode()).digest()
