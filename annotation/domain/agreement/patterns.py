"""Patterns of votes that cells have, counted: what agreement needs of a story, in some hundred bytes.

Two cells of a dimension with as many votes of each label are alike to every coefficient. So a story is kept as how many
of its cells have which votes, and a project is the sum of its stories.
"""

from __future__ import annotations

import struct
from collections import Counter, defaultdict

from annotation.domain.schema import Schema

BITS = 5
"""Bits for the number of votes of one label of a cell: a story has at most nine annotators at a time."""
MOST = 2**BITS - 1
DIMENSION = 56
"""Bits below the dimension of a pattern: 11 labels; a dimension has at most 10."""
FEWEST = 127
"""The dimension's place of those patterns that count propositions by their fewest votes on any dimension."""


class Patterns:
    """The patterns of one story, in the making."""

    def __init__(self, schema: Schema) -> None:
        self._places = {
            (dimension.key, label): (at, shift * BITS)
            for at, dimension in enumerate(schema.dimensions)
            for shift, label in enumerate(dimension.values)
        }
        self._dimensions = len(schema.dimensions)
        self._cells: dict[tuple[int, int], int] = defaultdict(int)
        self._votes: dict[int, list[int]] = defaultdict(lambda: [0] * self._dimensions)

    def add(self, proposition: int, dimension: str, label: str, votes: int) -> None:
        """Count so many votes of a label in a cell; a label that the schema lacks does not count."""
        if place := self._places.get((dimension, label)):
            at, shift = place
            self._cells[proposition, at] += min(votes, MOST) << shift
            self._votes[proposition][at] += votes

    def packed(self) -> bytes:
        """Return pattern and number of cells in turn, in the order of the patterns, as 64-bit integers."""
        counts = Counter(at << DIMENSION | pattern for (_, at), pattern in self._cells.items())
        counts += Counter(FEWEST << DIMENSION | min(*votes, MOST) for votes in self._votes.values())
        values = [value for pair in sorted(counts.items()) for value in pair]
        return struct.pack(f"<{len(values)}q", *values)
