"""Kinds of propositions that figures are broken down by: order bucket (paper, figure 5) and actor role."""

from __future__ import annotations

from functools import lru_cache

from annotation.domain.schema import WORLD
from benchmark.suites.omnitom.parsing.matching import fold
from core.messages import gettext_noop

ORDERS = ("0", "1", "2+")
ACTORS = gettext_noop("actors")
ROLES = (WORLD, ACTORS)
"""The narrated facts, held by the special actor, and everything that a character or a group holds (paper, section
3)."""

KINDS = {"order": ORDERS, "role": ROLES}
KIND_HEADS = {"order": gettext_noop("order"), "role": gettext_noop("actor role")}
"""Names of KINDS in headings."""


@lru_cache(maxsize=4096)
def order_bucket(order: str) -> str:
    """Return one of `ORDERS`, "" for what is not an order; a bucket is its own bucket."""
    if order in ORDERS:
        return order
    if not order.isdecimal():
        return ""
    return ORDERS[min(int(order), 2)] if len(order) < 10 else ORDERS[-1]


@lru_cache(maxsize=8192)
def role_of(actor: str) -> str:
    """Return one of `ROLES`, "" without an actor."""
    name = fold(actor)
    return "" if not name else WORLD if name == WORLD else ACTORS
