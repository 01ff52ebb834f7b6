"""The figures of a metric group as reports keep them, from what each sample came to.

Figures and figures by sample are those of `benchmark.suites.asked`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, stdev
from typing import Any

from benchmark.domain.averaging import Averages, StoryAverages, averages
from benchmark.domain.estimating import StoryReport, StoryScore, overall_row, report
from benchmark.suites.asked import BySample, Columns, Figures, Reading
from benchmark.suites.contract import Entered, Measured, MetricGroup, Outcome, Sample
from benchmark.suites.registry import group_named
from benchmark.suites.story_scores import (
    READINGS,
    mean_columns,
    official_columns,
    official_figures,
    repaired_columns,
    repaired_figures,
    scores_by_story,
    with_intervals,
)
from core.statistics import RESAMPLES
from core.statistics.variance import variance_split


@dataclass(frozen=True, slots=True)
class SampleResult:
    """What one sample came to: its official shares, None with a `reason` where there are none, and its score in the repaired reading."""

    official: Mapping[str, float] | None
    repaired: StoryScore
    reason: str = ""


def with_columns(
    official: StoryAverages | None,
    categories: Sequence[str],
    repaired: StoryReport,
    group: str,
    clusters: Mapping[int, str] | None = None,
) -> Measured:
    """(figures, figures by sample) of both readings, whose rows of single samples are under `stories`; `clusters` names the cluster of each by
    its number, where some share one."""
    by_sample: BySample = {"official": None, "repaired": repaired_columns(repaired["stories"], group)}
    figures: Figures = {
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
        by_sample["official"] = official_columns(official["stories"], categories, group)
    for held in (by_sample["official"], by_sample["repaired"]):
        if held and clusters:
            held["clusters"] = [clusters[number] for number in held["stories"]]
    if official and (columns := by_sample["official"]):
        rules = {"seed": repaired["seed"], "resamples": repaired["resamples"]}
        whole: Averages = {"overall": official["overall"], "by_category": official["by_category"]}
        figures["official"] = with_intervals(whole, columns, set(columns["stories"]), group, **rules)
    return figures, by_sample


def over_repetitions(each: Sequence[Measured], group: str, seed: int) -> Measured:
    """What a group came to whose every question was asked several times: the mean over repetitions of each sample, with the analyses of the
    first repetition and what single ones came to. `each` is what the repetitions came to."""
    official, repaired = (mean_columns([one[1][reading] for one in each]) for reading in READINGS)
    first, rules = each[0][0], {"seed": seed, "resamples": RESAMPLES}
    if repaired is None:  # repetitions of different samples: one was extended, and not all have what is new yet
        return each[0]
    stories = set(repaired["stories"])
    figures: Figures = {**first, "repaired": repaired_figures(repaired, stories, group, **rules), "official": None}
    if official and (whole := official_figures(official, stories, group)):
        figures["official"] = with_intervals(whole, official, stories, group, **rules)
    elif "reason" not in figures:
        figures["reason"] = next((one[0]["reason"] for one in each if one[0].get("reason")), "")
    figures["analyses"] = {
        reading: first["analyses"][reading]
        and first["analyses"][reading] | {"repetitions": _spread([one[1][reading] for one in each], group)}
        for reading in READINGS
    }
    figures["analyses"] |= {} if figures["official"] else {"official": None}
    return figures, {"official": official, "repaired": repaired}


def _spread(each: Sequence[Columns | None], group: str) -> dict[str, float | int | None]:
    share = group_named(group).score
    values = [list(scores_by_story(one, share).values()) for one in each if one]
    return spread_of(values)


def spread_of(values: Sequence[Sequence[float | None]]) -> dict[str, float | int | None]:
    """What single repetitions came to, from the scores of each, sample by sample, None where a sample has none: {repetitions, mean, spread (the
    standard deviation between them), lowest, highest, agreement (the share of samples with the same score in all), of_samples and of_repetitions (their shares of the variance, None where it cannot be
    split)}; empty where nothing is known."""
    means = [mean(known) for row in values if (known := [one for one in row if one is not None])]
    if not means:
        return {}
    whole = [column for column in zip(*values, strict=True) if None not in column]
    same = sum(len(set(column)) == 1 for column in whole) / len(whole) if whole else None
    scores, samples = zip(
        *((score, at) for row in values for at, score in enumerate(row) if score is not None), strict=True
    )
    split = variance_split(scores, samples)
    return {
        "repetitions": len(values), "mean": mean(means), "spread": stdev(means) if len(means) > 1 else None, "lowest": min(means), "highest": max(means),
        "agreement": same, "of_samples": split.get("clusters"), "of_repetitions": split.get("repetitions"),
    }  # fmt: skip


Scoring = Callable[[Sample, Sequence[Outcome]], SampleResult]
Held = Sequence[tuple[Sample, SampleResult]]


def measured_samples(entered: Entered, group: MetricGroup, score: Scoring) -> Measured | None:
    """The figures of a group from a score of each sample that has an outcome at its steps; None without such a sample.

    Official figures are None as soon as one sample has none. Analyses are the score by facet and that of single repetitions.
    """
    held: list[tuple[Sample, SampleResult]] = []
    for sample in entered.samples:
        outcomes = [one for one in entered.outcomes.get(sample.key, ()) if one.step in group.rests_on]
        if outcomes:
            held.append((sample, score(sample, outcomes)))
    if not held:
        return None
    rules = {"seed": int(entered.settings.get("seed", 1)), "resamples": RESAMPLES}
    scores = [replace(result.repaired, cluster=sample.cluster) for sample, result in held]
    repaired: StoryReport = {
        **report(scores, group.shares, mean_of_categories=group.category_mean, **rules),
        "stories": [_row(sample, one) for (sample, _), one in zip(held, scores, strict=True)],
    }
    reason = next((f"Sample {one.number}: {result.reason}." for one, result in held if result.official is None), "")
    official = None if reason else _official(group, held)
    categories = [one.category for one, _ in held] if official else []
    figures, by_sample = with_columns(official, categories, repaired, group.key, _clusters([one for one, _ in held]))
    figures["analyses"] = _analyses(group, entered, held, official is not None, score)
    if reason:
        figures["reason"] = reason
    return figures, by_sample


def _analyses(group: MetricGroup, entered: Entered, held: Held, has_official: bool, score: Scoring) -> dict[str, Any]:
    """{reading: {"facets": {facet: {value: estimate}}[, "repetitions"]}}, None of a reading without figures."""
    found: dict[str, Any] = {}
    seed = int(entered.settings.get("seed", 1))
    readings: tuple[Reading, ...] = ("repaired", "official") if has_official else ("repaired",)
    for reading in readings:
        scores = [(sample, _scored(sample, result, reading)) for sample, result in held]
        found[reading] = {"facets": {name: _facet(scores, name, group.score, seed) for name in group.facets}}
        if spread := _repeated(group, entered, held, score, reading):
            found[reading] |= {"repetitions": spread}
    return {"official": None} | found


def _scored(sample: Sample, result: SampleResult, reading: Reading) -> StoryScore:
    if reading == "repaired":
        return replace(result.repaired, cluster=sample.cluster)
    shares = dict(result.official or {})
    return StoryScore(sample.category, shares, shares, shares, cluster=sample.cluster)


def _facet(scores: Sequence[tuple[Sample, StoryScore]], name: str, share: str, seed: int) -> dict[str, Any]:
    """{value: {"value", "interval", "n"[, "reason"][, "bounds"]}}, values in the order of the samples."""
    parts: dict[str, list[StoryScore]] = {}
    for sample, one in scores:
        parts.setdefault(str(sample.content.get(name, "")), []).append(one)
    return {value: _estimate(held, share, seed) for value, held in parts.items()}


def _estimate(scores: Sequence[StoryScore], share: str, seed: int) -> dict[str, Any]:
    row = overall_row(scores, (share,), seed=seed, resamples=RESAMPLES)
    interval, why = row.intervals[share]
    found: dict[str, Any] = {"value": row.values[share], "interval": interval, "n": row.stories}
    if why:
        found["reason"] = why
    bounds = row.bounds[share]
    return found | ({"bounds": bounds} if bounds and bounds[0] != bounds[1] else {})


def _repeated(
    group: MetricGroup, entered: Entered, held: Held, score: Scoring, reading: Reading
) -> dict[str, float | int | None]:
    """What single repetitions came to; nothing where everything was asked once."""
    turns = sorted({one.repetition for outcomes in entered.outcomes.values() for one in outcomes})
    if len(turns) < 2:
        return {}
    values = [[_single(group, entered, sample, score, turn, reading) for sample, _ in held] for turn in turns]
    return spread_of(values)


def _single(
    group: MetricGroup, entered: Entered, sample: Sample, score: Scoring, turn: int, reading: Reading
) -> float | None:
    """The score of one repetition of a sample, None where it has none."""
    outcomes = [
        one for one in entered.outcomes.get(sample.key, ()) if one.step in group.rests_on and one.repetition == turn
    ]
    if not outcomes:
        return None
    result = score(sample, outcomes)
    held = result.official if reading == "official" else result.repaired.estimate
    return None if held is None else held[group.score]


def _official(group: MetricGroup, held: Sequence[tuple[Sample, SampleResult]]) -> StoryAverages:
    rows = [(sample.category, dict(result.official or {})) for sample, result in held]
    stories = [{"story_id": sample.number, **dict(result.official or {})} for sample, result in held]
    return {**averages(rows, group.shares, group.category_mean), "stories": stories}


def _row(sample: Sample, score: StoryScore) -> dict[str, Any]:
    """As `repaired_columns` takes it."""
    row: dict[str, Any] = {"story_id": sample.number, "story_category": sample.category}
    row |= score.estimate if score.estimate is not None else dict.fromkeys(score.worst)
    if score.unusable:
        row["reason"] = score.unusable
    bounds = {name: [low, score.best[name]] for name, low in score.worst.items() if low is not None}
    return row | ({"bounds": bounds} if score.worst != score.best else {})


def _clusters(samples: Sequence[Sample]) -> dict[int, str]:
    """By number; empty where no two samples share a cluster."""
    clusters = {sample.number: sample.cluster for sample in samples}
    return clusters if len(set(clusters.values())) < len(clusters) else {}
