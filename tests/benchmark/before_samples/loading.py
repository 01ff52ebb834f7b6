"""Brings `installation.json.xz` into the test's database as it was then, and up to now by the migrations."""

from __future__ import annotations

import gc
import json
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from django.core.management.color import no_style
from django.db import connection, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.utils.dateparse import parse_datetime

from tests.benchmark.before_samples.schema import schema

FILE = Path(__file__).parent / "installation.json.xz"
KEPT = {"django_migrations", "django_content_type", "auth_permission"}
APPS_KEPT = {"auth", "contenttypes"}
TABLES_KEPT = ("auth_", "django_content_type", "django_migrations")


@cache
def installation() -> dict[str, Any]:
    """{"migrations", "rows", "figures", "afterwards"}; nobody may change it."""
    return json.loads(lzma.decompress(FILE.read_bytes()))


def upgrade() -> tuple[list[str], list[str]]:
    """Leave the installation migrated to now, by the single migrations, in a database that was empty; the schema is
    that of now also where anything fails. Return the schema that was there, of a new database, and this one."""
    new, newest = schema(), by_single_migrations().loader.graph.leaf_nodes()
    then = [*installation()["migrations"].items()]
    _drop()
    with _nothing_collected():
        try:
            by_single_migrations().migrate(then)
            _load(by_single_migrations().loader.project_state(then).apps)
            by_single_migrations().migrate(newest)
        except BaseException:
            _empty()
            by_single_migrations().migrate(newest)
            raise
    return new, schema()


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Have the garbage collector wait: Django draws up most models anew at each step, and to look at all of them again
    and again takes it a quarter of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def by_single_migrations() -> MigrationExecutor:
    """Return what migrates without those that stand for many, which are for new databases."""
    executor = MigrationExecutor(connection)
    executor.loader = loader = MigrationLoader(connection, replace_migrations=False)
    for name, migration in loader.replacements.items():
        loader.graph.remove_replacement_node(name, migration.replaces)
    return executor


def _drop() -> None:
    """Leave nothing that migrations made, but for what rows refer to that outlive each test.

    As every installation did, the tables of then come of the migrations up to then: to take back the later ones takes
    twice as long, for Django draws up all models anew at each step.
    """
    apps = by_single_migrations().loader.migrated_apps - APPS_KEPT
    tables = sorted(name for name in connection.introspection.table_names() if not name.startswith(TABLES_KEPT))
    with connection.constraint_checks_disabled(), connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"DROP TABLE {_quoted(table)}{'' if connection.vendor == 'sqlite' else ' CASCADE'}")
        if connection.vendor != "sqlite":  # of triggers, which went with their tables
            cursor.execute("SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = current_schema()::regnamespace")
            for (function,) in cursor.fetchall():
                cursor.execute(f"DROP FUNCTION {function}")
        marks = ", ".join(["%s"] * len(apps))
        cursor.execute(f"DELETE FROM django_migrations WHERE app IN ({marks})", sorted(apps))


def _load(apps) -> None:
    """Foreign keys are checked at the commit, so the order of tables does not matter."""
    held = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}
    with transaction.atomic(), connection.cursor() as cursor:
        for table, found in installation()["rows"].items():
            fields = {field.column: field for field in held[table]._meta.concrete_fields}
            columns = [fields[name] for name in found["columns"]]
            rows = [[_stored(*one) for one in zip(columns, row, strict=True)] for row in found["rows"]]
            names, places = ", ".join(map(_quoted, found["columns"])), ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {_quoted(table)} ({names}) VALUES ({places})", rows)
        for statement in connection.ops.sequence_reset_sql(no_style(), list(held.values())):
            cursor.execute(statement)


def _stored(field: models.Field, value: Any) -> Any:
    """As this database takes it."""
    if value is None or isinstance(field, models.JSONField):  # JSON is text here and there
        return value
    if isinstance(field, models.DateTimeField):
        return connection.ops.adapt_datetimefield_value(parse_datetime(value))
    return field.get_db_prep_save(field.to_python(value), connection)


def _empty() -> None:
    tables = sorted(set(connection.introspection.table_names()) - KEPT)
    with transaction.atomic(), connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"DELETE FROM {_quoted(table)}")


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
