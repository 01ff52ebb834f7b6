"""The agreement report: one row a dimension and one over all, in the shape of the `agreement` command; and the
agreement of two experts on a belief table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, starmap
from operator import add
from typing import Literal

import numpy as np

from annotation.domain.agreement.coefficients import (
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
from core.statistics import SHARE, Clusters, Estimate, Floats, estimate_of, mean_estimates, method, ratios

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
    """A row of the report: of how many `cells` all votes `agree`, and the coefficients over `stories`, each with its
    interval or the reason why it or the interval is not given."""

    cells: int
    agree: int
    stories: int
    estimates: Mapping[Measure, Estimate]
    method: str

    def as_json(self) -> Json:
        """{cells, agree, stories, MEASURE…, interval: {MEASURE: [low, high] or None}, reasons: {MEASURE: why}[, reason:
        the first of them], method}."""
        values: Json = {name: estimate.value for name, estimate in self.estimates.items()}
        reasons = {name: estimate.reason for name, estimate in self.estimates.items() if estimate.reason}
        return {
            "cells": self.cells,
            "agree": self.agree,
            "stories": self.stories,
            **values,
            "interval": {name: estimate.interval for name, estimate in self.estimates.items()},
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
    estimates: dict[Measure, Estimate] = {}
    for name in MEASURES:
        estimates[name] = Estimate(None, full.count, reason=why)
        if why == NO_CELLS or (why and name in UNDEFINED_OF_ONE_LABEL):
            continue
        coefficient, resampled = COEFFICIENTS[name], parts.of(name)
        value = float(coefficient.value_of(resampled.sums.sum(axis=0)))
        if not np.isnan(value):
            ends, why_not = mean_interval([resampled], coefficient, [parts.replicates[name]], unit=over[1])
            estimates[name] = Estimate(value, full.count, ends, reason=why_not)
    return Agreement(
        cells=full.count,
        agree=int(sums[COEFFICIENTS["strict"].sums][:, 0].sum()),
        stories=len(full.story),
        estimates=estimates,
        method=_method(seed, len(full.story), over),
    )


def _over_all(
    rows: Sequence[Agreement], pooled: Sequence[Parts], stories: int, seed: int, over: tuple[str, str]
) -> Agreement:
    cells, agree = sum(row.cells for row in rows), sum(row.agree for row in rows)
    estimates: dict[Measure, Estimate] = {}
    for name in MEASURES:
        defined = [(value, row.cells) for row in rows if (value := row.estimates[name].value) is not None]
        having = [parts for parts, row in zip(pooled, rows, strict=True) if row.estimates[name].value is not None]
        if not defined:
            estimates[name] = Estimate(None, cells, reason=ONE_LABEL if cells else NO_CELLS)
            continue
        if name in CHANCE_CORRECTED:
            value = float(np.mean([value for value, _ in defined]))
            resampled, replicates = [parts.of(name) for parts in having], [parts.replicates[name] for parts in having]
            ends, why = mean_interval(resampled, COEFFICIENTS[name], replicates, unit=over[1])
        else:  # pooled: labels do not matter, only what agrees and how much there is
            weighted = sum(value * count for value, count in defined) / sum(count for _, count in defined)
            value = agree / cells if name == "strict" else weighted
            agreement = reduce(add, (parts.of(name).columns(0, 2) for parts in having))
            ends, why = mean_interval([agreement], COEFFICIENTS[name], unit=over[1])
        estimates[name] = Estimate(value, cells, ends, reason=why)
    return Agreement(
        cells=cells,
        agree=agree,
        stories=stories,
        estimates=estimates,
        method=clauses(_method(seed, stories, over), gettext_noop("chance-corrected: mean over dimensions")),
    )


def _method(seed: int, count: int, over: tuple[str, str]) -> str:
    how, units = method(seed=seed, unit=over[1]), over[count != 1]
    return Sentence("cells with all their votes, {count} {units}; {how}", count=count, units=word(units), how=how)


# --- open-ended tables: overlap and F1, never kappa ------------------------------------------------------------------

_NO_STORY = "no story was reconciled"


def reconciliation_overlap(reviewed: int, unremarked: int) -> float | None:
    """Share of reviewed propositions that needed no remark (OmniToM, appendix B.4; published 360 of 430, 83.72 %)."""
    if not 0 <= unremarked <= reviewed:
        raise ValueError(f"{unremarked} of {reviewed} propositions without a remark; expected 0 to {reviewed}.")
    return unremarked / reviewed if reviewed else None


def table_f1(first: int, second: int, matched: int) -> float | None:
    """F1 between two tables of `first` and `second` rows of which `matched` pairs say the same: 2m / (a + b)."""
    if not 0 <= matched <= min(first, second):
        raise ValueError(f"{matched} matched rows in tables of {first} and {second} rows.")
    return 2 * matched / (first + second) if first + second else None


def overlap_estimate(stories: Sequence[tuple[int, int]], *, seed: int = 1) -> Estimate:
    """Return the reconciliation overlap with its interval over stories, each given as (reviewed, without a remark)."""
    sums = np.array(stories, dtype=float).reshape(-1, 2)
    reviewed = int(sums[:, 0].sum())
    return estimate_of(
        sums,
        lambda totals: ratios(totals[:, 1], totals[:, 0]),
        n=reviewed,
        scale=SHARE,
        unit="stories",
        empty=_NO_STORY,
        seed=seed,
    )


def f1_estimate(stories: Sequence[tuple[int, int, int]], *, seed: int = 1) -> Estimate:
    """Return the mean F1 between two tables of a story with its interval, each story given as (rows of the first, rows
    of the second, matched pairs)."""
    scores = [table_f1(*story) for story in stories]
    rows = np.array([[np.nan if score is None else score for score in scores]], dtype=float)
    [estimate] = mean_estimates(rows, scale=SHARE, seed=seed, unit="stories", empty=_NO_STORY)
    return estimate
