"""The paper's analyses besides its main table, with n and intervals over stories, in either parse.

Each function takes the results of one metric group. Unreadable stories are left out, except in gold's own distribution.
Rows are pooled over stories: every figure is a ratio of sums, and its interval comes from resampling whole stories.
Estimates are fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.results import KINDS, Stage1Result, Stage2Result, order_bucket
from benchmark.suites.reasons import NO_GOLD
from core.messages import gettext_noop
from core.plain import Json, plain
from core.statistics import (
    FEWEST,
    POSITIVE,
    RESAMPLES,
    SHARE,
    Floats,
    Interval,
    Scale,
    harmonics,
    intervals,
    ratios,
    replicated_sums,
    spanning,
)

NO_OUTPUT = "no answer"
NO_ROW = "no row of this kind"
MISSING = "missing"
ILLEGAL = gettext_noop("illegal")
MOST = 4
"""Match counts from here on share a bucket (paper, table 11)."""
BUCKETS = tuple(f"{count}+" if count == MOST else str(count) for count in range(MOST + 1))
ALL_KINDS = tuple(kind for kinds in KINDS.values() for kind in kinds)
"""Order buckets, then roles: no name is in both."""
DIGITS = 5
"""Decimals of kept ends: a report has thousands."""
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Found:
    """The analyses of one parse by name, in which every estimate is a `BoundedEstimate`: what `stage1_analyses` or
    `stage2_analyses` returns, and `outputs`."""

    kept_as: ClassVar[str] = ""
    parts: Json

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Found:
        return cls({name: _with_estimates(kept[name]) for name in _PARTS if name in kept})

    def as_json(self) -> Json:
        kept: Json = plain(self.parts)
        return kept


_PARTS = ("kinds", "match_counts", "volume", "confusion", "labels", "outputs")


def _with_estimates(kept: Any) -> Any:
    if not isinstance(kept, Mapping):
        return kept
    if {"value", "n"} <= kept.keys():
        return BoundedEstimate.from_json(kept)
    return {name: _with_estimates(value) for name, value in kept.items()}


# --- ratios of sums over stories


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ratios of sums over stories: values, denominators and numbers of stories with a denominator, each of shape (k,).

    `replicates`, shape (clusters + resamples, k), are the ratios without each of the `clusters` stories in turn, then
    in each resample.
    """

    values: Floats
    denominators: Floats
    stories: Ints
    replicates: Floats
    clusters: int
    scale: Scale = SHARE

    def intervals(self) -> list[Interval]:
        """Return ([low, high], "") of each ratio, or (None, the reason)."""
        computed = intervals(
            self.values, self.replicates, self.stories, clusters=self.clusters, scale=self.scale, unit="stories",
            empty=NO_ROW,
        )  # fmt: skip
        return [(ends and [round(end, DIGITS) for end in ends], why) for ends, why in computed]

    def ends(self) -> tuple[list[list[float] | None], list[str]]:
        """Return the intervals, None where there is none, and the reasons, "" where there is one."""
        computed = self.intervals()
        return [ends for ends, _ in computed], [why for _, why in computed]

    def estimates(self) -> list[BoundedEstimate]:
        """Return the ratios, each with the sum of its denominators as n."""
        rows = zip(self.values.tolist(), self.denominators.tolist(), self.intervals(), strict=True)
        return [
            BoundedEstimate(value if total else None, int(total), ends, reason=why or None)
            for value, total, (ends, why) in rows
        ]

    def harmonic(self, other: Ratios) -> Ratios:
        """Return the harmonic means, such as F1 of precision and recall; 0 where both are 0. The n is that of
        `other`."""
        both = (self.denominators > 0) & (other.denominators > 0)
        return Ratios(
            harmonics(self.values, other.values),
            np.where(both, other.denominators, 0),
            np.minimum(self.stories, other.stories),
            harmonics(self.replicates, other.replicates),
            self.clusters,
        )


Cases = tuple[Ratios, Ratios, Ratios]
"""Ratios over the judged rows, and over all rows with the missing ones at their worst and at their best."""
Places = tuple[slice, slice]
"""Columns of numerators and of denominators."""


class Pooled:
    """Sums over stories, gathered block by block. All their ratios share the resamples."""

    def __init__(self, stories: int, *, seed: int, resamples: int) -> None:
        self.seed, self.resamples = seed, resamples
        self.blocks = [np.empty((stories, 0), dtype=np.float32)]
        self.width = 0

    def add(self, block: NDArray[Any]) -> slice:
        """Add the addends of each story, shape (stories, k) or (stories,), and return their columns."""
        self.blocks.append(_wide(block).astype(np.float32))
        start, self.width = self.width, self.width + self.blocks[-1].shape[1]
        return slice(start, self.width)

    def add_cases(self, meant: Ints, judged: Ints, missing: Ints) -> tuple[Places, Places, Places]:
        """Add rows that are meant among judged ones, and the `Cases` of missing rows."""
        meant, judged, missing = _wide(meant), _wide(judged), _wide(missing)
        none, some, every = self.add(meant), self.add(judged), self.add(judged + missing)
        return (none, some), (none, every), (self.add(meant + missing), every)

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """The columns, shape (stories, k), and their sums without each story and in each resample."""
        columns = np.concatenate(self.blocks, axis=1)
        if len(columns) < FEWEST:
            return columns.astype(float), np.full((len(columns) + 1, self.width), np.nan)
        return columns.astype(float), replicated_sums(columns, seed=self.seed, resamples=self.resamples)

    def ratios(self, numerators: slice, denominators: slice, *, each: int = 1, scale: Scale = SHARE) -> Ratios:
        """Return ratios of sums. A denominator serves `each` numerators in turn, a single one all of them."""
        columns, replicates = self.sums
        top, bottom = columns[:, numerators], np.repeat(columns[:, denominators], each, axis=1)
        bottom = np.broadcast_to(bottom, top.shape)
        drawn = ratios(replicates[:, numerators], np.repeat(replicates[:, denominators], each, axis=1))
        totals = bottom.sum(axis=0)
        return Ratios(ratios(top.sum(axis=0), totals), totals, (bottom > 0).sum(axis=0), drawn, len(top), scale)

    def cases(self, places: tuple[Places, Places, Places]) -> Cases:
        observed, worst, best = (self.ratios(*columns) for columns in places)
        return observed, worst, best


def _wide(block: NDArray[Any]) -> NDArray[Any]:
    return block[:, None] if block.ndim == 1 else block


def _bounded(cases: Cases) -> list[BoundedEstimate]:
    """Return the estimates, with `bounds` where missing rows can change them; an interval then goes from the lower end
    for the worst case to the upper end for the best."""
    observed, worst, best = cases
    estimates = observed.estimates()
    if not (worst.values < best.values).any():
        return estimates
    rows = zip(
        estimates, map(spanning, worst.intervals(), best.intervals()), worst.values.tolist(), best.values.tolist(),
        strict=True,
    )  # fmt: skip
    bounded = []
    for estimate, (ends, why), low, high in rows:
        if low < high:
            estimate = replace(estimate, bounds=[low, high])
            if estimate.interval:
                estimate = replace(estimate, interval=ends, reason=why or estimate.reason)
        bounded.append(estimate)
    return bounded


# --- extraction

_Rows = tuple[Sequence[int | None], Sequence[tuple[str, str]]]
"""The match counts of the rows of one side of a story, and their (order bucket, role)."""


def _predicted(result: Stage1Result) -> _Rows:
    return result.pred_counts, _row_kinds(len(result.pred_counts), result.pred_orders, result.pred_roles)


def _gold(result: Stage1Result) -> _Rows:
    return result.gold_counts, _row_kinds(len(result.gold_counts), result.gold_orders, result.gold_roles)


def _row_kinds(rows: int, orders: Sequence[str], roles: Sequence[str]) -> list[tuple[str, str]]:
    blank = ("",) * rows
    return [(order_bucket(order), role) for order, role in zip(orders or blank, roles or blank, strict=True)]


def _of_kinds(rows: Sequence[Sequence[str]]) -> Flags:
    """Return whether each row is of each of `ALL_KINDS`, shape (rows, kinds)."""
    flags = [[kind in row for kind in ALL_KINDS] for row in rows]
    return np.array(flags, dtype=bool).reshape(len(rows), len(ALL_KINDS))


def match_bucket(count: int) -> str:
    return BUCKETS[min(max(count, 0), MOST)]


class _Side:
    """The rows of one side of all stories: match counts, nan where nobody judged, and kinds."""

    def __init__(self, results: Sequence[Stage1Result], rows: Sequence[_Rows]) -> None:
        self.lengths = np.array([len(counts) for counts, _ in rows], dtype=np.int64)
        self.story = np.repeat(np.arange(len(rows)), self.lengths)
        unread = (
            (None,) * len(counts) if result.unreadable else counts
            for result, (counts, _) in zip(results, rows, strict=True)
        )
        self.counts = np.array([count for counts in unread for count in counts], dtype=float)
        self.judged = np.isfinite(self.counts)
        self.kinds = _of_kinds([kinds for _, of_rows in rows for kinds in of_rows])

    def by_kind(self) -> tuple[Ints, Ints, Ints]:
        """Return matched, judged and unjudged rows by story and kind."""
        matched, judged, unjudged = (
            np.column_stack([np.bincount(self.story[column], minlength=len(self.lengths)) for column in cells.T])
            for rows in (self.counts > 0, self.judged, ~self.judged)
            for cells in [self.kinds & rows[:, None]]
        )
        return matched, judged, unjudged

    def by_bucket(self) -> Ints:
        """Return judged rows by story and MatchCount."""
        shape = (len(self.lengths), len(BUCKETS))
        places = self.story[self.judged] * shape[1] + np.clip(self.counts[self.judged], 0, MOST).astype(np.int64)
        return np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)


def stage1_analyses(results: Sequence[Stage1Result], *, seed: int = 1, resamples: int = RESAMPLES) -> Json:
    """Return kinds, match counts and volume.

    - `kinds`: {order bucket or role: {"precision", "recall", "f1"}} (paper, figure 5 a). Precision is over predicted
      rows by the kind that the model gave them, recall over gold rows of the kind, F1 their harmonic mean with the n of
      recall. Rows of no kind are left out.
    - `match_counts`: {"rows": {"0" … "4+", "total"}, "shares": {"0" … "4+"}, "unjudged"} of the predicted rows (table
      11).
    - `volume`: {"predicted", "gold", "stories", "predicted_per_story", "gold_per_story"} (figure 8).

    Rows that the judge left out are in no estimate and no n. Estimates that they bear on have `bounds`, with them as
    unmatched and as matched, or as of another bucket and as of this one.
    """
    usable = [result for result in results if not result.unreadable or any(result.unjudged)]
    gold, predicted = (_Side(usable, list(map(rows, usable))) for rows in (_gold, _predicted))
    pooled = Pooled(len(usable), seed=seed, resamples=resamples)
    recalled, precise = (pooled.add_cases(*side.by_kind()) for side in (gold, predicted))
    matches = predicted.by_bucket()
    gaps = predicted.lengths - matches.sum(axis=1)
    buckets = pooled.add_cases(matches, matches.sum(axis=1), gaps)
    a_story = pooled.add(np.column_stack([predicted.lengths, gold.lengths])), pooled.add(np.ones(len(usable)))
    recall, precision = pooled.cases(recalled), pooled.cases(precise)
    f1 = tuple(first.harmonic(second) for first, second in zip(precision, recall, strict=True))
    measures = {"precision": _bounded(precision), "recall": _bounded(recall), "f1": _bounded(f1)}  # type: ignore[arg-type]
    rows = matches.sum(axis=0).tolist()
    per_story = pooled.ratios(*a_story, scale=POSITIVE).estimates()
    return {
        "kinds": {
            kind: {name: estimates[at] for name, estimates in measures.items()} for at, kind in enumerate(ALL_KINDS)
        },
        "match_counts": {
            "rows": dict(zip((*BUCKETS, "total"), (*rows, sum(rows)), strict=True)),
            "shares": dict(zip(BUCKETS, _bounded(pooled.cases(buckets)), strict=True)),
            "unjudged": int(gaps.sum()),
        },
        "volume": {
            "predicted": int(predicted.lengths.sum()),
            "gold": int(gold.lengths.sum()),
            "stories": len(usable),
            **dict(zip(("predicted_per_story", "gold_per_story"), per_story, strict=True)),
        },
    }


def stage1_rows(result: Stage1Result, *, order: str = "", role: str = "", matches: str = "") -> tuple[int, int]:
    """Return (rows meant, all rows) of a story in the figures of `stage1_analyses`: of a kind on both sides, or
    predicted ones of a MatchCount."""
    sides = [_predicted(result)] if matches else [_predicted(result), _gold(result)]
    rows = [(count, kinds) for side in sides for count, kinds in zip(*side, strict=True)]
    chosen = {kind for kind in (order, role) if kind}
    meant = sum(
        count is not None and chosen <= {*kinds} and (not matches or match_bucket(count) == matches)
        for count, kinds in rows
    )
    return meant, len(rows)


# --- labelling


def read_labels(dimension: str, scheme: Scheme = OMNITOM_SCHEME) -> tuple[str, ...]:
    """Return the labels of a dimension, then `MISSING` and `ILLEGAL`."""
    return (*scheme.schema[dimension].values, MISSING, ILLEGAL)


class Cells:
    """The cells of stories as places of their labels in `read_labels`: `gold`, −1 for a label outside its closed set,
    and `predicted`, both of shape (rows, dimensions); `kinds` (rows, kinds), `story` (rows,)."""

    def __init__(self, results: Sequence[Stage2Result], scheme: Scheme) -> None:
        self.scheme, self.stories = scheme, len(results)
        self.story = np.repeat(np.arange(self.stories), [len(result.gold) for result in results])
        self.places = [
            {"": len(values), **{label: at for at, label in enumerate(values)}}
            for values in (scheme.schema[key].values for key in scheme.keys)
        ]
        self.gold = self._codes([row for result in results for row in result.gold])
        self.gold[self.gold >= [len(places) - 1 for places in self.places]] = -1
        self.predicted = self._codes([row or scheme.nothing for result in results for row in result.predicted])
        self.kinds = _of_kinds(
            [
                kinds
                for result in results
                for kinds in _row_kinds(len(result.gold), list(map(scheme.order_of, result.gold)), result.roles)
            ]
        )

    def _codes(self, rows: Sequence[Sequence[str]]) -> Ints:
        codes = [
            [places.get(label, len(places)) for places, label in zip(self.places, row, strict=True)] for row in rows
        ]
        return np.array(codes, dtype=np.int64).reshape(len(rows), len(self.places))

    def confusion(self, at: int) -> Ints:
        """Return the rows of a dimension by story, gold label and predicted label."""
        legal, labels = self.gold[:, at] >= 0, len(self.places[at]) + 1
        shape = (self.stories, labels - 2, labels)
        places = np.ravel_multi_index((self.story[legal], self.gold[legal, at], self.predicted[legal, at]), shape)
        return np.bincount(places, minlength=int(np.prod(shape))).reshape(shape)

    def by_kind(self, cells: Flags) -> Ints:
        """Return counts by story, and kind and dimension, all dimensions together before each: shape (stories, kinds
        times 1 + dimensions)."""
        wide = np.column_stack([cells.sum(axis=1), cells]).astype(np.int64)
        sums = np.zeros((self.stories, len(ALL_KINDS), wide.shape[1]), dtype=np.int64)
        for at, rows in enumerate(self.kinds.T):
            np.add.at(sums[:, at], self.story[rows], wide[rows])
        return sums.reshape(self.stories, len(ALL_KINDS) * wide.shape[1])


def stage2_analyses(results: Sequence[Stage2Result], *, seed: int = 1, resamples: int = RESAMPLES) -> Json:
    """Return kinds, confusion and labels. Cells whose gold label is outside its closed set are left out of all.

    - `kinds`: {order bucket or role: {"overall" or dimension: estimate}} (paper, figure 5 b), over the cells of gold
      rows of the kind.
    - `confusion`: {dimension: {"gold": labels, "said": labels, "rows": [[count]], "ends": [[interval]], "reasons":
      [[reason without an interval]]}}; intervals are of the share of the gold label's rows. `said` is `read_labels`.
    - `labels`: {dimension: {"labels", "gold", "gold_ends", "gold_reasons", "predicted", "ends", "reasons"}}: counts of
      each label of `said` in the gold rows of all stories, usable or not, and among the predictions of the usable ones,
      with intervals of the shares (figure 4).
    """
    rules = {"seed": seed, "resamples": resamples}
    scheme = results[0].scheme if results else OMNITOM_SCHEME
    cells = Cells([result for result in results if not result.unreadable], scheme)
    legal = cells.gold >= 0
    pooled = Pooled(cells.stories, **rules)
    accuracies = pooled.add(cells.by_kind(legal & (cells.gold == cells.predicted))), pooled.add(cells.by_kind(legal))
    tables = [cells.confusion(at) for at in range(len(scheme.keys))]
    places = [
        [pooled.add(block) for block in (_flat(table), table.sum(axis=2), table.sum(axis=1), table.sum(axis=(1, 2)))]
        for table in tables
    ]
    gold = _gold_labels([result for result in results if result.unreadable != NO_GOLD], scheme, rules)
    confusion, labels = {}, {}
    for name, table, (correct, of_gold, of_said, total) in zip(scheme.keys, tables, places, strict=True):
        said, rows = list(read_labels(name, scheme)), table.sum(axis=0)
        ends, reasons = (
            [values[at : at + len(said)] for at in range(0, len(values), len(said))]
            for values in pooled.ratios(correct, of_gold, each=len(said)).ends()
        )
        legal_labels = list(scheme.schema[name].values)
        confusion[name] = {"gold": legal_labels, "said": said, "rows": rows.tolist(), "ends": ends, "reasons": reasons}
        share_ends, why = pooled.ratios(of_said, total).ends()
        predicted = {"predicted": rows.sum(axis=0).tolist(), "ends": share_ends, "reasons": why}
        labels[name] = {"labels": said, **gold[name], **predicted}
    names = ("overall", *scheme.keys)
    estimates = iter(pooled.ratios(*accuracies).estimates())
    kinds = {kind: {name: next(estimates) for name in names} for kind in ALL_KINDS}
    return {"kinds": kinds, "confusion": confusion, "labels": labels}


def _flat(table: Ints) -> Ints:
    return table.reshape(len(table), table.shape[1] * table.shape[2])


def _gold_labels(results: Sequence[Stage2Result], scheme: Scheme, rules: Mapping[str, int]) -> dict[str, Json]:
    """Return the gold half of `labels`; no gold label is missing or illegal."""
    cells, pooled = Cells(results, scheme), Pooled(len(results), **rules)
    counts = [cells.confusion(at).sum(axis=2) for at in range(len(scheme.keys))]
    places = [(pooled.add(table), pooled.add(table.sum(axis=1))) for table in counts]
    halves = {}
    for name, table, place in zip(scheme.keys, counts, places, strict=True):
        ends, reasons = pooled.ratios(*place).ends()
        halves[name] = {
            "gold": [*table.sum(axis=0).tolist(), 0, 0],
            "gold_ends": [*ends, None, None],
            "gold_reasons": [*reasons, "", ""],
        }
    return halves


def stage2_rows(
    result: Stage2Result, *, dimension: str = "", gold: str = "", predicted: str = "", order: str = "", role: str = ""
) -> tuple[int, int]:
    """Return (rows meant, rows they are among) of a story in the figures of `stage2_analyses`.

    Rows are those of the kind. With a dimension, rows count if their gold label is legal; meant are those with the
    labels `gold` and `predicted`, or without either the right ones.
    """
    cells = Cells([result], result.scheme)
    counted = np.ones(len(cells.story), dtype=bool)
    for kind in filter(None, (order, role)):
        counted &= cells.kinds[:, ALL_KINDS.index(kind)]
    if not dimension:
        return int(counted.sum()), len(counted)
    at, names = result.scheme.keys.index(dimension), read_labels(dimension, result.scheme)
    gold_labels, predicted_labels = cells.gold[:, at], cells.predicted[:, at]
    counted &= gold_labels >= 0
    meant = counted if gold or predicted else counted & (gold_labels == predicted_labels)
    for label, column in ((gold, gold_labels), (predicted, predicted_labels)):
        if label:
            meant = meant & (column == names.index(label))
    return int(meant.sum()), int(counted.sum())


# --- outputs


def why_uncounted(result: Stage1Result | Stage2Result) -> str:
    """Return "no row" if official scoring gets nothing out of an answer, otherwise ""."""
    rows = len(result.pred_counts) if isinstance(result, Stage1Result) else result.paired
    return "" if rows else "no row"


def outputs_analysis(
    outputs: Sequence[str | None],
    without: Mapping[str, Mapping[str, int]],
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> Json:
    """Return {"share", "unreadable", "reasons", "without"} of the answers that cannot be used (table 12).

    `outputs` has the model's answer to each story with gold: "" for one that can be used, the reason for one that
    cannot, None without an answer. The share's n is the number of answers. `without` passes through what is not an
    answer of the model, by what failed and why.
    """
    pooled = Pooled(len(outputs), seed=seed, resamples=resamples)
    unreadable = pooled.add(np.array([bool(reason) for reason in outputs], dtype=bool))
    answered = pooled.add(np.array([reason is not None for reason in outputs], dtype=bool))
    [share] = pooled.ratios(unreadable, answered).estimates()
    reasons = Counter(reason for reason in outputs if reason)
    return {
        "share": share if share.n else replace(share, reason=NO_OUTPUT),
        "unreadable": reasons.total(),
        "reasons": dict(sorted(reasons.items())),
        "without": {name: dict(counts) for name, counts in without.items()},
    }
