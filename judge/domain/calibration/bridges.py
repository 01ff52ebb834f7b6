"""Changes that a new version of a judge makes, on the rows of which both versions have a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.messages import Sentence, word
from core.statistics import SHARE, holm
from judge.domain.calibration.agreement import SpannedEstimate
from judge.domain.calibration.rows import MatchCount, matched
from judge.domain.calibration.stories import JudgedStory, Matches, Metric
from judge.domain.calibration.weighted import Mean, contrast, mean_judged, weighted_mean
from judge.domain.cluster_names import STORIES, ClusterName

Pair = tuple[MatchCount, MatchCount]
"""The MatchCounts of one row by the old and by the new version."""


@dataclass(frozen=True, slots=True)
class JudgedTwice:
    """One model's table of one story with what both versions say of each row of either table."""

    story: str
    category: str
    predicted: tuple[Pair, ...]
    gold: tuple[Pair, ...]

    @property
    def rows(self) -> tuple[Pair, ...]:
        return self.predicted + self.gold

    def by(self, at: int) -> JudgedStory:
        """Return the story as the old version judged it (0), or the new one (1): what either has no verdict on is
        open."""
        sides = [[_common(pair)[at] for pair in pairs] for pairs in (self.predicted, self.gold)]
        (matched_predicted, open_), (matched_gold, open_gold) = ((side.count(True), side.count(None)) for side in sides)
        matches = Matches(len(self.predicted), matched_predicted, len(self.gold), matched_gold, open_, open_gold)
        return JudgedStory(self.story, self.category, matches)

    def silent(self, at: int) -> int:
        """Return how many rows that version has no verdict on."""
        return sum(matched(pair[at]) is None for pair in self.rows)


def _common(pair: Pair) -> tuple[bool | None, bool | None]:
    """Both verdicts, None where either lacks one."""
    old, new = (matched(count) for count in pair)
    return (old, new) if old is not None and new is not None else (None, None)


@dataclass(frozen=True, slots=True)
class Bridged:
    """One model's score by the old and the new version of a judge on the same rows, the new less the old, its p value
    after Holm's correction over models, and the place of the model by either, None where it has no score. `silent` is
    on how many of its `rows` the old and the new version have no verdict: these are left out."""

    model: str
    old: SpannedEstimate
    new: SpannedEstimate
    change: SpannedEstimate
    p: float | None
    places: tuple[int | None, int | None]
    rows: int
    silent: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Bridge:
    """The changes that a new version of a judge makes: every model's score, how many `rows` have a verdict of both, the
    share that has the same one, and how many rows went from unmatched to matched (`gained`) and back (`lost`)."""

    models: list[Bridged]
    rows: int
    same: SpannedEstimate
    gained: int
    lost: int

    @property
    def compared(self) -> int:
        """Return how many models have a score by both."""
        return sum(model.change.value is not None for model in self.models)

    @property
    def reordered(self) -> bool | None:
        """Return whether the order of the models changes; None where that cannot be told, as some have no score or
        there is one model only."""
        if self.compared < max(2, len(self.models)):
            return None
        return any(old != new for model in self.models for old, new in [model.places])


def bridge(
    models: Mapping[str, Sequence[JudgedTwice]], metric: Metric = Metric.F1, *, over: ClusterName = STORIES
) -> Bridge:
    """Return what changes between two versions of a judge on the tables of each model that both judged."""
    scores = {name: _scores(tables, metric, over) for name, tables in models.items()}
    changes = {name: contrast(new, old, unit=over.plural) for name, (old, new) in scores.items()}
    adjusted = dict(zip(changes, holm([p for _, p in changes.values()]), strict=True))
    places = [_places({name: pair[at].estimate for name, pair in scores.items()}) for at in range(2)]
    bridged = [
        Bridged(
            name,
            old.estimate,
            new.estimate,
            changes[name][0],
            adjusted[name],
            (places[0].get(name), places[1].get(name)),
            sum(len(table.rows) for table in models[name]),
            (sum(table.silent(0) for table in models[name]), sum(table.silent(1) for table in models[name])),
        )
        for name, (old, new) in scores.items()
    ]
    return _with_verdicts(bridged, [table for tables in models.values() for table in tables], over)


def _scores(tables: Sequence[JudgedTwice], metric: Metric, over: ClusterName) -> tuple[Mean, Mean]:
    old, new = (mean_judged([table.by(at) for table in tables], metric, over=over) for at in range(2))
    if old.estimate.value is None:
        why = Sentence(
            "no {singular} has rows of either table of which both have a verdict", singular=word(over.singular)
        )
        nothing = Mean(SpannedEstimate(None, 0, reason=why), {})
        return nothing, nothing
    return old, new


def _with_verdicts(models: list[Bridged], tables: Sequence[JudgedTwice], over: ClusterName) -> Bridge:
    pairs = [(table.story, *_common(pair)) for table in tables for pair in table.rows]
    both_judged = [(story, old, new) for story, old, new in pairs if old is not None]
    same = weighted_mean(
        [float(old == new) for _, old, new in both_judged],
        [1.0] * len(both_judged),
        [story for story, *_ in both_judged],
        scale=SHARE,
        unit=over.plural,
    )
    gained, lost = (sum(new is to and old is not to for _, old, new in both_judged) for to in (True, False))
    return Bridge(models, len(both_judged), same.estimate, gained, lost)


def _places(scores: Mapping[str, SpannedEstimate]) -> dict[str, int]:
    """The place of each model with a score, from 1 on; equal scores share one."""
    values = {name: score.value for name, score in scores.items() if score.value is not None}
    return {name: 1 + sum(other > value + 1e-12 for other in values.values()) for name, value in values.items()}
