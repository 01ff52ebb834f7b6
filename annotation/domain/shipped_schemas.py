"""The label schemas that come with the program: one JSON file each in `schemas/`.

OmniToM's dimensions and labels are those of the paper (section 3 and appendix A.2); the definitions are this project's
own words.
"""

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
"""Shipped schemas by name and version."""

OMNITOM = SHIPPED["omnitom", "1"]
"""The paper's schema: what the sample corpus is labelled by, and what texts and layouts of their own were made for. It
stays itself, whatever the default becomes."""

DEFAULT_SCHEMA = OMNITOM
"""The schema of a new project that does not choose one. Nothing that is here already is read by it."""


def schema_details(schema: Schema) -> dict[str, str]:
    """Return what an audit entry says of a project's schema: nothing of OmniToM's."""
    return {} if schema == OMNITOM else {"schema": schema.reference}


def version_text(schema: Schema) -> str:
    """Return how texts and digests name a schema: OmniToM's by its version alone."""
    return schema.version if schema.name == OMNITOM.name else schema.reference
