from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """The cells of one dimension by the votes that they have, story by story.

    `patterns` are the votes of each label that cells have, shape (P, K); `cells` counts by story those of each pattern,
    shape (S, P); `story` are the ids of the stories, ascending, shape (S,).
    """

    dimension: str
    labels: tuple[str, ...]
    patterns: Ints
    cells: Ints
    story: Ints

    def complete(self, overlap: int) -> Tally:
        """Return only the cells that have at least `overlap` votes, and the stories that have any."""
        keep = self.patterns.sum(axis=1) >= overlap
        cells = self.cells[:, keep]
        stories = cells.any(axis=1)
        return Tally(self.dimension, self.labels, self.patterns[keep], cells[stories], self.story[stories])

    @property
    def count(self) -> int:
        """The number of cells."""
        return int(self.cells.sum())

    def sums(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Sum what each pattern adds, shape (P, m), over the cells of each story: shape (S, m)."""
        sums: NDArray[np.float64] = self.cells @ values
        return sums


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
    def of(
        cls,
        dimension: str,
        labels: Sequence[str],
        rows: Sequence[tuple[int, int, str, str]],
        annotators: Sequence[str] = (),
    ) -> Votes:
        """Build from rows (story, proposition, annotator, label); cells are numbered in the order of propositions.
        Raises KeyError for a label outside `labels`."""
        people = tuple(annotators) or tuple(sorted({row[2] for row in rows}))
        story_of = {proposition: story for story, proposition, _, _ in rows}
        propositions = sorted(story_of)
        places = [{name: at for at, name in enumerate(names)} for names in (propositions, people, labels)]
        numbers = [[at[value] for at, value in zip(places, row[1:], strict=True)] for row in rows]
        cell, annotator, code = np.array(numbers, dtype=np.int64).reshape(-1, 3).T
        story = np.array([story_of[proposition] for proposition in propositions], dtype=np.int64)
        return cls(dimension, tuple(labels), people, cell, annotator, code, story)

    @cached_property
    def counts(self) -> Ints:
        """The number of votes of each label in each cell, shape (C, K)."""
        k = len(self.labels)
        flat = np.bincount(self.cell * k + self.code, minlength=len(self.story) * k)
        return flat.reshape(len(self.story), k)

    @cached_property
    def tally(self) -> Tally:
        """Count the cells of each story by the votes that they have."""
        patterns, which = np.unique(self.counts, axis=0, return_inverse=True)
        stories, at = np.unique(self.story, return_inverse=True)
        shape = len(stories), len(patterns)
        cells = np.bincount(at.ravel() * shape[1] + which.ravel(), minlength=shape[0] * shape[1])
        return Tally(self.dimension, self.labels, patterns, cells.reshape(shape), stories)

    def complete(self, overlap: int) -> Votes:
        """Return only the cells that have at least `overlap` votes, numbered anew."""
        keep = self.counts.sum(axis=1) >= overlap
        renumbered = np.cumsum(keep) - 1
        keep_cell = keep[self.cell]
        return Votes(
            self.dimension,
            self.labels,
            self.annotators,
            renumbered[self.cell[keep_cell]],
            self.annotator[keep_cell],
            self.code[keep_cell],
            self.story[keep],
        )

    @cached_property
    def by_annotator(self) -> Ints:
        """Codes as a matrix of shape (C, annotators); -1 where that annotator did not vote on that cell."""
        matrix = np.full((len(self.story), len(self.annotators)), -1, dtype=np.int64)
        matrix[self.cell, self.annotator] = self.code
        return matrix
