"""Label schemas: loading one, and finding those that are here."""

from django.db import IntegrityError, transaction

from annotation.domain.schema import Schema
from annotation.domain.schema_files import document_of, read_schema
from annotation.domain.shipped_schemas import SHIPPED
from annotation.models import LabelSchema, SchemaUnknown, User
from annotation.services import audit


class SchemaRefused(ValueError):
    """The schema is refused; the message is one sentence."""


def load_schema(*, by: User | None, raw: bytes, file: str) -> tuple[Schema, bool]:
    """Return the schema of a file, and whether it is new here: then it was taken. Raises BadSchema and
    SchemaRefused."""
    schema = read_schema(raw, file)
    return schema, take_schema(by=by, schema=schema, file=file)


def take_schema(*, by: User | None, schema: Schema, file: str) -> bool:
    """Keep a schema for good and return whether it is new here. `file` is named where it is refused. Raises
    SchemaRefused."""
    if is_here(schema, file):
        return False
    try:
        with transaction.atomic():
            values = {"name": schema.name, "version": schema.version, "content": document_of(schema)}
            LabelSchema.objects.create(**values, loaded_by=by)
            audit.record(by=by, project=None, action="schema.loaded", target=schema.reference)
    except IntegrityError:  # loaded since it was looked for
        if not is_here(schema, file):
            raise
        return False
    return True


def is_here(schema: Schema, file: str) -> bool:
    """Return whether this very schema is here. Raises SchemaRefused where its name and version have other content."""
    stored = SHIPPED.get((schema.name, schema.version))
    if stored is None:
        row = LabelSchema.objects.filter(name=schema.name, version=schema.version).first()
        stored = row.schema if row else None
    if stored not in (None, schema):
        raise SchemaRefused(
            f"{file}, version: {schema.reference} is here already with other content, which projects label by; "
            "expected another version."
        )
    return stored is not None


def known_schemas() -> list[Schema]:
    """Return every schema that a project can choose: those that come with the program first, then by name and
    version."""
    return [*SHIPPED.values(), *(row.schema for row in LabelSchema.objects.all())]


def find_schema(reference: str) -> Schema:
    """Return the schema of a reference such as name:1; a name alone will do where it has one version. Raises
    SchemaUnknown."""
    schemas = known_schemas()
    matching = [schema for schema in schemas if reference in (schema.reference, schema.name)]
    if len(matching) == 1:
        return matching[0]
    expected = ", ".join(schema.reference for schema in (matching or schemas))
    what = "is not one schema" if matching else "is not a label schema that is here"
    raise SchemaUnknown(f"{reference[:60]!r} {what}; expected one of {expected}.")
