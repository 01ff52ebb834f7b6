"""Moves of labels on their way to gold: what a model had suggested, what most votes say, what gold is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotation.domain.anchoring import FEWEST_BLIND_VOTES, gold_from_blind
from benchmark.domain.gold_kinds.cells import UNIT, Cells, Ints
from core.messages import gettext_noop
from core.statistics import SHARE, Estimate, estimate_of, first_by_second

NO_PAIRS = gettext_noop("no cells that have both labels")


class Move(StrEnum):
    """The steps from one label of a cell to a later one that are counted; UNDECIDED is from two votes at least to no
    majority."""

    TO_MAJORITY = "suggested-majority"
    TO_BLIND = "suggested-blind"
    UNDECIDED = "votes-none"
    TO_GOLD = "majority-gold"
    ALL_THE_WAY = "suggested-gold"


@dataclass(frozen=True, slots=True)
class Moved:
    """The share of cells whose label is another one after a move, of those that have both, pooled over stories;
    `cells` are these, `changed` those that moved."""

    estimate: Estimate
    cells: int
    changed: int


def moves(cells: Cells, dimension: int | None, *, seed: int) -> dict[Move, Moved]:
    """Return how many labels moved at each step, over one dimension or all.

    The majority is the label of more than half of at least two votes; the same of blind votes alone is apart. Cells
    without one have no part in its moves.
    """
    majority, blind = cells.majority(), gold_from_blind(cells.blind_votes)[0]
    pairs: Mapping[Move, tuple[Ints, Ints]] = {
        Move.TO_MAJORITY: (cells.suggested, majority),
        Move.TO_BLIND: (cells.suggested, blind),
        Move.TO_GOLD: (majority, cells.gold),
        Move.ALL_THE_WAY: (cells.suggested, cells.gold),
    }
    inside = cells.in_dimension(dimension)
    voted = (cells.votes >= 0).sum(axis=1) >= FEWEST_BLIND_VOTES
    decided = np.where(majority >= 0, 1, 0)
    pairs = {**pairs, Move.UNDECIDED: (np.where(voted, 1, -1), decided)}
    return {move: _moved(cells, np.where(inside, pairs[move][0], -1), pairs[move][1], seed) for move in Move}


def _moved(cells: Cells, before: Ints, after: Ints, seed: int) -> Moved:
    both = (before >= 0) & (after >= 0)
    changed = both & (before != after)
    sums = np.stack([cells.sums(changed.astype(float)), cells.sums(both.astype(float))], axis=1)
    estimate = estimate_of(
        sums, first_by_second, n=int(both.sum()), scale=SHARE, unit=UNIT, empty=NO_PAIRS, seed=seed,
        clusters=int((sums[:, 1] > 0).sum()),
    )  # fmt: skip
    return Moved(estimate, int(both.sum()), int(changed.sum()))
