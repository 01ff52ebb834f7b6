"""What a page shows of one place: the question, the answer, and both readings of it beside gold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from typing import Any

from annotation.domain.schema import Schema
from annotation.models import Project, Story
from benchmark.models import JUDGED_AT, Form, RunItem, Stage
from benchmark.services.asking import question_of
from benchmark.services.evaluating import Texts, answers_of
from benchmark.suites.contract import ItemView, Suite
from benchmark.suites.omnitom.pipe_tables import extraction_rows
from benchmark.suites.omnitom.readings.extraction import read_extraction
from benchmark.suites.omnitom.readings.matching import row_key
from benchmark.suites.omnitom.readings.structured import json_in, rows_in
from benchmark.suites.omnitom.readings.values import repaired
from benchmark.suites.omnitom.records import GoldRow, Record, record_of
from benchmark.suites.omnitom.repaired import judged_counts
from benchmark.suites.registry import suite_named
from core.texts import storable
from workers.models import Call

MOST_ROWS = 300
SHOWN_CHARACTERS = 20_000
"""Of a text on a page; the whole of it is a download."""


def shortened(text: str) -> dict[str, Any]:
    """{"text", "whole", "left"}: the beginning, the length of the whole text, and how many characters are left out."""
    return {"text": text[:SHOWN_CHARACTERS], "whole": len(text), "left": max(0, len(text) - SHOWN_CHARACTERS)}


SOLVED = "This part shows a story, solved, that you still have work to do on; it can be read when that is done."
COUNTS = "Counts of gold labels are shown when you have finished your open work."


def texts_of(project: Project, closed: Set[int]) -> list[str]:
    """The stories of these numbers, as `asked_of` looks for them in prompts."""
    held = Story.objects.filter(project=project, number__in=closed).values_list("text", flat=True)
    return [found for text in held if (found := " ".join(text.split()))]


def asked_of(call: Call | None, closed: Sequence[str] = ()) -> list[dict[str, Any]]:
    """[{role, text, …}] of the messages that were sent; for a baseline the data that it reads. What shows a story of `closed` solved, as an
    example, or counts the labels of all gold is left out where there are any."""
    if call is None:
        return []
    body = call.request
    if "task" in body and "messages" not in body:
        task = body["task"] | ({"counts": COUNTS} if closed and body["task"].get("counts") else {})
        return [{"role": "data", **shortened(storable(json.dumps(task, indent=2, ensure_ascii=False)))}]
    system = [{"role": "system", "content": one.get("text", "")} for one in body.get("system") or []]
    said = [*system, *(body.get("messages") or [])]
    return [{"role": one["role"], **shortened(_unsolved(storable(_text(one["content"])), closed))} for one in said]


def _unsolved(text: str, closed: Sequence[str]) -> str:
    plain = " ".join(text.split()) if closed else ""
    return SOLVED if any(story in plain for story in closed) else text


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)


def readings_shown(place: RunItem) -> dict[str, Any]:
    """What the page of the place's stage shows; `place.call` has the answer."""
    suite = suite_named(place.entrant.run.suite)
    if not suite.protocol:
        return _own(suite, place)
    record = record_of(place.sample.record)
    structured = place.entrant.run.form == Form.STRUCTURED
    if place.stage == Stage.EXTRACT:
        return _extraction(place, record, structured)
    if place.stage == Stage.LABEL:
        return _labelling(place, record, place.entrant.run.dataset.schema)
    texts = answers_of([place])[place.pk]
    if place.stage == Stage.FOLLOW_UP:
        return _follow_up(place, record, texts, structured)
    return _judgement(place, record, texts, structured)


def _own(suite: Suite, place: RunItem) -> dict[str, Any]:
    """What the suite makes of an item, or its content, gold and readings as they are."""
    question = question_of(
        place.entrant.run, place.sample, place.stage, answers_of([place])[place.pk], repetition=place.repetition
    )
    answer = place.call.answer if place.call else None
    if suite.item is not None:
        return suite.item(ItemView(question, answer, place.official, place.repaired))
    parts = {
        "Content": question.sample.content,
        "Gold": question.sample.gold,
        "Official reading": place.official,
        "Repaired reading": place.repaired,
    }
    return {
        "parts": [
            (name, [(key.replace("_", " "), _text(value)) for key, value in held.items()])
            for name, held in parts.items()
            if held
        ]
    }


# --- extraction --------------------------------------------------------------------------------------------------------------
def _extraction(place: RunItem, record: Record, structured: bool) -> dict[str, Any]:
    gold = [{"actor": row.actor, "belief": row.belief, "order": row.labels[0]} for row in record.rows]
    if place.call is None:
        return {"gold": gold, "tables": []}
    answer = place.call.answer
    mended = _rows_shown(read_extraction(answer, structured=structured), record)
    official = None if structured else _rows_shown(extraction_rows(answer), record)
    same = official == mended
    tables = [
        {"name": "Predicted" if structured else "Both readings" if same else "Repaired reading", **_capped(mended)}
    ]
    if not same and official is not None:
        tables.insert(0, {"name": "Official reading", **_capped(official)})
    return {"gold": gold, "tables": tables}


def _rows_shown(rows: Sequence[Any], record: Record) -> list[dict[str, Any]]:
    """`in_gold`: a gold row has these very words; whether it says the same is the judge's to decide."""
    known = {row_key(row.actor, row.belief) for row in record.rows}
    return [
        {
            "actor": row.actor,
            "belief": row.belief,
            "order": row.order,
            "in_gold": row_key(row.actor, row.belief) in known,
        }
        for row in rows
    ]


def _capped(rows: list) -> dict[str, Any]:
    return {"rows": rows[:MOST_ROWS], "count": len(rows), "left": max(0, len(rows) - MOST_ROWS)}


# --- judging -----------------------------------------------------------------------------------------------------------------
def _follow_up(place: RunItem, record: Record, texts: Texts, structured: bool) -> dict[str, Any]:
    """The rows that were asked for and what the follow-up says of each."""
    predicted = read_extraction(texts.get(Stage.EXTRACT, ""), structured=structured)
    how = {"predicted": predicted, "gold": record.shown, "structured": structured}
    first = {"judge": texts.get(Stage.JUDGE, "")}
    before = judged_counts(first, **how)
    after = judged_counts(first | {"follow_up": texts.get(Stage.FOLLOW_UP, "")}, **how)
    rows = [
        {"side": side, "number": at, "actor": row.actor, "belief": row.belief, "count": later}
        for side, held, *counts in zip(("Predicted", "Gold"), (predicted, record.shown), before, after, strict=True)
        for at, (row, first, later) in enumerate(zip(held, *counts, strict=True), 1)
        if first is None
    ]
    return {"asked": _capped(rows)}


def _judgement(place: RunItem, record: Record, texts: Texts, structured: bool) -> dict[str, Any]:
    official, mended = place.official, place.repaired or {}
    extraction, answers = texts.get(Stage.EXTRACT, ""), [texts.get(stage, "") for stage in JUDGED_AT]
    gold, aborted = _gold_counts(record, official, mended), (official or {}).get("aborted", {})
    predicted = _predicted_counts(extraction, official, mended, structured)
    if structured:
        _name_matches(answers, predicted[-1]["rows"], [row for row in gold if row["shown"]])
    for row in (*gold, *(row for table in predicted for row in table["rows"])):
        row["unmatched"] = _is_unmatched(row)
    tables = [table | _capped(table["rows"]) for table in predicted]
    return {"predicted": tables, "gold": gold, "aborted": aborted.get("judge", ""), "official": official is not None}


def _is_unmatched(row: Mapping[str, Any]) -> bool:
    """Whether nothing matches a row in either reading; a row without a count may match."""
    known = [row[name] for name in ("official", "repaired") if row.get(name) is not None]
    return bool(known) and row.get("repaired", 0) is not None and max(known) <= 0


def _gold_counts(record: Record, official: dict | None, mended: dict) -> list[dict[str, Any]]:
    ours, theirs = iter(mended.get("gold", ())), list((official or {}).get("gold", ()))
    rows = []
    for at, row in enumerate(record.rows):
        count = next(ours, None) if row.shown else None
        said = theirs[at] if at < len(theirs) else None
        rows.append(
            {
                "actor": row.actor, "belief": row.belief, "order": row.labels[0], "shown": row.shown, "official": said,
                "repaired": count, "differs": official is not None and said != count,
            }
        )  # fmt: skip
    return rows


def _predicted_counts(extraction: str, official: dict | None, mended: dict, structured: bool) -> list[dict[str, Any]]:
    """One table where both readings have the same rows, otherwise one of each."""
    ours = read_extraction(extraction, structured=structured)
    rows = _counted(ours, mended.get("pred", ()), "repaired")
    if structured:
        return [{"name": "Predicted", "rows": rows}]
    theirs = extraction_rows(extraction)
    officially = _counted(theirs, (official or {}).get("pred", ()), "official")
    keys = [[row_key(row.actor, row.belief) for row in one] for one in (theirs, ours)]
    if keys[0] != keys[1]:
        return [{"name": "Predicted, official reading", "rows": officially}, {"name": "Predicted, repaired reading", "rows": rows}]  # fmt: skip
    merged = [one | {"official": other["official"]} for one, other in zip(rows, officially, strict=True)]
    for row in merged:
        row["differs"] = official is not None and row["official"] != row["repaired"]
    return [{"name": "Predicted", "rows": merged}]


def _counted(rows: Sequence[Any], counts: Sequence[int | None], reading: str) -> list[dict[str, Any]]:
    held = list(counts) + [None] * (len(rows) - len(counts))
    return [
        {"actor": row.actor, "belief": row.belief, "order": row.order, reading: count}
        for row, count in zip(rows, held, strict=False)
    ]


def _name_matches(answers: Sequence[str], predicted: list[dict], gold: list[dict]) -> None:
    """Structured judgements say which rows of the other table match; ids count from 1. A follow-up adds to its judgement."""
    values = [json_in(answer) for answer in reversed(answers)]
    for name, rows in (("predictions", predicted), ("gold", gold)):
        said = {str(one.get("id")): one.get("matches") for value in values for one in rows_in(value, name)}
        for at, row in enumerate(rows, 1):
            matches = said.get(str(at))
            row["number"] = at
            row["matches"] = ", ".join(str(one)[:12] for one in matches[:20]) if isinstance(matches, list) else ""


# --- labelling ---------------------------------------------------------------------------------------------------------------
def _labelling(place: RunItem, record: Record, schema: Schema) -> dict[str, Any]:
    ours = iter((place.repaired or {}).get("predicted", ()))
    theirs = list((place.official or {}).get("predicted", ()))
    rows = []
    for at, row in enumerate(record.rows):
        mended = next(ours, None) if row.shown else None
        said = theirs[at] if at < len(theirs) else None
        rows.append(_labelled_row(row, schema, mended, said, official=place.official is not None))
    right = [sum(row["cells"][at]["right"] for row in rows) for at in range(len(schema.keys))]
    return {
        "dimensions": schema.dimensions,
        "rows": rows,
        "right": right,
        "answered": place.repaired is not None,
        "missing": place.repaired is not None and bool(place.unusable),
        "aborted": (place.official or {}).get("aborted", {}).get("label", ""),
        "official": place.official is not None,
    }


def _labelled_row(
    row: GoldRow, schema: Schema, mended: list | None, said: list | None, *, official: bool
) -> dict[str, Any]:
    cells = []
    for at, dimension in enumerate(schema.keys):
        gold = repaired(dimension, row.labels[at])
        ours, theirs = mended[at] if mended else "", said[at] if said else ""
        cells.append(
            {
                "gold": gold,
                "said": ours,
                "right": bool(mended) and ours == gold,
                "officially": theirs if official and theirs != ours else None,
            }
        )
    return {"actor": row.actor, "belief": row.belief, "shown": row.shown, "found": mended is not None, "cells": cells}
