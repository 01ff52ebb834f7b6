"""Macro F1 and accuracy of labels, as scikit-learn counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.suites.opentom.kinds import OUTSIDE
from core.statistics import Floats, label_f1s

Pair = tuple[int, int]
"""Gold and predicted label."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Macro F1 over the labels that occur in gold or prediction, and accuracy, from 0 to 1; None of no pair. An answer
    OUTSIDE the labels is a miss, and no label of its own."""

    f1: float | None
    accuracy: float | None


def agreement(pairs: Sequence[Pair]) -> Agreement:
    """Return macro F1 and accuracy of pairs of labels."""
    if not pairs:
        return Agreement(None, None)
    gold, predicted = np.array(pairs).T
    return Agreement(float(np.mean(_f1_by_label(gold, predicted))), float(np.mean(gold == predicted)))


def _f1_by_label(gold: NDArray[np.int_], predicted: NDArray[np.int_]) -> Floats:
    labels = np.setdiff1d(np.union1d(gold, predicted), [OUTSIDE])[:, None]
    golds, predictions = gold == labels, predicted == labels
    return label_f1s(*(marks.sum(axis=1) for marks in (golds & predictions, golds, predictions)))
