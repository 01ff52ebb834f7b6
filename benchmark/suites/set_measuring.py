"""The figures of a metric group whose units are sets of samples that must all be right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod

from benchmark.domain.estimating import StoryScore
from benchmark.suites.contract import Entered, Measured, MetricGroup, Outcome, Resources, Sample
from benchmark.suites.measuring import (
    LevelOf,
    Levels,
    SampleResult,
    Scoring,
    counted_outcomes,
    levels_of,
    measured_samples,
    undefined,
    with_incomplete,
)
from benchmark.suites.metric_groups import Says
from core.messages import gettext_noop


def every(sample: Sample) -> bool:
    """Every sample of a set counts."""
    return True


def sets_group(
    key: str,
    title: str,
    score_title: str,
    *,
    share: str,
    header: str,
    step: str,
    rests_on: Sequence[str],
    notes: tuple[str, ...],
    counts: Callable[[Sample], bool] = every,
    noun: str = gettext_noop("answering"),
    chance: Callable[[Sample], float | None] | None = None,
    majority: Callable[[Sample, Resources], float | None] | None = None,
    says: Says | None = None,
) -> MetricGroup:
    """Return the metric group of sets that are right as a whole, by their only share; `counts`, a function of a module,
    says which samples of a set count, `chance` how likely one of them is right by chance, `majority` whether the answer
    is that is right most often, `says` what the answer to one of them says."""
    return MetricGroup(
        key=key,
        title=title,
        noun=noun,
        shares=(share,),
        headers={share: header},
        score=share,
        score_title=score_title,
        prompt=step,
        rests_on=tuple(rests_on),
        scored=step,
        notes=notes,
        by_category=False,
        unit=(gettext_noop("set"), gettext_noop("sets")),
        counts=counts,
        chance=chance,
        majority=majority,
        says=says,
        right_or_wrong=True,
    )


def measured_sets(
    entered: Entered,
    group: MetricGroup,
    score: Scoring,
    *,
    of_all: bool = True,
) -> Measured | None:
    """The figures of a group whose units are sets, the samples of one `Sample.group`: of each share a set has the least
    of what its samples have from `score`, so that it is right where all of them are.

    The group's `counts` says which samples count. Under a control those that it leaves as they are count as published,
    in sets of which it changes some. A set of which not all these were asked has no figure, and analyses say how many
    such sets there are as `incomplete`; others stand under their first sample. The other samples have rows without a
    figure, as a ranking over all samples of a run takes those without a row for lost; `of_all=False` leaves them out.
    """
    counts = group.counts or every
    sets = entered.resources.derived(("sets", counts), lambda samples: _keys_of_sets([*filter(counts, samples)]))
    whole = _with_unchanged(entered)
    asked = {sample.key: sample for sample in whole.samples if whole.outcomes.get(sample.key)}
    changed = {sample.key for sample in entered.samples if entered.outcomes.get(sample.key)}
    of_run = [keys for keys in sets.values() if not changed.isdisjoint(keys)]
    members = {keys[0]: [asked[key] for key in keys] for keys in of_run if asked.keys() >= {*keys}}

    def scored(first: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
        if first.key not in members:
            return undefined(first, group.shares)
        turns = {outcome.repetition for outcome in outcomes}
        return _least([score(sample, _at(whole, group, sample, turns)) for sample in members[first.key]])

    def of_set(level_of: LevelOf) -> LevelOf:
        """All samples of the set right, each by itself: where one cannot be, whatever is not known of the others."""

        def level(first: Sample) -> float | None:
            each = [level_of(sample) for sample in members[first.key]]
            shares = [share for share in each if share is not None]
            return prod(shares) if len(shares) == len(each) or 0 in shares else None

        return level

    single = levels_of(group, entered.resources)
    levels = Levels(*(level and of_set(level) for level in (single.by_chance, single.by_majority)))
    counted = whole if of_all and members else replace(whole, samples=[first for first, *_ in members.values()])
    incomplete = len(of_run) - len(members)
    measured = measured_samples(counted, group, scored, levels, members)
    return with_incomplete(measured, incomplete)


def _with_unchanged(entered: Entered) -> Entered:
    """Return what became of the samples of a run under a control with those that the control leaves as they are."""
    if entered.unchanged is None:
        return entered
    samples = sorted([*entered.samples, *entered.unchanged.samples], key=lambda sample: sample.number)
    return replace(entered, samples=samples, outcomes={**entered.unchanged.outcomes, **entered.outcomes})


def _keys_of_sets(samples: Sequence[Sample]) -> dict[str, list[str]]:
    sets: dict[str, list[str]] = {}
    for sample in samples:
        if sample.group:
            sets.setdefault(sample.group, []).append(sample.key)
    return sets


def _at(entered: Entered, group: MetricGroup, sample: Sample, turns: set[int]) -> list[Outcome]:
    return [outcome for outcome in counted_outcomes(entered.outcomes[sample.key], group) if outcome.repetition in turns]


def _least(results: Sequence[SampleResult]) -> SampleResult:
    """A set that one known answer makes wrong is wrong, whatever the missing ones would have been."""
    scores = [result.repaired for result in results]
    worst, best = _smallest([score.worst for score in scores]), _smallest([score.best for score in scores])
    estimates = [score.estimate for score in scores if score.estimate is not None]
    is_complete = len(estimates) == len(scores) or worst == best
    unreadable = "" if is_complete else next(score.unreadable for score in scores if score.estimate is None)
    estimate = (_smallest(estimates) if len(estimates) == len(scores) else worst) if is_complete else None
    reason = next((result.reason for result in results if result.official is None), "")
    official = None if reason else _smallest([result.official or {} for result in results])
    if not any(value is not None for value in best.values()):
        estimate, unreadable = None, ""
    values = None if official is None else {name: value for name, value in official.items() if value is not None}
    return SampleResult(values, StoryScore(scores[0].category, worst, best, estimate, unreadable), reason)


def _smallest(shares: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the least of the defined values of each share."""
    names = dict.fromkeys(name for share in shares for name in share)
    return {
        name: min((value for share in shares if (value := share.get(name)) is not None), default=None) for name in names
    }
