"""Randomisation test of whether suggestions shift votes: the arms are drawn anew, as they were drawn, and the votes
left as they are.

Had no suggestion moved any vote, every other draw would have met the same votes; how often it sets the arms as far
apart as the real draw is the p value (Fisher 1935; Rosenbaum 2002, "Observational Studies", 2nd edition, chapter 2).
Nothing is assumed of how votes of one story or one annotator hang together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.domain.arms import Arm

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
DRAWS = 9_999


@dataclass(frozen=True)
class Votes:
    """Standing votes on cells that have a suggestion: one row a vote, every column of shape (V,).

    `dimension` indexes `dimensions`, `annotator` indexes `annotators`, and `source`, the model that suggested, indexes
    `sources`; `label`, `first_label` and `suggested` share the codes of their dimension. `first_label` is the label
    before the reveal, -1 where there was none. `arm` holds values of `Arm`, as drawn; `seen` is false where a vote of
    the shown arm was cast without the suggestion in sight (over the API). `unit` numbers what the arm was drawn for,
    and `blind_chance` is the chance with which that was drawn blind, being drawn shown or blind; nan where it is
    unknown. `duration_ms` is nan where unknown.
    """

    story: Ints
    cell: Ints
    dimension: Ints
    annotator: Ints
    label: Ints
    first_label: Ints
    suggested: Ints
    source: Ints
    arm: NDArray[np.str_]
    duration_ms: Floats
    seen: Bools
    unit: Ints
    blind_chance: Floats
    dimensions: tuple[str, ...]
    annotators: tuple[str, ...]
    sources: tuple[str, ...]

    def in_arm(self, arm: Arm) -> Bools:
        """Return whether each vote was cast in this arm, shape (V,)."""
        return np.asarray(self.arm == arm.value, dtype=bool)

    def where(self, rows: Bools | Ints) -> Votes:
        """Return only these rows, by mask of shape (V,) or by index."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        columns: dict[str, Any] = {name: it[rows] for name, it in every.items() if isinstance(it, np.ndarray)}
        return replace(self, **columns)

    def by(self, name: str) -> Iterator[tuple[str, Votes]]:
        """Yield the votes of each `dimension`, `annotator` or `source`, in the order of their names."""
        code = getattr(self, name)
        for at, value in enumerate(getattr(self, name + "s")):
            yield value, self.where(np.flatnonzero(code == at))


def randomisation_p(votes: Votes, *, seed: int, draws: int = DRAWS) -> float | None:
    """Return the two-sided p of: no vote depends on whether its suggestion was shown. None where only one arm has
    votes, of units that could have been drawn into either.

    Whether a vote takes the suggestion is compared with the mean of its annotator and dimension over both arms, which
    takes their differences out. The statistic is the sum of that over the votes drawn blind, less what the draw puts
    there on average. p is (b + 1) / (draws + 1) with b draws at least as extreme (Phipson and Smyth 2010), which keeps
    the test's level.
    """
    either = votes.in_arm(Arm.SHOWN) | votes.in_arm(Arm.BLIND)
    votes = votes.where(either & (votes.blind_chance > 0) & (votes.blind_chance < 1))
    blind = votes.in_arm(Arm.BLIND)
    if not blind.any() or blind.all():
        return None
    takes = (votes.label == votes.suggested).astype(float)
    group: Ints = votes.annotator * (int(votes.dimension.max(initial=0)) + 1) + votes.dimension
    _, group = np.unique(group, return_inverse=True)
    means = (np.bincount(group, weights=takes) / np.bincount(group))[group]
    _, first, unit = np.unique(2 * votes.unit + blind, return_index=True, return_inverse=True)
    sums = np.bincount(unit, weights=takes - means).astype(float)
    return drawn_anew_p(sums, votes.blind_chance[first], blind[first], seed=seed, draws=draws)


def drawn_anew_p(sums: Floats, chance: Floats, is_blind: Bools, *, seed: int, draws: int = DRAWS) -> float:
    """Return the two-sided p of: what is summed over the units of a draw does not depend on their arm. Each unit has
    its sum, its chance of being drawn blind, and whether it was: shape (units,) each."""
    observed = float((sums * (is_blind - chance)).sum())
    # Units of equal sum and chance are counted, not drawn one by one: half a million votes fall into a few hundred
    # kinds. As complex numbers they are sorted at once, by sum and then by chance.
    kinds, counts = np.unique(np.round(sums, 12) + 1j * np.round(chance, 12), return_counts=True)
    drawn = blind_units(counts, kinds.imag, draws, np.random.default_rng(seed))
    statistics = (drawn - counts * kinds.imag) @ kinds.real
    scale = float(np.abs(sums).sum())
    return float((np.sum(np.abs(statistics) >= abs(observed) - 1e-9 * scale) + 1) / (draws + 1))


def blind_units(counts: Ints, chance: Floats, draws: int, rng: np.random.Generator) -> Ints:
    """Return how many of the `counts` units of each kind each draw makes blind: shape (draws, kinds)."""
    shape = (draws, len(counts))
    if counts.max(initial=0) > 1:
        return rng.binomial(counts, chance, size=shape)
    # The same draws for a tenth of the time: of a single unit it is one random number that decides.
    at = rng.random(shape)
    return np.where(chance <= 0.5, at > 1 - chance, at <= chance).astype(np.int64)
