"""What a database consists of, as texts that are the same whichever way its tables came to be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.apps import apps
from django.db import connection

SQLITE = "SELECT type, tbl_name, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
POSTGRESQL = """
SELECT 'column', table_name, column_name, concat_ws(' ', udt_name, character_maximum_length, numeric_precision,
       numeric_scale, is_nullable, is_identity, collation_name, 'DEFAULT ' || column_default)
FROM information_schema.columns WHERE table_schema = current_schema()
UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = current_schema()::regnamespace AND conrelid <> 0
UNION ALL SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()
UNION ALL SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid)
FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'function', '', proname, pg_get_functiondef(oid)
FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
"""
SPACE = re.compile(r"\s+")
NAMED_OTHERWISE = {"index", "constraint"}
"""What Django gives a name of a hash, of whatever the table and its columns were called when it was made."""


def schema() -> list[str]:
    """Return all columns, indexes, constraints, triggers and functions of the test's database, sorted.

    In which order the columns of a table stand does not matter, nor what an index or a constraint is called that no
    model gives a name.
    """
    with connection.cursor() as cursor:
        cursor.execute(SQLITE if connection.vendor == "sqlite" else POSTGRESQL)
        rows = cursor.fetchall()
    return sorted(" ".join(part) for row in rows for part in _parts(*row))


def _parts(kind: str, table: str, name: str, definition: str) -> Iterator[tuple[str, ...]]:
    definition = SPACE.sub(" ", definition)
    if kind == "table":
        inner = definition[definition.index("(") + 1 : definition.rindex(")")]
        yield from (("column or constraint", table, part.strip()) for part in _split(inner))
    elif kind in NAMED_OTHERWISE and name not in _names():
        yield kind, table, definition.replace(name, "…")
    else:
        yield kind, table, name, definition


def _names() -> set[str]:
    models = apps.get_models(include_auto_created=True)
    return {one.name for model in models for one in (*model._meta.indexes, *model._meta.constraints)}


def _split(text: str) -> Iterator[str]:
    """Yield what commas part that stand in no brackets."""
    depth, first = 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            yield text[first:at]
            first = at + 1
    yield text[first:]
