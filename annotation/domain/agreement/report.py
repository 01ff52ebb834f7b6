"""The agreement report: one row a dimension and one over all, in the shape of the `agreement` command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise, starmap
from operator import add
from typing import Literal

import numpy as np

from annotation.domain.agreement import coefficients
from annotation.domain.agreement.intervals import COEFFICIENTS, Resampled, mean_interval
from annotation.domain.agreement.story_sums import FAMILIES, Resamples, StorySums, Sums
from annotation.domain.agreement.votes import Tally
from core.messages import Sentence, clauses, gettext_noop, word
from core.plain import Json
from core.statistics import Clusters, Floats, Interval, method

Measure = Literal["strict", "pairwise", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"]
CHANCE_CORRECTED: tuple[Measure, ...] = ("fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
UNDEFINED_OF_ONE_LABEL: tuple[Measure, ...] = ("fleiss_kappa", "krippendorff_alpha")
"""AC1 counts the labels that could have been chosen: where all votes are one of them, it is 1."""
MEASURES: tuple[Measure, ...] = ("strict", "pairwise", *CHANCE_CORRECTED)
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


@dataclass(frozen=True, slots=True)
class Waiting:
    """Propositions with votes of which some dimension lacks votes, and their stories: why counts of cells differ."""

    propositions: int
    stories: int


def measure(
    tallies: Sequence[Tally], *, overlap: int, seed: int, over: tuple[str, str] = STORIES
) -> tuple[list[Agreement], Agreement]:
    """Return every coefficient of each dimension, and of all together, over the cells that have all their votes.

    `interval` has [low, high] of each, or None, and `reasons` says why: of an undefined coefficient and of an interval
    that is not given. Over all dimensions strict and pairwise pool all cells; chance-corrected coefficients are the
    mean over dimensions that have one. Labels of different dimensions share no scale, so one pooled kappa would credit
    annotators for knowing which column they are in.
    """
    sums = [StorySums.of(tally, overlap=overlap) for tally in tallies]
    return measure_sums(sums, seed=seed, resamples=Resamples(), over=over)


def measure_sums(
    sums: Sequence[StorySums], *, seed: int, resamples: Resamples, over: tuple[str, str] = STORIES
) -> tuple[list[Agreement], Agreement]:
    """`measure` of the sums of each dimension; `resamples` remembers those that it was asked for before."""
    full = [of_dimension.complete for of_dimension in sums]
    stories = _all_stories(full)
    pooled = _resampled_over(stories, full, seed, resamples, "all")
    parts = [
        of_all if len(each.story) == len(stories) else _resampled_over(each.story, [each], seed, resamples, at)[0]
        for at, (each, of_all) in enumerate(zip(full, pooled, strict=True))
    ]
    rows = [_row(each, of_each, seed, over) for each, of_each in zip(full, parts, strict=True)]
    return rows, _over_all(rows, pooled, len(stories), seed, over)


def _all_stories(full: Sequence[StorySums]) -> Clusters:
    """Return the stories that any dimension has; mostly each has all of them."""
    most = max((each.story for each in full), key=len, default=np.array([], dtype=np.int64))
    if all(np.array_equal(each.story, most) for each in full):
        return most
    return reduce(np.union1d, (each.story for each in full))


@dataclass(frozen=True, slots=True)
class Parts:
    """The resampled story sums of one dimension, by what a cell adds to them."""

    sums: dict[Sums, Resampled]
    _replicates: dict[Measure, Floats] = field(default_factory=dict)

    def of(self, name: Measure) -> Resampled:
        return self.sums[COEFFICIENTS[name].sums]

    def replicates(self, name: Measure) -> Floats:
        """The coefficient in each replicate; computed once for its own row and for the mean of all."""
        if name not in self._replicates:
            self._replicates[name] = COEFFICIENTS[name].value_of(self.of(name).replicates)
        return self._replicates[name]


def _row(full: StorySums, parts: Parts, seed: int, over: tuple[str, str]) -> Agreement:
    """Return the coefficients of one dimension."""
    why = coefficients.undefined_of(full.cells, full.labels) or ""
    values = _values(lambda name: _value(name, parts, why))
    intervals: dict[Measure, Interval] = {
        name: mean_interval([parts.of(name)], COEFFICIENTS[name], [parts.replicates(name)], unit=over[1])
        if values[name] is not None
        else (None, why)
        for name in MEASURES
    }
    return Agreement(
        cells=full.cells,
        agree=full.agreeing,
        stories=len(full.story),
        values=values,
        intervals=intervals,
        method=_method(seed, len(full.story), over),
    )


def _resampled_over(
    stories: Clusters, dimensions: Sequence[StorySums], seed: int, resamples: Resamples, what: str | int
) -> list[Parts]:
    """Return the sums of each dimension over `stories`, all of them on the same resamples, drawn once."""
    edges = np.cumsum([0, *(width for sums in dimensions for width in sums.widths)]).tolist()
    resampled = resamples.of(what, stories, (sums.over(stories) for sums in dimensions), seed=seed)
    blocks = iter(starmap(resampled.columns, pairwise(edges)))
    return [Parts({family: next(blocks) for family in FAMILIES}) for _ in dimensions]


def _value(name: Measure, parts: Parts, why: str) -> float | None:
    if why == coefficients.NO_CELLS or (why and name in UNDEFINED_OF_ONE_LABEL):
        return None
    value = float(COEFFICIENTS[name].value_of(parts.of(name).sums.sum(axis=0)))
    return None if np.isnan(value) else value


def _values(value_of: Callable[[Measure], float | None]) -> dict[Measure, float | None]:
    return {name: value_of(name) for name in MEASURES}


def _over_all(
    rows: Sequence[Agreement], pooled: Sequence[Parts], stories: int, seed: int, over: tuple[str, str]
) -> Agreement:
    cells = sum(row.cells for row in rows)
    values = _values(lambda name: _pooled(name, rows, cells))
    return Agreement(
        cells=cells,
        agree=sum(row.agree for row in rows),
        stories=stories,
        values=values,
        intervals={
            name: _pooled_interval(name, rows, pooled, over[1])
            if values[name] is not None
            else (None, coefficients.ONE_LABEL if cells else coefficients.NO_CELLS)
            for name in MEASURES
        },
        method=clauses(_method(seed, stories, over), gettext_noop("chance-corrected: mean over dimensions")),
    )


def _pooled(name: Measure, rows: Sequence[Agreement], cells: int) -> float | None:
    if name in CHANCE_CORRECTED:
        defined = [value for row in rows if (value := row.values[name]) is not None]
        return float(np.mean(defined)) if defined else None
    if not cells:
        return None
    if name == "strict":
        return sum(row.agree for row in rows) / cells
    paired = [(value, row.cells) for row in rows if (value := row.values["pairwise"]) is not None]
    return sum(value * count for value, count in paired) / sum(count for _, count in paired) if paired else None


def _pooled_interval(name: Measure, rows: Sequence[Agreement], pooled: Sequence[Parts], unit: str) -> Interval:
    having = [parts for parts, row in zip(pooled, rows, strict=True) if row.values[name] is not None]
    defined = [parts.of(name) for parts in having]
    if name in CHANCE_CORRECTED:
        replicates = [parts.replicates(name) for parts in having]
        return mean_interval(defined, COEFFICIENTS[name], replicates, unit=unit)
    # pooled: labels do not matter, only what agrees and how much there is
    agreement = reduce(add, (part.columns(0, 2) for part in defined))
    return mean_interval([agreement], COEFFICIENTS[name], unit=unit)


def _method(seed: int, count: int, over: tuple[str, str]) -> str:
    how, units = method(seed=seed, unit=over[1]), over[count != 1]
    return Sentence("cells with all their votes, {count} {units}; {how}", count=count, units=word(units), how=how)
