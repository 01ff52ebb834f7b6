"""Both parses of one story's answers as plain data for a database row, and the results that are read back from it."""

from __future__ import annotations

from collections.abc import Mapping

from benchmark.suites.omnitom import official, repaired
from benchmark.suites.omnitom.data import EXTRACT, FOLLOW_UP, LABEL, Record
from benchmark.suites.omnitom.judgements import FIRST, Judging, Sides, detail_of, judged, pass_verdicts, released_text
from benchmark.suites.omnitom.labels import DIMENSIONS, OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.parsing.extraction import parse_extraction
from benchmark.suites.omnitom.results import Stage2Result, kinds_of
from benchmark.suites.questions import Parsed
from core.plain import Json
from core.statistics import harmonic
from judge.domain.calibration.tables import share


def parse_stage1(record: Record, texts: Mapping[str, str], how: Judging) -> Parsed:
    """Parse a judgement; `texts` are the answers by step. The repaired parse takes what the passes lack from the
    follow-up, the official one reads only the first pass."""
    mended, sides = repaired.read_judgement(record, texts, how)
    undecided = sum(row.cannot_tell for side in sides for row in side) if any(mended.unjudged) else 0
    mended_score = repaired.stage1_score(mended).of("estimate", "f1")
    repaired_fields = (mended_score, mended.unreadable, sum(mended.unjudged) - undecided)
    stored = mended.kept() | detail_of(sides, how)
    if how.structured or not record.scheme.official:
        return Parsed(None, stored, None, *repaired_fields)
    published = {name: texts[name] for name in (EXTRACT, FIRST) if name in texts}
    if not how.as_published:
        published[FIRST] = released_text(record, texts, how)
    tables = official.stored_tables([record], {record.story_id: published})[record.story_id]
    result = official.stage1_result(record, tables)
    precision = share(result.pred_matched, len(result.pred_counts))
    f1 = harmonic(precision, share(result.gold_matched, len(result.gold_counts)))
    return Parsed(result.kept() | _aborted(tables), stored, None if tables.aborted else f1, *repaired_fields)


def judged_rows(record: Record, texts: Mapping[str, str], how: Judging) -> Sides:
    """Return the judgement of every row of the extraction in `texts`, and of every gold row that was shown."""
    predicted = parse_extraction(texts.get(EXTRACT, ""), structured=how.structured, scheme=record.scheme)
    return judged(texts, predicted, record.shown_rows, how)


def parse_follow_up(record: Record, texts: Mapping[str, str], how: Judging) -> Parsed:
    """Return the number of rows that a judgement lacks and of those that its follow-up brings: {"asked", "judged"}."""
    before, after = (
        sum(row.missing for side in judged_rows(record, given, how) for row in side)
        for given in ({name: text for name, text in texts.items() if name != FOLLOW_UP}, texts)
    )
    unreadable = "" if after < before else repaired.no_judgement(texts.get(FOLLOW_UP, ""), how)
    return Parsed(None, {"asked": before, "judged": before - after}, None, None, unreadable, after)


def parse_pass(record: Record, extraction: str, answer: str, how: Judging, turn: int) -> Parsed:
    """Return the counts of one pass for both sides, and the `order` in which their rows were shown."""
    predicted = parse_extraction(extraction, structured=how.structured, scheme=record.scheme)
    sides = pass_verdicts(answer, predicted, record.shown_rows, how, turn)
    counts = {
        name: [None if verdict is None else verdict.count for verdict in side]
        for name, side in zip(("pred", "gold"), sides, strict=True)
    }
    orders = {name: how.order(turn, side, len(counts[name])) for side, name in enumerate(counts)}
    has_judgement = any(verdict is not None for side in sides for verdict in side)
    unreadable = "" if has_judgement or not predicted else repaired.no_judgement(answer, how)
    return Parsed(None, {**counts, "order": orders}, None, None, unreadable)


def parse_stage1_rows(extraction: str, *, structured: bool = False, scheme: Scheme = OMNITOM_SCHEME) -> Parsed:
    """Parse an extraction, which has no score of its own: the number of its rows and their kinds."""
    rows = parse_extraction(extraction, structured=structured, scheme=scheme)
    unreadable = "" if rows else repaired.why_unreadable(extraction, structured=structured, scheme=scheme)
    kept = {"rows": len(rows), **kinds_of(rows)}
    return Parsed(None, kept, None, None, unreadable, empty=not rows)


def parse_stage2(record: Record, answer: str, *, structured: bool = False) -> Parsed:
    texts = {LABEL: answer}
    mended = repaired.stage2_result(record, texts, structured=structured)
    score, stored = repaired.stage2_score(mended).of("estimate", "overall_accuracy"), mended.kept()
    empty = not any(mended.predicted)
    if structured or not record.scheme.official:
        return Parsed(None, stored, None, score, mended.unreadable, empty=empty)
    tables = official.stored_tables([record], {record.story_id: texts})[record.story_id]
    result = official.stage2_result(record, tables)
    parsed = result.kept() | _aborted(tables)
    return Parsed(parsed, stored, None if tables.aborted else _accuracy(result), score, mended.unreadable, empty=empty)


def _accuracy(result: Stage2Result) -> float:
    """Return the share of right cells, which is the mean of the seven accuracies over the same rows."""
    right = sum(
        bool(label) and label == gold_label
        for gold, predicted in zip(result.gold, result.predicted, strict=True)
        for label, gold_label in zip(predicted or (), gold, strict=False)
    )
    return share(right, len(result.gold) * len(DIMENSIONS))


def _aborted(tables: official.StoredTables) -> Json:
    return {"aborted": dict(tables.aborted)} if tables.aborted else {}
