"""Texts for the placeholders: tables, label lists, examples, and the lines that fence data in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from annotation.domain.schema import Dimension, Schema
from benchmark.suites.omnitom.judge_tables import JUDGED_COLUMNS, gold_csv, predictions_csv
from benchmark.suites.omnitom.labels import ORDER, scheme_of
from benchmark.suites.omnitom.prompting.examples import Example, ideal_answer
from benchmark.suites.omnitom.prompting.templates import fill
from benchmark.suites.omnitom.records import GoldRow, Record
from benchmark.suites.omnitom.serialisers import belief_table, extraction_header, label_header
from benchmark.suites.omnitom.step_keys import EXTRACT, JUDGE, LABEL
from core.digests import text_digest
from judge.domain.text import normalise_space

FENCE = "====="


def fence(data: Iterable[str]) -> str:
    """A line that occurs nowhere in `data`, so that no text can end its own fence; a digest of them where it has to
    be."""
    data = list(data)
    fence = FENCE
    while any(fence in text for text in data):
        digest = text_digest("\0".join([fence, *data]))
        fence = f"{FENCE} {digest[:12]} {FENCE}"
    return fence


def columns(step: str, answer_format: str, schema: Schema) -> str:
    """Return what the columns, or keys, of the answer are called."""
    scheme = scheme_of(schema)
    if answer_format == "text":
        headers = {EXTRACT: extraction_header(scheme), LABEL: label_header(scheme)}
        return " | ".join(headers[step]) if step in headers else ",".join(JUDGED_COLUMNS)
    extracted = ("actor", "belief", *([ORDER] if scheme.ordered else []))
    names = {EXTRACT: extracted, LABEL: schema.keys, JUDGE: ("id", "matches")}
    return ", ".join(names[step])


def label_lists(schema: Schema, answer_format: str) -> str:
    return "\n".join(
        f"{_named(dimension, schema, answer_format)}: {', '.join(dimension.values)}" for dimension in schema.dimensions
    )


def definitions(schema: Schema, answer_format: str) -> str:
    """A line for each dimension: its question, and what each label means."""
    return "\n".join(_defined(dimension, schema, answer_format) for dimension in schema.dimensions)


def _defined(dimension: Dimension, schema: Schema, answer_format: str) -> str:
    meanings = " ".join(f"{label.value}: {label.meaning}" for label in dimension.labels)
    return f"- {_named(dimension, schema, answer_format)}: {dimension.question} {meanings}"


def order_cell(schema: Schema, answer_format: str) -> str | None:
    """Return what follows the statement in the description of an extracted row: the labels of its order; None by a
    schema without."""
    if ORDER not in schema:
        return None
    return f", and {_named(schema[ORDER], schema, answer_format)}: {' or '.join(schema[ORDER].values)}"


def order_definition(schema: Schema, answer_format: str) -> str | None:
    return _defined(schema[ORDER], schema, answer_format) if ORDER in schema else None


def _named(dimension: Dimension, schema: Schema, answer_format: str) -> str:
    """Dimensions are called as the answer's columns are."""
    return dimension.key if answer_format == "structured" else scheme_of(schema).names[dimension.key]


def numbered(rows: Iterable[Sequence[str]]) -> str:
    """A JSON object with an id for each row (actor, belief), one to a line; ids count from 1."""
    return "\n".join(
        json.dumps({"id": at, "actor": row[0], "belief": row[1]}, ensure_ascii=False) for at, row in enumerate(rows, 1)
    )


def propositions(rows: Sequence[GoldRow], answer_format: str) -> str:
    """The rows that are to be labelled; in text the bytes that the released runner shows."""
    if answer_format == "text":
        return belief_table(Record(0, "", "", tuple(rows)))
    return numbered(plain(rows))


def predictions_table(rows: Iterable[Sequence[str]], answer_format: str) -> str:
    """Predicted rows for the judge; in text the bytes that the released runner shows."""
    pairs = [(row[0], row[1]) for row in rows]
    if answer_format == "text":
        return predictions_csv(pairs)
    return numbered([normalise_space(cell) for cell in pair] for pair in pairs)


def gold_table(rows: Sequence[GoldRow], answer_format: str) -> str:
    """Gold rows for the judge; in text the bytes that the released runner shows."""
    return gold_csv(row.as_told for row in rows) if answer_format == "text" else numbered(plain(rows))


def plain(rows: Iterable[GoldRow]) -> list[list[str]]:
    """Return [actor, belief] of the rows that are shown, their ids counting from 1."""
    return [[row.actor, row.belief] for row in rows if row.is_shown]


def example_data(example: Example, step: str, answer_format: str) -> dict[str, str | None]:
    """Values for the placeholders of an example, but for its number and the fence."""
    values: dict[str, str | None] = {
        "story": example.record.story.strip(),
        "answer": ideal_answer(example, step, answer_format),
    }
    if step == LABEL:
        values["belief_table"] = propositions(example.record.rows, answer_format)
    if step == JUDGE:
        values["predictions"] = predictions_table(example.judged.rows, answer_format)
        values["gold"] = gold_table(example.record.rows, answer_format)
    return values


def example_blocks(template: str, data: Sequence[Mapping[str, str | None]], mark: str) -> str | None:
    """The examples below each other, None without any."""
    filled = [fill(template, {**values, "number": str(at), "fence": mark}) for at, values in enumerate(data, 1)]
    return "\n\n".join(filled) or None
