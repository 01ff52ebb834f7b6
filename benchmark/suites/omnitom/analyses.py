"""The paper's analyses besides its main table, with n and intervals over stories, in either parse.

Each function takes the results of one metric group. Unreadable stories are left out, except in gold's own distribution.
Rows are pooled over stories: every figure is a ratio of sums, and its interval comes from resampling whole stories.
Estimates are fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
        names = ("kinds", "match_counts", "volume", "confusion", "labels", "outputs")
        return cls({name: _with_estimates(kept[name]) for name in names if name in kept})

    def as_json(self) -> Json:
        kept: Json = plain(self.parts)
        return kept


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
        about: dict[str, Any] = {"clusters": self.clusters, "scale": self.scale, "unit": "stories", "empty": NO_ROW}
        computed = intervals(self.values, self.replicates, self.stories, **about)
        return [(ends and [round(end, DIGITS) for end in ends], why) for ends, why in computed]

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


Block = tuple[NDArray[Any], NDArray[Any]]
"""Numerators and denominators by story, shape (stories, k) each. With fewer denominators, each serves several
numerators in turn."""


def _pooled(blocks: Sequence[Block], seed: int, resamples: int, scale: Scale = SHARE) -> Iterator[Ratios]:
    """Yield the ratios of each block. All share the resamples."""
    columns = np.concatenate([part for block in blocks for part in block], axis=1).astype(np.float32)
    replicates = np.full((len(columns) + 1, columns.shape[1]), np.nan)
    if len(columns) >= FEWEST:
        replicates = replicated_sums(columns, seed=seed, resamples=resamples)
    at = 0
    for top, bottom in blocks:
        middle, end = at + top.shape[1], at + top.shape[1] + bottom.shape[1]
        each = top.shape[1] // (bottom.shape[1] or 1)
        below, drawn = (np.repeat(sums[:, middle:end], each, axis=1) for sums in (columns, replicates))
        totals = below.astype(float).sum(axis=0)
        values = ratios(columns[:, at:middle].astype(float).sum(axis=0), totals)
        resampled = ratios(replicates[:, at:middle], drawn)
        yield Ratios(values, totals, (below > 0).sum(axis=0), resampled, len(columns), scale)
        at = end


def _cases(meant: Ints, judged: Ints, missing: Ints) -> list[Block]:
    """Return the blocks of rows that are meant among judged ones, and among all with the missing ones at their worst
    and at their best."""
    return [(meant, judged), (meant, judged + missing), (meant + missing, judged + missing)]


def _bounded(observed: Ratios, worst: Ratios, best: Ratios) -> list[BoundedEstimate]:
    """Return the estimates, with `bounds` where missing rows can change them; an interval then goes from the lower end
    for the worst case to the upper end for the best."""
    estimates = observed.estimates()
    if not (worst.values < best.values).any():
        return estimates
    spans = map(spanning, worst.intervals(), best.intervals())
    bounded = []
    rows = zip(estimates, spans, worst.values.tolist(), best.values.tolist(), strict=True)
    for estimate, (ends, why), low, high in rows:
        if low < high:
            estimate = replace(estimate, bounds=[low, high])
            if estimate.interval:
                estimate = replace(estimate, interval=ends, reason=why or estimate.reason)
        bounded.append(estimate)
    return bounded


def _of_kinds(orders: Sequence[str], roles: Sequence[str]) -> Flags:
    """Return whether each row is of each of `ALL_KINDS`, shape (rows, kinds)."""
    rows = [(order_bucket(order), role) for order, role in zip(orders, roles, strict=True)]
    flags = [[kind in row for kind in ALL_KINDS] for row in rows]
    return np.array(flags, dtype=bool).reshape(len(rows), len(ALL_KINDS))


def _by_story(rows: NDArray[Any], story: Ints, stories: int) -> Ints:
    """Return the sums of rows by their story, shape (stories, k)."""
    sums = np.zeros((stories, rows.shape[1]), dtype=np.int64)
    np.add.at(sums, story, rows)
    return sums


# --- extraction


def _side(results: Sequence[Stage1Result], side: str) -> tuple[Ints, Floats, Flags]:
    """Return the story of each "pred" or "gold" row of stories, its match count, nan where nobody judged, and kinds."""
    story, counts, orders, roles = list[int](), list[int | None](), list[str](), list[str]()
    for at, result in enumerate(results):
        of_story: Sequence[int | None] = getattr(result, f"{side}_counts")
        blank = ("",) * len(of_story)
        story += [at] * len(of_story)
        counts += of_story
        orders += getattr(result, f"{side}_orders") or blank
        roles += getattr(result, f"{side}_roles") or blank
    return np.array(story, dtype=np.int64), np.array(counts, dtype=float), _of_kinds(orders, roles)


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
    unreadable = np.array([bool(result.unreadable) for result in usable], dtype=bool)
    blocks: list[Block] = []
    lengths = []
    for side in ("gold", "pred"):
        story, counts, kinds = _side(usable, side)
        counts[unreadable[story]] = np.nan
        rows = (counts > 0, np.isfinite(counts), np.isnan(counts))
        blocks += _cases(*(_by_story(kinds & chosen[:, None], story, len(usable)) for chosen in rows))
        lengths.append(np.bincount(story, minlength=len(usable)))
    matches = _by_story(np.clip(counts, 0, MOST)[:, None] == range(len(BUCKETS)), story, len(usable))
    judged = matches.sum(axis=1)
    of_stories = [column[:, None] for column in (judged, lengths[1] - judged)]
    blocks += _cases(matches, of_stories[0], of_stories[1])
    ratios_of = list(_pooled(blocks, seed, resamples))
    recall, precision, buckets = ratios_of[:3], ratios_of[3:6], ratios_of[6:]
    f1 = [first.harmonic(second) for first, second in zip(precision, recall, strict=True)]
    measures = {"precision": _bounded(*precision), "recall": _bounded(*recall), "f1": _bounded(*f1)}
    counted = matches.sum(axis=0).tolist()
    volume = (np.column_stack(lengths[::-1]), np.ones((len(usable), 1)))
    [per_story] = _pooled([volume], seed, resamples, POSITIVE)
    return {
        "kinds": {
            kind: {name: estimates[at] for name, estimates in measures.items()} for at, kind in enumerate(ALL_KINDS)
        },
        "match_counts": {
            "rows": dict(zip((*BUCKETS, "total"), (*counted, sum(counted)), strict=True)),
            "shares": dict(zip(BUCKETS, _bounded(*buckets), strict=True)),
            "unjudged": int(of_stories[1].sum()),
        },
        "volume": {
            "predicted": int(lengths[1].sum()),
            "gold": int(lengths[0].sum()),
            "stories": len(usable),
            **dict(zip(("predicted_per_story", "gold_per_story"), per_story.estimates(), strict=True)),
        },
    }


def stage1_rows(result: Stage1Result, *, order: str = "", role: str = "", matches: str = "") -> tuple[int, int]:
    """Return (rows meant, all rows) of a story in the figures of `stage1_analyses`: of a kind on both sides, or
    predicted ones of a MatchCount."""
    meant = total = 0
    kinds_meant = [ALL_KINDS.index(kind) for kind in (order, role) if kind]
    for side in ("pred",) if matches else ("pred", "gold"):
        _, counts, kinds = _side([result], side)
        chosen = np.isfinite(counts) & kinds[:, kinds_meant].all(axis=1)
        if matches:
            chosen &= np.clip(counts, 0, MOST) == BUCKETS.index(matches)
        meant, total = meant + int(chosen.sum()), total + len(counts)
    return meant, total


# --- labelling


def read_labels(dimension: str, scheme: Scheme = OMNITOM_SCHEME) -> tuple[str, ...]:
    """Return the labels of a dimension, then `MISSING` and `ILLEGAL`."""
    return (*scheme.schema[dimension].values, MISSING, ILLEGAL)


def _cells(results: Sequence[Stage2Result], scheme: Scheme) -> tuple[Ints, Ints, Ints, Flags]:
    """Return the story of each gold row, its labels as places in `read_labels`, −1 for one outside its closed set, and
    the predicted ones, shape (rows, dimensions) each; and the kinds of the rows."""
    places = []
    for key in scheme.keys:
        values = scheme.schema[key].values
        places.append({"": len(values), **{label: at for at, label in enumerate(values)}})

    def codes(rows: Sequence[Sequence[str]]) -> Ints:
        found = [[labels.get(label, len(labels)) for labels, label in zip(places, row, strict=True)] for row in rows]
        return np.array(found, dtype=np.int64).reshape(len(rows), len(places))

    gold_rows = [row for result in results for row in result.gold]
    gold = codes(gold_rows)
    gold[gold >= [len(labels) - 1 for labels in places]] = -1
    predicted = codes([row or scheme.nothing for result in results for row in result.predicted])
    roles = [role for result in results for role in result.roles or ("",) * len(result.gold)]
    story = np.repeat(np.arange(len(results)), [len(result.gold) for result in results])
    return story, gold, predicted, _of_kinds(list(map(scheme.order_of, gold_rows)), roles)


def _confusions(results: Sequence[Stage2Result], scheme: Scheme) -> list[Ints]:
    """Return the rows by story, gold label and predicted label of each dimension."""
    story, gold, predicted, _ = _cells(results, scheme)
    tables = []
    for at, key in enumerate(scheme.keys):
        shape = (len(results), len(scheme.schema[key].values), len(read_labels(key, scheme)))
        legal = gold[:, at] >= 0
        flat = np.ravel_multi_index((story[legal], gold[legal, at], predicted[legal, at]), shape)
        tables.append(np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape))
    return tables


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
    scheme = results[0].scheme if results else OMNITOM_SCHEME
    usable = [result for result in results if not result.unreadable]
    tables = _confusions(usable, scheme)
    blocks = [_kind_block(usable, scheme)]
    for table in tables:
        blocks.append((table.reshape(len(table), int(np.prod(table.shape[1:]))), table.sum(axis=2)))
        blocks.append((table.sum(axis=1), table.sum(axis=(1, 2))[:, None]))
    of_kinds, *shares = _pooled(blocks, seed, resamples)
    gold_tables = [
        table.sum(axis=2) for table in _confusions([one for one in results if one.unreadable != NO_GOLD], scheme)
    ]
    gold_shares = _pooled([(table, table.sum(axis=1)[:, None]) for table in gold_tables], seed, resamples)
    confusion, labels = {}, {}
    for at, (key, gold_share) in enumerate(zip(scheme.keys, gold_shares, strict=True)):
        said, rows, legal = list(read_labels(key, scheme)), tables[at].sum(axis=0), list(scheme.schema[key].values)
        ends, reasons = _ends(shares[2 * at])
        by_gold = range(0, len(ends), len(said))
        confusion[key] = {
            "gold": legal,
            "said": said,
            "rows": rows.tolist(),
            "ends": [ends[first : first + len(said)] for first in by_gold],
            "reasons": [reasons[first : first + len(said)] for first in by_gold],
        }
        ends, reasons = _ends(shares[2 * at + 1])
        gold_ends, gold_reasons = _ends(gold_share)
        labels[key] = {
            "labels": said,  # no gold label is missing or illegal
            "gold": [*gold_tables[at].sum(axis=0).tolist(), 0, 0],
            "gold_ends": [*gold_ends, None, None],
            "gold_reasons": [*gold_reasons, "", ""],
            "predicted": rows.sum(axis=0).tolist(),
            "ends": ends,
            "reasons": reasons,
        }
    estimates = iter(of_kinds.estimates())
    kinds = {kind: {name: next(estimates) for name in ("overall", *scheme.keys)} for kind in ALL_KINDS}
    return {"kinds": kinds, "confusion": confusion, "labels": labels}


def _kind_block(results: Sequence[Stage2Result], scheme: Scheme) -> Block:
    """Return the right and the legal cells by story, and by kind and dimension, all dimensions together before each."""
    story, gold, predicted, kinds = _cells(results, scheme)
    legal = gold >= 0
    right, counted = (
        np.column_stack([cells.sum(axis=1), cells]).astype(np.int64) for cells in (legal & (gold == predicted), legal)
    )
    top, bottom = (
        np.column_stack([_by_story(rows * of_kind[:, None], story, len(results)) for of_kind in kinds.T])
        for rows in (right, counted)
    )
    return top, bottom


def _ends(shares: Ratios) -> tuple[list[list[float] | None], list[str]]:
    """Return the intervals, None where there is none, and the reasons, "" where there is one."""
    computed = shares.intervals()
    return [ends for ends, _ in computed], [why for _, why in computed]


def stage2_rows(
    result: Stage2Result, *, dimension: str = "", gold: str = "", predicted: str = "", order: str = "", role: str = ""
) -> tuple[int, int]:
    """Return (rows meant, rows they are among) of a story in the figures of `stage2_analyses`.

    Rows are those of the kind. With a dimension, rows count if their gold label is legal; meant are those with the
    labels `gold` and `predicted`, or without either the right ones.
    """
    _, gold_labels, predicted_labels, kinds = _cells([result], result.scheme)
    counted = np.asarray(kinds[:, [ALL_KINDS.index(kind) for kind in (order, role) if kind]].all(axis=1), dtype=bool)
    if not dimension:
        return int(counted.sum()), len(counted)
    at, names = result.scheme.keys.index(dimension), read_labels(dimension, result.scheme)
    theirs, ours = gold_labels[:, at], predicted_labels[:, at]
    counted = counted & (theirs >= 0)
    meant = counted if gold or predicted else counted & (theirs == ours)
    for label, column in ((gold, theirs), (predicted, ours)):
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
    answers = np.array([[bool(reason), reason is not None] for reason in outputs], dtype=bool).reshape(-1, 2)
    [pooled] = _pooled([(answers[:, :1], answers[:, 1:])], seed, resamples)
    [share] = pooled.estimates()
    reasons = Counter(reason for reason in outputs if reason)
    return {
        "share": share if share.n else replace(share, reason=NO_OUTPUT),
        "unreadable": reasons.total(),
        "reasons": dict(sorted(reasons.items())),
        "without": {name: dict(counts) for name, counts in without.items()},
    }
