"""The agreement report: one row a dimension and one over all, in the shape of the `agreement` command."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotation.domain.agreement import coefficients
from annotation.domain.agreement.intervals import COEFFICIENTS, mean_interval, per_story, story_interval
from annotation.domain.agreement.votes import Votes
from core.statistics import Interval, method

CHANCE_CORRECTED = ("fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
MEASURES = ("strict", "pairwise", *CHANCE_CORRECTED)


def measure(votes: Votes, *, overlap: int, seed: int) -> dict:
    """Every coefficient of one dimension over the cells that have all their votes.

    `interval` has [low, high] of each, or None, and `reasons` says why: of an undefined coefficient and of an interval that is not given.
    """
    full = votes.complete(overlap)
    counts = full.counts
    values = {name: getattr(coefficients, name)(counts) for name in MEASURES}
    why = coefficients.undefined(counts) or ""
    found = {name: _interval(full, name, seed) if values[name] is not None else (None, why) for name in MEASURES}
    stories = len(np.unique(full.story))
    return {
        "cells": len(counts),
        "agree": coefficients.agreeing_cells(counts),
        "stories": stories,
        **values,
        **_told(found),
        "method": _method(seed, stories=stories),
    }


def over_all(dimensions: Sequence[Votes], rows: Sequence[dict], *, overlap: int, seed: int) -> dict:
    """Strict and pairwise pool all cells; chance-corrected coefficients are the mean over dimensions that have one.

    Labels of different dimensions share no scale, so one pooled kappa would credit annotators for knowing which column
    they are in.
    """
    full = [votes.complete(overlap) for votes in dimensions]
    cells = sum(row["cells"] for row in rows)
    out = {"cells": cells, "agree": sum(row["agree"] for row in rows)}
    stories = np.unique(np.concatenate([votes.story for votes in full])) if full else np.array([])
    out["stories"] = len(stories)
    out["strict"] = out["agree"] / cells if cells else None
    agreeing_pairs = sum(row["pairwise"] * row["cells"] for row in rows if row["pairwise"] is not None)
    out["pairwise"] = agreeing_pairs / cells if cells else None
    found = {}
    for name in MEASURES:
        having = [votes for votes, row in zip(full, rows, strict=True) if row[name] is not None]
        if name in CHANCE_CORRECTED:
            known = [row[name] for row in rows if row[name] is not None]
            out[name] = float(np.mean(known)) if known else None
        found[name] = _over_all(having, stories, name, seed) if out[name] is not None else (None, _empty(cells))
    out |= _told(found)
    out["method"] = _method(seed, stories=len(stories)) + "; chance-corrected: mean over dimensions"
    return out


def _empty(cells: int) -> str:
    return coefficients.ONE_LABEL if cells else coefficients.NO_CELLS


def _interval(full: Votes, name: str, seed: int) -> Interval:
    coefficient = COEFFICIENTS[name]
    return story_interval(per_story(full.story, coefficient.sums(full.counts)), coefficient, seed=seed)


def _over_all(having: Sequence[Votes], stories: np.ndarray, name: str, seed: int) -> Interval:
    """The interval over the stories that any dimension has."""
    coefficient = COEFFICIENTS[name]
    parts = [_by_story(votes, stories, coefficient.sums(votes.counts)) for votes in having]
    if name not in CHANCE_CORRECTED:  # pooled: labels do not matter, only what agrees and how much there is
        parts = [sum(part[:, :2] for part in parts)]
    return mean_interval(parts, coefficient, seed=seed)


def _by_story(votes: Votes, stories: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums of cells within each of `stories`, shape (stories, m)."""
    block = np.zeros((len(stories), values.shape[1]))
    np.add.at(block, np.searchsorted(stories, votes.story), values)
    return block


def _told(found: dict[str, Interval]) -> dict:
    """{"interval", "reasons"[, "reason"]} of the intervals by measure."""
    reasons = {name: why for name, (_, why) in found.items() if why}
    out = {"interval": {name: ends for name, (ends, _) in found.items()}, "reasons": reasons}
    return out | ({"reason": next(iter(reasons.values()))} if reasons else {})


def _method(seed: int, *, stories: int) -> str:
    return f"cells with all their votes, {stories} stories; {method(seed=seed, unit='stories')}"
