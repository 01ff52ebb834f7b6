"""Reasons why coefficients of agreement are undefined, from the label counts of cells, and Cohen's kappa of two
annotators."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from core.messages import gettext_noop

Counts = NDArray[np.int64]

NO_CELLS = gettext_noop("no cell has all its votes")
NO_PAIRS = gettext_noop("no cell has two votes")
ONE_LABEL = gettext_noop("all votes are one label, so chance agreement is certain")


def undefined_of(cells: int, labels: int) -> str | None:
    """Return why the chance-corrected coefficients are not defined, or None where they are: of so many cells, and of so
    many labels that cells with two votes or more have."""
    if not cells:
        return NO_CELLS
    if not labels:
        return NO_PAIRS
    return ONE_LABEL if labels < 2 else None


def cohens_kappa(confusion: Counts) -> float | None:
    """Cohen's kappa of two annotators from their confusion matrix of shape (K, K) (statsmodels)."""
    margins = confusion.sum(axis=0) + confusion.sum(axis=1)
    if confusion.sum() == 0 or (margins > 0).sum() < 2:
        return None
    from statsmodels.stats.inter_rater import cohens_kappa as kappa

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(kappa(confusion, return_results=False))
