from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Votes:
    """All votes of one dimension, one row a vote (shape (V,) each), with the stories of its cells (shape (C,)).

    `cell` counts from 0 to C-1, `annotator` indexes `annotators`, `code` indexes `labels`. Annotators may differ from
    cell to cell; missing votes are simply absent.
    """

    dimension: str
    labels: tuple[str, ...]
    annotators: tuple[str, ...]
    cell: Ints
    annotator: Ints
    code: Ints
    story: Ints

    @classmethod
    def of(cls, dimension: str, labels: Sequence[str], rows: Sequence[tuple[int, int, str, str]]) -> Votes:
        """Build from rows (story, proposition, annotator, label). Raises ValueError for a label outside `labels`."""
        people = tuple(sorted({row[2] for row in rows}))
        cells = {proposition: at for at, proposition in enumerate(sorted({row[1] for row in rows}))}
        story = np.zeros(len(cells), dtype=np.int64)
        for row in rows:
            story[cells[row[1]]] = row[0]
        return cls(
            dimension,
            tuple(labels),
            people,
            np.array([cells[row[1]] for row in rows], dtype=np.int64),
            np.array([people.index(row[2]) for row in rows], dtype=np.int64),
            np.array([tuple(labels).index(row[3]) for row in rows], dtype=np.int64),
            story,
        )

    @cached_property
    def counts(self) -> Ints:
        """The number of votes of each label in each cell, shape (C, K)."""
        k = len(self.labels)
        flat = np.bincount(self.cell * k + self.code, minlength=len(self.story) * k)
        return flat.reshape(len(self.story), k)

    def complete(self, overlap: int) -> Votes:
        """Return only the cells that have at least `overlap` votes, numbered anew."""
        keep = self.counts.sum(axis=1) >= overlap
        renumbered = np.cumsum(keep) - 1
        kept = keep[self.cell]
        return Votes(
            self.dimension,
            self.labels,
            self.annotators,
            renumbered[self.cell[kept]],
            self.annotator[kept],
            self.code[kept],
            self.story[keep],
        )

    @cached_property
    def by_annotator(self) -> Ints:
        """Codes as a matrix of shape (C, annotators); -1 where that annotator did not vote on that cell."""
        matrix = np.full((len(self.story), len(self.annotators)), -1, dtype=np.int64)
        matrix[self.cell, self.annotator] = self.code
        return matrix
