"""An amount of money as somebody types it."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

MOST_DOLLARS = 10**8


def dollars(text: str | None) -> Decimal | None:
    """US dollars, None where nothing is said. Raises ValueError."""
    if text is None:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not 0 <= value < MOST_DOLLARS or value != round(value, 4):
        raise ValueError(
            f"The budget is {text!r}; expected US dollars, 0 or more, with up to four decimals, such as 2.50."
        )
    return value
