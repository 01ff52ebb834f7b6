"""How every page writes US dollars (workers/domain/pricing.py)."""

from __future__ import annotations

from decimal import Decimal

from django import template

from workers.domain import pricing

register = template.Library()


@register.filter
def dollars(amount: Decimal | None) -> str:
    return pricing.dollars(amount or Decimal(0))


@register.filter
def exact_dollars(amount: Decimal) -> str:
    return pricing.exact_dollars(amount)


@register.filter
def as_typed(amount: Decimal) -> str:
    return pricing.as_typed(amount)
