"""Several judges together: their majority, weighted by what calibration knows of each, without a model's own family;
whether a judge favours its own; and the changes between two versions of a judge."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from core.messages import Sentence, gettext_noop, word
from core.plain import Json
from core.statistics import SHARE, holm
from judge.domain.alignment import STORIES, ClusterName
from judge.domain.calibration.agreement import Agreement, agreement
from judge.domain.calibration.means import (
    Mean,
    SpannedEstimate,
    contrast,
    mean_error,
    mean_judged,
    no_mean,
    weighted_mean,
)
from judge.domain.calibration.tables import JudgedStory, MatchCount, Matches, Table, Unknown, matched

_CAP = 0.5
"""Observations added to each cell that a rate is of, so that a judge never wrong so far is not taken to be certain."""
FEWEST = 2
"""Judges of a panel, and of those how many have to speak of a row for a majority."""
NO_FAMILY = gettext_noop("all tables are of the judge's own family, or none is")


@dataclass(frozen=True, slots=True)
class Skill:
    """The probabilities, by calibration, that a judge matches a row that people match, and leaves one that they
    leave."""

    sensitivity: float
    specificity: float

    def evidence(self, says: bool) -> float:
        """Return the log of the likelihood ratio of this verdict, of a row that is matched to one that is not."""
        true_positive_rate, false_positive_rate = self.sensitivity, 1 - self.specificity
        if says:
            return math.log(true_positive_rate / false_positive_rate)
        return math.log((1 - true_positive_rate) / (1 - false_positive_rate))


def skill(tables: Sequence[Table], *, leave_out: str = "") -> Skill:
    """Return the judge's skill on tables that people aligned, without those of one story; half an observation is added
    to each cell."""
    cells = {(human, judge): _CAP for human in (True, False) for judge in (True, False)}
    for table in tables:
        for row in table.rows if table.story != leave_out else ():
            human, judge = row.verdicts
            if human is not None and judge is not None:
                cells[human, judge] += table.weight
    sensitivity = cells[True, True] / (cells[True, True] + cells[True, False])
    return Skill(sensitivity, cells[False, False] / (cells[False, False] + cells[False, True]))


def majority(counts: Sequence[MatchCount]) -> MatchCount:
    """Return the verdict of more than half of the judges that speak of a row, its MatchCount the most frequent and then
    the smallest of theirs. It is unclear in a tie and if fewer than `FEWEST` speak, as one voice is not a majority;
    missing if no judge was heard at all."""
    verdicts = [count for count in counts if not isinstance(count, Unknown)]
    yes = [count for count in verdicts if count > 0]
    if all(count == Unknown.MISSING for count in counts):
        return Unknown.MISSING
    if len(verdicts) < FEWEST or 2 * len(yes) == len(verdicts):
        return Unknown.UNCLEAR
    return _commonest(yes) if 2 * len(yes) > len(verdicts) else 0


def weighted(counts: Mapping[str, MatchCount], skills: Mapping[str, Skill], *, share: float = 0.5) -> MatchCount:
    """Return the likelier verdict on a row by the skills of the judges, if `share` of all rows are matched. Judges are
    taken to err independently (naive Bayes). It is unclear if the judges that were heard could not tell, missing if
    none was heard."""
    verdicts = {name: count for name, count in counts.items() if not isinstance(count, Unknown)}
    if not verdicts:
        return Unknown.UNCLEAR if Unknown.UNCLEAR in counts.values() else Unknown.MISSING
    odds = math.log(share / (1 - share)) + sum(skills[name].evidence(count > 0) for name, count in verdicts.items())
    return _commonest([count for count in verdicts.values() if count > 0] or [1]) if odds > 0 else 0


def _commonest(counts: Sequence[int]) -> int:
    return min(counts, key=lambda count: (-counts.count(count), count))


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel next to people: each judge's own agreement in `columns`, those of the `majority` and of the `weighted`
    panel, whose skills are of the other stories. `without_family` counts the tables on which a judge had no vote, as
    their model is of its family."""

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

    `family_of` names the family of judges and models; a judge has no vote on a model of its own. If all judges are of a
    model's family its rows have no verdict, and are in the bounds.
    """
    families = family_of or {}
    by_key = {name: {table.key: table for table in tables} for name, tables in judges.items()}
    common = [key for key in next(iter(by_key.values()), {}) if all(key in tables for tables in by_key.values())]

    @cache
    def skill_without(name: str, story: str) -> Skill:
        return skill(judges[name], leave_out=story)

    by_majority, by_weights = [], []
    left_out = dict.fromkeys(judges, 0)
    for key in common:
        of_judges = {name: tables[key] for name, tables in by_key.items()}
        table = next(iter(of_judges.values()))
        kin = {name for name in judges if name in families and families[name] == families.get(table.model)}
        for name in kin:
            left_out[name] += 1
        voters = [name for name in judges if name not in kin]
        skills = {name: skill_without(name, table.story) for name in voters}
        counts = [{name: of_judges[name].rows[at].judge for name in voters} for at in range(len(table.rows))]
        by_majority.append(_with_counts(table, [majority([*votes.values()]) for votes in counts]))
        by_weights.append(_with_counts(table, [weighted(votes, skills) for votes in counts]))
    columns = {
        name: agreement([tables[key] for key in common], seed=seed, over=over) for name, tables in by_key.items()
    }
    by_votes, by_skills = (agreement(tables, seed=seed, over=over) for tables in (by_majority, by_weights))
    return Panel(columns, by_votes, by_skills, left_out)


def _with_counts(table: Table, counts: Sequence[MatchCount]) -> Table:
    rows = (replace(row, judge=count, passes=()) for row, count in zip(table.rows, counts, strict=True))
    return replace(table, rows=tuple(rows))


def self_preference(
    models: Mapping[str, Sequence[JudgedStory]],
    family: str,
    family_of: Mapping[str, str],
    *,
    over: ClusterName = STORIES,
) -> Json:
    """Return whether a judge of that family favours its own, from stories that people aligned: its scores less people's
    for models of its `own` family and for `others`, and the first less the second as `preference`, with its `p`."""
    own, others = (
        mean_error(
            [story for name, part in models.items() if (family_of.get(name) == family) == is_own for story in part],
            over=over,
        )
        for is_own in (True, False)
    )
    preference, p = SpannedEstimate(None, 0, reason=NO_FAMILY), None
    if own.estimate.value is not None and others.estimate.value is not None:
        preference, p = contrast(own, others, unit=over.aligned)
    return {"own": own.estimate, "others": others.estimate, "preference": preference, "p": p}


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
        """Return the story as the old version judged it (0), or the new one (1): rows without a verdict of either are
        open."""
        sides = ([_verdicts(pair)[at] for pair in pairs] for pairs in (self.predicted, self.gold))
        return JudgedStory(self.story, self.category, Matches.of(*sides))

    def silent(self, at: int) -> int:
        """Return the number of rows on which that version has no verdict."""
        return sum(matched(pair[at]) is None for pair in self.rows)


def _verdicts(pair: Pair) -> tuple[bool | None, bool | None]:
    """Return both verdicts, None if either lacks one."""
    old, new = matched(pair[0]), matched(pair[1])
    return (old, new) if old is not None and new is not None else (None, None)


def bridge(models: Mapping[str, Sequence[JudgedTwice]], *, over: ClusterName = STORIES) -> Json:
    """Return the changes between two versions of a judge on the tables of each model that both judged.

    Each of the `models` has its score by the old and the new version on the same rows, the `change` with its p value
    after Holm's correction over models, the `places` of the model by either, None without a score, and how many of its
    `rows` are `silent`: without a verdict of the old and of the new version. `compared` models have a score by both.
    `reordered` is True if the order of the models changes. It is None if that cannot be told, as some have no score or
    there is one model only. `rows` have a verdict of both, `same` is the share with the same one; `gained` rows became
    matched, `lost` ones unmatched."""
    scores = {name: _scores(tables, over) for name, tables in models.items()}
    changes = {name: contrast(new, old, unit=over.plural) for name, (old, new) in scores.items()}
    adjusted = dict(zip(changes, holm([p for _, p in changes.values()]), strict=True))
    old_places, new_places = (_places({name: pair[at].estimate for name, pair in scores.items()}) for at in range(2))
    bridged: list[Json] = [
        {
            "model": name,
            "old": old.estimate,
            "new": new.estimate,
            "change": changes[name][0],
            "p": adjusted[name],
            "places": (old_places.get(name), new_places.get(name)),
            "rows": sum(len(table.rows) for table in models[name]),
            "silent": tuple(sum(table.silent(at) for table in models[name]) for at in range(2)),
        }
        for name, (old, new) in scores.items()
    ]
    compared = sum(change.value is not None for change, _ in changes.values())
    told = compared >= max(2, len(models))
    return {
        "reordered": any(model["places"][0] != model["places"][1] for model in bridged) if told else None,
        "compared": compared,
        "models": bridged,
        **_same_verdicts([table for of_model in models.values() for table in of_model], over),
    }


def _same_verdicts(tables: Sequence[JudgedTwice], over: ClusterName) -> Json:
    pairs = [(table.story, *_verdicts(pair)) for table in tables for pair in table.rows]
    known = [(story, old, new) for story, old, new in pairs if old is not None]
    same = weighted_mean(
        [float(old == new) for _, old, new in known],
        [1.0] * len(known),
        [story for story, *_ in known],
        scale=SHARE,
        unit=over.plural,
    )
    gained, lost = (sum(new is to and old is not to for _, old, new in known) for to in (True, False))
    return {"rows": len(known), "same": same.estimate, "gained": gained, "lost": lost}


def _scores(tables: Sequence[JudgedTwice], over: ClusterName) -> tuple[Mean, Mean]:
    old, new = (mean_judged([table.by(at) for table in tables], over=over) for at in range(2))
    if old.estimate.value is None:
        text = "no {singular} has rows of either table of which both have a verdict"
        old = new = no_mean(Sentence(text, singular=word(over.singular)))
    return old, new


def _places(scores: Mapping[str, SpannedEstimate]) -> dict[str, int]:
    """Return the place of each model with a score, from 1 on; equal scores share one."""
    values = {name: score.value for name, score in scores.items() if score.value is not None}
    return {name: 1 + sum(other > value + 1e-12 for other in values.values()) for name, value in values.items()}
