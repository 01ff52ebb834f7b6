"""Two judges on the same tables, over the rows on which people and both have a verdict, with a test over all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.statistics import (
    Clusters,
    Floats,
    are_alike,
    first_by_second,
    flips_for,
    holm,
    ratios,
    sign_flip_p,
    spared_p,
)
from judge.domain.calibration.agreement import SpannedEstimate
from judge.domain.calibration.rows import Table, matched
from judge.domain.calibration.weighted import weighted_mean
from judge.domain.cluster_names import ClusterName

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class JudgePair:
    """The first judge's agreement with people less the second's, with its p, and p after Holm's correction over all
    pairs. Bounds are over all rows on which people have a verdict."""

    difference: SpannedEstimate
    p: float | None
    adjusted: float | None

    @property
    def turned(self) -> JudgePair:
        """The second judge less the first."""
        old = self.difference
        interval, bounds = ((-ends[1], -ends[0]) if ends else None for ends in (old.interval, old.bounds))
        value = None if old.value is None else -old.value
        return replace(self, difference=replace(old, value=value, interval=interval, bounds=bounds))


def tested_pairs(
    judges: Mapping[str, Sequence[Table]], *, seed: int, over: ClusterName
) -> dict[tuple[str, str], JudgePair]:
    """Return every two judges by their names, in both orders.

    The test flips the sign of each story's weighted sum of differences, as exchangeable judges could have changed
    places in it. Where one judge leaves out more rows than the other, the difference has to hold at both bounds.
    """
    rows = _Rows.of(judges)
    names = list(combinations(judges, 2))
    pairs = [rows.paired(first, second) for first, second in names]
    sums = np.array([row for pair in pairs for row in pair.by_story]).reshape(3 * len(pairs), rows.stories)
    p = sign_flip_p(sums, seed=seed, flips=flips_for(len(pairs))) if sums.size else [None] * (3 * len(pairs))
    spared = [
        spared_p(pair.means, p[3 * at : 3 * at + 3], pair.is_alike(rows.names, over)) for at, pair in enumerate(pairs)
    ]
    tested = {
        name: JudgePair(pair.difference(rows.names, over), raw, adjusted)
        for name, pair, raw, adjusted in zip(names, pairs, spared, holm(spared), strict=True)
    }
    return tested | {(second, first): pair.turned for (first, second), pair in tested.items()}


@dataclass(frozen=True, slots=True)
class _Paired:
    """Two judges on the tables that both read, arrays of shape (tables,): the mean difference over the rows of both,
    nan without one, both bounds, and the share of rows that the first lacks less that of the second (`apart`). The
    numbers of their stories, their weights, and the strata that they were drawn in."""

    value: Floats
    lowest: Floats
    highest: Floats
    apart: Floats
    story: Clusters
    weight: Floats
    strata: Sequence[str]
    stories: int

    @property
    def _rows(self) -> tuple[Floats, Floats, Floats]:
        return self.value, self.lowest, self.highest

    @property
    def means(self) -> list[float]:
        """The weighted means of the difference and of both bounds, nan without one."""
        return [self._mean(row) for row in self._rows]

    @property
    def by_story(self) -> list[Floats]:
        """The weighted sums of the difference and of both bounds over each story, nan where a story has none."""
        return [self._sums(row) for row in self._rows]

    def _mean(self, row: Floats) -> float:
        finite = np.isfinite(row)
        return float(ratios((self.weight * row)[finite].sum(), self.weight[finite].sum()))

    def _sums(self, row: Floats) -> Floats:
        finite = np.isfinite(row)
        sums = np.full(self.stories, np.nan)
        sums[np.unique(self.story[finite])] = 0.0
        np.add.at(sums, self.story[finite], (self.weight * row)[finite])
        return sums

    def difference(self, names: Sequence[str], over: ClusterName) -> SpannedEstimate:
        estimate = self._estimate(self.value, names, over)
        _, low, high = self.means
        return replace(estimate, bounds=(low, high)) if high - low > _ROUNDING else estimate

    def is_alike(self, names: Sequence[str], over: ClusterName) -> bool:
        """Return whether both judges leave out as many rows."""
        if not self.apart.any():
            return True
        estimate = self._estimate(self.apart, names, over)
        return are_alike(estimate.value or 0.0, estimate.interval)

    def _estimate(self, row: Floats, names: Sequence[str], over: ClusterName) -> SpannedEstimate:
        finite = np.isfinite(row)
        stories = [names[at] for at in self.story[finite]]
        strata = [self.strata[at] for at in np.flatnonzero(finite).tolist()]
        values, weights = row[finite].tolist(), self.weight[finite].tolist()
        return weighted_mean(values, weights, stories, unit=over.plural, strata=strata).estimate


@dataclass(frozen=True, slots=True)
class _Rows:
    """All rows of all tables: the table of each row and the story, weight and stratum of each table, whether people
    have a verdict on it, and by judge whether it agrees with them, 1 or 0, nan where it has no verdict. `read` are the
    tables that each judge was asked about, `names` those of the stories."""

    table: Clusters
    story: Clusters
    weight: Floats
    strata: Sequence[str]
    has_human: NDArray[np.bool_]
    agrees: Mapping[str, Floats]
    read: Mapping[str, NDArray[np.bool_]]
    names: Sequence[str]

    @classmethod
    def of(cls, judges: Mapping[str, Sequence[Table]]) -> _Rows:
        tables = {table.key: table for of_judge in judges.values() for table in of_judge}
        names = list(dict.fromkeys(table.story for table in tables.values()))
        at = {story: place for place, story in enumerate(names)}
        human = [matched(row.human) for table in tables.values() for row in table.rows]
        agrees, read = {}, {}
        for name, of_judge in judges.items():
            own = {table.key: table for table in of_judge}
            agrees[name] = np.array([value for table in tables.values() for value in _agreement(table, own)])
            read[name] = np.array([key in own for key in tables], dtype=bool)
        return cls(
            table=np.repeat(np.arange(len(tables)), [len(table.rows) for table in tables.values()]),
            story=np.array([at[table.story] for table in tables.values()], dtype=np.int64),
            weight=np.array([table.weight for table in tables.values()], dtype=float),
            strata=[table.stratum for table in tables.values()],
            has_human=np.array([verdict is not None for verdict in human], dtype=bool),
            agrees=agrees,
            read=read,
            names=names,
        )

    @property
    def stories(self) -> int:
        return len(self.names)

    def paired(self, first: str, second: str) -> _Paired:
        own, other = self.agrees[first], self.agrees[second]
        worst, best = ([np.nan_to_num(side, nan=end) for side in (own, other)] for end in (0.0, 1.0))
        both = np.isfinite(own) & np.isfinite(other)
        columns = [
            np.where(both, own - other, 0.0), both, worst[0] - best[1], best[0] - worst[1],
            np.isnan(own).astype(float) - np.isnan(other), self.has_human,
        ]  # fmt: skip
        sums = self._by_table(np.column_stack(columns) * self.has_human[:, None])
        here = self.read[first] & self.read[second] & (sums[:, 5] > 0)
        sums, n = sums[here], sums[here, 5]
        return _Paired(
            value=first_by_second(sums[:, :2]),
            lowest=sums[:, 2] / n,
            highest=sums[:, 3] / n,
            apart=sums[:, 4] / n,
            story=self.story[here],
            weight=self.weight[here],
            strata=[self.strata[at] for at in np.flatnonzero(here).tolist()],
            stories=self.stories,
        )

    def _by_table(self, columns: Floats) -> Floats:
        sums = np.zeros((len(self.weight), columns.shape[1]))
        np.add.at(sums, self.table, columns)
        return sums


def _agreement(table: Table, own: Mapping[str, Table]) -> list[float]:
    """Return whether a judge agrees with people on each row, nan of one without a verdict of either."""
    if table.key not in own:
        return [np.nan] * len(table.rows)
    pairs = [(matched(row.human), matched(row.judge)) for row in own[table.key].rows]
    return [np.nan if None in pair else float(pair[0] == pair[1]) for pair in pairs]
