"""What `make serve` keeps alive begins at once."""

from __future__ import annotations

from types import SimpleNamespace

from supervisor import supervisord

from config.supervised import Supervisor


def test_programs_start_before_the_first_wait(monkeypatch):
    done = []
    kept = Supervisor(SimpleNamespace())
    kept.process_groups = {name: Group(name, done) for name in ("worker", "web")}
    monkeypatch.setattr(supervisord.Supervisor, "runforever", lambda _: done.append("waits"))
    kept.runforever()
    assert done == ["web", "worker", "waits"]


class Group:
    def __init__(self, name: str, done: list[str]) -> None:
        self.name, self.done = name, done

    def __lt__(self, other: Group) -> bool:
        return self.name < other.name

    def transition(self) -> None:
        self.done.append(self.name)
