"""Choosing a judge by a paired test rather than by the highest number.

Whichever judge is looked at, the test is corrected over all pairs of judges: the chosen one is chosen because of its
agreement. Where it agrees most of all, its own figure is told without the optimism of that choice too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.language import gettext
from core.messages import Sentence, clauses, listed
from core.statistics import (
    ALPHA,
    SHARE,
    Clusters,
    Estimate,
    Floats,
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
from judge.domain.calibration.agreement import NOTHING, SpannedEstimate, Strata
from judge.domain.calibration.means import weighted_mean
from judge.domain.calibration.tables import Table, matched

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


@dataclass(frozen=True, slots=True)
class Rival:
    """A judge beside the chosen one: its agreement, the chosen judge's less its own on the rows of which both have a
    verdict, p of a sign-flip test over stories, and p after Holm's correction over all pairs of judges."""

    name: str
    agreement: SpannedEstimate
    difference: SpannedEstimate
    p: float | None
    adjusted: float | None

    @property
    def worse(self) -> bool:
        """Return whether the chosen judge is shown to be better."""
        return self.adjusted is not None and self.adjusted <= ALPHA and (self.difference.value or 0) > 0

    @property
    def better(self) -> bool:
        return self.adjusted is not None and self.adjusted <= ALPHA and (self.difference.value or 0) < 0

    @property
    def alike(self) -> bool | None:
        """Return whether it is not shown to be worse than the chosen judge; None where no table has verdicts of
        both."""
        return None if self.difference.value is None else not self.worse


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen judge's agreement with people by story, and every rival's. `without_optimism` is its agreement without
    what it owes to being the highest of `judges`, None where it is not; `caution` is what the test takes for granted,
    or why it can show nothing."""

    chosen: str
    agreement: SpannedEstimate
    rivals: list[Rival]
    caution: str
    judges: int = 1
    without_optimism: Estimate | None = None

    @property
    def reason(self) -> str:
        """Return what the data say for the choice, one sentence."""
        worse = [rival.name for rival in self.rivals if rival.worse]
        better = [rival.name for rival in self.rivals if rival.better]
        apart = [rival.name for rival in self.rivals if rival.difference.value is None]
        decided = {*worse, *better, *apart}
        open_ = [rival.name for rival in self.rivals if rival.name not in decided]
        without = gettext("not compared with {judges}: no table has verdicts of both")
        return choice_text(self.chosen, Beside(worse, open_, better, apart), without)

    @property
    def highest(self) -> str:
        """Return the agreement without the optimism of the choice in words; empty where it is not the highest."""
        return highest_text(self.chosen, self.judges, self.without_optimism) if self.without_optimism else ""


def highest_text(name: str, count: int, estimate: Estimate) -> str:
    """Return the figure of the highest of so many candidates without the optimism of that choice, in words."""
    ends = [f"{100 * end:.1f}" for end in estimate.interval or ()]
    value = "–" if estimate.value is None else f"{100 * estimate.value:.1f}"
    figure = f"{value} % [{', '.join(ends) or '–'}]"
    return Sentence(
        "{name} is the highest of {count}. Corrected for the optimism of choosing the highest, it is at {figure}.",
        name=name,
        count=count,
        figure=figure,
    )


@dataclass(frozen=True, slots=True)
class Beside:
    """The rivals of what was chosen, by name: those shown to be worse, those not told from it, those shown to be
    better, and those with which it could not be compared."""

    worse: Sequence[str]
    alike: Sequence[str]
    better: Sequence[str]
    apart: Sequence[str]


def choice_text(chosen: str, beside: Beside, without: str) -> str:
    """Return what a paired test says of a choice, one sentence; `without` has the words for rivals without a
    comparison, whose names stand for `{judges}`."""
    words = (
        (gettext("better than {judges}"), beside.worse),
        (gettext("not told from {judges}"), beside.alike),
        (gettext("worse than {judges}"), beside.better),
        (without, beside.apart),
    )
    parts = [word.format(judges=listed(names)) for word, names in words if names]
    if not parts:
        return gettext("{judge} has no rival.").format(judge=chosen)
    return gettext("{judge} is {found}.").format(judge=chosen, found=clauses(*parts))


@dataclass(frozen=True, slots=True)
class StoryScore:
    """A figure of one table of a `story`, with the table's weight and the stratum that it was drawn in."""

    story: str
    value: float
    weight: float
    stratum: str = ""


def story_agreements(tables: Sequence[Table]) -> list[StoryScore]:
    """Return the agreement with people of each table on which it is defined."""
    out = []
    for table in tables:
        verdicts = [(matched(row.judge), matched(row.human)) for row in table.rows]
        same = [judged == true for judged, true in verdicts if None not in (judged, true)]
        if same:
            out.append(StoryScore(table.story, sum(same) / len(same), table.weight, table.stratum))
    return out


def selections(
    judges: Mapping[str, Sequence[Table]], *, seed: int, over: ClusterName = STORIES
) -> dict[str, Selection]:
    """Return by its name each judge beside every other one, on the same tables."""
    agreements = {name: story_agreements(tables) for name, tables in judges.items()}
    means = {name: _mean(scores, over) for name, scores in agreements.items()}
    pairs = tested_pairs(judges, seed=seed, over=over)
    tests = sum(pair.p is not None for pair in pairs.values()) // 2
    highest, without_optimism = _highest(agreements, means, seed, over)
    chosen = {}
    for name in judges:
        others = {other: pairs[name, other] for other in judges if other != name}
        rivals = [Rival(other, means[other], pair.difference, pair.p, pair.adjusted) for other, pair in others.items()]
        stories = len({score.story for score in agreements[name]})
        why = beyond_reach(stories, tests, over.plural) or caution(stories, over.plural)
        own = without_optimism if name == highest else None
        chosen[name] = Selection(name, means[name], rivals, why, len(judges), own)
    return chosen


def select(judges: Mapping[str, Sequence[Table]], chosen: str, *, seed: int, over: ClusterName = STORIES) -> Selection:
    """Return the chosen judge beside every other one, on the same tables. Raises KeyError for an unknown judge."""
    return selections(judges, seed=seed, over=over)[chosen]


def _mean(scores: Sequence[StoryScore], over: ClusterName) -> SpannedEstimate:
    values, weights = [score.value for score in scores], [score.weight for score in scores]
    stories, strata = [score.story for score in scores], [score.stratum for score in scores]
    return weighted_mean(values, weights, stories, scale=SHARE, unit=over.plural, strata=strata).estimate


def _highest(
    agreements: Mapping[str, Sequence[StoryScore]], means: Mapping[str, SpannedEstimate], seed: int, over: ClusterName
) -> tuple[str, Estimate | None]:
    """Return the judge that agrees most with people, and its agreement without the optimism of being chosen for it."""
    names = [name for name, mean in means.items() if mean.value is not None]
    if len(names) < 2:
        return "", None
    highest = max(names, key=lambda name: means[name].value or 0.0)
    sums = _sums([agreements[name] for name in names])
    estimate = highest_estimate(sums, sums, n=means[highest].n, scale=SHARE, seed=seed, unit=over.plural, empty=NOTHING)
    return highest, estimate


def _sums(scores: Sequence[Sequence[StoryScore]]) -> Sums:
    """Return the weighted sums over each story, a column a judge, with the strata of the stories."""
    drawn_in = {score.story: score.stratum for of_judge in scores for score in of_judge}
    at = {story: place for place, story in enumerate(drawn_in)}
    strata = Strata(drawn_in)
    above: Floats = np.zeros((len(at), len(scores)))
    below: Floats = np.zeros((len(at), len(scores)))
    for column, of_judge in enumerate(scores):
        for score in of_judge:
            above[at[score.story], column] += score.value * score.weight
            below[at[score.story], column] += score.weight
    return Sums(above, below, strata.numbers(drawn_in.values()) if strata.count > 1 else None)
