"""Changes of ranks: Kendall's tau between the order of models on two kinds of gold, and the pairs that swap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmark.domain.gold_kinds.cells import UNIT, Floats
from core.messages import gettext_noop
from core.statistics import (
    FEWEST,
    RESAMPLES,
    Estimate,
    Scale,
    few,
    intervals,
    mean_of,
    replicated_means,
    resampled_means,
    sparse,
    tails,
)

FEWEST_MODELS = gettext_noop("an order needs at least two models with a score")
ALL_TIED = gettext_noop("all models have the same score")
NO_KIND = gettext_noop("no model has a score on gold of this kind")
LEAST_DEFINED = 0.95
SHIFT = Scale(-2, 2)
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Swap:
    """Two models whose order differs: `first` leads by `lead` on the gold that is compared with, and `second` by
    `behind` on this kind of it (both as shares, above nought). `shift` is how far the difference moved, with its
    interval: one that leaves out nought says that the kind of gold made it."""

    first: str
    second: str
    lead: float
    behind: float
    shift: Estimate


@dataclass(frozen=True, slots=True)
class Order:
    """Kendall's tau-b of the scores of `models` on a kind of gold and on the gold that it is compared with, and the
    pairs that swap."""

    models: tuple[str, ...]
    tau: Estimate
    swaps: tuple[Swap, ...]


def tau_b(first: Floats, second: Floats) -> Floats:
    """Return Kendall's tau-b of each row, shape (r, k) → (r,): 1 for the same order, −1 for its reverse; nan where all
    scores of either side are tied or one is missing."""
    pairs = list(combinations(range(first.shape[1]), 2))
    left, right = ([at for at, _ in pairs], [at for _, at in pairs])
    a, b = (_signs(side[:, left] - side[:, right]) for side in (first, second))
    untied = np.sqrt((a != 0).sum(axis=1) * (b != 0).sum(axis=1))
    missing = np.isnan(first).any(axis=1) | np.isnan(second).any(axis=1)
    out: Floats = np.full(len(first), np.nan)
    np.divide((a * b).sum(axis=1), untied, out=out, where=(untied > 0) & ~missing)
    return out


def _signs(differences: Floats) -> Floats:
    """Return 1, −1 or, for differences that are rounding, 0."""
    return np.where(np.abs(np.nan_to_num(differences)) <= _TIE, 0.0, np.sign(np.nan_to_num(differences)))


def order(before: Mapping[str, Floats], after: Mapping[str, Floats], *, seed: int, resamples: int = RESAMPLES) -> Order:
    """Compare the order of models by their scores of stories on two kinds of gold, shape (stories,) each, nan where a
    story has none.

    Both kinds share the resampled stories. Tau takes few values, so its ends are quantiles of the resamples with the
    tails of an expanded percentile interval, as of ranks.
    """
    models = tuple(name for name in before if np.isfinite(before[name]).any() and np.isfinite(after[name]).any())
    if len(models) < 2:
        some = any(np.isfinite(values).any() for values in after.values())
        return Order(models, Estimate(None, len(models), reason=FEWEST_MODELS if some else NO_KIND), ())
    sides = [np.array([by_model[name] for name in models]) for by_model in (before, after)]
    means = [mean_of(side)[None] for side in sides]
    return Order(models, _tau(sides, means, seed, resamples), tuple(_swaps(models, sides, means, seed)))


def _tau(sides: list[Floats], means: list[Floats], seed: int, resamples: int) -> Estimate:
    models = len(sides[0])
    value = float(tau_b(*means)[0])
    if np.isnan(value):
        return Estimate(None, models, reason=ALL_TIED)
    stories = int(np.isfinite(sides[1]).any(axis=0).sum())
    if stories < FEWEST:
        return Estimate(value, models, clusters=stories, reason=few(UNIT))
    drawn = resampled_means(np.vstack(sides).T, seed=seed, resamples=resamples)
    taus = tau_b(*np.split(drawn, 2, axis=1))
    taus = taus[np.isfinite(taus)]
    if len(taus) < LEAST_DEFINED * resamples:
        return Estimate(value, models, clusters=stories, reason=sparse(UNIT))
    tail = float(tails(np.array([stories]))[0])
    low, high = np.quantile(taus, [tail, 1 - tail])
    return Estimate(value, models, [float(min(low, value)), float(max(high, value))], stories)


def _swaps(models: tuple[str, ...], sides: list[Floats], means: list[Floats], seed: int) -> list[Swap]:
    swaps = []
    for left, right in combinations(range(len(models)), 2):
        lead, after = (float(mean[0, left] - mean[0, right]) for mean in means)
        if min(abs(lead), abs(after)) <= _TIE or lead * after > 0:
            continue
        first, second = (left, right) if lead > 0 else (right, left)
        columns = np.array([side[at] for side in sides for at in (first, second)]).T
        swaps.append(Swap(models[first], models[second], abs(lead), abs(after), _shift(columns, seed)))
    return swaps


def _shift(columns: Floats, seed: int) -> Estimate:
    """Return how far the difference of the first two columns is from that of the last two."""
    signs = np.array([-1.0, 1.0, 1.0, -1.0])
    value = mean_of(columns.T) @ signs
    replicates = replicated_means(columns, seed=seed, resamples=RESAMPLES) @ signs
    stories = np.array([int(np.isfinite(columns[:, 2:]).all(axis=1).sum())])
    [(ends, why)] = intervals(
        np.array([value]), replicates[:, None], stories, clusters=len(columns), scale=SHIFT, unit=UNIT, empty=NO_KIND
    )
    return Estimate(float(value), int(stories[0]), ends, reason=why or None)
