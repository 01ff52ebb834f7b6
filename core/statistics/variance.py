"""Shares of the spread of scores that lie between clusters, conditions and repetitions, with intervals.

The model is mixed: every cluster has a random intercept, every condition, such as a wording, a fixed effect and a
random one within each cluster, and what is left is repetitions. The variances are estimated by the analysis of variance
of the means of cells, clusters by conditions, each mean counting once (Searle, Casella and McCulloch 1992, "Variance
Components", 4.3 and 5.2; Yates 1934 for unequal numbers): every mean square less the noise that it is expected to hold
of those below it. So where conditions have no effect, their variance is 0 on average; an estimate below 0 counts as 0,
and the split says so.

Intervals are those of a parametric bootstrap of the mean squares, which are chi-square variables in this model, that of
the fixed effects a noncentral one: what draws leave of the variances that would have given the mean squares at hand
(generalised intervals, Weerahandi 1993, Journal of the American Statistical Association 88). The degrees of freedom are
fewer where few clusters make most of a mean square.

Where no repetition differs, there is nothing to draw. By the rule of three, as many clusters may differ as may be there
without one among n; the interval reaches as far as repetitions over the whole range of the scores in these would take
the shares.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.statistics.bootstrap import RESAMPLES, Clusters, Floats, numbered
from core.statistics.intervals import FEWEST, LEVEL, unseen_share

_NONE = 1e-12
_FEWEST_FREE = 2.0
_MOST_EXACT = 200.0
"""Beyond it a noncentral chi-square variable is as good as the square of a normal one."""
CLUSTERS, CONDITIONS, REPETITIONS = "clusters", "conditions", "repetitions"


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """The shares of the variance of `n` scores that lie between clusters, conditions and repetitions, which sum to 1:
    None for conditions where there are not two, and for all where the scores cannot tell, for a `reason`.

    `estimates` are the shares by name as they were estimated, of which those below 0 stand as 0 in the three above:
    `below` names these. `intervals` are those of 95 %, (low, high) by name. `left_out` counts clusters without a score
    under every condition: their scores are not in `n`.
    """

    n: int
    clusters: float | None = None
    conditions: float | None = None
    repetitions: float | None = None
    reason: str = ""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    estimates: Mapping[str, float] = field(default_factory=dict)
    left_out: int = 0

    @property
    def below(self) -> tuple[str, ...]:
        """Return the names of the shares whose estimate is below 0."""
        return tuple(name for name, share in self.estimates.items() if share < 0)


def variance_split(
    scores: Sequence[float], clusters: Sequence[Any], conditions: Sequence[Any] | None = None
) -> VarianceSplit:
    """Return how many scores there are, and what their variance consists of.

    With two or more `conditions` the scores of clusters count that have one under each. The shares of the conditions
    are the variance of their fixed effects plus that of the random ones.
    """
    values, places = np.asarray(scores, dtype=float), _numbers(clusters)
    levels = np.zeros_like(places) if conditions is None else _numbers(conditions)
    there = np.zeros((places.max(initial=-1) + 1, levels.max(initial=-1) + 1), dtype=bool)
    there[places, levels] = True
    whole = np.flatnonzero(np.asarray(there.all(axis=1))[places])  # scores of clusters with one under every condition
    left_out = len(np.unique(places)) - len(np.unique(places[whole]))
    values, places, levels = values[whole], _numbers(places[whole].tolist()), levels[whole]
    if reason := _reason(values, places, levels):
        return VarianceSplit(len(values), reason=reason, left_out=left_out)
    cells = _Cells(values, places, levels)
    parts = cells.parts()
    return VarianceSplit(
        len(values),
        **_shares({name: np.array(part) for name, part in parts.items()}, float),
        intervals=cells.intervals(),
        estimates={name: part / max(sum(parts.values()), _NONE) for name, part in parts.items()},
        left_out=left_out,
    )


def _numbers(names: Sequence[Any]) -> Clusters:
    codes = numbered(list(names))
    return np.arange(len(names)) if codes is None else codes


def _reason(values: Floats, places: Clusters, levels: Clusters) -> str:
    if len(np.unique(places)) < FEWEST:
        return f"a split needs at least {FEWEST} clusters"
    if len(Counter(zip(places.tolist(), levels.tolist(), strict=True))) == len(values):
        return "nothing was asked twice"
    return "every score is the same" if np.ptp(values) < _NONE else ""


def _shares(parts: Mapping[str, Floats], kind: Any) -> dict[str, Any]:
    """Return the shares that parts make of their sum, those below 0 as 0."""
    positive = {name: np.maximum(part, 0.0) for name, part in parts.items()}
    total = np.maximum(sum(positive.values()), _NONE)
    return {name: kind(part / total) for name, part in positive.items()}


class _Cells:
    """The means of cells, clusters by conditions, and what clusters add to each mean square."""

    def __init__(self, values: Floats, places: Clusters, levels: Clusters) -> None:
        shape = self._shape = (int(places.max()) + 1, int(levels.max()) + 1)
        at = places * shape[1] + levels
        counts = np.bincount(at, minlength=shape[0] * shape[1]).astype(float)
        means = np.bincount(at, values, minlength=len(counts)) / counts
        within = np.bincount(places, (values - means[at]) ** 2, minlength=shape[0]).astype(float)
        table = means.reshape(shape)
        rows, columns = table.mean(axis=1), table.mean(axis=0)
        left = table - rows[:, None] - columns[None, :] + table.mean()
        self._noise = _Square(within, counts.reshape(shape).sum(axis=1) - float(shape[1]))
        self._crossed = _Square((left**2).sum(axis=1), np.full(shape[0], (1 - 1 / shape[0]) * (shape[1] - 1)))
        self._rows = _Square((rows - rows.mean()) ** 2, np.full(shape[0], 1 - 1 / shape[0]))
        self._columns = float(((columns - columns.mean()) ** 2).sum())
        self._once = float((1 / counts).mean())
        self._range = float(np.ptp(values))

    def parts(self) -> dict[str, float]:
        """Return the variances without the noise of the means."""
        n, conditions = self._shape
        noise, rows = self._noise.mean, self._rows.mean
        if conditions == 1:
            return {CLUSTERS: rows - noise * self._once, REPETITIONS: noise}
        crossed = self._crossed.mean
        fixed = self._columns / conditions - (conditions - 1) / conditions * crossed / n
        return {
            CLUSTERS: rows - crossed / conditions,
            CONDITIONS: fixed + crossed - noise * self._once,
            REPETITIONS: noise,
        }

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Return the interval of each share."""
        n, conditions = self._shape
        rng = np.random.default_rng(1)
        noise, rows = self._noise.drawn(rng), self._rows.drawn(rng)
        if conditions == 1:
            parts = {CLUSTERS: rows - noise * self._once, REPETITIONS: noise}
        else:
            crossed = self._crossed.drawn(rng)
            ratio = n * self._columns / np.maximum(crossed, _NONE)
            fixed = _noncentrality(rng, ratio, conditions - 1) * crossed / (n * conditions)
            parts = {
                CLUSTERS: rows - crossed / conditions,
                CONDITIONS: fixed + crossed - noise * self._once,
                REPETITIONS: noise,
            }
        tail = (1 - LEVEL) / 2
        shares = _shares({name: np.array(part) for name, part in self.parts().items()}, float)
        quantiles = {name: np.quantile(drawn, [tail, 1 - tail]) for name, drawn in _shares(parts, np.asarray).items()}
        ends = {
            name: (min(float(low), shares[name]), max(float(high), shares[name]))
            for name, (low, high) in quantiles.items()
        }
        if all(low < _NONE for name, (low, _) in ends.items() if name != REPETITIONS):
            ends[REPETITIONS] = (ends[REPETITIONS][0], 1.0)  # where nothing else need be, all may be repetitions
        if self._noise.mean > _NONE:
            return ends
        # repetitions may differ in clusters of which none is here
        most = unseen_share(n) * self._range**2 / 4
        share = most / (most + sum(max(part, 0.0) for part in self.parts().values()))
        lower = {name: (low * (1 - share), high) for name, (low, high) in ends.items()}
        return lower | {REPETITIONS: (0.0, share)}


class _Square:
    """A mean square: what each cluster adds to the sum of squares, and to its degrees of freedom."""

    def __init__(self, squares: Floats, free: Floats) -> None:
        self._squares, self._free = squares, free

    @property
    def mean(self) -> float:
        return float(self._squares.sum() / self._free.sum())

    @property
    def freedom(self) -> float:
        """The degrees of freedom of a chi-square variable that varies as the sum of squares does over clusters."""
        total, n = float(self._squares.sum()), len(self._squares)
        most = float(self._free.sum())
        apart = float(((self._squares - self.mean * self._free) ** 2).sum()) * n / (n - 1)
        return min(most, max(2 * total**2 / apart, _FEWEST_FREE)) if apart > 0 else most

    def drawn(self, rng: np.random.Generator) -> Floats:
        """Return draws of the expected mean square that could have given this one."""
        free = self.freedom
        return self.mean * free / rng.chisquare(free, RESAMPLES)


def _noncentrality(rng: np.random.Generator, ratio: Floats, free: int) -> Floats:
    """Return draws of the noncentrality of chi-square variables that came out as `ratio`: 0 where even 0 would seldom
    give as little."""
    from scipy.special import chndtr, chndtrinc, ndtri

    chances = rng.uniform(1e-9, 1 - 1e-9, len(ratio))
    draws: Floats = np.maximum((np.sqrt(ratio) + ndtri(1 - chances)) ** 2 - (free - 1), 0.0)
    exact = ratio <= _MOST_EXACT
    none = chances >= chndtr(ratio, free, 0.0)
    solved = exact & ~none
    draws[solved] = chndtrinc(ratio[solved], free, chances[solved])
    draws[none] = 0.0
    return draws
