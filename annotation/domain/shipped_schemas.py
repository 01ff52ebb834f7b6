"""The label schemas that come with the program: one JSON file each in `schemas/`.

OmniToM's dimensions and labels are those of the paper (section 3 and appendix A.2); the definitions are this project's own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from annotation.domain.schema import Schema
from annotation.domain.schema_files import read_schema

SHIPPED: Mapping[tuple[str, str], Schema] = {
    (schema.name, schema.version): schema
    for schema in (
        read_schema(file.read_bytes(), file.name) for file in sorted((Path(__file__).parent / "schemas").glob("*.json"))
    )
}
"""By name and version."""

DEFAULT_SCHEMA = SHIPPED["omnitom", "1"]
"""The schema of a project that did not choose one."""


def version_shown(schema: Schema) -> str:
    """Return how texts and digests name a schema: the default one, which was the only one for long, by its version alone."""
    return schema.version if schema.name == DEFAULT_SCHEMA.name else schema.reference
