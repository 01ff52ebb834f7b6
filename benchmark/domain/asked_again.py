"""One model asked in two ways, such as published and under a control, or plain and by a method.

Only a ranking counts a missing answer at its worst. A difference that is read as memory, or as the worth of a method,
is over the pairs that were answered on both sides, and shown by the rule of `core.statistics.missing`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from benchmark.domain.inference.cases import Cases
from benchmark.domain.inference.paired import Tested
from core.messages import gettext_noop
from core.plain import WHERE_THERE_IS_ONE, Json
from core.statistics import (
    DIFFERENCE,
    RESAMPLES,
    Estimate,
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
    estimate, apart = mean_estimates(
        np.array([answered, open_shares]),
        scale=DIFFERENCE,
        seed=seed,
        unit=unit,
        empty=NONE_ANSWERED,
        resamples=resamples,
        clusters=cases.clusters,
    )
    missing, asked = [int(count) for count in cases.missing], len(cases.stories)
    # nothing to tell apart where each sample lacks as much on both sides
    interval = apart.interval if open_shares.any() else [0.0, 0.0]
    shares = MissingShares(missing[0] / asked, missing[1] / asked, apart.value or 0.0, interval)
    both = np.isfinite(answered)
    first, second = map(float, mean_of(np.where(both, cases.answered, np.nan)))
    rows = np.array([answered, lowest, highest])
    sums = rows if cases.clusters is None else by_cluster(np.nan_to_num(rows).T, cases.clusters).T
    p = sign_flip_p(sums, seed=seed, flips=flips_for(tests))
    difference = Difference(
        value=estimate.value, interval=estimate.interval, reason=estimate.reason, n=estimate.n, asked=asked,
        bounds=[float(lowest.mean()), float(highest.mean())], missing=missing, shares=shares,
        p=spared_p(mean_of(rows).tolist(), p, shares.alike),
    )  # fmt: skip
    return (first, second) if both.any() else (None, None), difference


Flips = tuple[str, int, int]
"""A cluster, the number of its samples that were answered each time, and of those with different answers."""
Repeated = tuple[float | None, Sequence[int], Sequence[int]]
"""The share of samples that are the same both times, the numbers of the others, and of all that were answered both
times. The share is None without any."""


def flips_by_cluster(compared: Iterable[str], flipped: Iterable[str]) -> list[Flips]:
    """Return the flips of each cluster that has one, the most first, from the clusters of the samples."""
    totals, counts = Counter(compared), Counter(flipped)
    return [(name, totals[name], count) for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))]


def _repeated(flips: Sequence[int], compared: Sequence[int]) -> Repeated:
    return 1 - len(flips) / len(compared) if compared else None, flips, compared


def repeated_statements(
    first: Mapping[int, str | None], second: Mapping[int, str | None], numbers: Set[int]
) -> Repeated:
    """Compare what answers say. An unreadable answer differs from any that could be read."""
    compared = [number for number in sorted(numbers) if first.get(number) and second.get(number)]
    return _repeated([number for number in compared if first[number] != second[number]], compared)


def repeated_scores(first: Mapping[int, float | None], second: Mapping[int, float | None]) -> Repeated:
    """Compare scores. Flips with the largest difference come first."""
    apart = {
        number: score - other
        for number, score in sorted(first.items())
        if score is not None and (other := second.get(number)) is not None
    }
    flips = sorted((number for number in apart if apart[number]), key=lambda number: (-abs(apart[number]), number))
    return _repeated(flips, list(apart))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain(Difference):
    """The difference of a model's scores in two ways: published less controlled, or by a method less plain."""

    key: str
    model: str
    kind: str
    entrant: int | None
    run: str
    way: str
    """The name of the control or of the method."""
    title: str
    beside: str | None = None
    """The run that asked it this way, and its entrant. None if no run did."""
    beside_entrant: int | None = None
    means: Sequence[float | None] = (None, None)
    """The scores in both ways, over the samples of the difference."""
    score: Estimate | None = None
    """The score by the method over all samples that it was asked."""
    why: str = ""
    """The reason why the row has no score or no difference."""
    part: str = ""
    """The part of the samples. Empty for all of them."""
    same_answer: float | None = None
    """The share of samples with the same answer in both ways. None if answers are not compared."""
    same_score: float | None = None
    flips: Sequence[int] = ()
    """The numbers of the samples with another answer; with another score, largest difference first, if answers are not
    compared."""
    stories: Sequence[Flips] = ()
    """The flips of each cluster that has one."""


Rows = Mapping[str, Mapping[str, Sequence[AskedAgain]]]
"""Rows by metric group and parse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgainResults:
    """The rows of all models under the controls of a run, or by each method."""

    rows: Rows
    ways: Mapping[str, str] = field(default_factory=dict)
    """The titles of methods by name; the first is plain."""
    parts: Rows = field(default_factory=dict)
    """Rows of each part of the samples, of metric groups that have parts."""
    without_parts: Mapping[str, str] = field(default_factory=dict)
    """The reasons why a suite could not make them, by metric group."""
    left: Sequence[Json] = ()
    """What each control leaves unchanged: its `title`, `control` and `noun`, how many `samples` there are and are the
    `same`, their `numbers` as ranges and `why`, the `steps` that are not asked, the scores of metric groups that are
    `still` the same, and why answers are `unread`."""
    unfinished: Sequence[str] = ()
    """The titles of the runs that are not finished."""
