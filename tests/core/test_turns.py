"""Long work leaves other threads their turns, and alone it makes no pause."""

from __future__ import annotations

import threading

import pytest

from core import turns
from core.turns import taking_turns


@pytest.mark.parametrize(("threads", "expected"), [(1, 0), (2, 4)])
def test_it_pauses_where_the_process_has_other_threads(monkeypatch, threads, expected):
    pauses = []
    monkeypatch.setattr(threading, "active_count", lambda: threads)
    monkeypatch.setattr(turns.time, "sleep", pauses.append)
    assert list(taking_turns(iter(range(1_100)))) == list(range(1_100))
    assert pauses == [turns._SECONDS] * expected
