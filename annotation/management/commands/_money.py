"""An amount of money as somebody types it."""

from decimal import Decimal

from workers.domain.pricing import budget_of


def dollars(text: str | None) -> Decimal | None:
    """US dollars, None where nothing is said. Raises ValueError."""
    if text is None:
        return None
    if (budget := budget_of(text)) is None:
        raise ValueError(
            f"The budget is {text!r}; expected US dollars, 0 or more, with up to four decimals, such as 2.50."
        )
    return budget
