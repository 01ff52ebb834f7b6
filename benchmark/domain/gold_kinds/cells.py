"""Cells of published gold with how each came about, and what models said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotation.domain.anchoring import gold_from_blind
from core.statistics import ratios

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.floating]
NOTHING = -1
"""The code of a label that is not there: no vote, no suggestion, no gold of this kind, no answer."""
UNLABELLED = 1_000_000
"""The code of a cell that an answer leaves without a label, or with one outside the schema: a wrong label."""
UNIT = "stories"


class Kind(StrEnum):
    """A kind of gold. BLIND is made anew of blind votes; BESIDE is all gold on the cells that have BLIND gold.

    UNKNOWN is made anew of blind votes and of those of which it is not known whether they are, and BESIDE_UNKNOWN is
    all gold on its cells; there are none of these where all is known."""

    ALL = "all"
    BLIND = "blind"
    BESIDE = "beside"
    UNKNOWN = "unknown"
    BESIDE_UNKNOWN = "beside-unknown"
    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    ADJUDICATED = "adjudicated"
    IMPORTED = "imported"


_SAME_CELLS = {Kind.BLIND: Kind.BESIDE, Kind.UNKNOWN: Kind.BESIDE_UNKNOWN}
REFERENCE = {kind: _SAME_CELLS.get(kind, Kind.ALL) for kind in Kind if kind != Kind.ALL}
"""The gold that a kind of it is compared with: of the same cells where its labels differ, else all."""


@dataclass(frozen=True, slots=True)
class Cells:
    """One row a cell, every column of shape (C,), labels as codes within their dimension, NOTHING where there is none.

    `story` counts stories from 0 in the order of `stories`, their numbers; `dimension` indexes `dimensions`, `row` is
    the proposition within its story. `method` says how the gold label was settled, `suggested` is what a model had
    proposed before people voted. `votes`, `blind_votes` and `unknown_votes`, of which it is not known whether they are
    blind, have shape (C, annotators).
    """

    story: Ints
    row: Ints
    dimension: Ints
    gold: Ints
    method: NDArray[np.str_]
    suggested: Ints
    votes: Ints
    blind_votes: Ints
    unknown_votes: Ints
    stories: tuple[int, ...]
    dimensions: tuple[str, ...]
    annotators: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.story)

    def in_dimension(self, dimension: int | None) -> Bools:
        """Return which cells are of a dimension, of any where it is None."""
        return np.ones(len(self), dtype=bool) if dimension is None else self.dimension == dimension

    def majority(self) -> Ints:
        """Return the label of more than half of the votes of each cell, two at least."""
        return gold_from_blind(self.votes)[0]

    @property
    def perhaps_blind(self) -> Ints:
        """Votes that are blind or may be: shape (C, annotators)."""
        return np.where(self.blind_votes != NOTHING, self.blind_votes, self.unknown_votes)

    @property
    def is_all_known(self) -> bool:
        """Return whether it is known of every vote whether it is blind."""
        return bool((self.unknown_votes == NOTHING).all())

    def by_kind(self) -> Mapping[Kind, Ints]:
        """Return the gold label of each cell by kind of gold, NOTHING where the cell is not of that kind."""
        blind = gold_from_blind(self.blind_votes)[0]
        unknown = np.full(len(self), NOTHING) if self.is_all_known else gold_from_blind(self.perhaps_blind)[0]
        by_method = {
            kind: np.where(self.method == kind.value, self.gold, NOTHING)
            for kind in (Kind.UNANIMOUS, Kind.MAJORITY, Kind.ADJUDICATED, Kind.IMPORTED)
        }
        remade = {Kind.BLIND: blind, Kind.UNKNOWN: unknown}
        beside = {_SAME_CELLS[kind]: np.where(gold >= 0, self.gold, NOTHING) for kind, gold in remade.items()}
        return {Kind.ALL: self.gold, **remade, **beside, **by_method}

    def by_story(self, values: Floats) -> Floats:
        """Return the mean of what is known of a value of each cell, in each story: shape (stories,), nan without."""
        finite = np.isfinite(values)
        counts = np.bincount(self.story[finite], minlength=len(self.stories)).astype(float)
        sums = np.bincount(self.story[finite], weights=values[finite], minlength=len(self.stories)).astype(float)
        return ratios(sums, counts)

    def sums(self, values: Floats) -> Floats:
        """Return the sum of a value of each cell over each story: shape (stories,)."""
        sums: Floats = np.bincount(self.story, weights=values, minlength=len(self.stories)).astype(float)
        return sums


def right(predicted: Ints, gold: Ints) -> Floats:
    """Return whether a model is right on each cell, as a mean over its repetitions: shape (C,).

    `predicted` has shape (repetitions, C). nan where there is no gold or no answer.
    """
    answered = (predicted != NOTHING) & (gold >= 0)
    hits = ((predicted == gold) & answered).sum(axis=0).astype(float)
    counts = answered.sum(axis=0).astype(float)
    return ratios(hits, counts)
