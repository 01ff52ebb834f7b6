"""Strata of the aligned sample: it is drawn within each category, so that what categories differ by is no chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from core.statistics import Clusters

FEWEST_OF_ONE = 2
"""Aligned stories of a stratum: one shows no spread."""


class Strata:
    """The strata of a sample. Those with fewer than two aligned stories make one together; where that has fewer than
    two as well, they belong to the smallest other one."""

    def __init__(self, strata: Mapping[str, str]) -> None:
        """Take the stratum of each aligned story, by story."""
        counts = Counter(strata.values())
        own = [name for name in sorted(counts) if counts[name] >= FEWEST_OF_ONE]
        left = sum(count for name, count in counts.items() if name not in own)
        self._numbers = {name: at for at, name in enumerate(own)}
        if left >= FEWEST_OF_ONE or not own:
            self._rest = len(own)
        else:
            self._rest = self._numbers[min(own, key=lambda name: (counts[name], name))]
        self.count = len({*self._numbers.values(), *([self._rest] if left or not own else [])})

    def of(self, stratum: str) -> int:
        """Return the number of a stratum, from 0 on."""
        return self._numbers.get(stratum, self._rest)

    def numbers(self, strata: Iterable[str]) -> Clusters:
        """Return the number of each stratum."""
        return np.array([self.of(stratum) for stratum in strata], dtype=np.int64)
