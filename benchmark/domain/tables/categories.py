"""Categories of samples as tables head them: those that a suite names in its order and by their short names, then what
else there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.messages import Sentence, clauses

ShortNames = Mapping[str, str]
"""The short name of each category, in the order in which tables have them."""


def in_order(categories: Iterable[str], short: ShortNames) -> list[str]:
    """Each category once."""
    order = list(short)
    return sorted(
        set(categories), key=lambda category: (order.index(category) if category in order else len(order), category)
    )


def short_name_texts(categories: Iterable[str], short: ShortNames) -> list[str]:
    """The note that says what short names stand for; none where there are none but names that are short themselves."""
    abbreviations = [f"{short[name]} {name}" for name in categories if short.get(name, name) != name]
    return [Sentence("{text}.", text=clauses(*abbreviations))] if abbreviations else []
