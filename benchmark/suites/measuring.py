"""The figures of a metric group as reports keep them, from what each sample came to.

Figures are {"official", "repaired", "answered", "asked", "analyses"[, "reason"]}: `official` and `repaired` have {overall, by_category}, `official`
None where a sample lacks an answer that can be read, with a `reason`; `answered` counts the answers that official scoring takes.
Figures by sample are those of `benchmark.suites.story_scores`, by reading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmark.domain.averaging import averages
from benchmark.domain.estimating import StoryScore, report
from benchmark.suites.contract import Entered, Measured, MetricGroup, Outcome, Sample
from benchmark.suites.story_scores import official_columns, repaired_columns, with_intervals
from core.statistics import RESAMPLES

Shares = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class SampleResult:
    """What one sample came to: its official shares, None with a `reason` where there are none, and its score in the repaired reading."""

    official: Shares | None
    repaired: StoryScore
    reason: str = ""


def with_columns(
    official: Mapping[str, Any] | None,
    categories: Sequence[str],
    repaired: Mapping[str, Any],
    group: str,
    clusters: Mapping[int, str] | None = None,
) -> Measured:
    """(figures, figures by sample) of both readings, whose rows of single samples are under `stories`; `clusters` names the cluster of each by
    its number, where some share one."""
    columns = official_columns(official["stories"], categories, group) if official else None
    by_sample = {"official": columns, "repaired": repaired_columns(repaired["stories"], group)}
    for held in filter(None, by_sample.values()) if clusters else ():
        held["clusters"] = [clusters[number] for number in held["stories"]]
    if columns:
        rules = {"seed": repaired["seed"], "resamples": repaired["resamples"]}
        official = with_intervals(_without_samples(official), columns, set(columns["stories"]), group, **rules)
    figures = {
        "official": official,
        "repaired": _without_samples(repaired),
        "answered": len(categories),
        "asked": len(repaired["stories"]),
    }
    return figures, by_sample


def _without_samples(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if name != "stories"}


Scoring = Callable[[Sample, Sequence[Outcome]], SampleResult]


def measured_samples(entered: Entered, group: MetricGroup, score: Scoring) -> Measured | None:
    """The figures of a group from a score of each sample that has an outcome at its steps; None without such a sample.

    Official figures are None as soon as one sample has none. There are no analyses.
    """
    held = []
    for sample in entered.samples:
        outcomes = [one for one in entered.outcomes.get(sample.key, ()) if one.step in group.rests_on]
        if outcomes:
            held.append((sample, score(sample, outcomes)))
    if not held:
        return None
    rules = {"seed": int(entered.settings.get("seed", 1)), "resamples": RESAMPLES}
    scores = [replace(result.repaired, cluster=sample.cluster) for sample, result in held]
    repaired = report(scores, group.shares, mean_of_categories=group.category_mean, **rules)
    repaired |= {"stories": [_row(sample, one) for (sample, _), one in zip(held, scores, strict=True)]}
    reason = next((f"Sample {one.number}: {result.reason}." for one, result in held if result.official is None), "")
    official = None if reason else _official(group, held)
    categories = [one.category for one, _ in held] if official else []
    figures, by_sample = with_columns(official, categories, repaired, group.key, _clusters([one for one, _ in held]))
    figures |= {"analyses": {"official": None, "repaired": None}}
    return figures | ({"reason": reason} if reason else {}), by_sample


def _official(group: MetricGroup, held: Sequence[tuple[Sample, SampleResult]]) -> dict[str, Any]:
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
