"""What is kept: values under the versions of their inputs, computed while a page waits for a moment, and long JSON."""

import json
from itertools import count
from threading import Event
from types import SimpleNamespace

import pytest
from django.db import connection, models
from django.db.migrations.writer import MigrationWriter

from core import kept as keeper
from core.kept import BeingComputed, kept, on_page
from core.stored_json import KeptByText, LongJSONField
from tests.patience import PATIENCE


@pytest.mark.django_db(transaction=True)
def test_a_value_is_computed_once_for_each_version_and_release(settings):
    computed, versions = [], count()

    @kept("doubled", depends_on=lambda number, version: [number, version])
    def doubled(number, version):
        computed.append((settings.CREDENCE_VERSION, version))
        return 2 * number

    @kept("moving", depends_on=lambda: next(versions))
    def moving():
        return "value"

    settings.CREDENCE_VERSION = "1"
    with on_page():
        assert doubled(2, 1) == 4
        assert [moving() for _ in range(3)] == ["value"] * 3, "though its inputs change with every request"
    assert [doubled(2, 1), doubled(2, 2)] == [4, 4]
    settings.CREDENCE_VERSION = "2"
    assert doubled(2, 2) == 4
    assert computed == [("1", 1), ("1", 2), ("2", 2)]


@pytest.mark.django_db(transaction=True)
def test_what_takes_long_is_computed_once_by_a_thread_and_what_it_raises_is_raised_to_who_asks(monkeypatch):
    may_end, computed = Event(), []

    @kept("slow", depends_on=lambda: 1)
    def slow():
        computed.append(1)
        may_end.wait(PATIENCE)
        return "value"

    @kept("failing", depends_on=lambda: 1)
    def failing():
        raise ValueError("no figure")

    monkeypatch.setattr(keeper, "WAIT_SECONDS", 0.01)
    with on_page():
        for _ in range(2):
            with pytest.raises(BeingComputed):
                slow()
        may_end.set()
        monkeypatch.setattr(keeper, "WAIT_SECONDS", PATIENCE)
        assert slow() == "value" and computed == [1] and not keeper._running
        for _ in range(2):
            with pytest.raises(ValueError, match="no figure"):
                failing()
    assert slow() == "value" and computed == [1] and not keeper._running


VALUES = [None, True, 0, -7, 2**70, 0.1, 1e-7, 5e-324, 1.7976931348623157e308, 0.30000000000000004, "", "Žofia 李"]
VALUES += ["\ud83d", "\x00\u2028", [], {}, {"a": [1, {"b": None}]}, {"1": {"0.5": [0.25, 1.0]}}]


def test_a_long_column_reads_what_a_plain_one_does_by_the_quick_parser(monkeypatch):
    """Of the same type: half a surrogate pair too, which one parser refuses, and what nests deeply."""

    def read(text: str | None, field: models.Field):
        return field.from_db_value(text, SimpleNamespace(), connection)

    for value in VALUES:
        text = json.dumps(value)
        assert read(text, LongJSONField()) == read(text, models.JSONField()) == value
        assert type(read(text, LongJSONField())) is type(value)
    deep = "[" * 500 + "]" * 500
    assert read(None, LongJSONField()) is None and read(deep, LongJSONField()) == json.loads(deep)
    seen = [MigrationWriter.serialize(field(default=dict)) for field in (LongJSONField, models.JSONField)]
    assert seen[0] == seen[1], "to migrations it is a plain column"
    monkeypatch.setattr("core.stored_json.from_json", lambda text: ["quick", text])
    assert read("[1]", LongJSONField()) == ["quick", "[1]"]


def test_texts_read_last_are_kept_up_to_so_many_characters():
    read = []
    held = KeptByText(lambda text: read.append(text) or [text], most=6)
    first = held("aaa")
    assert held("bbb") == ["bbb"] and held("aaa") is first and read == ["aaa", "bbb"]
    held("c")  # for which the one that was asked for longest ago goes
    assert [text in held for text in ("aaa", "bbb", "c")] == [True, False, True]
    assert held("longer than all") is held("longer than all") and "aaa" not in held
    assert read[2:] == ["c", "longer than all"]
