"""A small file of each format that the page *Import* takes, to be downloaded, changed and imported."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from annotation.domain.formats import LABELS, QUESTIONS, RECORDS, STORIES, TABLES, FileFormat
from annotation.domain.schema import WORLD, Schema

_KEY = "Ines puts the key in the drawer and leaves. Omar moves the key to the shelf."
_CAKE = "Tobias bakes a cake. Nora says that she likes it, and eats nothing."
_BELIEFS = (
    (WORLD, "The key is on the shelf", "0"),
    ("Ines", "The key is in the drawer", "1"),
    ("Omar", "Ines thinks that the key is in the drawer", "2"),
)


def example_name(chosen: FileFormat) -> str:
    """Return the name of a format's example file."""
    return f"example-{chosen.key}{'.csv' if chosen.in_sheet else '.jsonl'}"


def example(chosen: FileFormat, *, schema: Schema, annotator: str) -> str:
    """Return the text of a format's example file for a project of this schema, its votes by `annotator`.

    The tables and the votes are of the first story of the spreadsheet of stories, so that the three can be tried one
    after the other in an empty project.
    """
    dimension = schema.dimensions[0]
    votes = [(1, actor, belief, dimension.key, annotator, dimension.values[0]) for actor, belief, _ in _BELIEFS]
    return {
        RECORDS.key: _lines([_record(schema)]),
        QUESTIONS.key: _lines([{"STORY": _KEY, "QUESTION": "Where will Ines look for the key?"}]),
        STORIES.key: _sheet(("story_id", "category", "story"), [(1, "Moved things", _KEY), (2, "Polite words", _CAKE)]),
        TABLES.key: _sheet(("story_id", "actor", "belief", "order"), [(1, *row) for row in _BELIEFS]),
        LABELS.key: _sheet(("story_id", "actor", "belief", "dimension", "annotator", "label"), votes),
    }[chosen.key]


def _record(schema: Schema) -> dict[str, object]:
    labels = {dimension.key: dimension.values[0] for dimension in schema.dimensions}
    beliefs = [{"actor": WORLD, "belief": "Tobias bakes a cake", "labels": labels}]
    beliefs += [{"actor": "Nora", "belief": "The cake has not come off well", "labels": labels}]
    return {"story_id": 2, "story_category": "Polite words", "story": _CAKE, "beliefs": beliefs}


def _lines(records: Iterable[dict[str, object]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _sheet(header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()
