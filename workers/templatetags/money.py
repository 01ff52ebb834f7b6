"""US dollars as every page writes them (workers/domain/pricing.py)."""

from __future__ import annotations

from decimal import Decimal

from django import template
from django.utils.translation import gettext as _

from workers.domain import pricing

register = template.Library()


@register.filter
def dollars(amount: Decimal | pricing.Money | None) -> str:
    """Return an amount in words; None is an unknown price, never 0."""
    return pricing.dollars(amount)


@register.simple_tag
def about(cost: Decimal | pricing.Money | None, most: Decimal | pricing.Money | None) -> str:
    return pricing.about(cost, most)


@register.filter
def exact_dollars(amount: Decimal | None) -> str:
    return pricing.exact_dollars(amount)


@register.filter
def price(amount: Decimal | None) -> str:
    """Return a price of tokens in words of the reader's language: "free" for 0, "unknown" for None."""
    return _("free") if amount == 0 else pricing.exact_dollars(amount)


@register.filter
def as_typed(amount: Decimal) -> str:
    return pricing.as_typed(amount)
