"""Judgements as rows of the database keep them, and as a text that the released code reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.suites.omnitom.judge_alignment import align
from benchmark.suites.omnitom.judge_tables import JudgedRow, OversizedField, judgement, parse_judgement
from benchmark.suites.omnitom.judgements import FIRST, Judging, Sides, Texts, pass_verdicts, settled
from benchmark.suites.omnitom.parsing.extraction import parse_extraction
from benchmark.suites.omnitom.pipe_tables import extraction_rows
from benchmark.suites.omnitom.records import Record
from benchmark.suites.omnitom.step_keys import EXTRACT
from core.plain import Json
from judge.domain.judgements import CANNOT_TELL, PassVerdict, RowJudgement
from judge.domain.text import normalise_space

DETAIL = "rows"
"""The entry of a kept judgement that says more of its rows than counts."""
_SIDES = ("pred", "gold")


def detail_of(sides: Sides, how: Judging) -> Json:
    """Return {"rows": {"pred": […], "gold": […]}} of a judge that says more than a count of each row: per row the
    verdicts of its passes, each a count, "cannot tell" or null, with `links` and `settled` where there are any. Empty
    of a judge that says no more."""
    if how.as_published and how.passes == 1:
        return {}
    return {DETAIL: {name: [_kept(row) for row in side] for name, side in zip(_SIDES, sides, strict=True)}}


def _kept(row: RowJudgement) -> Json:
    passes = [
        None if verdict is None else CANNOT_TELL if verdict.count is None else verdict.count for verdict in row.passes
    ]
    links = {} if row.links is None else {"links": list(row.links)}
    return {"passes": passes} | links | ({"settled": True} if row.settled else {})


def rows_kept(repaired: Mapping[str, object]) -> Sides:
    """Return the judgement of every row of either side as its parse was kept. Of one that keeps counts alone, a row
    with a count was judged in one pass, and a row without one was left out."""
    detail = repaired.get(DETAIL)
    sides: list[list[RowJudgement]] = []
    for name in _SIDES:
        counts: Sequence[int | None] = repaired.get(name) or ()  # type: ignore[assignment]
        rows = detail[name] if isinstance(detail, dict) else [{"passes": [count]} for count in counts]
        sides.append([_read(row, count) for row, count in zip(rows, counts, strict=True)])
    return sides[0], sides[1]


def _read(row: Json, count: int | None) -> RowJudgement:
    passes = tuple(
        None if of_pass is None else PassVerdict(None if of_pass == CANNOT_TELL else of_pass, None)
        for of_pass in row["passes"]
    )
    links = tuple(row["links"]) if "links" in row else None
    return RowJudgement(count, links, passes, row.get("settled", False))


def released_text(record: Record, texts: Texts, how: Judging) -> str:
    """Return the first pass of a judgement as the two tables that the released code reads, a MatchCount being the
    number of links, with the rows that were settled by rule. A row without a count is left out, which official scoring
    counts 0."""
    predicted = [(row.actor, row.belief) for row in extraction_rows(texts.get(EXTRACT, ""))]
    gold = [(row.actor, row.belief) for row in record.rows]
    rules = settled(predicted, [(row.actor, row.belief) for row in record.shown_rows], how.settle)
    given = _linked_rows(record, texts, how) if how.by_id else _table_rows(texts)
    by_rule = (predicted, [(row.actor, row.belief) for row in record.shown_rows])
    tables = []
    for rows, judged_rows, settled_rows, rule in zip((predicted, gold), given, by_rule, rules, strict=True):
        ruled = {row: len(links) for row, links in zip(settled_rows, rule, strict=True) if links is not None}
        counts = align(rows, judged_rows)
        tables.append([(*_normalised(row), ruled.get(row, count)) for row, count in zip(rows, counts, strict=True)])
    return judgement(*tables)


def _normalised(row: tuple[str, str]) -> tuple[str, str]:
    return normalise_space(row[0]), normalise_space(row[1])


def _linked_rows(record: Record, texts: Texts, how: Judging) -> tuple[Sequence[JudgedRow], Sequence[JudgedRow]]:
    """Return the rows of both tables with a count read off the links of the first pass, in the words that official
    parsing has for them."""
    predicted = parse_extraction(texts.get(EXTRACT, ""), structured=how.structured, scheme=record.scheme)
    sides = pass_verdicts(texts.get(FIRST, ""), predicted, record.shown_rows, how)
    words = [row.officially or (row.actor, row.belief) for row in predicted]
    row_words = (words, [(row.actor, row.belief) for row in record.shown_rows])
    counted = [
        [
            JudgedRow(*row, of_pass.count)
            for row, of_pass in zip(rows, side, strict=True)
            if of_pass and of_pass.count is not None
        ]
        for rows, side in zip(row_words, sides, strict=True)
    ]
    return counted[0], counted[1]


def _table_rows(texts: Texts) -> tuple[Sequence[JudgedRow], Sequence[JudgedRow]]:
    """Return both tables of the first pass as official parsing reads them; none of a text that it cannot read."""
    try:
        judgement = parse_judgement(texts.get(FIRST, ""))
    except OversizedField:
        return (), ()
    return judgement.predictions, judgement.gold
