"""Long JSON columns hold what any JSON column holds, and are parsed otherwise."""

from __future__ import annotations

import json
from types import SimpleNamespace

from django.db import connection, models
from django.db.migrations.writer import MigrationWriter

from core.stored_json import KeptByText, LongJSONField

VALUES = [
    None, True, 0, -7, 2**70, 0.1, 1e-7, 5e-324, 1.7976931348623157e308, 0.30000000000000004, "", "Žofia 李", "\ud83d",
    "\x00\u2028", [], {}, {"a": [1, {"b": None}]}, {"1": {"0.5": [0.25, 1.0]}},
]  # fmt: skip


def test_a_value_is_read_as_it_was_written():
    """A long column reads each as a plain one does, of the same type: half a surrogate pair too, which one parser
    refuses."""
    for value in VALUES:
        text = json.dumps(value)
        read = LongJSONField().from_db_value(text, SimpleNamespace(), connection)
        assert read == models.JSONField().from_db_value(text, SimpleNamespace(), connection) == value
        assert type(read) is type(value)


def test_nothing_and_what_nests_deeply_are_read():
    text = "[" * 500 + "]" * 500
    field = LongJSONField()
    assert field.from_db_value(None, SimpleNamespace(), connection) is None
    assert field.from_db_value(text, SimpleNamespace(), connection) == json.loads(text)


def test_migrations_see_a_plain_column():
    assert MigrationWriter.serialize(LongJSONField(default=dict)) == MigrationWriter.serialize(
        models.JSONField(default=dict)
    )


def test_json_is_parsed_by_the_quick_parser(monkeypatch):
    monkeypatch.setattr("core.stored_json.from_json", lambda text: ["quick", text])
    assert LongJSONField().from_db_value("[1]", SimpleNamespace(), connection) == ["quick", "[1]"]


def test_texts_read_last_are_kept_up_to_so_many_characters():
    read = []
    kept = KeptByText(lambda text: read.append(text) or [text], most=6)
    first = kept("aaa")
    assert kept("bbb") == ["bbb"] and kept("aaa") is first and read == ["aaa", "bbb"]
    kept("c")  # for which the one that was asked for longest ago goes
    assert ("aaa" in kept, "bbb" in kept, "c" in kept) == (True, False, True)
    assert (
        kept("longer than all") is kept("longer than all")
        and "aaa" not in kept
        and read[2:] == ["c", "longer than all"]
    )
