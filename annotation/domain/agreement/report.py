"""The agreement report: one row a dimension and one over all, in the shape of the `agreement` command."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, starmap
from operator import add
from typing import Literal

import numpy as np

from annotation.domain.agreement.intervals import (
    COEFFICIENTS,
    NO_CELLS,
    NO_PAIRS,
    ONE_LABEL,
    Counts,
    Resampled,
    mean_interval,
)
from annotation.domain.agreement.votes import Tally
from core.messages import Sentence, clauses, gettext_noop, word
from core.plain import Json
from core.statistics import Clusters, Floats, Interval, method

Measure = Literal["strict", "pairwise", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"]
CHANCE_CORRECTED: tuple[Measure, ...] = ("fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
UNDEFINED_OF_ONE_LABEL: tuple[Measure, ...] = ("fleiss_kappa", "krippendorff_alpha")
"""AC1 counts the labels that could have been chosen: where all votes are one of them, it is 1."""
MEASURES: tuple[Measure, ...] = ("strict", "pairwise", *CHANCE_CORRECTED)
Sums = Callable[[Counts], Floats]
FAMILIES: tuple[Sums, ...] = tuple(dict.fromkeys(coefficient.sums for coefficient in COEFFICIENTS.values()))
"""Sums that a cell adds to those of stories; some coefficients share one."""
STORIES = "story", "stories"
"""Names of what is resampled whole, one and many, where nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A row of the report: of how many `cells` all votes `agree`, and the coefficients over `stories`.

    `values` has None for a coefficient that is not defined, `intervals` why a coefficient or its interval is not given.
    """

    cells: int
    agree: int
    stories: int
    values: Mapping[Measure, float | None]
    intervals: Mapping[Measure, Interval]
    method: str

    def as_json(self) -> Json:
        """{cells, agree, stories, MEASURE…, interval: {MEASURE: [low, high] or None}, reasons: {MEASURE: why}[, reason:
        the first of them], method}."""
        values: Json = {name: self.values[name] for name in MEASURES}
        reasons = {name: why for name, (_, why) in self.intervals.items() if why}
        return {
            "cells": self.cells,
            "agree": self.agree,
            "stories": self.stories,
            **values,
            "interval": {name: ends for name, (ends, _) in self.intervals.items()},
            "reasons": reasons,
            **({"reason": next(iter(reasons.values()))} if reasons else {}),
            "method": self.method,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementReport:
    """Agreement over the cells that have all their votes, of each dimension by its key and of all; `incomplete` cells
    wait for votes."""

    stories: int
    propositions: int
    annotators: int
    incomplete: int
    overall: Agreement
    dimensions: Mapping[str, Agreement]


def measure(
    tallies: Sequence[Tally], *, overlap: int, seed: int, over: tuple[str, str] = STORIES
) -> tuple[list[Agreement], Agreement]:
    """Return every coefficient of each dimension, and of all together, over the cells that have all their votes.

    `interval` has [low, high] of each, or None, and `reasons` says why: of an undefined coefficient and of an interval
    that is not given. Over all dimensions strict and pairwise pool all cells; chance-corrected coefficients are the
    mean over dimensions that have one. Labels of different dimensions share no scale, so one pooled kappa would credit
    annotators for knowing which column they are in.
    """
    full = [tally.complete(overlap) for tally in tallies]
    stories = reduce(np.union1d, (each.story for each in full), np.array([], dtype=np.int64))
    sums: list[dict[Sums, Floats]] = [
        {family: each.sums(family(each.patterns)) for family in FAMILIES} for each in full
    ]
    pooled = _resampled(stories, full, sums, seed)
    rows = []
    for each, of_each, of_all in zip(full, sums, pooled, strict=True):
        whole = len(each.story) == len(stories)
        [parts] = [of_all] if whole else _resampled(each.story, [each], [of_each], seed)
        rows.append(_row(each, of_each, parts, seed, over))
    return rows, _over_all(rows, pooled, len(stories), seed, over)


@dataclass(frozen=True, slots=True)
class Parts:
    """The resampled story sums of one dimension, by what a cell adds to them, and each coefficient of their
    replicates."""

    sums: dict[Sums, Resampled]
    replicates: dict[Measure, Floats]

    def of(self, name: Measure) -> Resampled:
        return self.sums[COEFFICIENTS[name].sums]


def _resampled(stories: Clusters, full: Sequence[Tally], sums: Sequence[dict[Sums, Floats]], seed: int) -> list[Parts]:
    """Return the sums of each dimension over `stories`, all of them on the same resamples, drawn once."""
    blocks: list[Floats] = []
    for each, of_each in zip(full, sums, strict=True):
        for block in of_each.values():
            spread = np.zeros((len(stories), block.shape[1]))
            spread[np.searchsorted(stories, each.story)] = block
            blocks.append(spread)
    edges = np.cumsum([0, *(block.shape[1] for block in blocks)]).tolist()
    together = Resampled.of(np.concatenate([np.empty((len(stories), 0)), *blocks], axis=1), seed=seed)
    columns = iter(starmap(together.columns, pairwise(edges)))
    parts = []
    for _ in full:
        by_family = {family: next(columns) for family in FAMILIES}
        coefficients_of = ((name, COEFFICIENTS[name]) for name in MEASURES)
        replicates = {name: each.value_of(by_family[each.sums].replicates) for name, each in coefficients_of}
        parts.append(Parts(by_family, replicates))
    return parts


def _row(full: Tally, sums: dict[Sums, Floats], parts: Parts, seed: int, over: tuple[str, str]) -> Agreement:
    """Return the coefficients of one dimension."""
    labels = int((sums[COEFFICIENTS["krippendorff_alpha"].sums][:, 1:].sum(axis=0) > 0).sum())
    why = ONE_LABEL if labels == 1 else "" if labels else NO_PAIRS
    if not full.count:
        why = NO_CELLS
    values: dict[Measure, float | None] = {}
    intervals: dict[Measure, Interval] = {}
    for name in MEASURES:
        values[name], intervals[name] = None, (None, why)
        if why == NO_CELLS or (why and name in UNDEFINED_OF_ONE_LABEL):
            continue
        coefficient, resampled = COEFFICIENTS[name], parts.of(name)
        value = float(coefficient.value_of(resampled.sums.sum(axis=0)))
        if not np.isnan(value):
            values[name] = value
            intervals[name] = mean_interval([resampled], coefficient, [parts.replicates[name]], unit=over[1])
    return Agreement(
        cells=full.count,
        agree=int(sums[COEFFICIENTS["strict"].sums][:, 0].sum()),
        stories=len(full.story),
        values=values,
        intervals=intervals,
        method=_method(seed, len(full.story), over),
    )


def _over_all(
    rows: Sequence[Agreement], pooled: Sequence[Parts], stories: int, seed: int, over: tuple[str, str]
) -> Agreement:
    cells, agree = sum(row.cells for row in rows), sum(row.agree for row in rows)
    values: dict[Measure, float | None] = {}
    intervals: dict[Measure, Interval] = {}
    for name in MEASURES:
        defined = [(value, row.cells) for row in rows if (value := row.values[name]) is not None]
        having = [parts for parts, row in zip(pooled, rows, strict=True) if row.values[name] is not None]
        if not defined:
            values[name], intervals[name] = None, (None, ONE_LABEL if cells else NO_CELLS)
        elif name in CHANCE_CORRECTED:
            values[name] = float(np.mean([value for value, _ in defined]))
            resampled, replicates = [parts.of(name) for parts in having], [parts.replicates[name] for parts in having]
            intervals[name] = mean_interval(resampled, COEFFICIENTS[name], replicates, unit=over[1])
        else:  # pooled: labels do not matter, only what agrees and how much there is
            weighted = sum(value * count for value, count in defined) / sum(count for _, count in defined)
            values[name] = agree / cells if name == "strict" else weighted
            agreement = reduce(add, (parts.of(name).columns(0, 2) for parts in having))
            intervals[name] = mean_interval([agreement], COEFFICIENTS[name], unit=over[1])
    return Agreement(
        cells=cells,
        agree=agree,
        stories=stories,
        values=values,
        intervals=intervals,
        method=clauses(_method(seed, stories, over), gettext_noop("chance-corrected: mean over dimensions")),
    )


def _method(seed: int, count: int, over: tuple[str, str]) -> str:
    how, units = method(seed=seed, unit=over[1]), over[count != 1]
    return Sentence("cells with all their votes, {count} {units}; {how}", count=count, units=word(units), how=how)
