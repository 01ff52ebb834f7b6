"""Rows of stories as arrays: places of their kinds and labels, so that a run is counted at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmark.suites.omnitom.kinds import KINDS, order_bucket
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Labels, Scheme
from benchmark.suites.omnitom.results import Stage2Result
from core.messages import gettext_noop

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
