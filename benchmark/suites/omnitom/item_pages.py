"""The page of an item: the answer in both parses beside gold, row by row and cell by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.suites.contract import ItemView
from benchmark.suites.omnitom.collecting import not_read
from benchmark.suites.omnitom.labels import Scheme
from benchmark.suites.omnitom.parsing.extraction import PredictedRow, parse_extraction
from benchmark.suites.omnitom.parsing.matching import row_key
from benchmark.suites.omnitom.parsing.structured import json_in, rows_in
from benchmark.suites.omnitom.parsing.values import repaired
from benchmark.suites.omnitom.pipe_tables import extraction_rows
from benchmark.suites.omnitom.records import GoldRow, Record, record_of_sample
from benchmark.suites.omnitom.repaired import judged_counts
from benchmark.suites.omnitom.steps import EXTRACT, FOLLOW_UP, JUDGE, LABEL, STRUCTURED

MOST_ROWS = 300
Shown = dict[str, Any]
"""A row or a table as the template has it."""
Parse = Mapping[str, Any]


def item(view: ItemView) -> dict[str, Any]:
    """Return what `omnitom/item.html` takes for the item's step; `unread` says why there is no official parse of any
    such answer."""
    record = record_of_sample(view.question.sample, view.question.resources.schema)
    return {"unread": not_read(record.scheme), **_of_step(view, record)}


def _of_step(view: ItemView, record: Record) -> dict[str, Any]:
    step, structured = view.question.step, view.question.settings["form"] == STRUCTURED
    if step == EXTRACT:
        return _extraction(view, record, structured)
    if step == LABEL:
        return _labelling(view, record, record.scheme)
    return _follow_up(view, record, structured) if step == FOLLOW_UP else _judgement(view, record, structured)


# --- extraction
# --------------------------------------------------------------------------------------------------------------
def _extraction(view: ItemView, record: Record, structured: bool) -> dict[str, Any]:
    gold = [
        {"actor": row.actor, "belief": row.belief, "order": record.scheme.order_of(row.labels)} for row in record.rows
    ]
    if view.answer is None:
        return {"gold": gold, "tables": []}
    answer, alone = view.answer, structured or not record.scheme.official
    mended = _rows_shown(parse_extraction(answer, structured=structured, scheme=record.scheme), record)
    official = None if alone else _rows_shown(extraction_rows(answer), record)
    same = official == mended
    tables = [{"name": "Predicted" if alone else "Both parses" if same else "Repaired parse", **_capped(mended)}]
    if not same and official is not None:
        tables.insert(0, {"name": "Official parse", **_capped(official)})
    return {"gold": gold, "tables": tables}


def _rows_shown(rows: Sequence[Any], record: Record) -> list[dict[str, Any]]:
    """`in_gold`: a gold row has these very words; whether it says the same is the judge's to decide."""
    gold_keys = {row_key(row.actor, row.belief) for row in record.rows}
    return [
        {
            "actor": row.actor,
            "belief": row.belief,
            "order": row.order,
            "in_gold": row_key(row.actor, row.belief) in gold_keys,
        }
        for row in rows
    ]


def _capped(rows: list[Shown]) -> dict[str, Any]:
    return {"rows": rows[:MOST_ROWS], "count": len(rows), "left": max(0, len(rows) - MOST_ROWS)}


# --- judging
# -----------------------------------------------------------------------------------------------------------------
def _follow_up(view: ItemView, record: Record, structured: bool) -> dict[str, Any]:
    """The rows that were asked for and what the follow-up says of each."""
    texts = view.question.answers
    predicted = parse_extraction(texts.get(EXTRACT, ""), structured=structured, scheme=record.scheme)
    first = {"judge": texts.get(JUDGE, "")}
    before, after = (
        judged_counts(first | more, predicted, record.shown, structured=structured)
        for more in ({}, {"follow_up": texts.get(FOLLOW_UP, "")})
    )
    sides: tuple[Sequence[PredictedRow | GoldRow], ...] = (predicted, record.shown)
    rows = [
        {"side": side, "number": at, "actor": row.actor, "belief": row.belief, "count": later}
        for side, rows, earlier, counts in zip(("Predicted", "Gold"), sides, before, after, strict=True)
        for at, (row, key, later) in enumerate(zip(rows, earlier, counts, strict=True), 1)
        if key is None
    ]
    return {"asked": _capped(rows)}


def _judgement(view: ItemView, record: Record, structured: bool) -> dict[str, Any]:
    official, mended, texts = view.official, view.repaired or {}, view.question.answers
    extraction, answers = texts.get(EXTRACT, ""), [texts.get(step, "") for step in (JUDGE, FOLLOW_UP)]
    gold, aborted = _gold_counts(record, official, mended), (official or {}).get("aborted", {})
    predicted = _predicted_counts(extraction, official, mended, structured, record.scheme)
    if structured:
        _name_matches(answers, predicted[-1]["rows"], [row for row in gold if row["shown"]])
    for row in (*gold, *(row for table in predicted for row in table["rows"])):
        row["unmatched"] = _is_unmatched(row)
    tables = [table | _capped(table["rows"]) for table in predicted]
    return {"predicted": tables, "gold": gold, "aborted": aborted.get("judge", ""), "official": official is not None}


def _is_unmatched(row: Mapping[str, Any]) -> bool:
    """Return whether nothing matches a row in either parse; a row without a count may match."""
    counts = [row[name] for name in ("official", "repaired") if row.get(name) is not None]
    return bool(counts) and row.get("repaired", 0) is not None and max(counts) <= 0


def _gold_counts(record: Record, official: Parse | None, mended: Parse) -> list[Shown]:
    ours, theirs = iter(mended.get("gold", ())), list((official or {}).get("gold", ()))
    rows = []
    for at, row in enumerate(record.rows):
        count = next(ours, None) if row.shown else None
        predicted = theirs[at] if at < len(theirs) else None
        rows.append(
            {
                "actor": row.actor, "belief": row.belief, "order": record.scheme.order_of(row.labels),
                "shown": row.shown, "official": predicted,
                "repaired": count, "differs": official is not None and predicted != count,
            }
        )  # fmt: skip
    return rows


def _predicted_counts(
    extraction: str, official: Parse | None, mended: Parse, structured: bool, scheme: Scheme
) -> list[Shown]:
    """One table where both parses have the same rows, otherwise one of each."""
    ours = parse_extraction(extraction, structured=structured, scheme=scheme)
    rows = _counted(ours, mended.get("pred", ()), "repaired")
    if structured or not scheme.official:
        return [{"name": "Predicted", "rows": rows}]
    theirs = extraction_rows(extraction)
    officially = _counted(theirs, (official or {}).get("pred", ()), "official")
    keys = [[row_key(row.actor, row.belief) for row in side] for side in (theirs, ours)]
    if keys[0] != keys[1]:
        return [
            {"name": "Predicted, official parse", "rows": officially},
            {"name": "Predicted, repaired parse", "rows": rows},
        ]
    merged = [row | {"official": other["official"]} for row, other in zip(rows, officially, strict=True)]
    for row in merged:
        row["differs"] = official is not None and row["official"] != row["repaired"]
    return [{"name": "Predicted", "rows": merged}]


def _counted(rows: Sequence[Any], counts: Sequence[int | None], parse: str) -> list[dict[str, Any]]:
    padded = list(counts) + [None] * (len(rows) - len(counts))
    return [
        {"actor": row.actor, "belief": row.belief, "order": row.order, parse: count}
        for row, count in zip(rows, padded, strict=False)
    ]


def _name_matches(answers: Sequence[str], predicted: list[Shown], gold: list[Shown]) -> None:
    """Structured judgements say which rows of the other table match; ids count from 1. A follow-up adds to its
    judgement."""
    values = [json_in(answer) for answer in reversed(answers)]
    for name, rows in (("predictions", predicted), ("gold", gold)):
        matches_by_id = {
            str(entry.get("id")): entry.get("matches") for value in values for entry in rows_in(value, name)
        }
        for at, row in enumerate(rows, 1):
            matches = matches_by_id.get(str(at))
            row["number"] = at
            row["matches"] = ", ".join(str(match)[:12] for match in matches[:20]) if isinstance(matches, list) else ""


# --- labelling
# ---------------------------------------------------------------------------------------------------------------
def _labelling(view: ItemView, record: Record, scheme: Scheme) -> dict[str, Any]:
    ours = iter((view.repaired or {}).get("predicted", ()))
    theirs = list((view.official or {}).get("predicted", ()))
    rows = []
    for at, row in enumerate(record.rows):
        mended = next(ours, None) if row.shown else None
        predicted = theirs[at] if at < len(theirs) else None
        rows.append(_labelled_row(row, scheme, mended, predicted, official=view.official is not None))
    right = [sum(row["cells"][at]["right"] for row in rows) for at in range(len(scheme.keys))]
    return {
        "dimensions": scheme.schema.dimensions,
        "rows": rows,
        "right": right,
        "answered": view.repaired is not None,
        "missing": view.repaired is not None and bool(view.unusable),
        "aborted": (view.official or {}).get("aborted", {}).get("label", ""),
        "official": view.official is not None,
    }


def _labelled_row(
    row: GoldRow, scheme: Scheme, mended: list[str] | None, labels: list[str] | None, *, official: bool
) -> dict[str, Any]:
    cells = []
    for at, dimension in enumerate(scheme.keys):
        gold = repaired(dimension, row.labels[at], scheme)
        ours, theirs = mended[at] if mended else "", labels[at] if labels else ""
        cells.append(
            {
                "gold": gold,
                "said": ours,
                "right": bool(mended) and ours == gold,
                "officially": theirs if official and theirs != ours else None,
            }
        )
    return {"actor": row.actor, "belief": row.belief, "shown": row.shown, "found": mended is not None, "cells": cells}
