"""The paper's analyses besides its main table, with n and intervals over stories, in either parse.

Each function takes the results of one metric group. Unreadable stories are left out, but
for gold's own distribution. Rows are pooled over stories: every ratio is one of sums, and an interval comes from
resampling stories. Estimates are fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmark.domain.bounded_estimates import BoundedEstimate, kept_estimates
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Labels, Scheme
from benchmark.suites.omnitom.results import KINDS, Stage1Result, Stage2Result, order_bucket
from benchmark.suites.reasons import NO_GOLD
from core.messages import gettext_noop
from core.plain import WHERE_THERE_IS_ONE, Json, plain, read_as
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

NO_ROW = "no row of this kind"
DIGITS = 5
"""Decimals of kept ends: a report has thousands."""


@dataclass(frozen=True, slots=True)
class Ratios:
    """k ratios: their values, denominators and numbers of stories, shape (k,), and what they are without each of the
    `clusters` stories in turn, then in each resample, shape (clusters + resamples, k)."""

    values: Floats
    denominators: Floats
    stories: Ints
    replicates: Floats
    clusters: int
    empty: str = NO_ROW
    scale: Scale = SHARE

    def estimates(self) -> list[BoundedEstimate]:
        """Return the ratios, each of the sum of its denominators."""
        estimates = zip(self.values.tolist(), self.denominators.tolist(), self.intervals(), strict=True)
        return [
            _estimate(value if denominator else None, int(denominator), interval)
            for value, denominator, interval in estimates
        ]

    def ends(self) -> tuple[list[list[float] | None], list[str]]:
        """Return ([low, high] of each, None where there is no interval; why, empty where there is one)."""
        ends, reasons = zip(*pairs, strict=True) if (pairs := self.intervals()) else ((), ())
        return list(ends), list(reasons)

    def intervals(self) -> list[Interval]:
        """Return [low, high] of each, or the reason why there is none."""
        computed = intervals(
            self.values,
            self.replicates,
            self.stories,
            clusters=self.clusters,
            scale=self.scale,
            unit="stories",
            empty=self.empty,
        )
        return [(ends and [round(end, DIGITS) for end in ends], why) for ends, why in computed]

    def harmonic(self, other: Ratios) -> Ratios:
        """The harmonic mean of each two, such as F1 of precision and recall; 0 where both are 0. Its n is that of
        `other`."""
        means = [harmonics(*two) for two in ((self.values, other.values), (self.replicates, other.replicates))]
        both = (self.denominators > 0) & (other.denominators > 0)
        denominators, stories = np.where(both, other.denominators, 0), np.minimum(self.stories, other.stories)
        return Ratios(means[0], denominators, stories, means[1], self.clusters)


def _estimate(value: float | None, n: int, interval: Interval) -> BoundedEstimate:
    return BoundedEstimate(value, n, interval[0], reason=interval[1] or None)


@dataclass(frozen=True, slots=True)
class Bounded:
    """Ratios over rows of which some are missing: of the observed ones, and of all with the missing ones at their worst
    and at their best.

    All three are one object where nothing is missing.
    """

    observed: Ratios
    worst: Ratios
    best: Ratios

    def estimates(self) -> list[BoundedEstimate]:
        """Return the estimates, with `bounds` where rows are missing; an interval then goes from the lower end for the
        worst to the upper for the best."""
        estimates = self.observed.estimates()
        if self.worst is self.best:
            return estimates
        ends = map(spanning, self.worst.intervals(), self.best.intervals())
        bounds = zip(self.worst.values.tolist(), self.best.values.tolist(), strict=True)
        return [
            _spanning(estimate, interval, [low, high]) if low < high else estimate
            for estimate, interval, (low, high) in zip(estimates, ends, bounds, strict=True)
        ]

    def harmonic(self, other: Bounded) -> Bounded:
        """Return the harmonic mean of each case with the same case of `other`."""
        ratios = self.observed.harmonic(other.observed)
        if self.worst is self.best and other.worst is other.best:
            return Bounded(ratios, ratios, ratios)
        return Bounded(ratios, self.worst.harmonic(other.worst), self.best.harmonic(other.best))


def _spanning(estimate: BoundedEstimate, interval: Interval, bounds: list[float]) -> BoundedEstimate:
    if not estimate.interval:
        return replace(estimate, bounds=bounds)
    return replace(estimate, bounds=bounds, interval=interval[0], reason=interval[1] or estimate.reason)


@dataclass(frozen=True, slots=True)
class Parts:
    """Places of counts: of what is meant, of the rows that are observed, and of those that are missing, None without
    any."""

    meant: slice
    observed: slice
    missing: slice | None


class Columns:
    """Addends of each story to each of many sums, gathered block by block."""

    def __init__(self, stories: int) -> None:
        self.blocks = [np.empty((stories, 0), dtype=np.float32)]
        self.width = 0

    def add(self, block: NDArray[Any]) -> slice:
        """The place of a block of counts, shape (stories, k) or (stories,)."""
        block = block.astype(np.float32)
        block = block[:, None] if block.ndim == 1 else block
        self.blocks.append(block)
        self.width += block.shape[1]
        return slice(self.width - block.shape[1], self.width)

    def pooled(self, *, seed: int, resamples: int) -> Pooled:
        columns = np.concatenate(self.blocks, axis=1)
        if len(columns) >= FEWEST:
            return Pooled(columns.astype(float), replicated_sums(columns, seed=seed, resamples=resamples))
        return Pooled(columns.astype(float), np.full((len(columns) + 1, self.width), np.nan))


@dataclass(frozen=True, slots=True)
class Pooled:
    """`columns` of shape (stories, k), and their sums without each story and in each resample, shape (stories +
    resamples, k)."""

    columns: Floats
    replicates: Floats

    def ratios(self, numerators: slice, denominators: slice, *, each: int = 1, scale: Scale = SHARE) -> Ratios:
        """Return ratios of sums of columns. A denominator serves `each` numerators in turn, a single one all of
        them."""
        top, bottom = self.columns[:, numerators], np.repeat(self.columns[:, denominators], each, axis=1)
        bottom = np.broadcast_to(bottom, top.shape)
        drawn = ratios(self.replicates[:, numerators], np.repeat(self.replicates[:, denominators], each, axis=1))
        totals = bottom.sum(axis=0)
        return Ratios(ratios(top.sum(axis=0), totals), totals, (bottom > 0).sum(axis=0), drawn, len(top), scale=scale)

    def bounded(self, parts: Parts) -> Bounded:
        """Return the ratios of what is meant in the observed rows, and in all rows with none, or all, of the missing
        ones meant."""
        ratios = self.ratios(parts.meant, parts.observed)
        if parts.missing is None:
            return Bounded(ratios, ratios, ratios)
        worst, best = (self._case(parts, parts.missing, best=best) for best in (False, True))
        return Bounded(ratios, worst, best)

    def _case(self, parts: Parts, missing: slice, *, best: bool) -> Ratios:
        (top, drawn_top), (bottom, drawn_bottom) = self._of(parts.meant), self._of(parts.observed)
        gap, drawn_gap = self._of(missing)
        bottom, drawn_bottom = np.broadcast_to(bottom + gap, top.shape), drawn_bottom + drawn_gap
        top, drawn_top = (top + gap, drawn_top + drawn_gap) if best else (top, drawn_top)
        total = bottom.sum(axis=0)
        return Ratios(
            ratios(top.sum(axis=0), total), total, (bottom > 0).sum(axis=0), ratios(drawn_top, drawn_bottom), len(top)
        )

    def _of(self, part: slice) -> tuple[Floats, Floats]:
        return self.columns[:, part], self.replicates[:, part]


MISSING = "missing"
ILLEGAL = gettext_noop("illegal")

ALL_KINDS = tuple(kind for kinds in KINDS.values() for kind in kinds)
"""Order buckets, then roles: no name is in both."""

Ints = NDArray[np.int64]


KIND_PLACES = {kind: at for at, kind in enumerate(ALL_KINDS)}


def is_of(kinds: Ints, at: int) -> NDArray[np.bool_]:
    chosen: NDArray[np.bool_] = (kinds == at).any(axis=1)
    return chosen


def read_labels(dimension: str, scheme: Scheme = OMNITOM_SCHEME) -> tuple[str, ...]:
    return (*scheme.schema[dimension].values, MISSING, ILLEGAL)


class _Codes(dict[str, int]):
    """Places of what is said for a dimension in `read_labels`."""

    def __init__(self, dimension: str, scheme: Scheme) -> None:
        super().__init__({label: at for at, label in enumerate(scheme.schema[dimension].values)})
        self[""] = len(self)
        self.illegal = len(self)

    def __missing__(self, label: str) -> int:
        return self.illegal


@lru_cache(64)
def _codes(scheme: Scheme) -> tuple[_Codes, ...]:
    return tuple(_Codes(dimension, scheme) for dimension in scheme.keys)


@lru_cache(4096)
def _gold_codes(gold: tuple[Labels, ...], scheme: Scheme) -> Ints:
    """Return the codes of gold labels, the same for every model of a run; −1 for a label outside its closed set."""
    rows = [
        [
            codes[label] if label in scheme.legal[name] else -1
            for name, codes, label in zip(scheme.keys, _codes(scheme), row, strict=True)
        ]
        for row in gold
    ]
    return np.array(rows, dtype=np.int64).reshape(len(gold), len(scheme.keys))


def gold_counts(gold: Sequence[tuple[Labels, ...]], scheme: Scheme) -> dict[str, Ints]:
    """Return the rows of stories by story and gold label, shape (stories, labels), of each dimension."""
    story = np.repeat(np.arange(len(gold)), [len(rows) for rows in gold])
    codes = _codes_of(gold, scheme)
    counts: dict[str, Ints] = {}
    for at, name in enumerate(scheme.keys):
        legal, labels = codes[:, at] >= 0, len(scheme.schema[name].values)
        places = story[legal] * labels + codes[legal, at]
        counts[name] = np.bincount(places, minlength=len(gold) * labels).reshape(len(gold), labels)
    return counts


def _codes_of(gold: Sequence[tuple[Labels, ...]], scheme: Scheme) -> Ints:
    none = np.empty((0, len(scheme.keys)), np.int64)
    return np.concatenate([none, *(_gold_codes(rows, scheme) for rows in gold)])


@lru_cache(4096)
def kind_codes(orders: tuple[str, ...], roles: tuple[str, ...]) -> Ints:
    """Places in `ALL_KINDS` of each row's order and role, −1 for none."""
    row_roles = roles or ("",) * len(orders)
    codes = [
        (KIND_PLACES.get(order_bucket(order), -1), KIND_PLACES.get(role, -1))
        for order, role in zip(orders, row_roles, strict=True)
    ]
    return np.array(codes, dtype=np.int64).reshape(len(orders), len(KINDS))


class Cells:
    """The cells of stories as places of their labels: `gold` and `predicted` of shape (rows, dimensions), `kinds`
    (rows, 2), `story` (rows,). All stories are labelled by one scheme."""

    def __init__(self, results: Sequence[Stage2Result], scheme: Scheme) -> None:
        self.scheme = scheme
        self.stories = len(results)
        self.story = np.repeat(np.arange(self.stories), [len(result.gold) for result in results])
        shape, codes_by_column = (len(self.story), len(scheme.keys)), _codes(scheme)
        predicted = [
            codes[label]
            for result in results
            for row in result.predicted
            for codes, label in zip(codes_by_column, row or scheme.nothing, strict=True)
        ]
        self.predicted = np.array(predicted, dtype=np.int64).reshape(shape)
        self.gold = _codes_of([result.gold for result in results], scheme)
        kinds = (kind_codes(tuple(map(scheme.order_of, result.gold)), result.roles) for result in results)
        self.kinds = np.concatenate([np.empty((0, len(KINDS)), np.int64), *kinds])

    def confusion(self, at: int) -> Ints:
        """Rows of the dimension by story, gold label and label said."""
        legal = self.gold[:, at] >= 0
        labels = read_labels(self.scheme.keys[at], self.scheme)
        shape = (self.stories, len(labels) - 2, len(labels))
        places = np.ravel_multi_index((self.story[legal], self.gold[legal, at], self.predicted[legal, at]), shape)
        return np.bincount(places, minlength=int(np.prod(shape))).reshape(shape)

    def right(self) -> tuple[Ints, Ints]:
        """Right cells and cells by story, kind, and all dimensions together before each: shape (stories, kinds, 1 +
        dimensions)."""
        legal = self.gold >= 0
        return self._by_kind(legal & (self.gold == self.predicted)), self._by_kind(legal)

    def _by_kind(self, cells: NDArray[np.bool_]) -> Ints:
        wide = np.column_stack([cells.sum(axis=1), cells]).astype(float)
        by_kind = []
        for at in range(len(ALL_KINDS)):
            of_kind = is_of(self.kinds, at)
            sums = [
                np.bincount(self.story[of_kind], weights=column, minlength=self.stories) for column in wide[of_kind].T
            ]
            by_kind.append(np.column_stack(sums))
        return np.stack(by_kind, axis=1).astype(np.int64)


def by_story(story: Ints, cells: NDArray[np.bool_], stories: int) -> Ints:
    return np.column_stack([np.bincount(story[column], minlength=stories) for column in cells.T])


NO_OUTPUT = "no answer"
MOST = 4
"""Match counts from here on share a bucket (paper, table 11)."""
BUCKETS = tuple(f"{count}+" if count == MOST else str(count) for count in range(MOST + 1))


Result = TypeVar("Result", Stage1Result, Stage2Result)
Ends = Sequence[list[float] | None]


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """Predicted rows by MatchCount, "0" to "4+" and "total", their shares (paper, table 11), and the number of rows
    that the judge left out."""

    rows: Mapping[str, int]
    shares: Mapping[str, BoundedEstimate]
    unjudged: int

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> MatchCounts:
        return read_as(cls, kept, shares=kept_estimates(kept["shares"]))


@dataclass(frozen=True, slots=True)
class Volume:
    """Numbers of rows and stories, and rows by story (figure 8)."""

    predicted: int
    gold: int
    stories: int
    predicted_per_story: BoundedEstimate
    gold_per_story: BoundedEstimate

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Volume:
        return read_as(cls, kept, **kept_estimates({name: kept[name] for name in _A_STORY}))


_A_STORY = ("predicted_per_story", "gold_per_story")


@dataclass(frozen=True, slots=True)
class Outputs:
    """The share of answers that are of no use (table 12), their number, the reasons, and by what failed the reasons of
    what is not an answer of the model."""

    share: BoundedEstimate
    unreadable: int
    reasons: Mapping[str, int]
    without: Mapping[str, Mapping[str, int]]

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Outputs:
        return read_as(cls, kept, share=BoundedEstimate.from_json(kept["share"]))


@dataclass(frozen=True, slots=True)
class Stage1Analyses:
    """`kinds`: {order bucket or role: {"precision", "recall", "f1"}} (figure 5 a). `outputs` are those of the answers
    that the results were made of."""

    kept_as: ClassVar[str] = ""
    kinds: Mapping[str, Mapping[str, BoundedEstimate]]
    match_counts: MatchCounts
    volume: Volume
    outputs: Outputs | None = field(default=None, metadata=WHERE_THERE_IS_ONE)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Stage1Analyses:
        return cls(
            kinds=_kinds_from(kept),
            match_counts=MatchCounts.from_json(kept["match_counts"]),
            volume=Volume.from_json(kept["volume"]),
            outputs=_outputs_from(kept),
        )


def _kinds_from(kept: Mapping[str, Any]) -> dict[str, dict[str, BoundedEstimate]]:
    return {kind: kept_estimates(estimates) for kind, estimates in kept["kinds"].items()}


def _outputs_from(kept: Mapping[str, Any]) -> Outputs | None:
    return Outputs.from_json(kept["outputs"]) if "outputs" in kept else None


@dataclass(frozen=True, slots=True)
class Confusion:
    """Rows by gold label and by label that was said, with intervals of the share of the gold label's rows, or the
    reasons why there is none."""

    gold: Sequence[str]
    said: Sequence[str]
    rows: Sequence[Sequence[int]]
    ends: Sequence[Ends]
    reasons: Sequence[Sequence[str]]


NO_CONFUSION = Confusion([], [], [], [], [])


@dataclass(frozen=True, slots=True)
class GoldLabels:
    """The counts of labels in the gold rows, with intervals of their shares or the reasons why there is none."""

    gold: Sequence[int]
    gold_ends: Ends
    gold_reasons: Sequence[str]


@dataclass(frozen=True, slots=True)
class PredictedLabels:
    """The counts of labels that were predicted, with intervals of their shares or the reasons why there is none."""

    predicted: Sequence[int]
    ends: Ends
    reasons: Sequence[str]


@dataclass(frozen=True, slots=True)
class CountedLabels:
    """Counts of how often each of `labels` stands in gold and was predicted, as the two halves have it."""

    labels: Sequence[str]
    in_gold: GoldLabels
    in_answers: PredictedLabels

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> CountedLabels:
        """Return what `as_json` made."""
        return cls(kept["labels"], read_as(GoldLabels, kept), read_as(PredictedLabels, kept))

    def as_json(self) -> Json:
        """{labels, gold, gold_ends, gold_reasons, predicted, ends, reasons}."""
        return {"labels": self.labels, **plain(self.in_gold), **plain(self.in_answers)}


@dataclass(frozen=True, slots=True)
class Stage2Analyses:
    """`kinds`: {order bucket or role: {"overall" or dimension: estimate}} (figure 5 b); `confusion` and `labels` are by
    dimension. `outputs` are those of the answers that the results were made of."""

    kept_as: ClassVar[str] = ""
    kinds: Mapping[str, Mapping[str, BoundedEstimate]]
    confusion: Mapping[str, Confusion]
    labels: Mapping[str, CountedLabels]
    outputs: Outputs | None = field(default=None, metadata=WHERE_THERE_IS_ONE)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Stage2Analyses:
        return cls(
            kinds=_kinds_from(kept),
            confusion={name: read_as(Confusion, table) for name, table in kept["confusion"].items()},
            labels={name: CountedLabels.from_json(labels) for name, labels in kept["labels"].items()},
            outputs=_outputs_from(kept),
        )


def _usable(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if not result.unreadable]


def match_bucket(count: int) -> str:
    return BUCKETS[min(max(count, 0), MOST)]


def stage1_analyses(results: Sequence[Stage1Result], *, seed: int = 1, resamples: int = RESAMPLES) -> Stage1Analyses:
    """Return kinds, match counts and volume.

    - `kinds`: {order bucket or role: {"precision", "recall", "f1"}} (paper, figure 5 a). Precision is over predicted
      rows of the kind that they were given by the model, recall over gold rows of the kind, F1 their harmonic mean; its
      n is that of recall. Rows of no kind are left out.
    - `match_counts`: {"rows": {"0" … "4+", "total"}, "shares": {"0" … "4+"}, "unjudged"} of the predicted rows (table
      11).
    - `volume`: {"predicted", "gold", "stories", "predicted_per_story", "gold_per_story"} (figure 8).

    Rows that the judge left out are in no estimate and no n; estimates that they bear on have `bounds`, with them as
    unmatched and as matched, of `match_counts` as of another bucket and as of this one.
    """
    usable, gold, predicted = _rows_of(results)
    columns = Columns(len(usable))
    recalled, precise = (_parts(columns, *side.by_kind()) for side in (gold, predicted))
    matches = predicted.by_bucket()
    gaps = predicted.lengths - matches.sum(axis=1)
    buckets = _parts(columns, matches, matches.sum(axis=1), gaps)
    lengths = columns.add(np.column_stack([predicted.lengths, gold.lengths]))
    stories = columns.add(np.ones(len(usable)))
    pooled = columns.pooled(seed=seed, resamples=resamples)
    recall, precision = pooled.bounded(recalled), pooled.bounded(precise)
    measures = {"precision": precision, "recall": recall, "f1": precision.harmonic(recall)}
    estimates = {name: measure.estimates() for name, measure in measures.items()}
    rows = matches.sum(axis=0).tolist()
    predicted_per_story, gold_per_story = pooled.ratios(lengths, stories, scale=POSITIVE).estimates()
    return Stage1Analyses(
        kinds={kind: {name: by_kind[at] for name, by_kind in estimates.items()} for at, kind in enumerate(ALL_KINDS)},
        match_counts=MatchCounts(
            rows=dict(zip((*BUCKETS, "total"), (*rows, sum(rows)), strict=True)),
            shares=dict(zip(BUCKETS, pooled.bounded(buckets).estimates(), strict=True)),
            unjudged=int(gaps.sum()),
        ),
        volume=Volume(
            predicted=int(predicted.lengths.sum()),
            gold=int(gold.lengths.sum()),
            stories=len(usable),
            predicted_per_story=predicted_per_story,
            gold_per_story=gold_per_story,
        ),
    )


def _rows_of(results: Sequence[Stage1Result]) -> tuple[list[Stage1Result], _Rows, _Rows]:
    """Return the results that count, their gold rows and their predicted rows."""
    usable = [
        _without_counts(result) if result.unreadable else result
        for result in results
        if not result.unreadable or any(result.unjudged)
    ]
    gold = _Rows(
        usable,
        [result.gold_counts for result in usable],
        [kind_codes(result.gold_orders, result.gold_roles) for result in usable],
    )
    predicted = _Rows(
        usable, [result.pred_counts for result in usable], [kind_codes(*kind_texts(result)) for result in usable]
    )
    return usable, gold, predicted


def _parts(columns: Columns, meant: Ints, judged: Ints, missing: Ints) -> Parts:
    return Parts(columns.add(meant), columns.add(judged), columns.add(missing) if missing.any() else None)


def _without_counts(result: Stage1Result) -> Stage1Result:
    """A usable extraction whose judgement is not."""
    predicted, gold = ((None,) * len(side) for side in (result.pred_counts, result.gold_counts))
    return replace(result, pred_counts=predicted, gold_counts=gold)


class _Rows:
    """The rows of one side with their match counts, nan where nobody judged, and places of their kinds, shape (rows,
    2)."""

    def __init__(
        self, results: Sequence[Stage1Result], counts: Sequence[Sequence[int | None]], kinds: Sequence[Ints]
    ) -> None:
        self.lengths = np.array([len(row_counts) for row_counts in counts], dtype=np.int64)
        self.story = np.repeat(np.arange(len(results)), self.lengths)
        self.counts = np.array([count for row_counts in counts for count in row_counts], dtype=float)
        self.kinds = np.concatenate([np.empty((0, len(KINDS)), np.int64), *kinds])

    def by_kind(self) -> tuple[Ints, Ints, Ints]:
        """Matched, judged and unjudged rows by story and kind."""
        judged = np.isfinite(self.counts)
        return self._of_kinds(self.counts > 0), self._of_kinds(judged), self._of_kinds(~judged)

    def _of_kinds(self, kept: NDArray[np.bool_]) -> Ints:
        return by_story(
            self.story,
            np.column_stack([is_of(self.kinds, at) & kept for at in range(len(ALL_KINDS))]),
            len(self.lengths),
        )

    def by_bucket(self) -> Ints:
        """Judged rows by story and MatchCount."""
        judged = np.isfinite(self.counts)
        shape = (len(self.lengths), len(BUCKETS))
        places = self.story[judged] * shape[1] + np.clip(self.counts[judged], 0, MOST).astype(np.int64)
        return np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)


def kind_texts(result: Stage1Result) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Orders and roles of the predicted rows, blank where the parse of an answer does not have them."""
    blank = ("",) * len(result.pred_counts)
    return result.pred_orders or blank, result.pred_roles or blank


def stage2_analyses(results: Sequence[Stage2Result], *, seed: int = 1, resamples: int = RESAMPLES) -> Stage2Analyses:
    """Return kinds, confusion and labels. Cells whose gold label is outside its closed set are left out of all.

    - `kinds`: {order bucket or role: {"overall" or dimension: estimate}} (paper, figure 5 b), over the cells of gold
      rows of the kind.
    - `confusion`: {dimension: {"gold": labels, "said": labels, "rows": [[count]], "ends": [[interval]], "reasons":
      [[why there is none]]}}; intervals are of the share of the gold label's rows. `said` has every legal label, then
      `missing` and `illegal`, in display order.
    - `labels`: {dimension: {"labels", "gold", "gold_ends", "gold_reasons", "predicted", "ends", "reasons"}}: how often
      each label of `said` stands in the gold rows of all stories, usable or not, and was predicted in the usable ones,
      with intervals of the shares (figure 4).
    """
    rules = {"seed": seed, "resamples": resamples}
    usable = _usable(results)
    scheme = results[0].scheme if results else OMNITOM_SCHEME
    kinds, confusion, predicted = _of_usable(Cells(usable, scheme), rules)
    gold = _gold_labels(tuple(result.gold for result in results if result.unreadable != NO_GOLD), scheme, **rules)
    labels = {name: CountedLabels(list(read_labels(name, scheme)), gold[name], predicted[name]) for name in scheme.keys}
    return Stage2Analyses(kinds, confusion, labels)


def _of_usable(
    cells: Cells, rules: Mapping[str, int]
) -> tuple[dict[str, dict[str, BoundedEstimate]], dict[str, Confusion], dict[str, PredictedLabels]]:
    """`kinds`, `confusion` and the predicted half of `labels`: one draw for all."""
    columns, stories, scheme = Columns(cells.stories), cells.stories, cells.scheme
    right, legal = (column.reshape(stories, len(ALL_KINDS) * (1 + len(scheme.keys))) for column in cells.right())
    parts = columns.add(right), columns.add(legal)
    tables = {name: cells.confusion(at) for at, name in enumerate(scheme.keys)}
    places = {}
    for name, table in tables.items():
        flat = table.reshape(stories, table.shape[1] * table.shape[2])
        places[name] = [
            columns.add(column) for column in (flat, table.sum(axis=2), table.sum(axis=1), table.sum(axis=(1, 2)))
        ]
    pooled = columns.pooled(**rules)
    confusion: dict[str, Confusion] = {}
    predicted: dict[str, PredictedLabels] = {}
    for name, (correct, of_gold, of_said, total) in places.items():
        rows, labels = tables[name].sum(axis=0), read_labels(name, scheme)
        ends, reasons = pooled.ratios(correct, of_gold, each=len(labels)).ends()
        starts = range(0, len(ends), len(labels))
        confusion[name] = Confusion(
            gold=list(scheme.schema[name].values),
            said=list(labels),
            rows=rows.tolist(),
            ends=[ends[at : at + len(labels)] for at in starts],
            reasons=[reasons[at : at + len(labels)] for at in starts],
        )
        ends, reasons = pooled.ratios(of_said, total).ends()
        predicted[name] = PredictedLabels(rows.sum(axis=0).tolist(), ends, reasons)
    return _accuracies(pooled.ratios(*parts).estimates(), scheme), confusion, predicted


def _accuracies(estimates: Sequence[BoundedEstimate], scheme: Scheme) -> dict[str, dict[str, BoundedEstimate]]:
    names = ("overall", *scheme.keys)
    starts = range(0, len(estimates), len(names))
    return {
        kind: dict(zip(names, estimates[at : at + len(names)], strict=True))
        for kind, at in zip(ALL_KINDS, starts, strict=True)
    }


@lru_cache(2)
def _gold_labels(gold: tuple[tuple[Labels, ...], ...], scheme: Scheme, **rules: int) -> Mapping[str, GoldLabels]:
    """The gold half of `labels`, the same for every model of a run; no gold label is missing or illegal."""
    columns = Columns(len(gold))
    tables = gold_counts(gold, scheme)
    places = {name: (columns.add(table), columns.add(table.sum(axis=1))) for name, table in tables.items()}
    pooled = columns.pooled(**rules)
    shares: dict[str, GoldLabels] = {}
    for name, place in places.items():
        none = len(read_labels(name, scheme)) - tables[name].shape[1]
        counts, (ends, reasons) = tables[name].sum(axis=0).tolist(), pooled.ratios(*place).ends()
        shares[name] = GoldLabels(counts + [0] * none, ends + [None] * none, reasons + [""] * none)
    return shares


def outputs_analysis(
    outputs: Sequence[str | None],
    without: Mapping[str, Mapping[str, int]],
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> Outputs:
    """Return the share of answers that are of no use, with reasons.

    `outputs` has the model's answer to each story with gold: "" where it can be used, why not otherwise, None where
    there is none. The share's n is the number of answers. `without` passes through what is not an answer of the model,
    by what failed and why.
    """
    columns = Columns(len(outputs))
    unreadable, answered = (
        np.array(flags, dtype=bool)
        for flags in ([bool(reason) for reason in outputs], [reason is not None for reason in outputs])
    )
    parts = columns.add(unreadable), columns.add(answered)
    [share] = columns.pooled(seed=seed, resamples=resamples).ratios(*parts).estimates()
    reasons = Counter(reason for reason in outputs if reason)
    return Outputs(
        share=share if share.n else replace(share, reason=NO_OUTPUT),
        unreadable=reasons.total(),
        reasons=dict(sorted(reasons.items())),
        without={name: dict(reasons) for name, reasons in without.items()},
    )


def why_uncounted(result: Stage1Result | Stage2Result) -> str:
    """Return why official scoring gets nothing out of an answer, "" where it does; its own parses say no more than
    that."""
    rows = len(result.pred_counts) if isinstance(result, Stage1Result) else result.paired
    return "" if rows else "no row"


def stage1_rows(result: Stage1Result, *, order: str = "", role: str = "", matches: str = "") -> tuple[int, int]:
    """Return (rows meant, all rows) of a story in the figures of `stage1_analyses`: of a kind on both sides, or
    predicted ones of a MatchCount."""
    predicted = list(zip(result.pred_counts, *kind_texts(result), strict=True))
    gold = [] if matches else list(zip(result.gold_counts, result.gold_orders, result.gold_roles, strict=True))
    meant = [
        count
        for count, of_order, of_role in (*predicted, *gold)
        if count is not None
        and (not order or order_bucket(of_order) == order)
        and (not role or of_role == role)
        and (not matches or match_bucket(count) == matches)
    ]
    return len(meant), len(predicted) + len(gold)


def stage2_rows(
    result: Stage2Result, *, dimension: str = "", gold: str = "", predicted: str = "", order: str = "", role: str = ""
) -> tuple[int, int]:
    """Return (rows meant, rows they are among) of a story in the figures of `stage2_analyses`.

    Rows are those of the kind. Of a dimension those count whose gold label is legal, and meant are those with the
    labels `gold` and `predicted`; without either, the right ones.
    """
    cells = Cells([result], result.scheme)
    counted = np.ones(len(cells.story), dtype=bool)
    for kind in filter(None, (order, role)):
        counted &= is_of(cells.kinds, KIND_PLACES[kind])
    if not dimension:
        return int(counted.sum()), len(counted)
    at = result.scheme.keys.index(dimension)
    counted &= cells.gold[:, at] >= 0
    right = counted & (cells.gold[:, at] == cells.predicted[:, at])
    names = read_labels(dimension, result.scheme)
    meant = counted if gold or predicted else right
    for label, column in ((gold, cells.gold), (predicted, cells.predicted)):
        if label:
            meant = meant & (column[:, at] == names.index(label))
    return int(meant.sum()), int(counted.sum())
