"""Macro F1 with an interval over narratives: narratives are resampled whole, and F1 is taken of each resample's sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmark.suites.opentom.kinds import UNREAD
from core.statistics import DIFFERENCE, FEWEST, RESAMPLES, SHARE, Estimate, Floats, Scale, intervals, replicated_sums


class Told(NamedTuple):
    """One answer: its narrative, the label that is right, None where official scoring has none, and the label that was read, None or UNREAD for none."""

    narrative: str
    gold: int | None
    predicted: int | None

    @property
    def counts(self) -> bool:
        return self.gold is not None and self.predicted not in (None, UNREAD)


def macro_estimate(answers: Sequence[Told], *, seed: int, resamples: int = RESAMPLES) -> Estimate:
    """Return the macro F1 of the answers that were read, over the labels that occur in gold or answer, from 0 to 1, with its interval; `n` counts
    these answers."""
    return _estimate([answers], (1.0,), SHARE, seed, resamples)


def macro_difference(
    first: Sequence[Told], other: Sequence[Told], *, seed: int, resamples: int = RESAMPLES
) -> Estimate:
    """Return the macro F1 of some answers less that of others, on the same resamples of narratives; `n` counts the answers of both."""
    return _estimate([first, other], (1.0, -1.0), DIFFERENCE, seed, resamples)


def macro_mean(parts: Sequence[Sequence[Told]], *, seed: int, resamples: int = RESAMPLES) -> Estimate:
    """Return the mean of the macro F1s of several parts, each part weighing the same, on the same resamples of narratives; `n` counts the answers of
    all."""
    return _estimate(parts, (1 / len(parts),) * len(parts), SHARE, seed, resamples)


def _estimate(
    parts: Sequence[Sequence[Told]], weights: Sequence[float], scale: Scale, seed: int, resamples: int
) -> Estimate:
    """The sum of the weighted macro F1s of the parts."""
    counted = [[answer for answer in answers if answer.counts] for answers in parts]
    if not all(counted):
        return {"value": None, "n": 0, "interval": None, "reason": "no answer that could be read"}
    narratives = list(dict.fromkeys(answer.narrative for answers in counted for answer in answers))
    columns = [_counts(answers, narratives) for answers in counted]
    value = _weighted([_macro(part.sum(axis=0)[None]) for part in columns], weights)
    if len(narratives) >= FEWEST:
        drawn = _weighted(
            [_macro(replicated_sums(part.astype(np.float32), seed=seed, resamples=resamples)) for part in columns],
            weights,
        )
    else:
        drawn = np.full((len(narratives) + 1, 1), np.nan)
    [(ends, why)] = intervals(
        value[0], drawn, np.array([len(narratives)]), clusters=len(narratives), scale=scale, unit="narratives", empty="no narrative"
    )  # fmt: skip
    total = sum(map(len, counted))
    estimate: Estimate = {"value": float(value[0, 0]), "n": total, "interval": ends, "clusters": len(narratives)}
    if why:
        estimate["reason"] = why
    return estimate


def _weighted(parts: Sequence[Floats], weights: Sequence[float]) -> Floats:
    total: Floats = sum(
        (weight * part for weight, part in zip(weights[1:], parts[1:], strict=True)), weights[0] * parts[0]
    )
    return total


def _counts(answers: Sequence[Told], narratives: Sequence[str]) -> Floats:
    """Hits, gold and answers of each label by narrative, shape (narratives, 3 · labels)."""
    labels = sorted({label for answer in answers for label in (answer.gold, answer.predicted) if label is not None})
    rows, at = ({name: place for place, name in enumerate(names)} for names in (narratives, labels))
    columns = np.zeros((len(narratives), 3, len(labels)))
    for answer in answers:
        gold, predicted = at[answer.gold], at[answer.predicted]
        counts = columns[rows[answer.narrative]]
        counts[1, gold] += 1
        counts[2, predicted] += 1
        counts[0, gold] += gold == predicted
    return columns.reshape(len(narratives), -1)


def _macro(sums: Floats) -> Floats:
    """Macro F1 of each row of sums, shape (r, 3 · labels) → (r, 1); over the labels that occur in that row."""
    hits, gold, predicted = np.split(sums, 3, axis=1)
    occurred = gold + predicted
    f1 = np.divide(2 * hits, occurred, out=np.zeros_like(hits), where=occurred > 0)
    there = (occurred > 0).sum(axis=1)
    means: Floats = np.divide(f1.sum(axis=1), there, out=np.full(len(sums), np.nan), where=there > 0)
    return means[:, None]
