"""Cost of a call. Prices are in US dollars per million tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from core.incoming.shapes import Like
from core.messages import Sentence, gettext_noop, noted
from workers.providers.contract import Usage

MILLION = Decimal(1_000_000)


def _amount(whole: int, decimals: int, expected: str) -> Like:
    written = rf"[0-9]{{1,{whole}}}(\.[0-9]{{0,{decimals}}})?|\.[0-9]{{1,{decimals}}}"
    return Like(f"^({written})$", expected)


BUDGET = _amount(8, 4, 'a number of US dollars as a string, such as "25.00"')
PRICE = _amount(6, 6, 'a number of US dollars as a string, such as "0.15"')
FACTOR = _amount(1, 3, 'a factor as a string, such as "0.5"')
"""Amounts as they are written, on pages, in commands and in JSON: as a text, so that nothing is rounded on its way."""
AS_WRITTEN = gettext_noop("A number in digits is expected, with a point before its decimals, such as 0.15.")
Dollars = Annotated[str, BUDGET]
_MORE_ZEROS = re.compile(r"(\.[0-9]{4})0+$")
CHARACTERS_A_TOKEN = 3
"""A cautious estimate for ASCII, a third above what English text has, for budgets that must hold before a call is
made."""
MOST_CHARACTERS_A_TOKEN = 6


@dataclass(frozen=True, slots=True)
class Extent:
    """The size of a text: ASCII characters, and bytes in UTF-8 of all others. The extents of its parts add up to that
    of the whole.

    Outside of ASCII every byte counts as a token: no tokenizer makes more of it, and rare Chinese characters and emoji
    do take as many.
    """

    ascii: int = 0
    other_bytes: int = 0

    @classmethod
    def of(cls, text: str) -> Extent:
        plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
        return cls(plain, 0 if text.isascii() else len(text.encode("utf-8", "surrogatepass")) - plain)

    def __add__(self, more: Extent) -> Extent:
        return Extent(self.ascii + more.ascii, self.other_bytes + more.other_bytes)

    @property
    def tokens(self) -> int:
        """Tokens on the high side, for budgets and estimates."""
        return -(-self.ascii // CHARACTERS_A_TOKEN) + self.other_bytes

    @property
    def fewest_tokens(self) -> int:
        """Tokens on the low side, for saying that something cannot fit. Few characters take more than three bytes."""
        return (self.ascii + self.other_bytes // 3) // MOST_CHARACTERS_A_TOKEN


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text on the high side: the one estimate that reservations, rates and estimates use."""
    return Extent.of(text).tokens


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of an endpoint: None is an unknown price, 0 is free.

    `cached` and `cache_write` are the prices of tokens read from and written to the provider's cache, None for the
    price of other input; `batch` is the factor on everything in a batch.
    """

    input: Decimal | None = None
    cached: Decimal | None = None
    cache_write: Decimal | None = None
    output: Decimal | None = None
    batch: Decimal = Decimal("0.5")

    @property
    def are_known(self) -> bool:
        return self.input is not None and self.output is not None

    @property
    def of_input(self) -> tuple[Decimal, Decimal, Decimal] | None:
        """The prices of plain input, input read from the cache, and input written to it; None if unknown."""
        if self.input is None:
            return None
        return (
            self.input,
            self.input if self.cached is None else self.cached,
            self.input if self.cache_write is None else self.cache_write,
        )

    def cost(self, usage: Usage, *, batch: bool = False) -> Decimal | None:
        """Return dollars, None where prices are unknown. Cached tokens are a part of `usage.input` and are not billed
        twice; reasoning is a part of the output."""
        of_input = self.of_input
        if of_input is None or self.output is None:
            return None
        plain = max(0, usage.input - usage.cached - usage.cache_write)
        price, cached, written = of_input
        total = (
            plain * price + usage.cached * cached + usage.cache_write * written + usage.output * self.output
        ) / MILLION
        return total * self.batch if batch else total

    def at_most(self, tokens: int, max_tokens: int, *, batch: bool = False) -> Decimal | None:
        """Return the most that a call can cost, for `tokens` of input and the longest answer, or None."""
        of_input = self.of_input
        if of_input is None or self.output is None:
            return None
        total = (tokens * max(of_input) + max_tokens * self.output) / MILLION
        return total * self.batch if batch else total


@dataclass(frozen=True, slots=True)
class Money:
    """A sum of money: US dollars as far as prices are known, and how many calls are of unknown price."""

    priced: Decimal = Decimal(0)
    unpriced: int = 0

    def __add__(self, more: Money) -> Money:
        return Money(self.priced + more.priced, self.unpriced + more.unpriced)

    def __str__(self) -> str:
        if not self.unpriced:
            return dollars(self.priced)
        calls = f"{self.unpriced:,} call{'' if self.unpriced == 1 else 's'}"
        return (
            Sentence("{priced} and {calls} of unknown price", priced=dollars(self.priced), calls=calls)
            if self.priced
            else noted(UNKNOWN, calls)
        )

    @property
    def as_json(self) -> dict[str, float | int | None]:
        """The cost as commands print it: `cost` of all calls, None where some are of unknown price; `known_cost` of the
        others; how many are unpriced."""
        known_cost = float(self.priced)
        return {
            "cost": None if self.unpriced else known_cost,
            "known_cost": known_cost,
            "unpriced_calls": self.unpriced,
        }

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Money:
        """Return the sum that `as_json` wrote."""
        return cls(Decimal(str(values["known_cost"])), values["unpriced_calls"])


def budget_of(text: str) -> Decimal | None:
    """Return the budget that somebody typed, or copied from a sum with more zeros; None for what is not one."""
    written = _MORE_ZEROS.sub(r"\1", text.strip())
    return None if BUDGET.sentence_on(written) else Decimal(written)


UNKNOWN = "unknown"


def unknown_price_sentence(name: str) -> str:
    """Return the sentence that says why a budget cannot hold."""
    return Sentence(
        "The price of {name} is unknown, and a budget needs it: set the model's prices, or leave the budget out.",
        name=name,
    )


def dollars(amount: Decimal | Money | None) -> str:
    """Return an amount with four decimals, or below a cent with four significant digits."""
    if amount is None:
        return UNKNOWN
    if isinstance(amount, Money):
        return str(amount)
    places = 4
    if 0 < abs(amount) < Decimal("0.01"):
        places = max(4, 3 - amount.adjusted())
    whole, _, decimals = f"{amount:,.{places}f}".partition(".")
    return f"${whole}.{decimals[:4]}{decimals[4:].rstrip('0')}"


def about(cost: Decimal | Money | None, most: Decimal | Money | None) -> str:
    """Return in words what something is expected to cost and what it cannot exceed."""
    if cost is None or (isinstance(cost, Money) and cost.unpriced and not cost.priced):
        return gettext_noop("at a price that is unknown")
    return Sentence("about {cost}, at most {most}", cost=dollars(cost), most=dollars(most))


def exact_dollars(amount: Decimal | None) -> str:
    """Return a price or a budget as it was set: at least two decimals, and as many as it has."""
    if amount is None:
        return UNKNOWN
    return f"${amount:,.2f}" if amount == round(amount, 2) else f"${amount.normalize():,f}"


def as_typed(amount: Decimal) -> str:
    """Return a price or a budget for the field in which it is set: "2.50", "0.0001"."""
    return exact_dollars(amount).removeprefix("$").replace(",", "")
