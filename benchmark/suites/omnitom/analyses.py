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
from benchmark.suites.omnitom.cells import (
    ALL_KINDS,
    Cells,
    Ints,
    by_story,
    gold_counts,
    is_of,
    kind_codes,
    read_labels,
)
from benchmark.suites.omnitom.kinds import KINDS
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Labels, Scheme
from benchmark.suites.omnitom.pooled import Columns, Parts
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result
from benchmark.suites.reasons import NO_GOLD
from core.plain import WHERE_THERE_IS_ONE, Json, plain, read_as
from core.statistics import POSITIVE, RESAMPLES

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
