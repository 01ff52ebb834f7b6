"""Sums of the votes of each story: all that agreement needs of a project, and what one vote changes of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from annotation.domain.agreement.intervals import COEFFICIENTS, Counts, Resampled
from annotation.domain.agreement.votes import Ints, Tally
from core.statistics import Clusters, Floats

Sums = Callable[[Counts], Floats]
FAMILIES: tuple[Sums, ...] = tuple(dict.fromkeys(coefficient.sums for coefficient in COEFFICIENTS.values()))
"""Sums that a cell adds to those of stories; some coefficients share one."""
_STRICT = COEFFICIENTS["strict"].sums
_ALPHA = COEFFICIENTS["krippendorff_alpha"].sums


@dataclass(frozen=True, slots=True)
class StorySums:
    """The sums of one dimension: by story how many cells have any vote, shape (S,), and what those with all their votes
    add up to, shape (S, m) for each of `FAMILIES`. `story` are the ids of the stories, ascending."""

    story: Ints
    voted: Ints
    sums: dict[Sums, Floats]

    @classmethod
    def of(cls, tally: Tally, *, overlap: int) -> StorySums:
        votes = tally.patterns.sum(axis=1)
        patterns, cells = tally.patterns[votes >= overlap], tally.cells[:, votes >= overlap]
        sums: dict[Sums, Floats] = {family: cells @ family(patterns) for family in FAMILIES}
        return cls(tally.story, tally.cells[:, votes >= 1].sum(axis=1), sums)

    def replaced(self, at: Ints, by: StorySums) -> StorySums:
        """Return these sums with the rows numbered `at` taken from `by`."""
        voted, sums = self.voted.copy(), {family: block.copy() for family, block in self.sums.items()}
        voted[at] = by.voted
        for family, block in sums.items():
            block[at] = by.sums[family]
        return StorySums(self.story, voted, sums)

    @property
    def complete(self) -> StorySums:
        """The sums of the stories with a cell that has all its votes."""
        kept = self.sums[_STRICT][:, 1] > 0
        if kept.all():
            return self
        return StorySums(self.story[kept], self.voted[kept], {family: sums[kept] for family, sums in self.sums.items()})

    @property
    def cells(self) -> int:
        """Count of the cells that have all their votes."""
        return int(self.sums[_STRICT][:, 1].sum())

    @property
    def agreeing(self) -> int:
        """Count of those of `cells` that have one label."""
        return int(self.sums[_STRICT][:, 0].sum())

    @property
    def labels(self) -> int:
        """Count of the labels in the votes of cells with two votes or more."""
        return int((self.sums[_ALPHA][:, 1:].sum(axis=0) > 0).sum())

    def over(self, stories: Clusters) -> Floats:
        """All sums side by side in the rows of `stories`, which are these and others: shape (stories, m)."""
        block = np.concatenate([self.sums[family] for family in FAMILIES], axis=1)
        if len(stories) == len(self.story):
            return block
        spread = np.zeros((len(stories), block.shape[1]))
        spread[np.searchsorted(stories, self.story)] = block
        return spread

    @property
    def widths(self) -> list[int]:
        """The columns of each family."""
        return [self.sums[family].shape[1] for family in FAMILIES]


class Resamples:
    """Resampled sums, kept by what they are of: asked for again after few stories changed, only these are summed anew.

    It holds nothing that a caller could see: sums are those of a count of everything, to the last digit.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[Clusters, Resampled]] = {}

    def of(self, what: Hashable, stories: Clusters, blocks: Iterable[Floats], *, seed: int) -> Resampled:
        """Return the sums of `blocks`, shape (stories, m) each, side by side, with their resamples."""
        sums = np.concatenate([np.empty((len(stories), 0)), *blocks], axis=1)
        before = self._kept.get((what, seed))
        if before is not None and np.array_equal(before[0], stories):
            resampled = before[1].moved(sums, seed=seed)
        else:
            resampled = Resampled.of(sums, seed=seed)
        self._kept[what, seed] = stories, resampled
        return resampled
