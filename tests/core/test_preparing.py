"""Who needs what is being prepared waits until it is there."""

from __future__ import annotations

import threading

import pytest

from core import preparing
from tests.patience import PATIENCE


@pytest.fixture
def begun(monkeypatch, tmp_path):
    monkeypatch.setenv(preparing.NAME, "")  # put back afterwards
    preparing.begin(tmp_path / "var" / "preparing")


def test_where_nothing_is_being_prepared_nobody_waits(monkeypatch):
    monkeypatch.delenv(preparing.NAME, raising=False)
    preparing.wait()


def test_who_waits_goes_on_once_all_is_done(begun):
    waiting = threading.Thread(target=preparing.wait, daemon=True)
    waiting.start()
    waiting.join(5 * preparing.LOOK_SECONDS)
    assert waiting.is_alive()
    preparing.done()
    waiting.join(PATIENCE)
    assert not waiting.is_alive()
