"""Annotator by annotator: confusion between two, each against the resolved label, second opinions by models."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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


def second_opinions(votes: Votes, *, seed: int) -> dict[str, dict[str, float]]:
    """Skill of each annotator by Dawid–Skene (mean diagonal of the confusion matrix) and MACE (1 − spamming).

    Both from crowd-kit; a second opinion on annotators, never a gold label. Empty where fewer than two voted.
    """
    if len(votes.annotators) < 2 or not len(votes.story):
        return {}
    from crowdkit.aggregation import MACE, DawidSkene

    frame = pd.DataFrame({"task": votes.cell, "worker": votes.annotator, "label": votes.code})
    skene = DawidSkene(n_iter=20).fit(frame)
    mace = MACE(n_restarts=1, n_iter=10, random_state=seed).fit(frame)
    # Column 1 of spamming_ is the chance that the annotator answers in earnest; rows are in order of appearance.
    earnest = dict(zip(pd.unique(frame["worker"]), mace.spamming_[:, 1] / mace.spamming_.sum(axis=1), strict=True))
    used = np.bincount(votes.code, minlength=len(votes.labels))
    out: dict[str, dict[str, float]] = {}
    for at, name in enumerate(votes.annotators):
        errors = skene.errors_.loc[at]
        diagonal = [errors.loc[label, label] for label in errors.index]
        skill = float(np.average(diagonal, weights=[used[label] for label in errors.index]))
        out[name] = {"dawid_skene": skill, "mace": float(earnest[at])}
    return out


def doubtful(votes: Votes) -> NDArray[np.float64]:
    """One minus Dawid–Skene's probability of each cell's likeliest label, shape (C,): orders a queue, no more."""
    from crowdkit.aggregation import DawidSkene

    frame = pd.DataFrame({"task": votes.cell, "worker": votes.annotator, "label": votes.code})
    probabilities = DawidSkene(n_iter=20).fit_predict_proba(frame)
    return 1 - probabilities.sort_index().max(axis=1).to_numpy()
