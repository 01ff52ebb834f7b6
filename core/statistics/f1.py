"""F1, the harmonic mean of precision and recall, and F1 by label; 0 where there is nothing to divide by."""

import numpy as np

from core.statistics.bootstrap import Floats


def harmonic(first: float, other: float) -> float:
    """Return the harmonic mean of two shares, 0 where both are 0."""
    return 2 * first * other / (first + other) if first + other else 0.0


def harmonics(first: Floats, other: Floats) -> Floats:
    """Return `harmonic` element by element, nan where either is."""
    sums = first + other
    out: Floats = np.where(np.isnan(sums), np.nan, 0.0)
    np.divide(2 * first * other, sums, out=out, where=sums > 0)
    return out


def label_f1s(hits: Floats, true: Floats, predicted: Floats) -> Floats:
    """Return the F1 of labels from how often each is right, is true and is predicted; 0 of a label that never
    occurs."""
    occurred = true + predicted
    f1s: Floats = np.divide(2 * hits, occurred, out=np.zeros(hits.shape), where=occurred > 0)
    return f1s
