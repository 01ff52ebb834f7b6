"""What a call costs. Prices are in US dollars per million tokens."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from workers.backends.contract import Usage

MILLION = Decimal(1_000_000)
CHARACTERS_A_TOKEN = 3
"""A cautious estimate, a third above what English text has, for budgets that must hold before a call is made."""
MOST_CHARACTERS_A_TOKEN = 6


@dataclass(frozen=True, slots=True)
class Prices:
    """`cached` and `cache_write` are the prices of tokens read from and written to the provider's cache; `batch` is the factor
    on everything in a batch."""

    input: Decimal = Decimal(0)
    cached: Decimal = Decimal(0)
    cache_write: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    batch: Decimal = Decimal("0.5")

    def cost(self, usage: Usage, *, batch: bool = False) -> Decimal:
        """Dollars. Cached tokens are a part of `usage.input` and are not billed twice; reasoning is a part of the output."""
        plain = max(0, usage.input - usage.cached - usage.cache_write)
        total = (
            plain * self.input
            + usage.cached * self.cached
            + usage.cache_write * self.cache_write
            + usage.output * self.output
        ) / MILLION
        return total * self.batch if batch else total

    def at_most(self, characters: int, max_tokens: int, *, batch: bool = False) -> Decimal:
        """What a call can cost at most, before it is made."""
        dearest = max(self.input, self.cached, self.cache_write)
        total = (estimated_tokens(characters) * dearest + max_tokens * self.output) / MILLION
        return total * self.batch if batch else total


def dollars(amount: Decimal) -> str:
    """An amount as every page writes it: four decimals; below a cent four digits that count, so that nothing becomes zero."""
    places = 4
    if 0 < abs(amount) < Decimal("0.01"):
        places = max(4, 3 - amount.adjusted())
    whole, _, decimals = f"{amount:,.{places}f}".partition(".")
    return f"${whole}.{decimals[:4]}{decimals[4:].rstrip('0')}"


def exact_dollars(amount: Decimal) -> str:
    """A price or a budget as somebody set it: at least two decimals, and as many as it has."""
    return f"${amount:,.2f}" if amount == round(amount, 2) else f"${amount.normalize():,f}"


def as_typed(amount: Decimal) -> str:
    """The same for the field in which somebody sets it: "2.50", "0.0001"."""
    return exact_dollars(amount).removeprefix("$").replace(",", "")


def fewest_tokens(characters: int) -> int:
    """What a text of so many characters takes at the least, for saying that something cannot fit."""
    return characters // MOST_CHARACTERS_A_TOKEN


def estimated_tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_A_TOKEN)
