"""JSON schemas that hold an answer to its shape, in the subset that strict modes take: all required, nothing
additional."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.domain.schema import Schema
from workers.providers.contract import JsonSchema, closed_object

MOST_IDS = 500
"""Providers limit how many values a schema may list; beyond, an id is any whole number and the parse checks it."""


def extraction_schema(schema: Schema) -> JsonSchema:
    """Return {"rows": [{"actor", "belief", "order"}]}, without an order for a schema that has none."""
    text = {"type": "string"}
    order = {"order": _one_of(schema["order"].values)} if "order" in schema else {}
    return closed_object({"rows": _list(closed_object({"actor": text, "belief": text, **order}))})


def labelling_schema(rows: int, schema: Schema) -> JsonSchema:
    """Return {"rows": [{"id", <dimension>: label, …}]} for ids 1 to `rows`."""
    labels = {dimension.key: _one_of(dimension.values) for dimension in schema.dimensions}
    return closed_object({"rows": _list(closed_object({"id": _id(rows, rows), **labels}))})


def judging_schema(predictions: int, gold: int) -> JsonSchema:
    """Return {"predictions": [{"id", "matches": [gold ids]}], "gold": [{"id", "matches": [prediction ids]}]}."""
    ids = {"prediction": predictions, "gold": gold}
    named = {name: {"$ref": f"#/$defs/{name}"} for name in ids}
    sides = {
        "predictions": _list(closed_object({"id": named["prediction"], "matches": _list(named["gold"])})),
        "gold": _list(closed_object({"id": named["gold"], "matches": _list(named["prediction"])})),
    }
    return closed_object(sides) | {"$defs": {name: _id(count, predictions + gold) for name, count in ids.items()}}


def follow_up_schema(missing: Sequence[Sequence[int]], sizes: Sequence[int]) -> JsonSchema:
    """`judging_schema` for the rows at the places `missing` of either side, with matches among all rows of the other
    side."""
    schema = judging_schema(*sizes)
    for name, places in zip(("predictions", "gold"), missing, strict=True):
        row = schema["properties"][name]["items"]["properties"]
        if places and len(places) <= MOST_IDS:
            row["id"] = {"type": "integer", "enum": [at + 1 for at in places]}
    return schema


def _id(count: int, listed: int) -> JsonSchema:
    integer: JsonSchema = {"type": "integer"}
    return integer | {"enum": list(range(1, count + 1))} if count and listed <= MOST_IDS else integer


def _one_of(values: tuple[str, ...]) -> JsonSchema:
    return {"type": "string", "enum": list(values)}


def _list(items: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": items}
