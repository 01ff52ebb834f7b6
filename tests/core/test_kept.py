"""Values that are kept under the versions of their inputs, and computed while a page waits for a moment."""

from __future__ import annotations

from itertools import count
from threading import Event

import pytest

from core import kept as keeper
from core.kept import BeingComputed, kept, on_page
from tests.patience import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_value_is_computed_once_for_each_version_and_release(settings):
    computed = []

    @kept("doubled", depends_on=lambda number, version: [number, version])
    def doubled(number, version):
        computed.append((settings.CREDENCE_VERSION, version))
        return 2 * number

    settings.CREDENCE_VERSION = "1"
    with on_page():
        assert doubled(2, 1) == 4
    assert [doubled(2, 1), doubled(2, 2)] == [4, 4]
    settings.CREDENCE_VERSION = "2"
    assert doubled(2, 2) == 4
    assert computed == [("1", 1), ("1", 2), ("2", 2)]


def test_a_page_has_a_value_though_its_inputs_change_with_every_request():
    versions = count()

    @kept("moving", depends_on=lambda: next(versions))
    def moving():
        return "value"

    with on_page():
        assert [moving() for _ in range(3)] == ["value"] * 3


def test_what_takes_long_is_computed_once_by_a_thread_and_is_there_later(monkeypatch):
    may_end, computed = Event(), []

    @kept("slow", depends_on=lambda: 1)
    def slow():
        computed.append(1)
        may_end.wait(PATIENCE)
        return "value"

    monkeypatch.setattr(keeper, "WAIT_SECONDS", 0.01)
    with on_page():
        for _ in range(2):
            with pytest.raises(BeingComputed):
                slow()
        may_end.set()
        monkeypatch.setattr(keeper, "WAIT_SECONDS", PATIENCE)
        assert slow() == "value" and computed == [1] and not keeper._running
    assert slow() == "value" and computed == [1]


def test_what_a_computation_raises_is_raised_to_who_asks_and_tried_again():
    @kept("failing", depends_on=lambda: 1)
    def failing():
        raise ValueError("no figure")

    with on_page():
        for _ in range(2):
            with pytest.raises(ValueError, match="no figure"):
                failing()
    assert not keeper._running
