"""What the paper looks into besides its main table, with n and intervals over stories, in either reading.

Each function takes the results of one stage and returns plain data, ready for JSON. Unusable stories are left out, but for gold's own
distribution. Rows are pooled over stories: every ratio is one of sums, and an interval comes from resampling stories. Estimates
are those of `pooled`: {"value", "n", "interval"[, "reason"]}, fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.domain.anchoring.estimates import RESAMPLES
from annotation.domain.schema import SCHEMA
from benchmark.domain.omnitom.kinds import KINDS, order_bucket
from benchmark.domain.omnitom.labels import DIMENSIONS, Labels
from benchmark.domain.omnitom.pooled import Stories
from benchmark.domain.omnitom.results import LEGAL, NO_GOLD, UNSAID, Stage1Result, Stage2Result

NO_OUTPUT = "no answer"
MISSING = "missing"
ILLEGAL = "illegal"

MOST = 4
"""Match counts from here on share a bucket (paper, table 11)."""
BUCKETS = tuple(f"{count}+" if count == MOST else str(count) for count in range(MOST + 1))
ALL_KINDS = tuple(kind for kinds in KINDS.values() for kind in kinds)
"""Order buckets, then roles: no name is in both."""
SIDES = ("gold", "gold matched", "predicted", "predicted matched")

Ints = NDArray[np.int64]


def _usable(results: Sequence[Any]) -> list[Any]:
    return [one for one in results if not one.unusable]


def match_bucket(count: int) -> str:
    return BUCKETS[min(max(count, 0), MOST)]


def stage1_analyses(results: Sequence[Stage1Result], *, seed: int = 1, resamples: int = RESAMPLES) -> dict[str, Any]:
    """{"kinds", "match_counts", "volume"}.

    - `kinds`: {order bucket or role: {"precision", "recall", "f1"}} (paper, figure 5 a). Precision is over predicted rows of the kind
      that they were given by the model, recall over gold rows of the kind, F1 their harmonic mean; its n is that of recall. Rows of no
      kind, or that nobody judged, are left out.
    - `match_counts`: {"rows": {"0" … "4+", "total"}, "shares": {"0" … "4+"}} of the predicted rows (table 11).
    - `volume`: {"predicted", "gold", "stories", "predicted_per_story", "gold_per_story"} (figure 8).
    """
    usable = _usable(results)
    tallies = [_tally(one) for one in usable]
    columns = np.array(tallies, dtype=float).reshape(len(usable), _WIDTH)
    pooled = Stories(columns, seed, resamples)
    recall = pooled.ratios(_side("gold matched"), _side("gold"))
    precision = pooled.ratios(_side("predicted matched"), _side("predicted"))
    measures = {"precision": precision, "recall": recall, "f1": precision.harmonic(recall)}
    estimates = {name: found.estimates() for name, found in measures.items()}
    rows = columns[:, _MATCHES].sum(axis=0).astype(int).tolist()
    shares = pooled.ratios(_MATCHES, [_JUDGED])
    predicted, gold = pooled.ratios([_PREDICTED, _GOLD], [_ONE]).estimates()
    return {
        "kinds": {kind: {name: held[at] for name, held in estimates.items()} for at, kind in enumerate(ALL_KINDS)},
        "match_counts": {
            "rows": dict(zip((*BUCKETS, "total"), (*rows, sum(rows)), strict=True)),
            "shares": dict(zip(BUCKETS, shares.estimates(), strict=True)),
        },
        "volume": {
            "predicted": int(columns[:, _PREDICTED].sum()),
            "gold": int(columns[:, _GOLD].sum()),
            "stories": len(usable),
            "predicted_per_story": predicted,
            "gold_per_story": gold,
        },
    }


_MATCHES = slice(len(SIDES) * len(ALL_KINDS), len(SIDES) * len(ALL_KINDS) + len(BUCKETS))
_JUDGED, _PREDICTED, _GOLD, _ONE = range(_MATCHES.stop, _MATCHES.stop + 4)
_WIDTH = _ONE + 1


def _side(name: str) -> slice:
    start = SIDES.index(name) * len(ALL_KINDS)
    return slice(start, start + len(ALL_KINDS))


def _tally(result: Stage1Result) -> list[int]:
    """What one story adds to the sums of `stage1_analyses`."""
    found = [0] * _WIDTH
    for side, counts, *kinds in (
        ("gold", result.gold_counts, result.gold_orders, result.gold_roles),
        ("predicted", result.pred_counts, result.pred_orders, result.pred_roles),
    ):
        rows, matched = _side(side).start, _side(f"{side} matched").start
        for of, bucket in zip(kinds, (order_bucket, str), strict=True):
            for count, kind in zip(counts, of, strict=False):  # of no kind at all where none is known
                if count is not None and (at := _KIND.get(bucket(kind))) is not None:
                    found[rows + at] += 1
                    found[matched + at] += count > 0
    for count in result.pred_counts:
        if count is not None:
            found[_MATCHES.start + min(max(count, 0), MOST)] += 1
            found[_JUDGED] += 1
    found[_PREDICTED], found[_GOLD], found[_ONE] = len(result.pred_counts), len(result.gold_counts), 1
    return found


_KIND = {kind: at for at, kind in enumerate(ALL_KINDS)}


def stage2_analyses(results: Sequence[Stage2Result], *, seed: int = 1, resamples: int = RESAMPLES) -> dict[str, Any]:
    """{"kinds", "confusion", "labels"}. Cells whose gold label is outside its closed set are left out of all.

    - `kinds`: {order bucket or role: {"overall" or dimension: estimate}} (paper, figure 5 b), over the cells of gold rows of the kind.
    - `confusion`: {dimension: {"gold": labels, "said": labels, "rows": [[count]], "ends": [[interval]]}}; intervals are of the share of
      the gold label's rows. `said` has every legal label, then `missing` and `illegal`, in display order.
    - `labels`: {dimension: {"labels", "gold", "gold_ends", "predicted", "ends"}}: how often each label of `said` stands in the gold rows of all
      stories, usable or not, and was predicted in the usable ones, with intervals of the shares (figure 4).
    """
    rules = {"seed": seed, "resamples": resamples}
    usable = _usable(results)
    with_gold = [one for one in results if one.unusable != NO_GOLD]
    cells = _Cells(usable)
    every = cells if len(with_gold) == len(usable) else _Cells(with_gold)
    confusion, labels = {}, {}
    for at, name in enumerate(DIMENSIONS):
        table = cells.confusion(at)
        confusion[name] = _confusion(name, table, rules)
        gold, ends = _distribution(every.confusion(at).sum(axis=2), rules)
        predicted, predicted_ends = _distribution(table.sum(axis=1), rules)
        said = said_labels(name)
        none = [0] * (len(said) - len(gold)), [None] * (len(said) - len(gold))  # no gold label is missing or illegal
        labels[name] = {
            "labels": list(said),
            "gold": gold + none[0],
            "gold_ends": ends + none[1],
            "predicted": predicted,
            "ends": predicted_ends,
        }
    return {"kinds": _accuracies(cells, rules), "confusion": confusion, "labels": labels}


def said_labels(dimension: str) -> tuple[str, ...]:
    return (*SCHEMA[dimension].values, MISSING, ILLEGAL)


class _Codes(dict[str, int]):
    """Places of what is said for a dimension in `said_labels`."""

    def __init__(self, dimension: str) -> None:
        super().__init__({label: at for at, label in enumerate(SCHEMA[dimension].values)})
        self[""] = len(self)
        self.illegal = len(self)

    def __missing__(self, label: str) -> int:
        return self.illegal


_SAID = tuple(map(_Codes, DIMENSIONS))


@lru_cache(4096)
def _gold_codes(gold: tuple[Labels, ...]) -> Ints:
    """The same for every model of a run; −1 for a label outside its closed set."""
    told = [
        [
            codes[label] if label in LEGAL[name] else -1
            for name, codes, label in zip(DIMENSIONS, _SAID, row, strict=True)
        ]
        for row in gold
    ]
    return np.array(told, dtype=np.int64).reshape(len(gold), len(DIMENSIONS))


@lru_cache(4096)
def _kind_codes(orders: tuple[str, ...], roles: tuple[str, ...]) -> Ints:
    """Places in `ALL_KINDS` of each row's order and role, −1 for none."""
    known = roles or ("",) * len(orders)
    told = [
        (_KIND.get(order_bucket(order), -1), _KIND.get(role, -1)) for order, role in zip(orders, known, strict=True)
    ]
    return np.array(told, dtype=np.int64).reshape(len(orders), len(KINDS))


class _Cells:
    """The cells of stories as places of their labels: `gold` and `said` of shape (rows, dimensions), `kinds` (rows, 2), `story` (rows,)."""

    def __init__(self, results: Sequence[Stage2Result]) -> None:
        self.stories = len(results)
        self.story = np.repeat(np.arange(self.stories), [len(one.gold) for one in results])
        shape = (len(self.story), len(DIMENSIONS))
        said = [
            codes[label]
            for one in results
            for row in one.predicted
            for codes, label in zip(_SAID, row or UNSAID, strict=True)
        ]
        self.said = np.array(said, dtype=np.int64).reshape(shape)
        self.gold = np.concatenate([np.empty((0, shape[1]), np.int64), *(_gold_codes(one.gold) for one in results)])
        kinds = (_kind_codes(tuple(row[0] for row in one.gold), one.roles) for one in results)
        self.kinds = np.concatenate([np.empty((0, len(KINDS)), np.int64), *kinds])

    def confusion(self, at: int) -> Ints:
        """Rows of the dimension by story, gold label and label said."""
        legal = self.gold[:, at] >= 0
        shape = (self.stories, len(SCHEMA[DIMENSIONS[at]].values), len(said_labels(DIMENSIONS[at])))
        places = np.ravel_multi_index((self.story[legal], self.gold[legal, at], self.said[legal, at]), shape)
        return np.bincount(places, minlength=int(np.prod(shape))).reshape(shape)

    def right(self, kind: int) -> tuple[Ints, Ints]:
        """Cells of rows of a kind and right ones among them, both of shape (stories, dimensions)."""
        of_kind = (self.kinds == kind).any(axis=1)
        legal = (self.gold >= 0) & of_kind[:, None]
        found = (legal, legal & (self.gold == self.said))
        return tuple(_by_story(self.story, one, self.stories) for one in found)


def _by_story(story: Ints, cells: NDArray[np.bool_], stories: int) -> Ints:
    return np.column_stack([np.bincount(story[one], minlength=stories) for one in cells.T])


def _accuracies(cells: _Cells, rules: Mapping[str, int]) -> dict[str, Any]:
    found = {}
    for at, kind in enumerate(ALL_KINDS):
        legal, right = (np.column_stack([one.sum(axis=1), one]) for one in cells.right(at))
        wide = legal.shape[1]
        pooled = Stories(np.column_stack([right, legal]).astype(float), **rules)
        estimates = pooled.ratios(slice(0, wide), slice(wide, None)).estimates()
        found[kind] = dict(zip(("overall", *DIMENSIONS), estimates, strict=True))
    return found


def _confusion(dimension: str, table: Ints, rules: Mapping[str, int]) -> dict[str, Any]:
    """From the rows by story, gold label and label said."""
    stories, golds, said = table.shape
    pooled = Stories(np.column_stack([table.reshape(stories, golds * said), table.sum(axis=2)]).astype(float), **rules)
    of = golds * said + np.repeat(np.arange(golds), said)
    ends = pooled.ratios(slice(0, golds * said), of).ends()
    return {
        "gold": list(SCHEMA[dimension].values),
        "said": list(said_labels(dimension)),
        "rows": table.sum(axis=0).tolist(),
        "ends": [ends[at : at + said] for at in range(0, len(ends), said)],
    }


def _distribution(table: Ints, rules: Mapping[str, int]) -> tuple[list[int], list[list[float] | None]]:
    """Rows of each label, and intervals of their shares, from the rows by story and label."""
    pooled = Stories(np.column_stack([table, table.sum(axis=1)]).astype(float), **rules)
    return table.sum(axis=0).tolist(), pooled.ratios(slice(0, table.shape[1]), [table.shape[1]]).ends()


def outputs_analysis(
    outputs: Sequence[str | None],
    without: Mapping[str, Mapping[str, int]],
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> dict[str, Any]:
    """{"share": estimate, "unusable": how many, "reasons", "without"} (paper, table 12).

    `outputs` has the model's answer to each story with gold: "" where it can be used, why not otherwise, None where there is none. The
    share's n is the number of answers. `without` passes through what is no answer of the model, by what failed and why.
    """
    columns = np.array([[bool(one), one is not None] for one in outputs], dtype=float).reshape(len(outputs), 2)
    [share] = Stories(columns, seed, resamples).ratios([0], [1]).estimates()
    reasons = Counter(one for one in outputs if one)
    return {
        "share": share if share["n"] else share | {"reason": NO_OUTPUT},
        "unusable": reasons.total(),
        "reasons": dict(sorted(reasons.items())),
        "without": {name: dict(held) for name, held in without.items()},
    }


def unread(result: Stage1Result | Stage2Result) -> str:
    """Why official scoring gets nothing out of an answer, "" where it does; its own readings say no more than that."""
    rows = len(result.pred_counts) if isinstance(result, Stage1Result) else result.paired
    return "" if rows else "no row"


def stage1_rows(result: Stage1Result, *, order: str = "", role: str = "", matches: str = "") -> tuple[int, int]:
    """(rows meant, all rows) of a story in the figures of `stage1_analyses`: of a kind on both sides, or predicted ones of a MatchCount."""
    predicted = list(
        zip(result.pred_counts, _known(result.pred_orders, result), _known(result.pred_roles, result), strict=True)
    )
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


def _known(kinds: Sequence[str], result: Stage1Result) -> Sequence[str]:
    return kinds or ("",) * len(result.pred_counts)


def stage2_rows(
    result: Stage2Result, *, dimension: str = "", gold: str = "", said: str = "", order: str = "", role: str = ""
) -> tuple[int, int]:
    """(rows meant, rows they are among) of a story in the figures of `stage2_analyses`.

    Rows are those of the kind. Of a dimension those count whose gold label is legal, and meant are those with the labels `gold` and
    `said`; without either, the right ones.
    """
    cells = _Cells([result])
    kept = np.ones(len(cells.story), dtype=bool)
    for kind in filter(None, (order, role)):
        kept &= (cells.kinds == _KIND[kind]).any(axis=1)
    if not dimension:
        return int(kept.sum()), len(kept)
    at = DIMENSIONS.index(dimension)
    kept &= cells.gold[:, at] >= 0
    right = kept & (cells.gold[:, at] == cells.said[:, at])
    names = said_labels(dimension)
    meant = kept if gold or said else right
    for label, column in ((gold, cells.gold), (said, cells.said)):
        if label:
            meant = meant & (column[:, at] == names.index(label))
    return int(meant.sum()), int(kept.sum())
