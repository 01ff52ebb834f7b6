"""Two judges on the same tables, over the rows on which people and both have a verdict, with a test over all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from core.statistics import are_alike, flips_for, holm, sign_flip_p, spared_p
from judge.domain.calibration.agreement import SpannedEstimate
from judge.domain.calibration.rows import Row, Table, matched
from judge.domain.calibration.weighted import weighted_mean
from judge.domain.cluster_names import ClusterName

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PairedTable:
    """The first judge's agreement less the second's on one table, over the rows of which people and both judges have a
    verdict, None without one; with the rows of people at both bounds, and the share of them that the first lacks less
    the share that the second lacks (`apart`)."""

    story: str
    weight: float
    value: float | None
    lowest: float
    highest: float
    apart: float


@dataclass(frozen=True, slots=True)
class JudgePair:
    """The difference of two judges with its p, and p after Holm's correction over all pairs."""

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
    """Return every two judges by their names, in both orders."""
    tables = {(a, b): _paired(judges[a], judges[b]) for a, b in combinations(judges, 2)}
    ps = _p(list(tables.values()), seed, over)
    pairs = {
        names: JudgePair(_difference(of_pair, over), p, adjusted)
        for (names, of_pair), p, adjusted in zip(tables.items(), ps, holm(ps), strict=True)
    }
    return pairs | {(b, a): pair.turned for (a, b), pair in pairs.items()}


def _difference(tables: Sequence[PairedTable], over: ClusterName) -> SpannedEstimate:
    told = [table for table in tables if table.value is not None]
    values = [table.value for table in told if table.value is not None]
    weights, stories = [table.weight for table in told], [table.story for table in told]
    estimate = weighted_mean(values, weights, stories, unit=over.plural).estimate
    low, high = (_weighted(tables, end) for end in ("lowest", "highest"))
    return replace(estimate, bounds=(low, high)) if high - low > _ROUNDING else estimate


def _weighted(tables: Sequence[PairedTable], name: str) -> float:
    """Return the weighted mean of what tables have under a name, of those that have it; nan without one."""
    pairs = [(table.weight, getattr(table, name)) for table in tables if getattr(table, name) is not None]
    total = sum(weight for weight, _ in pairs)
    return sum(weight * value for weight, value in pairs) / total if total else float("nan")


def _paired(own: Sequence[Table], other: Sequence[Table]) -> list[PairedTable]:
    """Return the tables that both judges were asked about and of which people know a row."""
    by_key = {table.key: table for table in other}
    paired = []
    for table in own:
        if table.key in by_key:
            rows = zip(table.rows, by_key[table.key].rows, strict=True)
            cases = [case for first, second in rows if (case := _agreements(first, second))]
            if cases:
                paired.append(_paired_table(table, cases))
    return paired


_Case = tuple[bool | None, bool | None]
"""Whether each of two judges agrees with people on a row, None of one without a verdict."""


def _agreements(first: Row, second: Row) -> _Case | None:
    """Return the case of a row; None of one of which people have no verdict."""
    true, own, other = matched(first.human), matched(first.judge), matched(second.judge)
    if true is None:
        return None
    return None if own is None else own == true, None if other is None else other == true


def _paired_table(table: Table, cases: Sequence[_Case]) -> PairedTable:
    gains = [int(own) - int(other) for own, other in cases if own is not None and other is not None]
    lowest = [int(own or False) - int(other is None or other) for own, other in cases]
    highest = [int(own is None or own) - int(other or False) for own, other in cases]
    apart = [int(own is None) - int(other is None) for own, other in cases]
    value = sum(gains) / len(gains) if gains else None
    return PairedTable(table.story, table.weight, value, *(sum(each) / len(cases) for each in (lowest, highest, apart)))


def _p(pairs: Sequence[Sequence[PairedTable]], seed: int, over: ClusterName) -> list[float | None]:
    """Return the p of each pair: sign flips of each story's weighted sum of differences, as exchangeable judges could
    have changed places in it. Where a judge leaves out more than the other, the difference has to hold at both
    bounds."""
    at = {story: place for place, story in enumerate(dict.fromkeys(table.story for pair in pairs for table in pair))}
    names = ("value", "lowest", "highest")
    if not at:
        return [None] * len(pairs)
    sums = np.array([_by_story(pair, name, at) for pair in pairs for name in names])
    ps = sign_flip_p(sums, seed=seed, flips=flips_for(len(pairs)))
    return [
        spared_p([_weighted(pair, name) for name in names], ps[3 * row : 3 * row + 3], _is_alike(pair, over))
        for row, pair in enumerate(pairs)
    ]


def _is_alike(tables: Sequence[PairedTable], over: ClusterName) -> bool:
    """Return whether both judges leave out as many rows."""
    apart = [table.apart for table in tables]
    if not any(apart):
        return True
    weights, stories = [table.weight for table in tables], [table.story for table in tables]
    estimate = weighted_mean(apart, weights, stories, unit=over.plural).estimate
    return are_alike(estimate.value or 0.0, estimate.interval)


def _by_story(tables: Sequence[PairedTable], name: str, at: Mapping[str, int]) -> list[float]:
    """Return the weighted sum of what tables have under a name by the place of their story, nan without any."""
    sums = [float("nan")] * len(at)
    for table in tables:
        if (value := getattr(table, name)) is not None:
            place = at[table.story]
            sums[place] = (0.0 if np.isnan(sums[place]) else sums[place]) + table.weight * value
    return sums
