"""Choosing a judge by a paired test rather than by the highest number.

Whichever judge is looked at, the test is corrected over all pairs of judges: the chosen one is chosen because of its
agreement. Where it agrees most of all, its own figure is told without the optimism of that choice too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.language import gettext
from core.messages import Sentence, clauses, listed
from core.statistics import (
    ALPHA,
    SHARE,
    Estimate,
    Floats,
    Sums,
    beyond_reach,
    caution,
    highest_estimate,
)
from judge.domain.calibration.agreement import NOTHING, SpannedEstimate
from judge.domain.calibration.paired import tested_pairs
from judge.domain.calibration.rows import Table, matched
from judge.domain.calibration.strata import Strata
from judge.domain.calibration.weighted import weighted_mean
from judge.domain.cluster_names import STORIES, ClusterName


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
