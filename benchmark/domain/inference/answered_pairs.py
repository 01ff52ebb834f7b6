"""One model asked in two ways, such as published and controlled: the difference over what it answered both ways.

Only a ranking counts a missing answer at its worst. A difference that is read as memory, or as the worth of a method,
is over the pairs that were answered on both sides, and shown by the rule of `core.statistics.missing`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmark.domain.inference.cases import Cases
from benchmark.domain.inference.paired import Tested
from core.messages import gettext_noop
from core.plain import WHERE_THERE_IS_ONE
from core.statistics import (
    DIFFERENCE,
    RESAMPLES,
    Estimate,
    Floats,
    are_alike,
    by_cluster,
    flips_for,
    mean_estimates,
    mean_of,
    sign_flip_p,
    spared_p,
)

Means = tuple[float | None, float | None]
"""The means of both sides. None without a sample that has both scores."""
NONE_ANSWERED = gettext_noop("no sample has a score both ways")
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class MissingShares:
    """The shares of the asked samples that have no score, of the first side and of the second, and the first less the
    second with its 95 % interval. A sample of which a part is missing counts as that part in the difference."""

    first: float
    second: float
    difference: float
    interval: Sequence[float] | None

    @property
    def alike(self) -> bool:
        """Return whether as much is missing on both sides."""
        return are_alike(self.difference, self.interval)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Tested):
    """The first side's score less the second's over the `n` samples that have both, of `asked` samples that were asked
    both ways; None where there is none.

    `interval` is [low, high] of 95 % and `reason` says why there is none. `missing` counts the samples without a score
    on either side, None on a side that was not asked. `shares` are their shares, `bounds` [low, high] where the
    difference over all asked samples can be. `p` is that of `answered_difference`, `p_adjusted` by Holm over the table.
    """

    value: float | None = None
    interval: Sequence[float] | None = None
    reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    n: int | None = None
    asked: int | None = None
    bounds: Sequence[float] | None = None
    missing: Sequence[int | None] = (None, None)
    shares: MissingShares | None = None
    p: float | None = None
    p_adjusted: float | None = None

    @property
    def open_bounds(self) -> Sequence[float] | None:
        """The bounds; None where nothing is missing."""
        return self.bounds if self.bounds and self.bounds[1] - self.bounds[0] > _ROUNDING else None


def answered_difference(
    cases: Cases, *, seed: int, tests: int = 1, unit: str = "stories", resamples: int = RESAMPLES
) -> tuple[Means, Difference]:
    """Return the means of two sides over the samples that both answered, and the first less the second with its test.

    `tests` is how many tests the caller corrects over, `unit` what clusters are called, in the plural.
    """
    if not cases.stories:
        return (None, None), Difference(reason=NONE_ANSWERED, n=0, asked=0, missing=[0, 0])
    answered = cases.answered[0] - cases.answered[1]
    lowest, highest = cases.worst[0] - cases.best[1], cases.best[0] - cases.worst[1]
    open_shares = (cases.best[0] - cases.worst[0]) - (cases.best[1] - cases.worst[1])
    estimate, apart = _estimates(np.array([answered, open_shares]), cases, unit, seed, resamples)
    missing, asked = [int(count) for count in cases.missing], len(cases.stories)
    shares = MissingShares(missing[0] / asked, missing[1] / asked, apart.value or 0.0, _interval(apart, open_shares))
    both = np.isfinite(answered)
    first, second = map(float, mean_of(np.where(both, cases.answered, np.nan)))
    difference = Difference(
        value=estimate.value, interval=estimate.interval, reason=estimate.reason, n=estimate.n, asked=asked,
        bounds=[float(lowest.mean()), float(highest.mean())], missing=missing, shares=shares,
        p=_p(np.array([answered, lowest, highest]), shares.alike, cases, seed, tests),
    )  # fmt: skip
    return (first, second) if both.any() else (None, None), difference


def _estimates(rows: Floats, cases: Cases, unit: str, seed: int, resamples: int) -> list[Estimate]:
    return mean_estimates(
        rows, scale=DIFFERENCE, seed=seed, unit=unit, empty=NONE_ANSWERED, resamples=resamples, clusters=cases.clusters
    )


def _interval(apart: Estimate, open_shares: Floats) -> Sequence[float] | None:
    """Return the interval of the difference of missing shares: nothing to tell apart where each sample lacks as much on
    both sides."""
    return [0.0, 0.0] if not open_shares.any() else apart.interval


def _p(rows: Floats, alike: bool, cases: Cases, seed: int, tests: int) -> float | None:
    """Return the p of the answered pairs, the first row, given the differences at both bounds, the other rows."""
    sums = rows if cases.clusters is None else by_cluster(np.nan_to_num(rows).T, cases.clusters).T
    return spared_p(mean_of(rows).tolist(), sign_flip_p(sums, seed=seed, flips=flips_for(tests)), alike)
