"""The rows of one story's answer that a metric of `analyses` counts."""

from __future__ import annotations

import numpy as np

from benchmark.suites.omnitom.analyses import kind_texts, match_bucket
from benchmark.suites.omnitom.cells import KIND_PLACES, Cells, is_of, read_labels
from benchmark.suites.omnitom.kinds import order_bucket
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result


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
