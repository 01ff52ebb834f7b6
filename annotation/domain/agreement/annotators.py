"""Annotator by annotator: confusion between two, each against the resolved label, second opinions by models."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotation.domain.agreement.aggregation import dawid_skene, mace
from annotation.domain.agreement.coefficients import cohens_kappa
from annotation.domain.agreement.votes import Votes


def label_confusion(votes: Votes) -> NDArray[np.int64]:
    """How many cells hold both labels i and j among their votes (i≠j), and on the diagonal how many are all i.

    Symmetric, shape (K, K): a disagreement has no direction.
    """
    present = votes.counts > 0
    together = present.T.astype(np.int64) @ present.astype(np.int64)
    alone = present[present.sum(axis=1) == 1].sum(axis=0)
    np.fill_diagonal(together, alone)
    return together


def pair_confusion(votes: Votes, first: int, second: int) -> NDArray[np.int64]:
    """Cells that both annotators voted on: rows the first's label, columns the second's, shape (K, K)."""
    a, b = votes.by_annotator[:, first], votes.by_annotator[:, second]
    both = (a >= 0) & (b >= 0)
    k = len(votes.labels)
    return np.bincount(a[both] * k + b[both], minlength=k * k).reshape(k, k)


def pairs(dimensions: list[Votes]) -> list[dict]:
    """For each pair of annotators with cells in common: n, share agreed and the mean Cohen's kappa over dimensions."""
    rows = []
    names = sorted({name for votes in dimensions for name in votes.annotators})
    for first, second in combinations(names, 2):
        tables = [
            pair_confusion(votes, votes.annotators.index(first), votes.annotators.index(second))
            for votes in dimensions
            if first in votes.annotators and second in votes.annotators
        ]
        cells = int(sum(table.sum() for table in tables))
        if not cells:
            continue
        kappas = [kappa for table in tables if (kappa := cohens_kappa(table)) is not None]
        rows.append(
            {
                "annotators": [first, second],
                "cells": cells,
                "agree": int(sum(np.trace(table) for table in tables)),
                "cohens_kappa": float(np.mean(kappas)) if kappas else None,
                "reason": None if kappas else "both used one label only",
            }
        )
    return rows


def against_resolved(votes: Votes, resolved: NDArray[np.int64]) -> list[dict]:
    """For each annotator: cells with a settled label (`resolved`, shape (C,), -1 where open) and how many match."""
    settled = resolved[votes.cell]
    judged = settled >= 0
    n = np.bincount(votes.annotator[judged], minlength=len(votes.annotators))
    right = np.bincount(votes.annotator[judged & (settled == votes.code)], minlength=len(votes.annotators))
    return [
        {"annotator": name, "cells": int(n[at]), "agree": int(right[at])} for at, name in enumerate(votes.annotators)
    ]


def second_opinions(votes: Votes) -> dict[str, dict[str, float]]:
    """Skill of each annotator by Dawid–Skene (mean diagonal of the confusion matrix, each label by its share of the votes) and MACE (the chance
    of answering in earnest).

    A second opinion on annotators, never a gold label. Empty where fewer than two voted.
    """
    if len(votes.annotators) < 2 or not len(votes.story):
        return {}
    used, code = np.unique(votes.code, return_inverse=True)
    rows = votes.cell, votes.annotator, code, len(used)
    _, confusion = dawid_skene(*rows)
    skills = np.diagonal(confusion, axis1=1, axis2=2) @ (np.bincount(code) / len(code))
    both = zip(votes.annotators, skills.tolist(), mace(*rows).tolist(), strict=True)
    return {name: {"dawid_skene": skill, "mace": earnest} for name, skill, earnest in both}
