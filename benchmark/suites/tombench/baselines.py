"""Answers that need no model: what accuracy is worth is read beside theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from benchmark.suites.tombench.data import Item
from benchmark.suites.tombench.shuffling import Shown, seeded_order

Baseline = Callable[[Item, int, Shown], str]
"""From an item, the number of the try and the options as they are shown in it, to a raw answer such as `[[A]]`."""


def first_option(item: Item, attempt: int, shown: Shown) -> str:
    """Answer with the option that is shown first."""
    return f"[[{shown.letters[0]}]]"


def random_option(seed: int) -> Baseline:
    """Return a baseline that draws one of the options shown; each try's draw depends on seed, item and try alone."""

    def answer(item: Item, attempt: int, shown: Shown) -> str:
        drawn = seeded_order(seed, f"random option of {item.key}", attempt, len(shown.letters))
        return f"[[{shown.letters[drawn[0]]}]]"

    return answer


def majority_letter(items: Iterable[Item]) -> Baseline:
    """Return a baseline that answers with the option whose original letter is the right one most often among `items`.

    Where an item has no such option, the most frequent letter that it has counts; of equally frequent ones the first in the alphabet.
    """
    counts = Counter(item.gold for item in items)

    def answer(item: Item, attempt: int, shown: Shown) -> str:
        best = min(shown.letters, key=lambda letter: (-counts[shown.original_of[letter]], shown.original_of[letter]))
        return f"[[{best}]]"

    return answer
