"""The figures of a metric group as reports keep them, from what each sample came to.

Figures and figures by sample are those of `benchmark.suites.asked`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, mean, stdev
from typing import Any

from benchmark.domain.averaging import Averages, StoryAverages, averages
from benchmark.domain.estimating import StoryReport, StoryScore, overall_row, report
from benchmark.suites.asked import BySample, Columns, Metrics, Parse
from benchmark.suites.contract import Entered, Measured, MetricGroup, Outcome, Sample
from benchmark.suites.reasons import OPEN
from benchmark.suites.registry import group_named, units_of_group
from benchmark.suites.story_scores import (
    LEFT_OUT,
    PARSES,
    mean_columns,
    official_columns,
    official_metrics,
    repaired_columns,
    repaired_metrics,
    scores_by_story,
    with_intervals,
)
from benchmark.suites.unit_estimates import BoundedEstimate, estimate_of_row
from core.statistics import RESAMPLES
from core.statistics.variance import variance_split


@dataclass(frozen=True, slots=True)
class SampleResult:
    """The result of one sample: its official shares, None with a `reason` where there are none and a share None where
    official scoring leaves the sample out, and its score in the repaired parse."""

    official: Mapping[str, float | None] | None
    repaired: StoryScore
    reason: str = ""

    def left_out(self, share: str) -> bool:
        """Return whether official scoring leaves the sample out, of which there could be a figure."""
        return (
            self.official is not None
            and self.official.get(share) is None
            and self.repaired.worst.get(share) is not None
        )


def undefined(sample: Sample, shares: Sequence[str]) -> SampleResult:
    """Return the result of a sample that has no figure by definition: no mean, bound or ranking takes it for one that
    is missing."""
    nothing = dict.fromkeys(shares)
    return SampleResult(nothing, StoryScore(sample.category, nothing, nothing, None))


def with_columns(
    official: StoryAverages | None,
    categories: Sequence[str],
    repaired: StoryReport,
    group: str,
    clusters: Mapping[int, str] | None = None,
    left_out: Collection[int] = (),
) -> Measured:
    """Return (figures, figures by sample) of both parses, whose rows of single samples are under `stories`;
    `clusters` names the cluster of each by its number, where some share one, and `left_out` are the numbers of samples
    that official scoring leaves out."""
    by_sample: BySample = {"official": None, "repaired": repaired_columns(repaired["stories"], group)}
    metrics: Metrics = {
        "official": None,
        "repaired": {
            "overall": repaired["overall"],
            "by_category": repaired["by_category"],
            "method": repaired["method"],
            "seed": repaired["seed"],
            "resamples": repaired["resamples"],
        },
        "answered": len(categories),
        "asked": len(repaired["stories"]),
    }
    if official:
        by_sample["official"] = official_columns(official["stories"], categories, group, left_out)
    for scores_by_parse in (by_sample["official"], by_sample["repaired"]):
        if scores_by_parse and clusters:
            scores_by_parse["clusters"] = [clusters[number] for number in scores_by_parse["stories"]]
    if official and (columns := by_sample["official"]):
        rules = {"seed": repaired["seed"], "resamples": repaired["resamples"]}
        averages: Averages = {"overall": official["overall"], "by_category": official["by_category"]}
        metrics["official"] = with_intervals(averages, columns, set(columns["stories"]), group, **rules)
    return metrics, by_sample


def over_repetitions(each: Sequence[Measured], group: str, seed: int) -> Measured:
    """Return what a group came to whose every question was asked several times: the mean over repetitions of each
    sample, with the analyses of the first repetition and what single ones came to. `each` is what the repetitions came
    to."""
    official, repaired = (mean_columns([repetition[1][parse] for repetition in each]) for parse in PARSES)
    first, rules = each[0][0], {"seed": seed, "resamples": RESAMPLES}
    if repaired is None:  # repetitions of different samples: one was extended, and not all have what is new yet
        return each[0]
    stories = set(repaired["stories"])
    metrics: Metrics = {**first, "repaired": repaired_metrics(repaired, stories, group, **rules), "official": None}
    if official and (averages := official_metrics(official, stories, group)):
        metrics["official"] = with_intervals(averages, official, stories, group, **rules)
    elif "reason" not in metrics:
        metrics["reason"] = next((repetition[0]["reason"] for repetition in each if repetition[0].get("reason")), "")
    metrics["analyses"] = {
        parse: first["analyses"][parse]
        and first["analyses"][parse] | {"repetitions": _spread([repetition[1][parse] for repetition in each], group)}
        for parse in PARSES
    }
    metrics["analyses"] |= {} if metrics["official"] else {"official": None}
    return metrics, {"official": official, "repaired": repaired}


def _spread(each: Sequence[Columns | None], group: str) -> dict[str, float | int | None]:
    share = group_named(group).score
    values = [list(scores_by_story(columns, share).values()) for columns in each if columns]
    return spread_of(values)


def spread_of(values: Sequence[Sequence[float | None]]) -> dict[str, float | int | None]:
    """Return what single repetitions came to, from the scores of each, sample by sample, None where a sample has none:
    {repetitions, mean, spread (the standard deviation between them), lowest, highest, agreement (the share of samples
    with the same score in all), of_samples and of_repetitions (their shares of the variance, None where it cannot be
    split)}; empty where nothing is known."""
    means = [mean(of_sample) for row in values if (of_sample := [score for score in row if score is not None])]
    if not means:
        return {}
    complete = [column for column in zip(*values, strict=True) if None not in column]
    same = sum(len(set(column)) == 1 for column in complete) / len(complete) if complete else None
    scores, samples = zip(
        *((score, at) for row in values for at, score in enumerate(row) if score is not None), strict=True
    )
    split = variance_split(scores, samples)
    return {
        "repetitions": len(values), "mean": mean(means), "spread": stdev(means) if len(means) > 1 else None,
        "lowest": min(means), "highest": max(means),
        "agreement": same, "of_samples": split.clusters, "of_repetitions": split.repetitions,
    }  # fmt: skip


def summary_of(measured: Mapping[str, Measured | None]) -> dict[str, Any]:
    """Return {reading: {group: figures}} of what `measure` returned, as runs print it; a `reason` where the official
    parse has none."""
    metrics = {group: measurement and measurement[0] for group, measurement in measured.items()}
    official: dict[str, Any] = {group: result and result["official"] for group, result in metrics.items()}
    reasons = {group: result["reason"] for group, result in metrics.items() if result and "reason" in result}
    return {
        "official": official | ({"reason": reasons} if reasons else {}),
        "repaired": {group: result and result["repaired"] for group, result in metrics.items()},
    }


def counted_outcomes(outcomes: Sequence[Outcome], group: MetricGroup) -> list[Outcome]:
    """Return what became of each repetition of a sample's question at the group's scored step: its own outcome there,
    or, where an earlier step has no answer or none yet that it could go on from, that it is without one."""
    at_step = {outcome.repetition: outcome for outcome in outcomes if outcome.step == group.scored}
    earlier = {outcome.repetition: outcome for outcome in outcomes if outcome.step in group.rests_on}
    return [
        at_step.get(repetition)
        or replace(
            outcome, step=group.scored, official=None, repaired=None, unusable="", without=outcome.without or OPEN
        )
        for repetition, outcome in sorted({**earlier, **at_step}.items())
    ]


Facet = dict[str, BoundedEstimate]
Scoring = Callable[[Sample, Sequence[Outcome]], SampleResult]
Held = Sequence[tuple[Sample, SampleResult]]


Chance = Callable[[Sample], float | None]
"""The probability that a sample is right by chance, as `MetricGroup.chance` has it."""


def measured_samples(
    entered: Entered, group: MetricGroup, score: Scoring, by_chance: Chance | None = None
) -> Measured | None:
    """The figures of a group from a score of each sample that has an outcome at its steps; None without such a sample.
    `by_chance` is that of the group, or of what its samples stand for.

    Official figures are None as soon as one sample has none. Analyses are the score by facet and that of single
    repetitions.
    """
    measured: list[tuple[Sample, SampleResult]] = []
    for sample in entered.samples:
        if outcomes := counted_outcomes(entered.outcomes.get(sample.key, ()), group):
            measured.append((sample, score(sample, outcomes)))
    if not measured:
        return None
    seed = int(entered.settings.get("seed", 1))
    scores = [
        replace(result.repaired, cluster=sample.cluster, category=_category(group, sample))
        for sample, result in measured
    ]
    repaired: StoryReport = {
        **report(
            scores,
            group.shares,
            mean_of_categories=group.category_mean,
            seed=seed,
            resamples=RESAMPLES,
            unit=units_of_group(group.key),
        ),
        "stories": [_row(sample, story_score) for (sample, _), story_score in zip(measured, scores, strict=True)],
    }
    reason = next(
        (f"Sample {sample.number}: {result.reason}." for sample, result in measured if result.official is None), ""
    )
    official = None if reason else _official(group, measured)
    categories = [_category(group, sample) for sample, _ in measured] if official else []
    clusters = _clusters([sample for sample, _ in measured])
    left_out = [sample.number for sample, result in measured if result.left_out(group.score)]
    metrics, by_sample = with_columns(official, categories, repaired, group.key, clusters, left_out)
    metrics["analyses"] = _analyses(group, entered, measured, official is not None, score)
    if reason:
        metrics["reason"] = reason
    if chance := _chance(measured, by_chance or group.chance):
        metrics["chance"] = chance
    return metrics, by_sample


def _chance(measured: Held, by_chance: Chance | None) -> dict[str, Any] | None:
    """The mean of what samples with a figure come to by chance, None where that is not defined of one of them."""
    values = [by_chance(sample) for sample, result in measured if result.repaired.defined] if by_chance else []
    values_there = [value for value in values if value is not None]
    return (
        {"value": fmean(values_there), "n": len(values_there)} if values and len(values_there) == len(values) else None
    )


def _category(group: MetricGroup, sample: Sample) -> str:
    return sample.category if group.by_category else ""


def with_analyses(measured: Measured | None, key: str, of: Callable[[Parse], Any]) -> Measured | None:
    """Return what a group came to with what `of` makes of each parse that has figures among its analyses, under
    `key`."""
    analyses: dict[str, Any] = measured[0]["analyses"] if measured else {}
    for parse in PARSES:
        if analyses.get(parse) is not None:
            analyses[parse] |= {key: of(parse)}
    return measured


def _analyses(
    group: MetricGroup, entered: Entered, measured: Held, has_official: bool, score: Scoring
) -> dict[str, Any]:
    """Return {reading: {"facets": {facet: {value: estimate}}[, "repetitions"]}}, None of a parse without figures."""
    analyses: dict[str, Any] = {}
    seed = int(entered.settings.get("seed", 1))
    parses: tuple[Parse, ...] = ("repaired", "official") if has_official else ("repaired",)
    for parse in parses:
        scores = [(sample, _scored(sample, result, parse)) for sample, result in measured]
        analyses[parse] = {"facets": {name: _facet(scores, name, group, seed) for name in group.facets}}
        if spread := _repeated(group, entered, measured, score, parse):
            analyses[parse] |= {"repetitions": spread}
    return {"official": None} | analyses


def _scored(sample: Sample, result: SampleResult, parse: Parse) -> StoryScore:
    if parse == "repaired":
        return replace(result.repaired, cluster=sample.cluster)
    shares = dict(result.official or {})
    out = [name for name in shares if result.left_out(name)]
    worst, best = shares | dict.fromkeys(out, 0.0), shares | dict.fromkeys(out, 1.0)
    values, why = (None, LEFT_OUT) if len(out) == len(shares) else (shares, "")
    return StoryScore(sample.category, worst, best, values, why, cluster=sample.cluster)


def _facet(scores: Sequence[tuple[Sample, StoryScore]], name: str, group: MetricGroup, seed: int) -> Facet:
    """Return the estimate of each value of a facet, values in the order of the samples."""
    parts: dict[str, list[StoryScore]] = {}
    for sample, story_score in scores:
        if not story_score.defined:  # what counts for nothing has no row of its own
            continue
        parts.setdefault(str(sample.content.get(name, "")), []).append(story_score)
    return {value: _estimate(part, group, seed) for value, part in parts.items()}


def _estimate(scores: Sequence[StoryScore], group: MetricGroup, seed: int) -> BoundedEstimate:
    row = overall_row(scores, (group.score,), seed=seed, resamples=RESAMPLES, unit=units_of_group(group.key))
    return estimate_of_row(row, group.score)


def _repeated(
    group: MetricGroup, entered: Entered, measured: Held, score: Scoring, parse: Parse
) -> dict[str, float | int | None]:
    """Return what single repetitions came to; nothing where everything was asked once."""
    turns = sorted({outcome.repetition for outcomes in entered.outcomes.values() for outcome in outcomes})
    if len(turns) < 2:
        return {}
    values = [[_single(group, entered, sample, score, turn, parse) for sample, _ in measured] for turn in turns]
    return spread_of(values)


def _single(
    group: MetricGroup, entered: Entered, sample: Sample, score: Scoring, turn: int, parse: Parse
) -> float | None:
    """The score of one repetition of a sample, None where it has none."""
    outcomes = [
        outcome
        for outcome in counted_outcomes(entered.outcomes.get(sample.key, ()), group)
        if outcome.repetition == turn
    ]
    if not outcomes:
        return None
    result = score(sample, outcomes)
    scores = result.official if parse == "official" else result.repaired.estimate
    return None if scores is None else scores[group.score]


def _official(group: MetricGroup, measured: Sequence[tuple[Sample, SampleResult]]) -> StoryAverages:
    rows = [(_category(group, sample), dict(result.official or {})) for sample, result in measured]
    stories = [{"story_id": sample.number, **dict(result.official or {})} for sample, result in measured]
    return {**averages(rows, group.shares, group.category_mean), "stories": stories}


def _row(sample: Sample, score: StoryScore) -> dict[str, Any]:
    """Return the result as `repaired_columns` takes it."""
    row: dict[str, Any] = {"story_id": sample.number, "story_category": score.category}
    row |= score.estimate if score.estimate is not None else dict.fromkeys(score.worst)
    if score.unusable:
        row["reason"] = score.unusable
    bounds = {name: [low, score.best[name]] for name, low in score.worst.items() if low is not None}
    return row | ({"bounds": bounds} if score.worst != score.best else {})


def _clusters(samples: Sequence[Sample]) -> dict[int, str]:
    """Return the clusters by sample number; empty where no two samples share a cluster."""
    clusters = {sample.number: sample.cluster for sample in samples}
    return clusters if len(set(clusters.values())) < len(clusters) else {}
