"""Two models on the stories that both have: does their mean difference differ from nought, over how many pairs at once.

The test flips the sign of each story's difference: were the two models exchangeable on a story, either sign would be as
likely (Fisher 1935, chapter 3; Good 2005, "Permutation, Parametric and Bootstrap Tests of Hypotheses", 3.2). The story
is flipped as a whole, so the dependence of its propositions does no harm.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from annotation.domain.anchoring.estimates import RESAMPLES
from benchmark.domain.inference.aligned import Aligned, Floats
from benchmark.domain.inference.bootstrap import mean_estimates

NO_COMMON_STORY = "no story has a score of both models"
ALPHA = 0.05
EXACT = 14
"""Up to so many differences other than nought, every one of the 2^n sign patterns is looked at."""
FLIPS = 9_999
"""Sign patterns drawn beyond that, at least; more for many pairs, so that Holm's first step can be passed."""
_AT_ONCE = 4_000_000


def paired_differences(
    aligned: Aligned, *, seed: int, resamples: int = RESAMPLES, hypotheses: int | None = None
) -> list[dict[str, Any]]:
    """Every pair of models, in the order of `aligned`: {first, second, value, n, interval, p, p_adjusted[, reason]}.

    `value` is the mean over the `n` common stories of first minus second, `interval` its 95 % interval, `p` two-sided,
    `p_adjusted` by Holm over the pairs that have a p. `hypotheses` says how many tests the caller adjusts for in all
    where there are more than these pairs (categories, say); it only raises the number of sign patterns.
    """
    pairs = list(combinations(range(len(aligned.models)), 2))
    if not pairs:
        return []
    first, second = np.array(pairs).T
    differences = aligned.scores[first] - aligned.scores[second]
    found = mean_estimates(differences, seed=seed, resamples=resamples, empty=NO_COMMON_STORY)
    p = sign_flip_p(differences, seed=seed, flips=flips_for(max(len(pairs), hypotheses or 0)))
    return [
        {"first": aligned.models[a], "second": aligned.models[b], **one, "p": raw, "p_adjusted": adjusted}
        for (a, b), one, raw, adjusted in zip(pairs, found, p, holm(p), strict=True)
    ]


def flips_for(hypotheses: int) -> int:
    """Sign patterns to draw so that the smallest possible p, times the number of tests, is a quarter of `ALPHA`."""
    return max(FLIPS, int(np.ceil(4 * hypotheses / ALPHA)) - 1)


def sign_flip_p(differences: Floats, *, seed: int, flips: int = FLIPS) -> list[float | None]:
    """Two-sided p of each row's mean, shape (k, stories), nan where missing; None for a row without any difference.

    Exact up to `EXACT` differences other than nought; beyond, (b + 1) / (flips + 1) with b drawn patterns at least as
    extreme (Phipson and Smyth 2010), which keeps the test's level.
    """
    known = np.isfinite(differences)
    rows = np.where(known, differences, 0)
    moved = (rows != 0).sum(axis=1)
    out: list[float | None] = [None] * len(rows)
    for row in np.flatnonzero(known.any(axis=1) & (moved <= EXACT)):
        out[row] = _exact_p(rows[row][rows[row] != 0])
    drawn = np.flatnonzero(moved > EXACT)
    for row, p in zip(drawn, _drawn_p(rows[drawn], seed=seed, flips=flips), strict=True):
        out[row] = float(p)
    return out


def _reached(sums: Floats, observed: Floats, scale: Floats) -> Floats:
    """At least as extreme, rounding of sums forgiven so that ties count."""
    return np.abs(sums) >= np.abs(observed) - 1e-12 * scale


def _exact_p(values: Floats) -> float:
    """The first sign is held: turning every sign gives the same extremity."""
    n = len(values)
    if n == 0:
        return 1.0
    signs = 1.0 - 2 * ((np.arange(2 ** (n - 1))[:, None] >> np.arange(n - 1)) & 1)
    sums = values[0] + signs @ values[1:]
    return float(_reached(sums, values.sum(), np.abs(values).sum()).mean())


def _drawn_p(rows: Floats, *, seed: int, flips: int) -> Floats:
    """All rows are turned by the same patterns: shape (k,)."""
    k, stories = rows.shape
    if not k:
        return np.empty(0)
    rng = np.random.default_rng(seed)
    observed, scale = rows.sum(axis=1), np.abs(rows).sum(axis=1)
    extreme = np.zeros(k, dtype=np.int64)
    step = max(1, _AT_ONCE // max(stories, k))
    for start in range(0, flips, step):
        size = (min(step, flips - start), stories)
        signs = rng.integers(0, 2, size=size, dtype=np.int8) * 2.0 - 1.0
        extreme += _reached(signs @ rows.T, observed, scale).sum(axis=0)
    return (extreme + 1) / (flips + 1)


def holm(p: list[float | None]) -> list[float | None]:
    """Holm's step-down adjusted p values (Holm 1979); None is no test and does not count."""
    out: list[float | None] = [None] * len(p)
    order = sorted((at for at, one in enumerate(p) if one is not None), key=lambda at: p[at])
    reached = 0.0
    for step, at in enumerate(order):
        reached = max(reached, min(1.0, p[at] * (len(order) - step)))
        out[at] = reached
    return out
