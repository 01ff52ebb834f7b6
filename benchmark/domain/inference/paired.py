"""Two models on the stories that both have: does their mean difference differ from nought, over how many pairs at once.

The test flips the sign of each story's difference: were the two models exchangeable on a story, either sign would be as
likely (Fisher 1935, chapter 3; Good 2005, "Permutation, Parametric and Bootstrap Tests of Hypotheses", 3.2). The story
is flipped as a whole, so the dependence of its propositions does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

Columns = NDArray[np.int64]


def paired_differences(
    aligned: Aligned, *, seed: int, resamples: int = RESAMPLES, categories: Mapping[int, str] | None = None
) -> list[dict[str, Any]]:
    """Every pair of models, over all stories and then within each category: {first, second, category, value, n, interval, p,
    p_adjusted[, reason]}.

    The pairs are in the order of `aligned`; `categories` names each story's, and `category` is empty over all stories.
    `value` is the mean over the `n` common stories of first minus second, `interval` its 95 % interval, `p` two-sided,
    `p_adjusted` by Holm over everything that has a p (specification "Statistics": over all pairs and categories).
    """
    pairs = list(combinations(range(len(aligned.models)), 2))
    if not pairs:
        return []
    first, second = np.array(pairs).T
    differences = aligned.scores[first] - aligned.scores[second]
    parts = _parts(aligned.stories, categories or {})
    flips = flips_for(len(pairs) * (1 + len(parts)))
    p = _sign_flips(differences, list(parts.values()), seed=seed, flips=flips)
    found = []
    for at, (category, columns) in enumerate({"": np.arange(len(aligned.stories)), **parts}.items()):
        rules = {"seed": seed, "resamples": resamples, "empty": NO_COMMON_STORY}
        for (a, b), one, raw in zip(pairs, mean_estimates(differences[:, columns], **rules), p[at], strict=True):
            found.append(
                {"first": aligned.models[a], "second": aligned.models[b], "category": category, **one, "p": raw}
            )
    return [
        one | {"p_adjusted": adjusted} for one, adjusted in zip(found, holm([one["p"] for one in found]), strict=True)
    ]


def _parts(stories: Sequence[int], categories: Mapping[int, str]) -> dict[str, Columns]:
    """The columns of each category, by name; none where there is only one, which would be all stories again."""
    named = [categories.get(story, "") for story in stories]
    names = sorted(set(named) - {""})
    return {one: np.flatnonzero([name == one for name in named]) for one in names} if len(names) > 1 else {}


def flips_for(hypotheses: int) -> int:
    """Sign patterns to draw so that the smallest possible p, times the number of tests, is a quarter of `ALPHA`."""
    return max(FLIPS, int(np.ceil(4 * hypotheses / ALPHA)) - 1)


def out_of_reach(stories: int, tests: int, alpha: float = ALPHA) -> bool:
    """Whether no difference over so few stories can pass so many tests, however large: with all of one sign the p is 2^(1 − stories)."""
    return tests * 2.0 ** (1 - stories) > alpha


def sign_flip_p(differences: Floats, *, seed: int, flips: int = FLIPS) -> list[float | None]:
    """Two-sided p of each row's mean, shape (k, stories), nan where missing; None for a row without any difference.

    Exact up to `EXACT` differences other than nought; beyond, (b + 1) / (flips + 1) with b drawn patterns at least as
    extreme (Phipson and Smyth 2010), which keeps the test's level.
    """
    return _sign_flips(differences, [], seed=seed, flips=flips)[0]


def _sign_flips(differences: Floats, parts: Sequence[Columns], *, seed: int, flips: int) -> list[list[float | None]]:
    """The p of each row over all columns, then over those of each part; no column is in two parts."""
    every = np.arange(differences.shape[1])
    rest = np.setdiff1d(every, np.concatenate(parts)) if parts else every
    rows = np.where(np.isfinite(differences), differences, 0)
    many = np.flatnonzero((rows != 0).sum(axis=1) > EXACT)
    drawn = np.full((1 + len(parts), len(rows)), np.nan)
    if len(many):
        drawn[:, many] = _drawn_p([rows[many][:, one] for one in (*parts, rest)], seed=seed, flips=flips)[: len(drawn)]
    return [
        [_p(row[np.isfinite(row)], p) for row, p in zip(differences[:, columns], of_part, strict=True)]
        for columns, of_part in zip((every, *parts), drawn, strict=True)
    ]


def _p(known: Floats, drawn: float) -> float | None:
    moved = known[known != 0]
    if not len(known):
        return None
    return _exact_p(moved) if len(moved) <= EXACT else float(drawn)


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


def _drawn_p(blocks: Sequence[Floats], *, seed: int, flips: int) -> Floats:
    """All rows are turned by the same patterns, over all blocks of columns, shape (k, …), and within each: (1 + blocks, k).

    A sum over all columns is the sum of the blocks' sums, so that one pass serves both.
    """
    rng = np.random.default_rng(seed)
    observed, scale = (
        np.array([sum(of_blocks), *of_blocks])
        for of_blocks in ([one.sum(axis=1) for one in blocks], [np.abs(one).sum(axis=1) for one in blocks])
    )
    extreme = np.zeros(observed.shape, dtype=np.int64)
    step = max(1, _AT_ONCE // max(sum(one.shape[1] for one in blocks), observed.shape[1]))
    for start in range(0, flips, step):
        size = min(step, flips - start)
        whole = np.zeros((size, observed.shape[1]))
        for at, block in enumerate(blocks, 1):
            signs = rng.integers(0, 2, size=(size, block.shape[1]), dtype=np.int8) * 2.0 - 1.0
            sums = signs @ block.T
            whole += sums
            extreme[at] += _reached(sums, observed[at], scale[at]).sum(axis=0)
        extreme[0] += _reached(whole, observed[0], scale[0]).sum(axis=0)
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
