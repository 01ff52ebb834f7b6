"""Differences between models without their judge's error, paired by story."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from benchmark.domain.corrections import CorrectedComparison, CorrectedDifference, CorrectedPair
from benchmark.domain.inference import adjusted
from benchmark.models import Run
from benchmark.services.calibration_words import cluster_named
from benchmark.services.corrections import Side, Stories, corrected_sides, corrects, kept_by_state
from benchmark.suites.registry import group_named, group_suite
from benchmark.suites.results import NamedEntrant
from core.messages import clauses, labelled
from judge.domain.calibration.differences import difference
from judge.domain.calibration.stories import Metric
from judge.domain.cluster_names import ClusterName


def corrected_comparison(
    pair: Sequence[NamedEntrant], runs: Sequence[Run], group: str, stories: Stories
) -> CorrectedComparison | None:
    """Return the corrected scores of two entrants side by side, over those of the `stories` that were judged of both;
    None of a metric group that cannot be corrected. Holm's correction runs over its rows."""
    if not corrects(group):
        return None
    identity = [group, [[entrant.key, entrant.model] for entrant in pair], sorted(stories or ())]
    comparison: CorrectedComparison = kept_by_state(
        "pair", runs, identity, lambda: _compared(pair, corrected_sides(pair, runs, stories), group)
    )
    return comparison


def _compared(pair: Sequence[NamedEntrant], sides: Sequence[Side], group: str) -> CorrectedComparison:
    corrections = [correction for correction, _ in sides]
    lacking = [
        labelled(entrant.model, side.reason) for entrant, side in zip(pair, corrections, strict=True) if side.reason
    ]
    if lacking:
        return CorrectedComparison(sides=corrections, reason=clauses(*lacking))
    described = group_named(group)
    over = cluster_named(group_suite(group))
    rows = adjusted(
        [_difference(*sides, metric, described.headers[share], over) for metric, share in described.corrected.items()]
    )
    return CorrectedComparison(sides=corrections, rows=rows, tests=sum(row.p is not None for row in rows))


def corrected_pairs(
    entrants: Sequence[NamedEntrant], runs: Sequence[Run], group: str, stories: Stories
) -> list[CorrectedPair]:
    """Return the difference of the corrected F1 of every two of these entrants, over those of the `stories` that were
    judged of all of them, the biggest first. Holm's correction runs over all rows."""
    ranked = {entrant.run for entrant in entrants}
    runs = [run for run in runs if run.uid in ranked]
    if len(entrants) < 2 or not corrects(group):
        return []
    identity = [group, sorted([entrant.key, entrant.model] for entrant in entrants), sorted(stories or ())]
    pairs: list[CorrectedPair] = kept_by_state(
        "pairs", runs, identity, lambda: _paired(entrants, corrected_sides(entrants, runs, stories), group)
    )
    return pairs


def _paired(entrants: Sequence[NamedEntrant], sides: Sequence[Side], group: str) -> list[CorrectedPair]:
    scored = [(entrant, side) for entrant, side in zip(entrants, sides, strict=True) if side[1] is not None]
    described = group_named(group)
    header, over = described.headers[described.corrected[Metric.F1]], cluster_named(group_suite(group))
    pairs = [
        CorrectedPair(
            first=entrant.model,
            second=other.model,
            first_key=entrant.key,
            second_key=other.key,
            difference=_difference(first, second, Metric.F1, header, over),
        )
        for (entrant, first), (other, second) in combinations(scored, 2)
    ]
    pairs.sort(key=_biggest_first)
    differences = adjusted([pair.difference for pair in pairs])
    return [replace(pair, difference=difference) for pair, difference in zip(pairs, differences, strict=True)]


def _biggest_first(pair: CorrectedPair) -> tuple[bool, float, str]:
    value = pair.difference.value
    return value is None, -abs(value or 0), pair.first


def _difference(first: Side, second: Side, metric: str, header: str, over: ClusterName) -> CorrectedDifference:
    """Return the difference of a metric, still without the p of a correction."""
    (_, left), (_, right) = first, second
    assert left is not None and right is not None  # both have scores
    score, other = left[Metric(metric)], right[Metric(metric)]
    gap = difference(score, other, over=over)
    return CorrectedDifference(
        what=header,
        key=metric,
        category="",
        first=score.value,
        second=other.value,
        value=gap.value,
        interval=list(gap.interval) if gap.interval else None,
        reason=gap.reason or None,
        n=gap.stories,
        aligned=gap.aligned,
        p=gap.p,
        p_adjusted=None,
    )
