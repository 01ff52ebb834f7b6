"""Values that are kept under the versions of their inputs, and computed while a request waits for a moment."""

from __future__ import annotations

from itertools import count
from threading import Event

import pytest

from core import kept as keeper
from core.kept import kept
from tests.patience import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_value_is_computed_once_for_each_version():
    computed = []

    @kept("doubled", depends_on=lambda number, version: [number, version])
    def doubled(number, version):
        computed.append(version)
        return 2 * number

    assert [doubled(2, 1), doubled(2, 1), doubled(2, 2), doubled.ready(2, 2)] == [4] * 4
    assert computed == [1, 2]


def test_a_page_has_a_value_though_its_inputs_change_with_every_request():
    versions = count()

    @kept("moving", depends_on=lambda: next(versions))
    def moving():
        return "value"

    assert [moving.ready() for _ in range(3)] == ["value"] * 3


def test_what_takes_long_is_not_waited_for_and_is_there_later(monkeypatch):
    may_end = Event()

    @kept("slow", depends_on=lambda: 1)
    def slow():
        may_end.wait(PATIENCE)
        return "value"

    monkeypatch.setattr(keeper, "WAIT_SECONDS", 0.01)
    assert slow.ready() is None and slow.ready() is None
    may_end.set()
    monkeypatch.setattr(keeper, "WAIT_SECONDS", PATIENCE)
    assert slow.ready() == "value" and not keeper._running


def test_what_a_computation_raises_is_raised_to_who_asks_and_tried_again():
    @kept("failing", depends_on=lambda: 1)
    def failing():
        raise ValueError("no figure")

    for _ in range(2):
        with pytest.raises(ValueError, match="no figure"):
            failing.ready()
    assert not keeper._running
