"""Choosing a judge by a paired test rather than by the highest number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.language import gettext
from core.statistics import ALPHA, SHARE, beyond_reach, caution, holm, sign_flip_p
from judge.domain.calibration.agreement import SpannedEstimate
from judge.domain.calibration.rows import Row, Table, matched
from judge.domain.calibration.weighted import weighted_mean
from judge.domain.cluster_names import STORIES, ClusterName


@dataclass(frozen=True, slots=True)
class Rival:
    """A judge beside the chosen one, on the `n` stories that both judged: its agreement, the chosen judge's less its
    own, p of a sign-flip test over stories, and p after Holm's correction over all rivals."""

    name: str
    agreement: SpannedEstimate
    difference: SpannedEstimate
    p: float | None
    adjusted: float | None

    @property
    def worse(self) -> bool:
        """Return whether the chosen judge is shown to be better."""
        return self.adjusted is not None and self.adjusted < ALPHA and (self.difference.value or 0) > 0

    @property
    def better(self) -> bool:
        return self.adjusted is not None and self.adjusted < ALPHA and (self.difference.value or 0) < 0

    @property
    def alike(self) -> bool | None:
        """Return whether it is not shown to be worse than the chosen judge; None where no table has verdicts of
        both."""
        return None if self.difference.value is None else not self.worse


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen judge's agreement with people by story, and every rival's; `caution` is what the test takes for
    granted, or why it can show nothing."""

    chosen: str
    agreement: SpannedEstimate
    rivals: list[Rival]
    caution: str

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
    parts = [word.format(judges=", ".join(names)) for word, names in words if names]
    if not parts:
        return gettext("{judge} has no rival.").format(judge=chosen)
    return gettext("{judge} is {found}.").format(judge=chosen, found="; ".join(parts))


def story_agreements(tables: Sequence[Table]) -> dict[str, tuple[str, float, float]]:
    """Return (story, agreement with people, weight) of each table on which it is defined."""
    out = {}
    for table in tables:
        same = [judged == true for row in table.rows for judged, true in [_verdicts(row)] if None not in (judged, true)]
        if same:
            out[table.key] = table.story, sum(same) / len(same), table.weight
    return out


def _verdicts(row: Row) -> tuple[bool | None, bool | None]:
    return matched(row.judge), matched(row.human)


def select(judges: Mapping[str, Sequence[Table]], chosen: str, *, seed: int, over: ClusterName = STORIES) -> Selection:
    """Return the chosen judge beside every other one, on the same tables. Raises KeyError for an unknown judge."""
    agreements = {name: story_agreements(tables) for name, tables in judges.items()}
    own = agreements.pop(chosen)
    pairs = [_paired(own, other) for other in agreements.values()]
    p = [_p(pair, seed) for pair in pairs]
    rivals = [
        Rival(name, _mean(other, over), _difference(pair, over), p_value, adjusted)
        for (name, other), pair, p_value, adjusted in zip(agreements.items(), pairs, p, holm(p), strict=True)
    ]
    stories = {story for story, *_ in own.values()}
    beyond = beyond_reach(len(stories), sum(p_value is not None for p_value in p), over.plural)
    return Selection(chosen, _mean(own, over), rivals, beyond or caution(len(stories), over.plural))


Scores = Mapping[str, tuple[str, float, float]]


def _mean(scores: Scores, over: ClusterName) -> SpannedEstimate:
    stories, values, weights = ([each[at] for each in scores.values()] for at in range(3))
    return weighted_mean(values, weights, stories, scale=SHARE, unit=over.plural).estimate  # type: ignore[arg-type]


def _paired(own: Scores, other: Scores) -> list[tuple[str, float, float]]:
    """(story, difference, weight) of each table that both judged."""
    return [(own[key][0], own[key][1] - other[key][1], own[key][2]) for key in own if key in other]


def _difference(pairs: Sequence[tuple[str, float, float]], over: ClusterName) -> SpannedEstimate:
    return weighted_mean(
        [value for _, value, _ in pairs],
        [weight for *_, weight in pairs],
        [story for story, *_ in pairs],
        unit=over.plural,
    ).estimate


def _p(pairs: Sequence[tuple[str, float, float]], seed: int) -> float | None:
    """Sign flips of each story's weighted sum of differences: exchangeable judges could have changed places in it."""
    sums: dict[str, float] = {}
    for story, value, weight in pairs:
        sums[story] = sums.get(story, 0.0) + value * weight
    return sign_flip_p(np.array([list(sums.values())]), seed=seed)[0] if sums else None
