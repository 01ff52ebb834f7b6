"""A connection goes from one test to the next only as it was opened."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from core.reads import same_text_cursor
from tests.kept_connections import should_reload_connections as should_reload

pytestmark = pytest.mark.django_db(transaction=True)


def told(sql: str) -> str | int:
    with connection.cursor() as cursor:
        return cursor.execute(sql).fetchone()[0]


def test_one_in_a_transaction_is_closed_and_any_other_kept():
    assert told("SELECT 1") == 1 and not should_reload(None)
    with transaction.atomic():
        assert should_reload(None)
    assert not should_reload(None)


def test_one_that_is_set_otherwise_is_closed_on_sqlite_and_set_back_on_postgresql():
    if connection.vendor == "sqlite":
        told("PRAGMA busy_timeout = 7")
        assert should_reload(None)
        return
    for _ in range(4):
        with same_text_cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, false)", ["7777"])
    assert told("SELECT count(*) FROM pg_prepared_statements") == 1
    assert not should_reload(None)
    assert told("SHOW statement_timeout") == "0" and told("SELECT count(*) FROM pg_prepared_statements") == 0
    assert told("SHOW TimeZone") == "UTC"
