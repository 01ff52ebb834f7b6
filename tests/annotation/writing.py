"""What an import does to the database, transaction by transaction."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from annotation.services import archive_import, new_stories, short_writes, vote_import
from annotation.services.short_writes import ShortWrites


@contextmanager
def watched_transactions(monkeypatch) -> Iterator[list[int]]:
    """Gathers how many rows each outermost transaction wrote (SQLite counts them); statements outside of one write
    none."""
    rows: list[int] = []
    monkeypatch.setattr(short_writes, "_PAUSE_SECONDS", 0)
    switch = connection.set_autocommit  # off begins an outermost transaction, on every database; on again ends it
    began: list[int] = []

    def count() -> int:
        return connection.connection.total_changes if connection.vendor == "sqlite" else 0

    def switching(autocommit: bool, *args, **options) -> None:
        switch(autocommit, *args, **options)
        if not autocommit:
            began.append(count())
        elif began:
            rows.append(count() - began.pop())

    with monkeypatch.context() as patched:
        patched.setattr(connection, "set_autocommit", switching)
        patched.setattr(archive_import, "recount_project", lambda project: 0)
        for writer in (new_stories, vote_import):  # counts of stories are not among the rows of a file
            patched.setattr(writer, "recount", lambda stories: None)
        yield rows


def small_steps(monkeypatch, rows: int) -> None:
    """Makes every transaction of an import hold about so many rows."""
    made = ShortWrites.__init__

    def smaller(self, *args) -> None:
        made(self, *args)
        self.rows = rows

    monkeypatch.setattr(ShortWrites, "__init__", smaller)
    monkeypatch.setattr(short_writes, "MOST_ROWS", rows)
    monkeypatch.setattr(short_writes, "_LEAST_ROWS", rows)
