"""Both readings of one story's answers as plain data for a database row, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from benchmark.domain.omnitom import official, repaired
from benchmark.domain.omnitom.labels import DIMENSIONS, Labels
from benchmark.domain.omnitom.metrics import f1, share
from benchmark.domain.omnitom.readings.values import repaired as repaired_label
from benchmark.domain.omnitom.records import GoldRow, Record
from benchmark.domain.omnitom.results import Stage1Result, Stage2Result


@dataclass(frozen=True, slots=True)
class ItemReadings:
    """`official` and `repaired` as JSON-ready dicts; `score` and `repaired_score` from 0 to 1: F1 of stage 1, mean accuracy of stage
    2. `official` is None for structured output, which the released code cannot read; the scores are None where there is none, the
    official one also where the released code would have ended with a traceback."""

    official: dict[str, Any] | None
    repaired: dict[str, Any]
    score: float | None
    repaired_score: float | None
    unusable: str


def read_stage1(record: Record, extraction: str, judgement: str, *, structured: bool = False) -> ItemReadings:
    texts = {"extract": extraction, "judge": judgement}
    mended = repaired.stage1_result(record, texts)
    kept = {"pred": list(mended.pred_counts), "gold": list(mended.gold_counts)}
    mended_score = None if mended.unusable else repaired.stage1_score(mended).worst["f1"]
    if structured:
        return ItemReadings(None, kept, None, mended_score, mended.unusable)
    tables = official.stored_tables([record], {record.story_id: texts})[record.story_id]
    result = official.stage1_result(record, tables)
    held = {"pred": list(result.pred_counts), "gold": list(result.gold_counts)} | _aborted(tables)
    return ItemReadings(held, kept, None if tables.aborted else _f1(result), mended_score, mended.unusable)


def read_stage2(record: Record, answer: str, *, structured: bool = False) -> ItemReadings:
    texts = {"label": answer}
    mended = repaired.stage2_result(record, texts)
    kept = {"predicted": [row and list(row) for row in mended.predicted]}
    mended_score = None if mended.unusable else repaired.stage2_score(mended).worst["overall_accuracy"]
    if structured:
        return ItemReadings(None, kept, None, mended_score, mended.unusable)
    tables = official.stored_tables([record], {record.story_id: texts})[record.story_id]
    result = official.stage2_result(record, tables)
    held = {"predicted": [row and list(row) for row in result.predicted]} | _aborted(tables)
    return ItemReadings(held, kept, None if tables.aborted else _accuracy(result), mended_score, mended.unusable)


def _aborted(tables: official.StoredTables) -> dict[str, Any]:
    return {"aborted": dict(tables.aborted)} if tables.aborted else {}


def _f1(result: Stage1Result) -> float:
    precision = share(result.pred_matched, len(result.pred_counts))
    return f1(precision, share(result.gold_matched, len(result.gold_counts)))


def _accuracy(result: Stage2Result) -> float:
    """The mean of seven accuracies over the same rows: the share of right cells."""
    right = sum(
        bool(said[at]) and said[at] == gold[at]
        for gold, said in zip(result.gold, result.predicted, strict=True)
        if said is not None
        for at in range(len(DIMENSIONS))
    )
    return share(right, len(result.gold) * len(DIMENSIONS))


def stage1_of(record: Record, held: Mapping[str, Any], *, mended: bool, unusable: str = "") -> Stage1Result:
    """The result again that `read_stage1` put down as its `repaired` (`mended`) or `official` part."""
    rows = record.shown if mended else record.rows
    orders = [repaired_label("order", row.order) if mended else row.labels[0] for row in rows]
    counts = tuple(held["pred"]), tuple(held["gold"])
    return Stage1Result(record.story_id, record.category, *counts, tuple(orders), unusable if mended else "")


def stage2_of(record: Record, held: Mapping[str, Any], *, mended: bool, unusable: str = "") -> Stage2Result:
    gold = _mended_gold(record.rows) if mended else tuple(row.labels for row in record.rows)
    predicted = tuple(None if row is None else tuple(row) for row in held["predicted"])
    return Stage2Result(record.story_id, record.category, gold, predicted, unusable if mended else "")


@lru_cache(2048)
def _mended_gold(rows: tuple[GoldRow, ...]) -> tuple[Labels, ...]:
    """The same for every model of a run."""
    return tuple(tuple(map(repaired_label, DIMENSIONS, row.labels)) for row in rows if row.shown)
