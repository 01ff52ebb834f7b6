"""JSON schemas that hold an answer to its shape, in the subset that the strict modes of providers take."""

from __future__ import annotations

from typing import Any

JsonSchema = dict[str, Any]
"""A JSON Schema, or a part of one."""


def closed_object(properties: JsonSchema) -> JsonSchema:
    """Return the schema of an object that has all of these properties and no other."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
