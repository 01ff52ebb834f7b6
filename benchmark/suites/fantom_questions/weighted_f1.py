"""F1 of yes and no, weighted by how often each is gold, with an interval over conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.figures import with_bounds
from core.statistics import RESAMPLES, SHARE, Estimate, Floats, estimate_of, label_f1s, ratios

_LABELS = (0, 1)
_NOTHING = Estimate(None, 0, reason="no answer that could be read")


class YesNoAnswer(NamedTuple):
    """One answer: its conversation, whether yes is right, and what was read, 1, 0 or -1 for neither; None where that is
    not known."""

    conversation: str
    gold: int
    predicted: int | None


def weighted_f1(answers: Sequence[YesNoAnswer], *, seed: int, resamples: int = RESAMPLES) -> BoundedEstimate:
    """Return the weighted F1 of the answers that are known: one that is neither
    costs recall alone, as in the released code. Bounds take those that are not known as wrong, one for the other, and
    as right."""
    readable = [answer for answer in answers if answer.predicted is not None]
    estimate = _estimate(readable, seed, resamples) if readable else _NOTHING
    if len(readable) == len(answers):
        return with_bounds(estimate)
    return with_bounds(estimate, [_taken(answers, wrong=True), _taken(answers, wrong=False)])


def _taken(answers: Sequence[YesNoAnswer], *, wrong: bool) -> float:
    """The F1 with what is not known as wrong or as right."""
    filled = [
        answer._replace(predicted=answer.gold ^ wrong) if answer.predicted is None else answer for answer in answers
    ]
    return float(
        _f1(_sums(filled, list(dict.fromkeys(answer.conversation for answer in answers))).sum(axis=0)[None])[0]
    )


def _estimate(answers: Sequence[YesNoAnswer], seed: int, resamples: int) -> Estimate:
    names = list(dict.fromkeys(answer.conversation for answer in answers))
    return estimate_of(
        _sums(answers, names),
        _f1,
        n=len(answers),
        scale=SHARE,
        unit="conversations",
        empty="no conversation",
        seed=seed,
        resamples=resamples,
    )


def _sums(answers: Sequence[YesNoAnswer], names: Sequence[str]) -> Floats:
    """Hits, gold and predictions of no and of yes by conversation, shape (conversations, 6)."""
    places = {name: place for place, name in enumerate(names)}
    counts = np.zeros((len(names), 3, 2))
    for answer in answers:
        row = counts[places[answer.conversation]]
        row[1, answer.gold] += 1
        if answer.predicted in _LABELS:
            row[2, answer.predicted] += 1
            row[0, answer.predicted] += answer.gold == answer.predicted
    return counts.reshape(len(names), -1)


def _f1(sums: Floats) -> Floats:
    """Weighted F1 of each row of sums, shape (r, 6) → (r,); nan without an answer."""
    hits, gold, predicted = np.split(sums, 3, axis=1)
    return ratios((label_f1s(hits, gold, predicted) * gold).sum(axis=1), gold.sum(axis=1))
