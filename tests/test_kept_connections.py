"""A connection to PostgreSQL goes from one test to the next only as it was opened."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from core.cursors import same_text_cursor
from tests.kept_connections import should_reload_connections as should_reload

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="those to SQLite are not kept"),
]


def told(sql: str) -> str | int:
    with connection.cursor() as cursor:
        return cursor.execute(sql).fetchone()[0]


def test_one_in_a_transaction_is_closed_and_any_other_kept():
    assert told("SELECT 1") == 1 and not should_reload(None)
    with transaction.atomic():
        assert should_reload(None)
    assert not should_reload(None)


def test_what_was_set_is_set_back():
    for _ in range(4):
        with same_text_cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, false)", ["7777"])
    assert told("SELECT count(*) FROM pg_prepared_statements") == 1
    assert not should_reload(None)
    assert told("SHOW statement_timeout") == "0" and told("SELECT count(*) FROM pg_prepared_statements") == 0
    assert told("SHOW TimeZone") == "UTC"
