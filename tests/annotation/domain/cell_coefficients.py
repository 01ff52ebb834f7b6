"""Coefficients of agreement from the label counts of cells, `counts` of shape (cells, labels): what the product's sums
over stories must come to.

Each returns a float, or None where the coefficient is not defined.
"""

from __future__ import annotations

import evalica
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from annotation.domain.agreement.intervals import undefined_of

Counts = NDArray[np.int64]


def undefined(counts: Counts) -> str | None:
    """Return why the chance-corrected coefficients are not defined, or None where they are."""
    paired = counts[counts.sum(axis=1) >= 2]
    return undefined_of(len(counts), int((paired.sum(axis=0) > 0).sum()))


def agreeing_cells(counts: Counts) -> int:
    """Number of cells on which all votes are one label."""
    return int((counts.max(axis=1, initial=0) == counts.sum(axis=1)).sum())


def strict(counts: Counts) -> float | None:
    """Share of cells on which all annotators chose the same label (OmniToM, appendix B.4, table 6)."""
    return agreeing_cells(counts) / len(counts) if len(counts) else None


def pairwise(counts: Counts) -> float | None:
    """Mean over cells of the share of annotator pairs that agree; cells with fewer than two votes are left out."""
    votes = counts.sum(axis=1)
    counts, votes = counts[votes >= 2], votes[votes >= 2]
    if not len(counts):
        return None
    return float(((counts * (counts - 1)).sum(axis=1) / (votes * (votes - 1))).mean())


def fleiss_kappa(counts: Counts) -> float | None:
    """Fleiss' kappa, generalised to cells with uneven numbers of votes; of even ones it is Fleiss' own.

    Observed agreement is that of `pairwise`; a label's share is its mean share of a cell's votes (Gwet 2014, "Handbook
    of Inter-Rater Reliability", 4th edition, chapter 2).
    """
    observed = pairwise(counts)
    if observed is None or undefined(counts):
        return None
    labels = _label_shares(counts)
    expected = float((labels**2).sum())
    return (observed - expected) / (1 - expected)


def krippendorff_alpha(counts: Counts) -> float | None:
    """Krippendorff's alpha, nominal, missing votes allowed (evalica).

    For nominal data only the counts of a cell matter, not who cast them: votes are laid out in slots.
    """
    if undefined(counts):
        return None
    slots = np.full((int(counts.sum(axis=1).max()), len(counts)), np.nan)
    cells, codes = np.nonzero(counts)
    cells, codes = np.repeat(cells, counts[cells, codes]), np.repeat(codes, counts[cells, codes])
    starts = np.searchsorted(cells, np.arange(len(counts)))
    slots[np.arange(len(cells)) - starts[cells], cells] = codes
    return float(evalica.alpha(pd.DataFrame(slots), distance="nominal").alpha)


def gwet_ac1(counts: Counts) -> float | None:
    """Gwet's AC1 for any number of raters with missing votes (Gwet 2008, section 3.3).

    Observed agreement over cells with two votes or more; label shares over all cells with a vote; q is the size of the
    label set, not the number of labels that happen to occur.
    """
    observed = pairwise(counts)
    if observed is None or counts.shape[1] < 2:
        return None
    shares = _label_shares(counts)
    expected = float((shares * (1 - shares)).sum() / (counts.shape[1] - 1))
    return (observed - expected) / (1 - expected)


def _label_shares(counts: Counts) -> NDArray[np.float64]:
    """Each label's mean share of a cell's votes, over the cells that have a vote."""
    voted = counts[counts.sum(axis=1) >= 1]
    shares: NDArray[np.float64] = (voted / voted.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares
