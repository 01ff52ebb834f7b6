"""The agreement report: one row a dimension and one over all, in the shape of the `agreement` command."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotation.domain.agreement import coefficients, intervals
from annotation.domain.agreement.votes import Votes

CHANCE_CORRECTED = ("fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
ONE_STORY = "an interval needs at least two stories"


def measure(votes: Votes, *, overlap: int, seed: int) -> dict:
    """Every coefficient of one dimension over the cells that have all their votes."""
    full = votes.complete(overlap)
    counts = full.counts
    why = coefficients.undefined(counts)
    strict = intervals.per_story(full.story, intervals.strict_sums(counts))
    alpha = intervals.per_story(full.story, intervals.alpha_sums(counts))
    row = {
        "cells": len(counts),
        "agree": coefficients.agreeing_cells(counts),
        "strict": coefficients.strict(counts),
        "pairwise": coefficients.pairwise(counts),
        "fleiss_kappa": coefficients.fleiss_kappa(counts),
        "krippendorff_alpha": coefficients.krippendorff_alpha(counts),
        "gwet_ac1": coefficients.gwet_ac1(counts),
        "interval": {
            "strict": intervals.story_interval(strict, intervals.strict_of, seed=seed),
            "krippendorff_alpha": intervals.story_interval(alpha, intervals.alpha_of, seed=seed) if not why else None,
        },
        "method": _method(seed, stories=len(strict)),
    }
    if why or len(strict) < 2:
        row["reason"] = why or ONE_STORY
    return row


def over_all(dimensions: Sequence[Votes], rows: Sequence[dict], *, overlap: int, seed: int) -> dict:
    """Strict and pairwise pool all cells; chance-corrected coefficients are the mean over dimensions that have one.

    Labels of different dimensions share no scale, so one pooled kappa would credit annotators for knowing which column
    they are in.
    """
    full = [votes.complete(overlap) for votes in dimensions]
    cells = sum(row["cells"] for row in rows)
    out = {"cells": cells, "agree": sum(row["agree"] for row in rows)}
    out["strict"] = out["agree"] / cells if cells else None
    agreeing_pairs = sum(row["pairwise"] * row["cells"] for row in rows if row["pairwise"] is not None)
    out["pairwise"] = agreeing_pairs / cells if cells else None
    for name in CHANCE_CORRECTED:
        known = [row[name] for row in rows if row[name] is not None]
        out[name] = float(np.mean(known)) if known else None
    stories = np.unique(np.concatenate([votes.story for votes in full])) if full else np.array([])
    out["interval"] = {
        "strict": intervals.story_interval(_joined(full, stories, intervals.strict_sums), _strict_sum, seed=seed),
        "krippendorff_alpha": _mean_alpha_interval(full, rows, stories, seed),
    }
    out["method"] = _method(seed, stories=len(stories)) + "; chance-corrected: mean over dimensions"
    if not cells:
        out["reason"] = coefficients.NO_CELLS
    elif len(stories) < 2:
        out["reason"] = ONE_STORY
    elif out["krippendorff_alpha"] is None:
        out["reason"] = coefficients.ONE_LABEL
    return out


def _method(seed: int, *, stories: int) -> str:
    return (
        f"cells with all their votes; percentile interval, {intervals.LEVEL:.0%}, cluster bootstrap over "
        f"{stories} stories, {intervals.RESAMPLES} resamples, seed {seed}"
    )


def _joined(full: Sequence[Votes], stories: np.ndarray, sums) -> np.ndarray:
    """The story sums of several dimensions side by side, one row for every story that any of them has."""
    blocks = []
    for votes in full:
        values = sums(votes.counts)
        block = np.zeros((len(stories), values.shape[1]))
        np.add.at(block, np.searchsorted(stories, votes.story), values)
        blocks.append(block)
    return np.concatenate(blocks, axis=1) if blocks else np.zeros((0, 0))


def _strict_sum(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0::2].sum(axis=-1) / sums[..., 1::2].sum(axis=-1)


def _mean_alpha_interval(full, rows, stories, seed):
    defined = [votes for votes, row in zip(full, rows, strict=True) if row["krippendorff_alpha"] is not None]
    if not defined:
        return None
    widths = [len(votes.labels) + 1 for votes in defined]
    edges = np.cumsum(widths)[:-1]

    def mean_alpha(sums: np.ndarray) -> np.ndarray:
        return np.mean([intervals.alpha_of(part) for part in np.split(sums, edges, axis=-1)], axis=0)

    return intervals.story_interval(_joined(defined, stories, intervals.alpha_sums), mean_alpha, seed=seed)
