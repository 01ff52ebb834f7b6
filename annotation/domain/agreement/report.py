"""The agreement report: one row a dimension and one over all, in the shape of the `agreement` command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise, starmap
from operator import add
from typing import Literal, NotRequired, TypedDict

import numpy as np

from annotation.domain.agreement import coefficients
from annotation.domain.agreement.intervals import COEFFICIENTS, Counts, Resampled, mean_interval
from annotation.domain.agreement.votes import Tally
from core.language import gettext_noop
from core.statistics import Clusters, Floats, Interval, method

Sums = Callable[[Counts], Floats]
Measure = Literal["strict", "pairwise", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"]
CHANCE_CORRECTED: tuple[Measure, ...] = ("fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
UNDEFINED_OF_ONE_LABEL: tuple[Measure, ...] = ("fleiss_kappa", "krippendorff_alpha")
"""AC1 counts the labels that could have been chosen: where all votes are one of them, it is 1."""
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


def measure(tallies: Sequence[Tally], *, overlap: int, seed: int) -> tuple[list[Agreement], Agreement]:
    """Return every coefficient of each dimension, and of all together, over the cells that have all their votes.

    `interval` has [low, high] of each, or None, and `reasons` says why: of an undefined coefficient and of an interval
    that is not given. Over all dimensions strict and pairwise pool all cells; chance-corrected coefficients are the
    mean over dimensions that have one. Labels of different dimensions share no scale, so one pooled kappa would credit
    annotators for knowing which column they are in.
    """
    full = [tally.complete(overlap) for tally in tallies]
    stories = reduce(np.union1d, (tally.story for tally in full), np.array([], dtype=np.int64))
    pooled = _resampled_over(stories, full, seed)
    rows = [_row(tally, parts, stories, seed) for tally, parts in zip(full, pooled, strict=True)]
    return rows, _over_all(rows, pooled, len(stories), seed)


Parts = dict[Sums, Resampled]
"""The resampled story sums of one dimension, by what a cell adds to them."""


def _row(tally: Tally, pooled: Parts, stories: Clusters, seed: int) -> Agreement:
    """Return the coefficients of one dimension; `pooled` are its sums over the stories of all dimensions."""
    parts = pooled if len(tally.story) == len(stories) else _resampled_over(tally.story, [tally], seed)[0]
    why = coefficients.undefined(tally.patterns) or ""
    values = _values(lambda name: _value(name, parts, why))
    intervals: dict[Measure, Interval] = {
        name: mean_interval([_part(name, parts)], COEFFICIENTS[name]) if values[name] is not None else (None, why)
        for name in MEASURES
    }
    return {
        "cells": tally.count,
        "agree": round(_part("strict", parts).sums[:, 0].sum()),
        "stories": len(tally.story),
        **values,
        **_interval_fields(intervals),
        "method": _method(seed, stories=len(tally.story)),
    }


def _resampled_over(stories: Clusters, tallies: Sequence[Tally], seed: int) -> list[Parts]:
    """Return the sums of each tally over `stories`, all of them on the same resamples, drawn once."""
    families = list(dict.fromkeys(coefficient.sums for coefficient in COEFFICIENTS.values()))
    columns = [_by_story(tally, stories, family(tally.patterns)) for tally in tallies for family in families]
    edges = np.cumsum([0, *(block.shape[1] for block in columns)]).tolist()
    resampled = Resampled.of(np.concatenate([np.empty((len(stories), 0)), *columns], axis=1), seed=seed)
    blocks = iter(starmap(resampled.columns, pairwise(edges)))
    return [{family: next(blocks) for family in families} for _ in tallies]


def _by_story(tally: Tally, stories: Clusters, values: Floats) -> Floats:
    """Sum the cells within each of `stories`, shape (stories, m)."""
    block = np.zeros((len(stories), values.shape[1]))
    block[np.searchsorted(stories, tally.story)] = tally.sums(values)
    return block


def _part(name: Measure, parts: Parts) -> Resampled:
    return parts[COEFFICIENTS[name].sums]


def _value(name: Measure, parts: Parts, why: str) -> float | None:
    if why == coefficients.NO_CELLS or (why and name in UNDEFINED_OF_ONE_LABEL):
        return None
    value = float(COEFFICIENTS[name].of(_part(name, parts).sums.sum(axis=0)))
    return None if np.isnan(value) else value


def _values(of: Callable[[Measure], float | None]) -> Values:
    return {
        "strict": of("strict"),
        "pairwise": of("pairwise"),
        "fleiss_kappa": of("fleiss_kappa"),
        "krippendorff_alpha": of("krippendorff_alpha"),
        "gwet_ac1": of("gwet_ac1"),
    }


def _over_all(rows: Sequence[Agreement], pooled: Sequence[Parts], stories: int, seed: int) -> Agreement:
    cells = sum(row["cells"] for row in rows)
    values = _values(lambda name: _pooled(name, rows, cells))
    intervals: dict[Measure, Interval] = {}
    for name in MEASURES:
        defined = [_part(name, parts) for parts, row in zip(pooled, rows, strict=True) if row[name] is not None]
        if name not in CHANCE_CORRECTED:  # pooled: labels do not matter, only what agrees and how much there is
            defined = [reduce(add, (part.columns(0, 2) for part in defined))] if defined else []
        why = None, coefficients.ONE_LABEL if cells else coefficients.NO_CELLS
        intervals[name] = mean_interval(defined, COEFFICIENTS[name]) if values[name] is not None else why
    return {
        "cells": cells,
        "agree": sum(row["agree"] for row in rows),
        "stories": stories,
        **values,
        **_interval_fields(intervals),
        "method": _method(seed, stories=stories) + "; " + gettext_noop("chance-corrected: mean over dimensions"),
    }


def _pooled(name: Measure, rows: Sequence[Agreement], cells: int) -> float | None:
    if name in CHANCE_CORRECTED:
        defined = [value for row in rows if (value := row[name]) is not None]
        return float(np.mean(defined)) if defined else None
    if not cells:
        return None
    if name == "strict":
        return sum(row["agree"] for row in rows) / cells
    paired = [(value, row["cells"]) for row in rows if (value := row["pairwise"]) is not None]
    return sum(value * count for value, count in paired) / sum(count for _, count in paired) if paired else None


def _interval_fields(intervals: dict[Measure, Interval]) -> Intervals:
    reasons = {name: why for name, (_, why) in intervals.items() if why}
    row: Intervals = {"interval": {name: ends for name, (ends, _) in intervals.items()}, "reasons": reasons}
    if reasons:
        row["reason"] = next(iter(reasons.values()))
    return row


def _method(seed: int, *, stories: int) -> str:
    return f"cells with all their votes, {stories} stories; {method(seed=seed, unit='stories')}"
