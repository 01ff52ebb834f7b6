"""What `make serve` keeps alive begins at once."""

from __future__ import annotations

from configparser import RawConfigParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from supervisor import supervisord
from supervisor.states import SupervisorStates

from config.supervised import Supervisor

ROOT = Path(__file__).resolve().parents[2]


def test_programs_start_before_the_first_wait(monkeypatch):
    done = []
    kept = Supervisor(SimpleNamespace())
    kept.process_groups = {name: Group(name, done) for name in ("site", "prepare")}
    monkeypatch.setattr(supervisord.Supervisor, "runforever", lambda _: done.append("waits"))
    kept.runforever()
    assert done == ["prepare", "site", "waits"]


class Group:
    def __init__(self, name: str, done: list[str]) -> None:
        self.name, self.done = name, done

    def __lt__(self, other: Group) -> bool:
        return self.name < other.name

    def transition(self) -> None:
        self.done.append(self.name)


@pytest.mark.parametrize(
    "name, expected, fails", [("prepare", False, True), ("prepare", True, False), ("site", False, False)]
)
def test_all_end_where_it_cannot_be_prepared(monkeypatch, name, expected, fails):
    programs = RawConfigParser()
    programs.read(ROOT / "config" / "supervisord.conf")
    assert f"program:{name}" in programs
    monkeypatch.setattr(Supervisor, "failed", False)
    kept = Supervisor(SimpleNamespace(mood=SupervisorStates.RUNNING))
    kept.note_end(SimpleNamespace(process=SimpleNamespace(config=SimpleNamespace(name=name)), expected=expected))
    assert kept.failed is fails
    assert (kept.options.mood < SupervisorStates.RUNNING) is fails
