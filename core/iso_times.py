"""Times as text, made by the database: where very many rows are only written out, to make an object of each takes
longer than all else."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Func


class IsoTime(Func):
    """A time in UTC as `datetime.isoformat` writes it: microseconds where there are any, and `+00:00`."""

    arity = 1
    output_field = CharField()

    def as_sqlite(self, compiler: Any, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="replace(%(expressions)s, ' ', 'T') || '+00:00'", **context)

    def as_postgresql(self, compiler: Any, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        fraction = "CASE WHEN to_char({0}, 'US') = '000000' THEN '' ELSE to_char({0}, '.US') END"
        utc = "%(expressions)s AT TIME ZONE 'UTC'"
        template = f"""to_char({utc}, 'YYYY-MM-DD"T"HH24:MI:SS') || {fraction.format(utc)} || '+00:00'"""
        return self.as_sql(compiler, connection, template=template, **context)
