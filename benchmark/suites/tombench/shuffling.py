"""The order in which the options of a question are shown, and the way back from a shown letter to the original one."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmark.suites.tombench.options import LETTERS

TRIES = 5
OFFICIAL_SEED = 42

Order = tuple[int, ...]
"""The original places of the options, from 0, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class OfferedOptions:
    """The options of one try. `texts` and `originals` (the letter that each has in the data) are in the order shown."""

    texts: tuple[str, ...]
    originals: tuple[str, ...]

    @property
    def letters(self) -> str:
        """The letters that a model can choose from: `AB` or `ABCD`."""
        return LETTERS[: len(self.texts)]

    @property
    def original_of(self) -> Mapping[str, str]:
        """The original letter by shown letter, for all four letters; empty for one that is not shown."""
        return {letter: self.originals[at] if at < len(self.originals) else "" for at, letter in enumerate(LETTERS)}


def show(options: Sequence[str], order: Order) -> OfferedOptions:
    """Return the options as they are shown in an order. Of options with the same text, all stand for the first of them.

    `options` are in their original order, without their letters. Raises ValueError where the order is not one of
    theirs.
    """
    if sorted(order) != list(range(len(options))) or not 2 <= len(options) <= len(LETTERS):
        raise ValueError(f"The order {order} does not fit {len(options)} options.")
    texts = tuple(options[place] for place in order)
    return OfferedOptions(texts, tuple(LETTERS[options.index(text)] for text in texts))


def seeded_order(seed: int, key: str, attempt: int, count: int) -> Order:
    """Return the order of one try of an item: a permutation of its `count` places that depends on nothing else.

    Places are sorted by the SHA-256 of seed, key, try and place, so that an item is shown alike whatever a run leaves
    out, asks first, or is asked by.
    """

    def drawn(place: int) -> bytes:
        return hashlib.sha256(f"{seed}\n{key}\n{attempt}\n{place}".encode()).digest()

    return tuple(sorted(range(count), key=drawn))


def official_orders(counts: Iterable[int], *, tries: int = TRIES, seed: int = OFFICIAL_SEED) -> list[tuple[Order, ...]]:
    """Return the orders of all tries of each item, as the released code draws them.

    `counts` are the numbers of options of all items of one file, from its first line on: one generator runs through
    items and tries, so that the orders of an item depend on all items before it.
    """
    generator = random.Random(seed)
    return [tuple(_shuffled(generator, count) for _ in range(tries)) for count in counts]


def _shuffled(generator: random.Random, count: int) -> Order:
    places = list(range(count))
    generator.shuffle(places)
    return tuple(places)
