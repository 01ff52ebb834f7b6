"""Several judges together: their majority, weighted by what calibration knows of each, without a model's own family;
and whether a judge favours its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from core.messages import Sentence, gettext_noop, word
from core.statistics import SHARE, holm
from judge.domain.alignment import STORIES, ClusterName
from judge.domain.calibration.agreement import NOTHING, Agreement, SpannedEstimate, agreement
from judge.domain.calibration.means import Mean, contrast, mean_error, mean_judged, weighted_mean
from judge.domain.calibration.tables import JudgedStory, MatchCount, Matches, Metric, Table, Unknown, matched

_CAP = 0.5
"""Observations added to each cell that a rate is of, so that a judge never wrong so far is not taken to be certain."""
FEWEST = 2
"""Judges of a panel, and of those how many have to speak of a row for a majority."""
NO_FAMILY = gettext_noop("all tables are of the judge's own family, or none is")


@dataclass(frozen=True, slots=True)
class Skill:
    """A judge as calibration knows it: how likely it matches a row that people match, and leaves one that they
    leave."""

    sensitivity: float
    specificity: float

    def evidence(self, says: bool) -> float:
        """The log of how much likelier this verdict is on a row that is matched than on one that is not."""
        true_positive_rate, false_positive_rate = self.sensitivity, 1 - self.specificity
        return (
            math.log(true_positive_rate / false_positive_rate)
            if says
            else math.log((1 - true_positive_rate) / (1 - false_positive_rate))
        )


def skill(tables: Sequence[Table], *, leave_out: str = "") -> Skill:
    """Return the judge's skill on tables that people aligned, those of one story left out; half an observation is
    added on either side."""
    cells = {(true, verdict): _CAP for true in (True, False) for verdict in (True, False)}
    for table in tables:
        if table.story == leave_out:
            continue
        for row in table.rows:
            true, verdict = matched(row.human), matched(row.judge)
            if true is not None and verdict is not None:
                cells[true, verdict] += table.weight
    true_positives, false_negatives, false_positives, true_negatives = (
        cells[key] for key in ((True, True), (True, False), (False, True), (False, False))
    )
    return Skill(
        true_positives / (true_positives + false_negatives), true_negatives / (true_negatives + false_positives)
    )


def majority(counts: Sequence[MatchCount]) -> MatchCount:
    """Return what more than half of the judges that speak of a row say, its MatchCount the most frequent and then the
    smallest of theirs. It is unclear where as many say one thing as the other and where fewer than `FEWEST` speak, as
    one voice is not a majority; missing where no judge was heard at all."""
    verdicts = [count for count in counts if not isinstance(count, Unknown)]
    yes = [count for count in verdicts if count > 0]
    if all(count == Unknown.MISSING for count in counts):
        return Unknown.MISSING
    if len(verdicts) < FEWEST or 2 * len(yes) == len(verdicts):
        return Unknown.UNCLEAR
    return _commonest(yes) if 2 * len(yes) > len(verdicts) else 0


def weighted(counts: Mapping[str, MatchCount], skills: Mapping[str, Skill], *, share: float = 0.5) -> MatchCount:
    """Return the likelier verdict on a row, each judge counting by what is known of it, where `share` of all rows are
    matched. Judges are taken to err apart from one another (naive Bayes). It is unclear where the judges that were
    heard could not tell, missing where none was heard."""
    verdicts = {name: count for name, count in counts.items() if not isinstance(count, Unknown)}
    if not verdicts:
        return Unknown.UNCLEAR if Unknown.UNCLEAR in counts.values() else Unknown.MISSING
    odds = math.log(share / (1 - share)) + sum(skills[name].evidence(count > 0) for name, count in verdicts.items())
    return _commonest([count for count in verdicts.values() if count > 0] or [1]) if odds > 0 else 0


def _commonest(counts: Sequence[int]) -> int:
    return min(counts, key=lambda count: (-counts.count(count), count))


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel beside people: `columns` has each judge's own agreement, then those of the `majority` and of the
    `weighted` panel, whose skills are of the other stories. `without_family` says of which tables a judge was left out,
    as its model is of the judge's family."""

    columns: dict[str, Agreement]
    majority: Agreement
    weighted: Agreement
    without_family: dict[str, int]


def panel(
    judges: Mapping[str, Sequence[Table]],
    *,
    seed: int,
    family_of: Mapping[str, str] | None = None,
    over: ClusterName = STORIES,
) -> Panel:
    """Return the panel over the tables that all judges judged; rows of a table are in the same order for all.

    `family_of` names the family of judges and models; a judge has no vote on a model of its own, and where all judges
    are of a model's family its rows have no verdict.
    """
    families = family_of or {}
    common = _common(judges)

    @cache
    def skill_without(name: str, story: str) -> Skill:
        return skill(judges[name], leave_out=story)

    tables: dict[str, list[Table]] = {"majority": [], "weighted": []}
    left_out = dict.fromkeys(judges, 0)
    for by_judge in common:
        voters = [name for name, table in by_judge.items() if not _kin(families, name, table.model)]
        for name in set(by_judge) - set(voters):
            left_out[name] += 1
        # where all are of the model's family nobody is heard: its rows have no verdict, and are in the bounds
        tables["majority"].append(_joint(by_judge, voters, None))
        tables["weighted"].append(_joint(by_judge, voters, skill_without))
    return Panel(
        {name: agreement([by_judge[name] for by_judge in common], seed=seed, over=over) for name in judges},
        agreement(tables["majority"], seed=seed, over=over),
        agreement(tables["weighted"], seed=seed, over=over),
        left_out,
    )


def _common(judges: Mapping[str, Sequence[Table]]) -> list[dict[str, Table]]:
    by_key = {name: {table.key: table for table in tables} for name, tables in judges.items()}
    keys = [key for key in next(iter(by_key.values()), {}) if all(key in tables for tables in by_key.values())]
    return [{name: tables[key] for name, tables in by_key.items()} for key in keys]


def _kin(families: Mapping[str, str], judge: str, model: str) -> bool:
    return judge in families and families[judge] == families.get(model)


def _joint(
    by_judge: Mapping[str, Table], voters: Sequence[str], skill_without: Callable[[str, str], Skill] | None
) -> Table:
    table = next(iter(by_judge.values()))
    skills = {name: skill_without(name, table.story) for name in voters} if skill_without else None
    rows = []
    for at, row in enumerate(table.rows):
        counts = {name: by_judge[name].rows[at].judge for name in voters}
        count = weighted(counts, skills) if skills is not None else majority(list(counts.values()))
        rows.append(replace(row, judge=count, passes=()))
    return replace(table, rows=tuple(rows))


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """Distance of the judge's scores above people's for models of its own family, for others, and the first less the
    second with its interval and p value."""

    own: SpannedEstimate
    others: SpannedEstimate
    preference: SpannedEstimate
    p: float | None


def no_preference() -> SelfPreference:
    """Return what is said of a judge without a verdict on any row that people align: its scores of nought are not an
    opinion of any family."""
    nothing = SpannedEstimate(None, 0, reason=NOTHING)
    return SelfPreference(nothing, nothing, nothing, None)


def self_preference(
    models: Mapping[str, Sequence[JudgedStory]],
    family: str,
    family_of: Mapping[str, str],
    metric: Metric = Metric.F1,
    *,
    over: ClusterName = STORIES,
) -> SelfPreference:
    """Return whether a judge of that family favours its own, from stories that people aligned."""
    own, others = (
        mean_error(
            [story for name, part in models.items() if (family_of.get(name) == family) == is_own for story in part],
            metric,
            over=over,
        )
        for is_own in (True, False)
    )
    if own.estimate.value is None or others.estimate.value is None:
        return SelfPreference(own.estimate, others.estimate, SpannedEstimate(None, 0, reason=NO_FAMILY), None)
    preference, p = contrast(own, others, unit=over.aligned)
    return SelfPreference(own.estimate, others.estimate, preference, p)


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
        sides = [[_both_verdicts(pair)[at] for pair in pairs] for pairs in (self.predicted, self.gold)]
        (matched_predicted, open_), (matched_gold, open_gold) = ((side.count(True), side.count(None)) for side in sides)
        matches = Matches(len(self.predicted), matched_predicted, len(self.gold), matched_gold, open_, open_gold)
        return JudgedStory(self.story, self.category, matches)

    def silent(self, at: int) -> int:
        """Return how many rows that version has no verdict on."""
        return sum(matched(pair[at]) is None for pair in self.rows)


def _both_verdicts(pair: Pair) -> tuple[bool | None, bool | None]:
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
    pairs = [(table.story, *_both_verdicts(pair)) for table in tables for pair in table.rows]
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
