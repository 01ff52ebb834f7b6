"""Several judges together: their majority, weighted by what calibration knows of each, without a model's own family;
and whether a judge favours its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.messages import gettext_noop
from judge.domain.calibration.agreement import NOTHING, Agreement, SpannedEstimate, agreement
from judge.domain.calibration.rows import MatchCount, Table, Unknown, matched
from judge.domain.calibration.stories import JudgedStory, Metric
from judge.domain.calibration.weighted import contrast, mean_error
from judge.domain.cluster_names import STORIES, ClusterName

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
    skills = _Skills(judges)
    tables: dict[str, list[Table]] = {"majority": [], "weighted": []}
    left_out = dict.fromkeys(judges, 0)
    for by_judge in common:
        voters = [name for name, table in by_judge.items() if not _kin(families, name, table.model)]
        for name in set(by_judge) - set(voters):
            left_out[name] += 1
        # where all are of the model's family nobody is heard: its rows have no verdict, and are in the bounds
        tables["majority"].append(_joint(by_judge, voters, None))
        tables["weighted"].append(_joint(by_judge, voters, skills))
    return Panel(
        {name: agreement([by_judge[name] for by_judge in common], seed=seed, over=over) for name in judges},
        agreement(tables["majority"], seed=seed, over=over),
        agreement(tables["weighted"], seed=seed, over=over),
        left_out,
    )


class _Skills:
    """The skill of each judge on the other stories, found once a story."""

    def __init__(self, judges: Mapping[str, Sequence[Table]]) -> None:
        self._judges, self._kept = judges, dict[tuple[str, str], Skill]()

    def without(self, story: str, names: Sequence[str]) -> dict[str, Skill]:
        for name in names:
            if (name, story) not in self._kept:
                self._kept[name, story] = skill(self._judges[name], leave_out=story)
        return {name: self._kept[name, story] for name in names}


def _common(judges: Mapping[str, Sequence[Table]]) -> list[dict[str, Table]]:
    by_key = {name: {table.key: table for table in tables} for name, tables in judges.items()}
    keys = [key for key in next(iter(by_key.values()), {}) if all(key in tables for tables in by_key.values())]
    return [{name: tables[key] for name, tables in by_key.items()} for key in keys]


def _kin(families: Mapping[str, str], judge: str, model: str) -> bool:
    return judge in families and families[judge] == families.get(model)


def _joint(by_judge: Mapping[str, Table], voters: Sequence[str], skills: _Skills | None) -> Table:
    table = next(iter(by_judge.values()))
    voter_skills = skills.without(table.story, voters) if skills else {}
    rows = []
    for at, row in enumerate(table.rows):
        counts = {name: by_judge[name].rows[at].judge for name in voters}
        count = weighted(counts, voter_skills) if skills else majority(list(counts.values()))
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
