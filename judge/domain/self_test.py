"""Results of a self-test: how often the judge was right by kind of pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.messages import Sentence, gettext_noop, listed, noted, worded
from judge.domain.contrast import ALIKE, BY_RULE, NAMES, Kind

CONFIDENCE = 0.95
METHOD = gettext_noop("exact (Clopper–Pearson) 95 % intervals over pairs")


@dataclass(frozen=True, slots=True)
class Rate:
    """`right` of `n` pairs with an answer, `missing` without one. `rate` and `interval` are None where no pair has an
    answer."""

    kind: str
    name: str
    alike: bool
    right: int
    n: int
    missing: int
    rate: float | None
    interval: list[float] | None


def rates(judged: Iterable[tuple[str, int | None]]) -> list[Rate]:
    """Return a `Rate` for each kind, of pairs of a kind and the number of gold rows that the made row was
    matched with, None where there is no answer; a number from 1 on is a match. A kind that no rule makes has one where
    there are pairs of it."""
    right, answered, missing = Counter[str](), Counter[str](), Counter[str]()
    for kind, count in judged:
        if count is None:
            missing[kind] += 1
        else:
            answered[kind] += 1
            right[kind] += (count > 0) == (kind in ALIKE)
    there = [kind for kind in Kind if kind in BY_RULE or answered[kind] or missing[kind]]
    return [_rate(kind, right[kind], answered[kind], missing[kind]) for kind in there]


def _rate(kind: Kind, right: int, n: int, missing: int) -> Rate:
    ends = list(_exact(right, n)) if n else None
    return Rate(kind.value, NAMES[kind], kind in ALIKE, right, n, missing, right / n if n else None, ends)


@lru_cache(maxsize=4096)
def _exact(right: int, n: int) -> tuple[float, float]:
    """Return the ends of the exact interval of a share, which is searched for: 3 ms, and a leaderboard shows the same
    hundreds of times."""
    from scipy.stats import binomtest

    interval = binomtest(right, n).proportion_ci(CONFIDENCE, method="exact")
    return float(interval.low), float(interval.high)


def summary_line(results: Sequence[Rate]) -> str:
    """Sum up the results in a line: "identical 3/3, negated 0/12 (2 unanswered), other actor –"."""
    return listed(worded(result.name, _of(result)) for result in results)


def _of(result: Rate) -> str:
    share = f"{result.right}/{result.n}" if result.n else "–"
    return noted(share, Sentence("{missing} unanswered", missing=result.missing)) if result.missing else share
