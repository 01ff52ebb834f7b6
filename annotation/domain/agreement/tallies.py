"""The patterns that are kept of stories, opened: one tally a dimension."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotation.domain.agreement.patterns import BITS, DIMENSION, FEWEST, MOST
from annotation.domain.agreement.votes import Ints, Tally
from annotation.domain.schema import Schema


class Tallies:
    """The kept patterns of some stories, from ids, ascending, and `Patterns.packed` of each."""

    def __init__(self, schema: Schema, stories: Sequence[int], packed: Sequence[bytes]) -> None:
        self._schema, self._stories = schema, np.array(stories, dtype=np.int64)
        rows = np.frombuffer(b"".join(packed), dtype="<i8").astype(np.int64).reshape(-1, 2)
        self._story = np.repeat(np.arange(len(packed)), [len(packed_story) // 16 for packed_story in packed])
        self._key, self._count = rows[:, 0], rows[:, 1]

    def dimensions(self) -> list[Tally]:
        """Return the tally of each dimension, all of them over all stories."""
        return [
            Tally(dimension.key, dimension.values, *self._cells(at, len(dimension.values)), self._stories)
            for at, dimension in enumerate(self._schema.dimensions)
        ]

    def _cells(self, at: int, labels: int) -> tuple[Ints, Ints]:
        rows = self._key >> DIMENSION == at
        keys, which = np.unique(self._key[rows] & ((1 << DIMENSION) - 1), return_inverse=True)
        shape = len(self._stories), len(keys)
        cells = np.bincount(self._story[rows] * shape[1] + which.ravel(), self._count[rows], shape[0] * shape[1])
        patterns = keys[:, None] >> (BITS * np.arange(labels)) & MOST
        return patterns, cells.astype(np.int64).reshape(shape)

    def waiting(self, overlap: int) -> Ints:
        """Return by story how many propositions with votes have fewer than `overlap` on some dimension."""
        rows = (self._key >> DIMENSION == FEWEST) & (self._key & MOST < overlap)
        return np.bincount(self._story[rows], self._count[rows], len(self._stories)).astype(np.int64)
