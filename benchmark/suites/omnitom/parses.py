"""Both parses of one story's answers as plain data for a database row, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.suites.omnitom import official, repaired
from benchmark.suites.omnitom.data import EXTRACT, LABEL, Record
from benchmark.suites.omnitom.judgements import FIRST, Judging, Sides, detail_of, judged, pass_verdicts, released_text
from benchmark.suites.omnitom.labels import DIMENSIONS, OMNITOM_SCHEME, Labels, Scheme
from benchmark.suites.omnitom.parsing.extraction import parse_extraction
from benchmark.suites.omnitom.parsing.values import ignores_schema
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result, order_bucket, role_of
from benchmark.suites.questions import Parsed, SuiteData
from benchmark.suites.reasons import JUDGE_NOT_STRUCTURED, NO_JUDGEMENT
from core.plain import Json
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
    kept = {"rows": len(rows), "orders": orders, "roles": roles}
    unreadable = "" if rows else repaired.why_unreadable(extraction, structured=structured, scheme=scheme)
    return Parsed(None, kept, None, None, unreadable, empty=not rows)


def _stage1(result: Stage1Result) -> Json:
    """Return what is kept of a judgement: counts of both tables, None for a row that the judge left out, and the kinds
    of the predicted rows, which only the extraction has."""
    counts = {"pred": list(result.pred_counts), "gold": list(result.gold_counts)}
    return {**counts, "orders": list(result.pred_orders), "roles": list(result.pred_roles)}


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


def stage1_of(record: Record, kept: SuiteData, *, mended: bool = False, unreadable: str = "") -> Stage1Result:
    """Return the result again that `parse_stage1` kept as its repaired (`mended`) or official part."""
    gold, roles = _gold(record, mended)
    return Stage1Result(
        record.story_id,
        record.category,
        pred_counts=tuple(kept["pred"]),
        gold_counts=tuple(kept["gold"]),
        gold_orders=tuple(map(record.scheme.order_of, gold)),
        unreadable=unreadable,
        pred_orders=tuple(kept.get("orders", ())),
        gold_roles=roles,
        pred_roles=tuple(kept.get("roles", ())),
    )


def stage2_of(
    record: Record, labels: Sequence[Sequence[str] | None], *, mended: bool = False, unreadable: str = ""
) -> Stage2Result:
    """Return the result again whose labels `parse_stage2` kept as `predicted`."""
    gold, roles = _gold(record, mended)
    predicted = tuple(None if row is None else tuple(row) for row in labels)
    return Stage2Result(record.story_id, record.category, gold, predicted, unreadable, roles, record.scheme)


def _gold(record: Record, mended: bool) -> tuple[tuple[Labels, ...], tuple[str, ...]]:
    """Return (labels, roles) of the gold rows of a parse."""
    rows = record.shown_rows if mended else record.rows
    labels = tuple(repaired.repaired_labels(row.labels, record.scheme) if mended else row.labels for row in rows)
    return labels, tuple(role_of(row.actor) for row in rows)
