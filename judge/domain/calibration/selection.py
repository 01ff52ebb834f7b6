"""Choosing a judge by a paired test rather than by the highest number.

Whichever judge is looked at, the test is corrected over all pairs of judges: the chosen one is chosen because of its
agreement. If it agrees most of all, its own figure is also given without the optimism of that choice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from core.language import gettext
from core.messages import Sentence, clauses, listed
from core.statistics import (
    ALPHA,
    DIFFERENCE,
    SHARE,
    Estimate,
    Floats,
    Scale,
    Sums,
    are_alike,
    beyond_reach,
    caution,
    first_by_second,
    flips_for,
    highest_estimate,
    holm,
    ratios,
    sign_flip_p,
    spared_p,
)
from judge.domain.alignment import STORIES, ClusterName
from judge.domain.calibration.agreement import NOTHING
from judge.domain.calibration.means import SpannedEstimate, Strata, weighted_mean
from judge.domain.calibration.tables import Table

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Rival:
    """A judge next to the chosen one: its agreement, the chosen judge's less its own on the rows of which both have a
    verdict, p of a sign-flip test over stories, and p after Holm's correction over all pairs of judges. Bounds are over
    all rows on which people have a verdict."""

    name: str
    agreement: SpannedEstimate
    difference: SpannedEstimate
    p: float | None
    adjusted: float | None

    @property
    def worse(self) -> bool:
        """True if the chosen judge is shown to be better."""
        return self.adjusted is not None and self.adjusted <= ALPHA and (self.difference.value or 0) > 0

    @property
    def better(self) -> bool:
        return self.adjusted is not None and self.adjusted <= ALPHA and (self.difference.value or 0) < 0

    @property
    def alike(self) -> bool | None:
        """True if it is not shown to be worse than the chosen judge; None if no table has verdicts of both."""
        return None if self.difference.value is None else not self.worse


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen judge's agreement with people by story, and every rival's. `without_optimism` is its agreement
    corrected for being the highest of `judges`, None if it is not; `caution` is what the test takes for granted, or why
    it can show nothing."""

    chosen: str
    agreement: SpannedEstimate
    rivals: list[Rival]
    caution: str
    judges: int = 1
    without_optimism: Estimate | None = None

    @property
    def reason(self) -> str:
        """What the data say for the choice, one sentence."""
        named: dict[str, list[str]] = {"worse": [], "alike": [], "better": [], "apart": []}
        for rival in self.rivals:
            apart = rival.difference.value is None
            found = "apart" if apart else "worse" if rival.worse else "better" if rival.better else "alike"
            named[found].append(rival.name)
        without = gettext("not compared with {judges}: no table has verdicts of both")
        return choice_text(self.chosen, **named, without=without)

    @property
    def highest(self) -> str:
        """The agreement without the optimism of the choice in words; empty if it is not the highest."""
        return highest_text(self.chosen, self.judges, self.without_optimism) if self.without_optimism else ""


def highest_text(name: str, count: int, estimate: Estimate) -> str:
    """Return the figure of the highest of so many candidates without the optimism of that choice, in words."""
    ends = ", ".join(f"{100 * end:.1f}" for end in estimate.interval or ()) or "–"
    value = "–" if estimate.value is None else f"{100 * estimate.value:.1f}"
    text = "{name} is the highest of {count}. Corrected for the optimism of choosing the highest, it is at {figure}."
    return Sentence(text, name=name, count=count, figure=f"{value} % [{ends}]")


def choice_text(
    chosen: str,
    *,
    worse: Sequence[str],
    alike: Sequence[str],
    better: Sequence[str],
    apart: Sequence[str],
    without: str,
) -> str:
    """Return the result of the paired tests of a choice, one sentence: the rivals shown to be worse, those not told
    from it, and those shown to be better. `without` is the text on those `apart`, with which it could not be
    compared."""
    words = (
        (gettext("better than {judges}"), worse),
        (gettext("not told from {judges}"), alike),
        (gettext("worse than {judges}"), better),
        (without, apart),
    )
    parts = [word.format(judges=listed(names)) for word, names in words if names]
    if not parts:
        return gettext("{judge} has no rival.").format(judge=chosen)
    return gettext("{judge} is {found}.").format(judge=chosen, found=clauses(*parts))


def selections(
    judges: Mapping[str, Sequence[Table]], *, seed: int, over: ClusterName = STORIES
) -> dict[str, Selection]:
    """Return by its name each judge next to every other one, on the same tables."""
    # the share of rows on which the judge agrees with people, of each table on which it is defined
    agreements: dict[str, list[tuple[Table, float]]] = {name: [] for name in judges}
    for name, tables in judges.items():
        for table in tables:
            known = [row.verdicts for row in table.rows if None not in row.verdicts]
            if known:
                agreements[name].append((table, sum(human == judge for human, judge in known) / len(known)))
    means = {
        name: _mean([value for _, value in of_judge], [table for table, _ in of_judge], SHARE, over)
        for name, of_judge in agreements.items()
    }
    pairs = _tested(judges, seed, over)
    tests = sum(p is not None for _, p, _ in pairs.values()) // 2
    highest, without_optimism = _highest(agreements, means, seed, over)
    chosen = {}
    for name in judges:
        rivals = [Rival(other, means[other], *pairs[name, other]) for other in judges if other != name]
        stories = len({table.story for table, _ in agreements[name]})
        why = beyond_reach(stories, tests, over.plural) or caution(stories, over.plural)
        own = without_optimism if name == highest else None
        chosen[name] = Selection(name, means[name], rivals, why, len(judges), own)
    return chosen


def _mean(values: Sequence[float], tables: Sequence[Table], scale: Scale, over: ClusterName) -> SpannedEstimate:
    stories, strata = [table.story for table in tables], [table.stratum for table in tables]
    weights = [table.weight for table in tables]
    return weighted_mean(values, weights, stories, scale=scale, unit=over.plural, strata=strata).estimate


Paired = tuple[SpannedEstimate, float | None, float | None]
"""The first judge's agreement with people less the second's, its p, and p after Holm's correction over all pairs."""


def _tested(judges: Mapping[str, Sequence[Table]], seed: int, over: ClusterName) -> dict[tuple[str, str], Paired]:
    """Return every two judges by their names, in both orders.

    The test flips the sign of each story's weighted sum of differences, as exchangeable judges could have changed
    places in it. If one judge leaves out more rows than the other, the difference has to hold at both bounds.
    """
    rows = _Rows(judges)
    names = list(combinations(judges, 2))
    pairs = [rows.paired(*pair, over) for pair in names]
    sums = np.array([row for _, by_story, _, _ in pairs for row in by_story]).reshape(3 * len(pairs), rows.stories)
    p = sign_flip_p(sums, seed=seed, flips=flips_for(len(pairs))) if sums.size else [None] * (3 * len(pairs))
    spared = [spared_p(means, p[3 * at : 3 * at + 3], is_alike) for at, (means, _, _, is_alike) in enumerate(pairs)]
    tested: dict[tuple[str, str], Paired] = {}
    for (first, second), (_, _, difference, _), raw, adjusted in zip(names, pairs, spared, holm(spared), strict=True):
        tested[first, second] = difference, raw, adjusted
        turned = [(-ends[1], -ends[0]) if ends else None for ends in (difference.interval, difference.bounds)]
        value = None if difference.value is None else -difference.value
        reverse = replace(difference, value=value, interval=turned[0], bounds=turned[1])
        tested[second, first] = reverse, raw, adjusted
    return tested


class _Rows:
    """All rows of all tables as arrays: the table of each row, whether people have a verdict on it, and by judge
    whether it agrees with them, 1 or 0, nan without its verdict; and of each table its story's number and whether each
    judge was asked about it (`read`)."""

    def __init__(self, judges: Mapping[str, Sequence[Table]]) -> None:
        tables = {table.key: table for of_judge in judges.values() for table in of_judge}
        places: dict[str, int] = {}
        self.tables = list(tables.values())
        self.story = np.array([places.setdefault(table.story, len(places)) for table in self.tables], dtype=np.int64)
        self.stories = len(places)
        self.table = np.repeat(np.arange(len(tables)), [len(table.rows) for table in self.tables])
        self.human = np.array([row.verdicts[0] is not None for table in self.tables for row in table.rows], dtype=bool)
        self.agrees, self.read = {}, {}
        for name, of_judge in judges.items():
            own = {table.key: [row.verdicts for row in table.rows] for table in of_judge}
            verdicts = [pair for table in self.tables for pair in own.get(table.key, [(None, None)] * len(table.rows))]
            self.agrees[name] = np.array([np.nan if None in pair else float(pair[0] == pair[1]) for pair in verdicts])
            self.read[name] = np.array([key in own for key in tables], dtype=bool)

    def paired(
        self, first: str, second: str, over: ClusterName
    ) -> tuple[list[float], list[Floats], SpannedEstimate, bool]:
        """Return of two judges, over the tables that both read, the weighted means of the difference over the rows of
        both and of its lower and upper bound; their weighted sums over each story, nan without any; the difference as
        an estimate; and whether both leave out as many rows."""
        own, other = self.agrees[first], self.agrees[second]
        worst, best = ([np.nan_to_num(side, nan=end) for side in (own, other)] for end in (0.0, 1.0))
        both = np.isfinite(own) & np.isfinite(other)
        columns = [
            np.where(both, own - other, 0.0),
            both,
            worst[0] - best[1],
            best[0] - worst[1],
            np.isnan(own).astype(float) - np.isnan(other),
            self.human,
        ]
        sums: Floats = np.zeros((len(self.tables), len(columns)))
        np.add.at(sums, self.table, np.column_stack(columns) * self.human[:, None])
        here = self.read[first] & self.read[second] & (sums[:, 5] > 0)
        sums, n, story = sums[here], sums[here, 5], self.story[here]
        tables = [self.tables[at] for at in np.flatnonzero(here)]
        weight = np.array([table.weight for table in tables], dtype=float)
        rows = [first_by_second(sums[:, :2]), sums[:, 2] / n, sums[:, 3] / n]
        means, by_story = [], []
        for row in rows:
            finite = np.isfinite(row)
            means.append(float(ratios((weight * row)[finite].sum(), weight[finite].sum())))
            total = np.full(self.stories, np.nan)
            total[np.unique(story[finite])] = 0.0
            np.add.at(total, story[finite], (weight * row)[finite])
            by_story.append(total)
        apart = sums[:, 4] / n
        difference = self._difference(rows[0], tables, over)
        if means[2] - means[1] > _ROUNDING:
            difference = replace(difference, bounds=(means[1], means[2]))
        missing = self._difference(apart, tables, over) if apart.any() else None
        return means, by_story, difference, missing is None or are_alike(missing.value or 0.0, missing.interval)

    def _difference(self, row: Floats, tables: Sequence[Table], over: ClusterName) -> SpannedEstimate:
        pairs = [(value, table) for value, table in zip(row.tolist(), tables, strict=True) if np.isfinite(value)]
        return _mean([value for value, _ in pairs], [table for _, table in pairs], DIFFERENCE, over)


def _highest(
    agreements: Mapping[str, Sequence[tuple[Table, float]]],
    means: Mapping[str, SpannedEstimate],
    seed: int,
    over: ClusterName,
) -> tuple[str, Estimate | None]:
    """Return the judge that agrees most with people, and its agreement without the optimism of being chosen for it."""
    names = [name for name, mean in means.items() if mean.value is not None]
    if len(names) < 2:
        return "", None
    highest = max(names, key=lambda name: means[name].value or 0.0)
    drawn_in = {table.story: table.stratum for name in names for table, _ in agreements[name]}
    at = {story: place for place, story in enumerate(drawn_in)}
    above, below = np.zeros((2, len(at), len(names)))
    for column, name in enumerate(names):
        for table, value in agreements[name]:
            above[at[table.story], column] += value * table.weight
            below[at[table.story], column] += table.weight
    strata = Strata(drawn_in)
    sums = Sums(above, below, strata.numbers(drawn_in.values()) if strata.count > 1 else None)
    n = means[highest].n
    return highest, highest_estimate(sums, sums, n=n, scale=SHARE, seed=seed, unit=over.plural, empty=NOTHING)
