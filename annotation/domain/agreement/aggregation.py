"""Two models of annotators fitted to votes without gold: Dawid and Skene's confusion matrices, and MACE's competence.

Votes come as three arrays of shape (V,): cell in 0…C−1, annotator in 0…A−1 and label in 0…K−1. Every annotator has a
vote. A cell can stand for several with the same votes: `weight` says for how many, shape (C,). Nothing is drawn at
random: both start from the votes themselves, so that the same votes give the same figures.
"""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ITERATIONS = 200
ENOUGH = 1e-7
"""Fitting ends when the log-likelihood gains less, per vote."""
_TINY = 1e-10
"""Stands for a probability of zero, whose logarithm would rule a label out for good."""

SPAM_PRIOR = 0.5
"""Parameter of the beta prior of annotating in earnest, both sides (Hovy et al. 2013, section 3.1)."""
STRATEGY_PRIOR = 10.0
"""Parameter of the Dirichlet prior of the labels given without looking (ibid.)."""


def dawid_skene(
    cell: Ints, annotator: Ints, code: Ints, labels: int, weight: Ints | None = None
) -> tuple[Floats, Floats]:
    """Return the posterior label distribution of each cell, shape (C, K), and each annotator's confusion matrix, shape
    (A, true K, given K).

    Expectation–maximisation from the shares of the votes (Dawid and Skene 1979, "Maximum likelihood estimation of
    observer error-rates using the EM algorithm", Applied Statistics 28(1)).
    """
    truth = _sums(cell, np.eye(labels)[code])
    truth /= truth.sum(axis=1, keepdims=True)
    weights = np.ones(len(truth)) if weight is None else weight.astype(np.float64)
    of_votes = weights[cell]
    likelihood = -np.inf
    for _ in range(ITERATIONS):
        prior = np.log(np.maximum(weights @ truth / weights.sum(), _TINY))
        given = _sums(annotator * labels + code, truth[cell] * of_votes[:, None], (annotator.max() + 1) * labels)
        given = np.maximum(given.reshape(-1, labels, labels).swapaxes(1, 2), _TINY)
        confusion: Floats = given / given.sum(axis=2, keepdims=True)
        joint = prior + _sums(cell, np.log(confusion)[annotator, :, code])
        truth, gained = _normalised(joint, weights)
        if (gained - likelihood) / of_votes.sum() < ENOUGH:
            break
        likelihood = gained
    return truth, confusion


def mace(cell: Ints, annotator: Ints, code: Ints, labels: int, weight: Ints | None = None) -> Floats:
    """Return the probability that each annotator answers in earnest and not by a habit that ignores the cell, shape
    (A,).

    Variational expectation–maximisation with the priors of the paper (Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013,
    "Learning whom to trust with MACE", NAACL).
    """
    people = annotator.max() + 1
    weights = np.ones(cell.max() + 1) if weight is None else weight.astype(np.float64)
    of_votes = weights[cell]
    earnest, spamming = np.full((2, people), 0.5)
    habits, likelihood = np.full((people, labels), 1 / labels), -np.inf
    for _ in range(ITERATIONS):
        by_habit = spamming[annotator] * habits[annotator, code]
        either = by_habit + earnest[annotator]
        # of each label in turn: its voters may have looked, all others went by habit
        joint = _sums(cell, np.log(by_habit)[:, None] + np.eye(labels)[code] * np.log(either / by_habit)[:, None])
        truth, gained = _normalised(joint, weights)
        looked = truth[cell, code] * earnest[annotator] / either
        looks, habitual = looked * of_votes, (1 - looked) * of_votes
        chances = np.exp(_log_mean(_sums(annotator, np.column_stack([looks, habitual])), SPAM_PRIOR))
        earnest, spamming = chances.T
        habits = np.exp(_log_mean(_sums(annotator, np.eye(labels)[code] * habitual[:, None]), STRATEGY_PRIOR))
        if abs(gained - likelihood) / of_votes.sum() < ENOUGH:
            break
        likelihood = gained
    chance: Floats = earnest / (earnest + spamming)
    return chance


def _sums(group: Ints, rows: Floats, groups: int = 0) -> Floats:
    """Sum rows of shape (V, m) within each group: shape (groups, m)."""
    return np.column_stack([np.bincount(group, weights=column, minlength=groups) for column in rows.T])


def _normalised(joint: Floats, weights: Floats) -> tuple[Floats, float]:
    """Chances from their unscaled logarithms, row by row, and the weighted sum of the logarithms of what they were
    divided by."""
    highest = joint.max(axis=1, keepdims=True)
    scaled = np.exp(joint - highest)
    total = scaled.sum(axis=1, keepdims=True)
    return scaled / total, float(weights @ (highest + np.log(total)).ravel())


def _log_mean(counts: Floats, prior: float) -> Floats:
    """The mean logarithm of each chance under a Dirichlet posterior, shape as `counts`: one row a distribution."""
    from scipy.special import digamma

    means: Floats = digamma(counts + prior) - digamma((counts + prior).sum(axis=1, keepdims=True))
    return means
