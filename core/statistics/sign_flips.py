"""Test of whether the mean of paired differences is nought: the sign of each cluster's difference is flipped.

Were the two sides exchangeable in a cluster, either sign would be as likely (Fisher 1935, chapter 3; Good 2005,
"Permutation, Parametric and Bootstrap Tests of Hypotheses", 3.2). A cluster is flipped as a whole, so dependence within
it does no harm.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.messages import Sentence, gettext_noop, word
from core.statistics.bootstrap import Floats

ALPHA = 0.05
EXACT = 14
"""Up to so many differences other than nought, every one of the 2^n sign patterns is looked at."""
FLIPS = 9_999
"""Sign patterns drawn beyond that, at least; more for many pairs, so that Holm's first step can be passed."""
SYMMETRY_FROM = 30
"""Where there are fewer clusters, one that is far off decides for a side; from about so many on the mean is symmetric
enough whatever the differences are."""
_AT_ONCE = 4_000_000
_AS_FLOATS = 1_000_000

Columns = NDArray[np.int64]


def flips_for(hypotheses: int) -> int:
    """Sign patterns to draw so that the smallest possible p, times the number of tests, is a quarter of `ALPHA`."""
    return max(FLIPS, int(np.ceil(4 * hypotheses / ALPHA)) - 1)


def out_of_reach(n: int, tests: int, alpha: float = ALPHA) -> bool:
    """Return whether no difference of so few clusters can pass so many tests, however large: with all of one sign the p
    is 2^(1 − n)."""
    return tests * 2.0 ** (1 - n) > alpha


def beyond_reach(n: int, tests: int, unit: str, alpha: float = ALPHA) -> str:
    """Return why no difference of so few clusters can pass so many tests, a clause; empty where one can."""
    if not tests or not out_of_reach(n, tests, alpha):
        return ""
    return Sentence(
        "{n} {unit} can show no difference in {tests} tests at once, however large it is",
        n=n,
        unit=word(unit),
        tests=f"{tests:,}",
    )


def caution(n: int, unit: str, where: str = gettext_noop("with")) -> str:
    """Return what the test takes for granted where so few clusters cannot make up for it; empty from `SYMMETRY_FROM`
    clusters on. `where` begins the sentence."""
    if n >= SYMMETRY_FROM:
        return ""
    return Sentence(
        "{where} fewer than {symmetry_from} {unit} the sign-flip test assumes that differences lie "
        "symmetrically around their mean",
        where=where,
        symmetry_from=SYMMETRY_FROM,
        unit=word(unit),
    )


def sign_flip_p(differences: Floats, *, seed: int, flips: int = FLIPS) -> list[float | None]:
    """Two-sided p of each row's mean, shape (k, n), nan where missing; None for a row without any difference.

    Exact up to `EXACT` differences other than nought; beyond, (b + 1) / (flips + 1) with b drawn patterns at least as
    extreme (Phipson and Smyth 2010), which keeps the test's level.
    """
    return sign_flips(differences, [], seed=seed, flips=flips)[0]


def sign_flips(differences: Floats, parts: Sequence[Columns], *, seed: int, flips: int) -> list[list[float | None]]:
    """The p of each row over all columns, then over those of each part; no column is in two parts."""
    every = np.arange(differences.shape[1])
    rest = np.setdiff1d(every, np.concatenate(parts)) if parts else every
    rows = np.where(np.isfinite(differences), differences, 0)
    many = np.flatnonzero((rows != 0).sum(axis=1) > EXACT)
    drawn = np.full((1 + len(parts), len(rows)), np.nan)
    if len(many):
        drawn[:, many] = _drawn_p([rows[many][:, part] for part in (*parts, rest)], seed=seed, flips=flips)[
            : len(drawn)
        ]
    return [
        [_p(row[np.isfinite(row)], p) for row, p in zip(differences[:, columns], of_part, strict=True)]
        for columns, of_part in zip((every, *parts), drawn, strict=True)
    ]


def _p(differences: Floats, drawn: float) -> float | None:
    moved = differences[differences != 0]
    if not len(differences):
        return None
    return _exact_p(moved) if len(moved) <= EXACT else float(drawn)


def _reached(sums: Floats, observed: Floats, scale: Floats) -> NDArray[np.bool_]:
    """Return whether each sum is at least as extreme, rounding of sums forgiven so that ties count."""
    reached: NDArray[np.bool_] = np.abs(sums) >= np.abs(observed) - 1e-12 * scale
    return reached


def _exact_p(values: Floats) -> float:
    """The first sign is held: turning every sign gives the same extremity."""
    n = len(values)
    if n == 0:
        return 1.0
    sums = values[0] + _patterns(n - 1) @ values[1:]
    return float(_reached(sums, values.sum(), np.abs(values).sum()).mean())


@lru_cache(EXACT)
def _patterns(n: int) -> Floats:
    """Every pattern of n signs, shape (2^n, n): each pair of models has as many differences as the others."""
    patterns: Floats = 1.0 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    return patterns


def _drawn_p(blocks: Sequence[Floats], *, seed: int, flips: int) -> Floats:
    """All rows are turned by the same patterns, over all blocks of columns, shape (k, …), and within each: (1 + blocks,
    k).

    A sum over all columns is the sum of the blocks' sums, so that one pass serves both.
    """
    rng = np.random.default_rng(seed)
    observed, scale = (
        np.array([sum(of_blocks), *of_blocks])
        for of_blocks in ([block.sum(axis=1) for block in blocks], [np.abs(block).sum(axis=1) for block in blocks])
    )
    extreme = np.zeros(observed.shape, dtype=np.int64)
    step = max(1, _AT_ONCE // max(sum(block.shape[1] for block in blocks), observed.shape[1]))
    for start in range(0, flips, step):
        size = min(step, flips - start)
        totals = np.zeros((size, observed.shape[1]))
        for at, block in enumerate(blocks, 1):
            sums = _turned(rng.integers(0, 2, size=(size, block.shape[1]), dtype=np.int8), block)
            totals += sums
            extreme[at] += _reached(sums, observed[at], scale[at]).sum(axis=0)
        extreme[0] += _reached(totals, observed[0], scale[0]).sum(axis=0)
    p: Floats = (extreme + 1) / (flips + 1)
    return p


def _turned(drawn: NDArray[np.int8], block: Floats) -> Floats:
    """The sums of each row of a block, shape (k, n), whose signs each pattern of 0 and 1 turns, shape (patterns, n):
    (patterns, k). A part of the patterns at once: as floats they take eight times the memory."""
    sums = np.empty((len(drawn), len(block)))
    step = max(1, _AS_FLOATS // max(1, drawn.shape[1]))
    for start in range(0, len(drawn), step):
        signs = drawn[start : start + step].astype(float)
        signs *= 2
        signs -= 1
        np.matmul(signs, block.T, out=sums[start : start + step])
    return sums
