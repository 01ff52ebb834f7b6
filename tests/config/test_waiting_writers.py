"""Who waits for SQLite's write lock asks for it often, and not for ever."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from django.db import OperationalError, connection, transaction

from annotation.models import Project
from config.sqlite import base
from config.sqlite.queue import queue_of

pytestmark = [
    pytest.mark.once,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'sqlite'", reason="the lock is SQLite's"),
]


@pytest.fixture
def writer() -> Iterator[sqlite3.Connection]:
    """Another process's connection, which holds the lock."""
    connection.ensure_connection()
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def busy_timeout() -> int:
    return connection.connection.execute("PRAGMA busy_timeout").fetchone()[0]


def test_a_writer_asks_again_within_milliseconds_however_long_it_waited(writer, monkeypatch):
    pauses = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 300:  # SQLite's own waiting would ask ten times a second by now
            writer.execute("COMMIT")

    monkeypatch.setattr(base.time, "sleep", sleep)
    before = busy_timeout()
    with transaction.atomic():
        Project.objects.create(slug="hearts")
    assert len(pauses) == 300 and max(pauses) <= 0.01
    assert busy_timeout() == before == 1000 * connection.settings_dict["OPTIONS"]["timeout"]


def test_a_writer_gives_up_when_its_time_is_over(writer, monkeypatch):
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0)
    with pytest.raises(OperationalError, match="locked"), transaction.atomic():
        pass
    writer.execute("COMMIT")
    with transaction.atomic():
        Project.objects.create(slug="minds")
    assert Project.objects.count() == 1


def test_what_is_no_waiting_is_told_at_once(writer, monkeypatch):
    writer.execute("COMMIT")

    def broken(self) -> None:
        raise OperationalError("no such table") from sqlite3.OperationalError("no such table")

    monkeypatch.setattr(base.time, "sleep", lambda seconds: pytest.fail("waited for nothing"))
    monkeypatch.setattr(base.base.DatabaseWrapper, "_start_transaction_under_autocommit", broken)
    with pytest.raises(OperationalError, match="no such table"), transaction.atomic():
        pass


def test_a_transaction_has_its_turn_until_it_ends_however_it_ends():
    queue = queue_of(str(connection.settings_dict["NAME"]))
    turns = []
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        turns.append(queue.taken)
        with transaction.atomic():
            turns.append(queue.taken)
        raise ZeroDivisionError
    turns.append(queue.taken)
    with transaction.atomic():
        turns.append(queue.taken)
        connection.close()
    turns.append(queue.taken)
    assert turns == [True, True, False, True, False]


def test_who_is_closed_in_a_transaction_gives_up_the_lock_though_a_cursor_of_it_lives():
    alive = connection.cursor()
    alive.execute("SELECT 1")
    with transaction.atomic():
        Project.objects.create(slug="hearts")
        connection.close()
    with closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
    connection.ensure_connection()
    connection.connection.close()
    connection.close()  # nothing is left to be rolled back
    assert not Project.objects.exists() and alive
