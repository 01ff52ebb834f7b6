"""Both parses of one story's answers as plain data for a database row, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from benchmark.suites.omnitom import official, repaired
from benchmark.suites.omnitom.data import EXTRACT, LABEL, GoldRow, Record
from benchmark.suites.omnitom.judgements import FIRST, Judging, Sides, detail_of, judged, pass_verdicts, released_text
from benchmark.suites.omnitom.labels import DIMENSIONS, OMNITOM_SCHEME, Labels, Scheme
from benchmark.suites.omnitom.parsing.extraction import parse_extraction
from benchmark.suites.omnitom.parsing.values import ignores_schema
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result, order_bucket, role_of
from benchmark.suites.questions import Parsed
from benchmark.suites.reasons import JUDGE_NOT_STRUCTURED, NO_JUDGEMENT
from core.plain import Json, plain, read_as
from core.statistics import harmonic
from judge.domain.calibration.tables import share


def parse_stage1(record: Record, texts: Mapping[str, str], how: Judging) -> Parsed:
    """Parse a judgement: `texts` are the extraction `extract`, the answers of the passes by name, and `follow_up`. What
    the passes lack the repaired parse takes from the follow-up; the official one reads the first pass alone."""
    mended = repaired.stage1_result(record, texts, how)
    rows = judged_rows(record, texts, how)
    stored = _stage1(mended) | detail_of(rows, how)
    undecided = sum(row.cannot_tell for side in rows for row in side) if any(mended.unjudged) else 0
    mended_score = repaired.stage1_score(mended).of("estimate", "f1")
    repaired_fields = (mended_score, mended.unreadable, sum(mended.unjudged) - undecided)
    if how.structured or not record.scheme.official:
        return Parsed(None, stored, None, *repaired_fields)
    published = {name: texts[name] for name in (EXTRACT, FIRST) if name in texts}
    if not how.as_published:
        published[FIRST] = released_text(record, texts, how)
    tables = official.stored_tables([record], {record.story_id: published})[record.story_id]
    result = official.stage1_result(record, tables)
    parsed = _stage1(result) | _aborted(tables)
    return Parsed(parsed, stored, None if tables.aborted else _f1(result), *repaired_fields)


def judged_rows(record: Record, texts: Mapping[str, str], how: Judging) -> Sides:
    """Return the judgement of every row of the extraction in `texts`, and of every gold row that was shown."""
    predicted = parse_extraction(texts.get(EXTRACT, ""), structured=how.structured, scheme=record.scheme)
    return judged(texts, predicted, record.shown_rows, how)


def parse_follow_up(record: Record, texts: Mapping[str, str], how: Judging) -> Parsed:
    """Return how many of the rows that a judgement lacks its follow-up brings: {"asked", "judged"}."""
    before, after = (
        sum(row.missing for side in judged_rows(record, given, how) for row in side)
        for given in ({name: text for name, text in texts.items() if name != "follow_up"}, texts)
    )
    ignored = how.by_id and ignores_schema(texts.get("follow_up", ""), "predictions", "gold")
    unreadable = "" if after < before else JUDGE_NOT_STRUCTURED if ignored else NO_JUDGEMENT
    return Parsed(None, {"asked": before, "judged": before - after}, None, None, unreadable, after)


def parse_pass(record: Record, extraction: str, answer: str, how: Judging, turn: int) -> Parsed:
    """Return what one pass says by itself: the counts of both sides, and the `order` in which their rows were shown."""
    predicted = parse_extraction(extraction, structured=how.structured, scheme=record.scheme)
    sides = pass_verdicts(answer, predicted, record.shown_rows, how, turn)
    counts = [[None if of_pass is None else of_pass.count for of_pass in side] for side in sides]
    ignored = how.by_id and ignores_schema(answer, "predictions", "gold")
    has_judgement = any(of_pass is not None for side in sides for of_pass in side)
    unreadable = "" if has_judgement or not predicted else JUDGE_NOT_STRUCTURED if ignored else NO_JUDGEMENT
    orders = {name: how.order(turn, side, len(counts[side])) for side, name in enumerate(("pred", "gold"))}
    return Parsed(None, {"pred": counts[0], "gold": counts[1], "order": orders}, None, None, unreadable)


def parse_stage1_rows(extraction: str, *, structured: bool = False, scheme: Scheme = OMNITOM_SCHEME) -> Parsed:
    """An extraction alone has no score: `unreadable` says whether it can be read, the repaired parse how many rows of
    which kinds."""
    rows = parse_extraction(extraction, structured=structured, scheme=scheme)
    orders, roles = [order_bucket(row.order) for row in rows], [role_of(row.actor) for row in rows]
    kept = plain(ExtractedRows(rows=len(rows), orders=orders, roles=roles))
    unreadable = "" if rows else repaired.why_unreadable(extraction, structured=structured, scheme=scheme)
    return Parsed(None, kept, None, None, unreadable, empty=not rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedRows:
    """What is kept of an extraction: how many rows it has, and of which orders and roles."""

    rows: int = 0
    orders: Sequence[str] = ()
    roles: Sequence[str] = ()

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> ExtractedRows:
        return read_as(cls, kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRows:
    """What is kept of a judgement: counts of both tables, None where the judge left a row out; of the predicted rows
    the kinds too, which only the extraction tells."""

    pred: Sequence[int | None]
    gold: Sequence[int | None]
    orders: Sequence[str] = ()
    roles: Sequence[str] = ()

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> JudgedRows:
        return read_as(cls, kept)


def _stage1(result: Stage1Result) -> Json:
    rows = JudgedRows(
        pred=result.pred_counts, gold=result.gold_counts, orders=result.pred_orders, roles=result.pred_roles
    )
    kept: Json = plain(rows)
    return kept


def parse_stage2(record: Record, answer: str, *, structured: bool = False) -> Parsed:
    texts = {LABEL: answer}
    mended = repaired.stage2_result(record, texts, structured=structured)
    stored = {"predicted": [row and list(row) for row in mended.predicted]}
    mended_score = repaired.stage2_score(mended).of("estimate", "overall_accuracy")
    empty = not any(mended.predicted)
    if structured or not record.scheme.official:
        return Parsed(None, stored, None, mended_score, mended.unreadable, empty=empty)
    tables = official.stored_tables([record], {record.story_id: texts})[record.story_id]
    result = official.stage2_result(record, tables)
    parsed = {"predicted": [row and list(row) for row in result.predicted]} | _aborted(tables)
    score = None if tables.aborted else _accuracy(result)
    return Parsed(parsed, stored, score, mended_score, mended.unreadable, empty=empty)


def _aborted(tables: official.StoredTables) -> Json:
    return {"aborted": dict(tables.aborted)} if tables.aborted else {}


def _f1(result: Stage1Result) -> float:
    precision = share(result.pred_matched, len(result.pred_counts))
    return harmonic(precision, share(result.gold_matched, len(result.gold_counts)))


def _accuracy(result: Stage2Result) -> float:
    """The mean of seven accuracies over the same rows: the share of right cells."""
    right = sum(
        bool(predicted[at]) and predicted[at] == gold[at]
        for gold, predicted in zip(result.gold, result.predicted, strict=True)
        if predicted is not None
        for at in range(len(DIMENSIONS))
    )
    return share(right, len(result.gold) * len(DIMENSIONS))


def stage1_of(record: Record, judged_rows: JudgedRows, *, mended: bool, unreadable: str = "") -> Stage1Result:
    """The result again that `parse_stage1` put down as its `repaired` (`mended`) or `official` part."""
    gold, roles = _gold(record.rows, mended, record.scheme)
    return Stage1Result(
        record.story_id,
        record.category,
        tuple(judged_rows.pred),
        tuple(judged_rows.gold),
        tuple(map(record.scheme.order_of, gold)),
        unreadable if mended else "",
        tuple(judged_rows.orders),
        roles,
        tuple(judged_rows.roles),
    )


def stage2_of(
    record: Record, labels: Sequence[Sequence[str] | None], *, mended: bool, unreadable: str = ""
) -> Stage2Result:
    """Return the result again whose labels `parse_stage2` put down as `predicted`."""
    gold, roles = _gold(record.rows, mended, record.scheme)
    predicted = tuple(None if row is None else tuple(row) for row in labels)
    return Stage2Result(
        record.story_id, record.category, gold, predicted, unreadable if mended else "", roles, record.scheme
    )


@lru_cache(4096)
def _gold(rows: tuple[GoldRow, ...], mended: bool, scheme: Scheme) -> tuple[tuple[Labels, ...], tuple[str, ...]]:
    """Return (labels, roles) of the gold rows of a parse: the same for every model of a run."""
    counted = [row for row in rows if row.is_shown] if mended else rows
    labels = tuple(repaired.repaired_labels(row.labels, scheme) if mended else row.labels for row in counted)
    return labels, tuple(role_of(row.actor) for row in counted)
