"""Agreement of two experts on an open-ended table (stage 1): reconciliation overlap and F1, never kappa."""

from collections.abc import Sequence

import numpy as np

from core.statistics import SHARE, Estimate, Floats, estimate_of, mean_estimates, ratios

_NONE = "no story was reconciled"


def reconciliation_overlap(reviewed: int, unremarked: int) -> float | None:
    """Share of reviewed propositions that needed no remark (OmniToM, appendix B.4; published 360 of 430, 83.72 %)."""
    if not 0 <= unremarked <= reviewed:
        raise ValueError(f"{unremarked} of {reviewed} propositions without a remark; expected 0 to {reviewed}.")
    return unremarked / reviewed if reviewed else None


def table_f1(first: int, second: int, matched: int) -> float | None:
    """F1 between two tables of `first` and `second` rows of which `matched` pairs say the same: 2m / (a + b)."""
    if not 0 <= matched <= min(first, second):
        raise ValueError(f"{matched} matched rows in tables of {first} and {second} rows.")
    return 2 * matched / (first + second) if first + second else None


def overlap_estimate(stories: Sequence[tuple[int, int]], *, seed: int = 1) -> Estimate:
    """Return the reconciliation overlap with its interval over stories, each given as (reviewed, without a remark)."""
    sums = np.array(stories, dtype=float).reshape(-1, 2)
    reviewed = int(sums[:, 0].sum())
    return estimate_of(sums, _share, n=reviewed, scale=SHARE, unit="stories", empty=_NONE, seed=seed)


def _share(sums: Floats) -> Floats:
    return ratios(sums[:, 1], sums[:, 0])


def f1_estimate(stories: Sequence[tuple[int, int, int]], *, seed: int = 1) -> Estimate:
    """Return the mean F1 between two tables of a story with its interval, each story given as (rows of the first, rows
    of the second, matched pairs)."""
    scores = [table_f1(*story) for story in stories]
    rows = np.array([[np.nan if score is None else score for score in scores]], dtype=float)
    [estimate] = mean_estimates(rows, scale=SHARE, seed=seed, unit="stories", empty=_NONE)
    return estimate
