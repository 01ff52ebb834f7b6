"""Macro F1 with an interval over narratives: narratives are resampled whole, and F1 is taken of each resample's
sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

import numpy as np

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.figures import with_bounds
from benchmark.suites.opentom.kinds import OUTSIDE, UNREADABLE
from core.statistics import DIFFERENCE, RESAMPLES, SHARE, Estimate, Floats, Scale, estimate_of, label_f1s, ratios


class MacroAnswer(NamedTuple):
    """One answer: its narrative, the label that is right, None where official scoring has none, and the label that was
    read, None or UNREADABLE for none. OUTSIDE is a miss, and no label over which F1 is averaged."""

    narrative: str
    gold: int | None
    predicted: int | None

    @property
    def is_open(self) -> bool:
        """True where there is something to be said that was not read."""
        return self.gold is not None and not self.counts

    @property
    def counts(self) -> bool:
        return self.gold is not None and self.predicted not in (None, UNREADABLE)


def macro_estimate(answers: Sequence[MacroAnswer], *, seed: int, resamples: int = RESAMPLES) -> BoundedEstimate:
    """Return the macro F1 of the answers that were read, over the labels that occur in gold or answer, from 0 to 1,
    with its interval; `n` counts these answers. `bounds` take the others as wrong, for the labels that lose most by it,
    and as right."""
    return _bounded([answers], seed, resamples)


def macro_difference(
    first: Sequence[MacroAnswer], other: Sequence[MacroAnswer], *, seed: int, resamples: int = RESAMPLES
) -> BoundedEstimate:
    """Return the macro F1 of some answers less that of others, over those that were read, on the same resamples of
    narratives; `n` counts the answers of both. Bounds take what could not be read at its worst on one side and at its
    best on the other."""
    return with_bounds(_estimate([first, other], (1.0, -1.0), DIFFERENCE, seed, resamples), _apart(first, other))


def macro_paired_difference(
    first: Sequence[MacroAnswer], other: Sequence[MacroAnswer], *, seed: int, resamples: int = RESAMPLES
) -> BoundedEstimate:
    """Return `macro_difference` over the questions whose answers were read on both sides, of which `n` is the number:
    both sides answer the same questions in the same order. Bounds are over all of them."""
    read = [pair for pair in zip(first, other, strict=True) if all(answer.counts for answer in pair)]
    sides = [[pair[side] for pair in read] for side in range(2)]
    estimate = macro_difference(sides[0], sides[1], seed=seed, resamples=resamples)
    return replace(estimate, n=len(read), bounds=_apart(first, other))


def _apart(first: Sequence[MacroAnswer], other: Sequence[MacroAnswer]) -> list[float] | None:
    """Return the bounds of the first macro F1 less the other; None where everything was read."""
    ends, other_ends = macro_bounds(first), macro_bounds(other)
    if not ends or not other_ends or not any(answer.is_open for answer in (*first, *other)):
        return None
    return [ends[0] - other_ends[1], ends[1] - other_ends[0]]


def macro_mean(parts: Sequence[Sequence[MacroAnswer]], *, seed: int, resamples: int = RESAMPLES) -> BoundedEstimate:
    """Return the mean of the macro F1s of several parts, each part weighing the same, on the same resamples of
    narratives; `n` counts the answers of all. `bounds` are as those of one part."""
    return _bounded(parts, seed, resamples)


def macro_bounds(answers: Sequence[MacroAnswer]) -> tuple[float, float] | None:
    """Return the macro F1 with the answers that were not read as wrong, for the labels that lose most by it, and as
    right; None without any answer to a question that has a label."""
    asked = [answer for answer in answers if answer.gold is not None]
    if not asked:
        return None
    hits, gold, predicted = (dict.fromkeys({answer.gold for answer in asked}, 0) for _ in range(3))
    for answer in asked:
        gold[answer.gold] += 1
        if answer.counts and answer.predicted != OUTSIDE:
            predicted[answer.predicted] = predicted.get(answer.predicted, 0) + 1
            hits[answer.gold] += answer.gold == answer.predicted
    labels = {*gold, *predicted}
    unreadable = Counter(answer.gold for answer in asked if answer.is_open)
    pairs = [(2 * hits.get(label, 0), gold.get(label, 0) + predicted.get(label, 0)) for label in labels]
    filled = [
        (2 * (hits.get(label, 0) + unreadable[label]), gold.get(label, 0) + predicted.get(label, 0) + unreadable[label])
        for label in labels
    ]
    return _lowest(pairs, sum(unreadable.values())), fmean(above / among for above, among in filled)


def _lowest(pairs: Sequence[tuple[int, int]], wrong: int) -> float:
    """The mean of the quotients with so many units more below the line, each where it costs most."""
    parts = [*pairs]
    for _ in range(wrong):
        costs = [above / among - above / (among + 1) for above, among in parts]
        at = costs.index(max(costs))
        parts[at] = (parts[at][0], parts[at][1] + 1)
    return fmean(above / among for above, among in parts)


def _bounded(parts: Sequence[Sequence[MacroAnswer]], seed: int, resamples: int) -> BoundedEstimate:
    """The mean of the macro F1s of the parts, with its bounds where something was not read."""
    estimate = _estimate(parts, (1 / len(parts),) * len(parts), SHARE, seed, resamples)
    ends = [pair for answers in parts if (pair := macro_bounds(answers))]
    if len(ends) < len(parts) or not any(answer.is_open for answers in parts for answer in answers):
        return with_bounds(estimate)
    return with_bounds(estimate, [fmean(low for low, _ in ends), fmean(high for _, high in ends)])


def _estimate(
    parts: Sequence[Sequence[MacroAnswer]], weights: Sequence[float], scale: Scale, seed: int, resamples: int
) -> Estimate:
    """The sum of the weighted macro F1s of the parts."""
    counted = [[answer for answer in answers if answer.counts] for answers in parts]
    if not all(counted):
        return Estimate(None, 0, reason="no answer that could be read")
    narratives = list(dict.fromkeys(answer.narrative for answers in counted for answer in answers))
    columns = [_counts(answers, narratives) for answers in counted]
    edges = np.cumsum([part.shape[1] for part in columns])[:-1]

    def weighted(sums: Floats) -> Floats:
        return _weighted([_macro(part) for part in np.split(sums, edges, axis=1)], weights)

    return estimate_of(
        np.concatenate(columns, axis=1),
        weighted,
        n=sum(map(len, counted)),
        scale=scale,
        unit="narratives",
        empty="no narrative",
        seed=seed,
        resamples=resamples,
        with_clusters=True,
    )


def _weighted(parts: Sequence[Floats], weights: Sequence[float]) -> Floats:
    total: Floats = sum(
        (weight * part for weight, part in zip(weights[1:], parts[1:], strict=True)), weights[0] * parts[0]
    )
    return total


def _counts(answers: Sequence[MacroAnswer], narratives: Sequence[str]) -> Floats:
    """Hits, gold and answers of each label by narrative, shape (narratives, 3 · labels)."""
    occurring = {label for answer in answers for label in (answer.gold, answer.predicted)}
    labels = sorted(label for label in occurring if label not in (None, OUTSIDE))
    rows, at = ({name: place for place, name in enumerate(names)} for names in (narratives, labels))
    columns = np.zeros((len(narratives), 3, len(labels)))
    for answer in answers:
        counts = columns[rows[answer.narrative]]
        counts[1, at[answer.gold]] += 1
        if answer.predicted != OUTSIDE:
            counts[2, at[answer.predicted]] += 1
        counts[0, at[answer.gold]] += answer.gold == answer.predicted
    return columns.reshape(len(narratives), -1)


def _macro(sums: Floats) -> Floats:
    """Macro F1 of each row of sums, shape (r, 3 · labels) → (r,); over the labels that occur in that row."""
    hits, gold, predicted = np.split(sums, 3, axis=1)
    return ratios(label_f1s(hits, gold, predicted).sum(axis=1), (gold + predicted > 0).sum(axis=1))
