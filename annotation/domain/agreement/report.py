"""The agreement report: one row a dimension and one over all, in the shape of the `agreement` command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Literal, NotRequired, TypedDict

import numpy as np

from annotation.domain.agreement import coefficients
from annotation.domain.agreement.intervals import COEFFICIENTS, mean_interval, per_story, story_interval
from annotation.domain.agreement.votes import Votes
from core.statistics import Clusters, Floats, Interval, method

Measure = Literal["strict", "pairwise", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"]
CHANCE_CORRECTED: tuple[Measure, ...] = ("fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
MEASURES: tuple[Measure, ...] = ("strict", "pairwise", *CHANCE_CORRECTED)


class Values(TypedDict):
    """Each coefficient, None where it is not defined."""

    strict: float | None
    pairwise: float | None
    fleiss_kappa: float | None
    krippendorff_alpha: float | None
    gwet_ac1: float | None


class Intervals(TypedDict):
    """[low, high] of each coefficient, or None, and by name why; `reason` is the first of these."""

    interval: dict[Measure, list[float] | None]
    reasons: dict[Measure, str]
    reason: NotRequired[str]


class Agreement(Values, Intervals):
    """A row of the report: of how many `cells` all votes `agree`, and the coefficients over `stories`."""

    cells: int
    agree: int
    stories: int
    method: str


def measure(votes: Votes, *, overlap: int, seed: int) -> Agreement:
    """Return every coefficient of one dimension over the cells that have all their votes.

    `interval` has [low, high] of each, or None, and `reasons` says why: of an undefined coefficient and of an interval
    that is not given.
    """
    full = votes.complete(overlap)
    counts = full.counts
    values = _values(lambda name: COEFFICIENTS_OF_COUNTS[name](counts))
    why = coefficients.undefined(counts) or ""
    intervals: dict[Measure, Interval] = {
        name: _interval(full, name, seed) if values[name] is not None else (None, why) for name in MEASURES
    }
    stories = len(np.unique(full.story))
    return {
        "cells": len(counts),
        "agree": coefficients.agreeing_cells(counts),
        "stories": stories,
        **values,
        **_interval_fields(intervals),
        "method": _method(seed, stories=stories),
    }


COEFFICIENTS_OF_COUNTS: dict[Measure, Callable[[coefficients.Counts], float | None]] = {
    "strict": coefficients.strict,
    "pairwise": coefficients.pairwise,
    "fleiss_kappa": coefficients.fleiss_kappa,
    "krippendorff_alpha": coefficients.krippendorff_alpha,
    "gwet_ac1": coefficients.gwet_ac1,
}


def _values(of: Callable[[Measure], float | None]) -> Values:
    return {
        "strict": of("strict"),
        "pairwise": of("pairwise"),
        "fleiss_kappa": of("fleiss_kappa"),
        "krippendorff_alpha": of("krippendorff_alpha"),
        "gwet_ac1": of("gwet_ac1"),
    }


def over_all(dimensions: Sequence[Votes], rows: Sequence[Agreement], *, overlap: int, seed: int) -> Agreement:
    """Return the coefficients over all dimensions: strict and pairwise pool all cells; chance-corrected coefficients
    are the mean over dimensions that have one.

    Labels of different dimensions share no scale, so one pooled kappa would credit annotators for knowing which column
    they are in.
    """
    full = [votes.complete(overlap) for votes in dimensions]
    cells = sum(row["cells"] for row in rows)
    stories = np.unique(np.concatenate([votes.story for votes in full])) if full else np.array([], dtype=np.int64)
    values = _values(lambda name: _pooled(name, rows, cells))
    intervals: dict[Measure, Interval] = {}
    for name in MEASURES:
        defined = [votes for votes, row in zip(full, rows, strict=True) if row[name] is not None]
        intervals[name] = _over_all(defined, stories, name, seed) if values[name] is not None else (None, _empty(cells))
    return {
        "cells": cells,
        "agree": sum(row["agree"] for row in rows),
        "stories": len(stories),
        **values,
        **_interval_fields(intervals),
        "method": _method(seed, stories=len(stories)) + "; chance-corrected: mean over dimensions",
    }


def _pooled(name: Measure, rows: Sequence[Agreement], cells: int) -> float | None:
    if name in CHANCE_CORRECTED:
        defined = [value for row in rows if (value := row[name]) is not None]
        return float(np.mean(defined)) if defined else None
    if not cells:
        return None
    if name == "strict":
        return sum(row["agree"] for row in rows) / cells
    return sum(row["pairwise"] * row["cells"] for row in rows if row["pairwise"] is not None) / cells


def _empty(cells: int) -> str:
    return coefficients.ONE_LABEL if cells else coefficients.NO_CELLS


def _interval(full: Votes, name: Measure, seed: int) -> Interval:
    coefficient = COEFFICIENTS[name]
    return story_interval(per_story(full.story, coefficient.sums(full.counts)), coefficient, seed=seed)


def _over_all(dimensions: Sequence[Votes], stories: Clusters, name: Measure, seed: int) -> Interval:
    """Return the interval over the stories that any dimension has."""
    coefficient = COEFFICIENTS[name]
    parts = [_by_story(votes, stories, coefficient.sums(votes.counts)) for votes in dimensions]
    if name not in CHANCE_CORRECTED:  # pooled: labels do not matter, only what agrees and how much there is
        parts = [reduce(np.add, (part[:, :2] for part in parts))]
    return mean_interval(parts, coefficient, seed=seed)


def _by_story(votes: Votes, stories: Clusters, values: Floats) -> Floats:
    """Sum the cells within each of `stories`, shape (stories, m)."""
    block = np.zeros((len(stories), values.shape[1]))
    np.add.at(block, np.searchsorted(stories, votes.story), values)
    return block


def _interval_fields(intervals: dict[Measure, Interval]) -> Intervals:
    reasons = {name: why for name, (_, why) in intervals.items() if why}
    row: Intervals = {"interval": {name: ends for name, (ends, _) in intervals.items()}, "reasons": reasons}
    if reasons:
        row["reason"] = next(iter(reasons.values()))
    return row


def _method(seed: int, *, stories: int) -> str:
    return f"cells with all their votes, {stories} stories; {method(seed=seed, unit='stories')}"
