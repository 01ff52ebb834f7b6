"""Randomisation test of whether suggestions shift votes: the arms are drawn anew, as they were drawn, and the votes
left as they are.

Had no suggestion moved any vote, every other draw would have met the same votes; how often it sets the arms as far
apart as the real draw is the p value (Fisher 1935; Rosenbaum 2002, "Observational Studies", 2nd edition, chapter 2).
Nothing is assumed of how votes of one story or one annotator hang together.
"""

from __future__ import annotations

import numpy as np

from annotation.domain.anchoring.arms import Arm
from annotation.domain.anchoring.votes import Bools, Floats, Ints, Votes

DRAWS = 9_999


def tested(votes: Votes) -> Bools:
    """Select the votes whose unit could have been drawn into either arm, and was drawn into one of them: shape (V,)."""
    either = votes.in_arm(Arm.SHOWN) | votes.in_arm(Arm.BLIND)
    return either & (votes.blind_chance > 0) & (votes.blind_chance < 1)


def randomisation_p(votes: Votes, *, seed: int, draws: int = DRAWS) -> float | None:
    """Return the two-sided p of: no vote depends on whether its suggestion was shown. None where only one arm has
    votes.

    Whether a vote takes the suggestion is compared with the mean of its annotator and dimension over both arms, which
    takes their differences out. The statistic is the sum of that over the votes drawn blind, less what the draw puts
    there on average. p is (b + 1) / (draws + 1) with b draws at least as extreme (Phipson and Smyth 2010), which keeps
    the test's level.
    """
    votes = votes.where(tested(votes))
    blind = votes.in_arm(Arm.BLIND)
    if not blind.any() or blind.all():
        return None
    sums, chance, is_blind = _units(votes, blind)
    return drawn_anew_p(sums, chance, is_blind, seed=seed, draws=draws)


def drawn_anew_p(sums: Floats, chance: Floats, is_blind: Bools, *, seed: int, draws: int = DRAWS) -> float:
    """Return the two-sided p of: what is summed over the units of a draw does not depend on their arm. Each unit has
    its sum, its chance of being drawn blind, and whether it was: shape (units,) each."""
    observed = float((sums * (is_blind - chance)).sum())
    # Units of equal sum and chance are counted, not drawn one by one: half a million votes fall into a few hundred
    # kinds. As complex numbers they are sorted at once, by sum and then by chance.
    kinds, counts = np.unique(np.round(sums, 12) + 1j * np.round(chance, 12), return_counts=True)
    drawn = _drawn(counts, kinds.imag, draws, np.random.default_rng(seed))
    statistics = (drawn - counts * kinds.imag) @ kinds.real
    scale = float(np.abs(sums).sum())
    return float((np.sum(np.abs(statistics) >= abs(observed) - 1e-9 * scale) + 1) / (draws + 1))


def _drawn(counts: Ints, chance: Floats, draws: int, rng: np.random.Generator) -> Ints:
    """Return how many of the `counts` units of each kind each draw makes blind: shape (draws, kinds)."""
    shape = (draws, len(counts))
    if counts.max(initial=0) > 1:
        return rng.binomial(counts, chance, size=shape)
    # The same draws for a tenth of the time: of a single unit it is one random number that decides.
    at = rng.random(shape)
    return np.where(chance <= 0.5, at > 1 - chance, at <= chance).astype(np.int64)


def _units(votes: Votes, blind: Bools) -> tuple[Floats, Floats, Bools]:
    """Return for each unit of the draw: how far its votes are above the mean of their annotator and dimension, summed;
    its chance of being drawn blind; and whether it was. Shape (units,) each."""
    takes = (votes.label == votes.suggested).astype(float)
    _, unit = np.unique(2 * votes.unit + blind, return_inverse=True)
    sums = np.bincount(unit, weights=takes - _means(takes, votes)).astype(float)
    first = np.unique(unit, return_index=True)[1]
    return sums, votes.blind_chance[first], blind[first]


def _means(takes: Floats, votes: Votes) -> Floats:
    """Return the mean of each vote's annotator and dimension, shape (V,)."""
    group: Ints = votes.annotator * (int(votes.dimension.max(initial=0)) + 1) + votes.dimension
    _, group = np.unique(group, return_inverse=True)
    return (np.bincount(group, weights=takes) / np.bincount(group))[group]
