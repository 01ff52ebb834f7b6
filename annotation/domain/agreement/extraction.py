"""Agreement of two experts on an open-ended table (stage 1): reconciliation overlap and F1, never kappa."""

from __future__ import annotations


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
