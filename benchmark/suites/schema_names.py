"""The names of suites and metric groups for gold of a label schema that has its own."""

from __future__ import annotations

from annotation.domain.schema import Schema

_JOINT = "__"


def named_by(name: str, schema: Schema) -> str:
    """Return the name of a suite, or of a metric group, for gold of a schema that has its own: letters, digits, hyphens
    and low lines."""
    return _JOINT.join((name, schema.name, schema.version.replace(".", "_")))


def schema_in(name: str) -> tuple[str, str, str] | None:
    """Return (name, schema name, schema version) of what `named_by` made; None for another name."""
    parts = name.split(_JOINT, 2)
    return (parts[0], parts[1], parts[2].replace("_", ".")) if len(parts) == 3 else None
