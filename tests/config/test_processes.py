"""Processes forked from one end together, but for those that are begun again; and what `make serve` keeps alive begins
at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from configparser import RawConfigParser
from contextlib import contextmanager
from types import SimpleNamespace

from supervisor import supervisord
from supervisor.states import SupervisorStates

from config.supervised import Supervisor
from tests.commands import ROOT
from tests.patience import PATIENCE

PARENT = """
import os, signal, sys, time
from config import web
web.PAUSE_SECONDS = 0.01

def work(name, *, finishes):
    signal.signal(signal.SIGTERM, finishes)
    os.write(1, f"{name} {os.getpid()}\\n".encode())  # whole, beside another's
    while True:
        signal.pause()

own = web.Family()
own.fork(lambda: work("member", finishes=lambda *_: sys.exit()))
own.fork(lambda: work("again", finishes=FINISHES), again=True)
os.write(1, b"watches 0\\n")
sys.exit(own.watch())
"""


@contextmanager
def family(finishes: str = "lambda *_: sys.exit()") -> Iterator[tuple[subprocess.Popen, dict[str, int]]]:
    """Yield a parent, and its processes by what they do, once all have begun."""
    command = [sys.executable, "-c", f"FINISHES = {finishes}\n{PARENT}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True) as parent:
        yield parent, began(parent, 3)
        parent.kill()


def began(parent: subprocess.Popen, number: int) -> dict[str, int]:
    lines = [parent.stdout.readline().split() for _ in range(number)]
    return {name: int(process) for name, process in lines}


def test_a_member_that_dies_takes_all_with_it_and_what_is_begun_again_nobody():
    with family() as (parent, first):
        os.kill(first["again"], signal.SIGKILL)
        assert began(parent, 1)["again"] != first["again"] and parent.poll() is None
        os.kill(first["member"], 0)
        parent.terminate()
        # at the end of both outputs nobody is left who could write
        assert parent.communicate(timeout=PATIENCE) == ("", "A process ended (-9); another begins.\n")
        assert parent.returncode == 0
    with family() as (parent, first):
        os.kill(first["member"], signal.SIGKILL)
        assert parent.communicate(timeout=PATIENCE) == ("", "") and parent.returncode == 1
    with family() as (parent, _):  # they end with the parent however it dies
        parent.kill()
        assert parent.communicate(timeout=PATIENCE) == ("", "")


def test_nobody_waits_for_what_is_finished_elsewhere():
    """A worker comes to its end when its calls have; a site that broke down is up again long before."""
    with family("lambda *_: None") as (parent, first):
        os.kill(first["member"], signal.SIGKILL)
        assert parent.wait(PATIENCE) == 1
        os.kill(first["again"], signal.SIGKILL)  # was there still


class Group:
    def __init__(self, name: str, done: list[str]) -> None:
        self.name, self.done = name, done

    def __lt__(self, other: Group) -> bool:
        return self.name < other.name

    def transition(self) -> None:
        self.done.append(self.name)


def test_programs_start_before_the_first_wait_and_all_end_where_it_cannot_be_prepared(monkeypatch):
    done: list[str] = []
    kept = Supervisor(SimpleNamespace(mood=SupervisorStates.RUNNING))
    kept.process_groups = {name: Group(name, done) for name in ("site", "prepare")}
    monkeypatch.setattr(supervisord.Supervisor, "runforever", lambda _: done.append("waits"))
    kept.runforever()
    assert done == ["prepare", "site", "waits"]
    programs = RawConfigParser()
    programs.read(ROOT / "config" / "supervisord.conf")
    monkeypatch.setattr(Supervisor, "failed", False)
    for name, expected, fails in (("prepare", True, False), ("site", False, False), ("prepare", False, True)):
        assert f"program:{name}" in programs
        kept.note_end(SimpleNamespace(process=SimpleNamespace(config=SimpleNamespace(name=name)), expected=expected))
        assert kept.failed is fails and (kept.options.mood < SupervisorStates.RUNNING) is fails
