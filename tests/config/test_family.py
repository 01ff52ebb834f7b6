"""Processes forked from one: they end together, but for those that are begun again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
PARENT = """
import os, signal, sys, time
from config import family
family.PAUSE_SECONDS = 0.01

def work(name, *, finishes):
    signal.signal(signal.SIGTERM, finishes)
    os.write(1, f"{name} {os.getpid()}\\n".encode())  # whole, beside another's
    while True:
        signal.pause()

own = family.Family()
own.fork(lambda: work("member", finishes=lambda *_: sys.exit()))
own.fork(lambda: work("again", finishes=FINISHES), again=True)
os.write(1, b"watches 0\\n")
sys.exit(own.watch())
"""


@pytest.fixture
def parent(request) -> Iterator[subprocess.Popen]:
    code = f"FINISHES = {getattr(request, 'param', 'lambda *_: sys.exit()')}\n{PARENT}"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def started(parent: subprocess.Popen, number: int) -> dict[str, int]:
    """Return the ids of the next processes that say that they began, by what they do."""
    lines = [parent.stdout.readline().split() for _ in range(number)]
    return {name: int(process) for name, process in lines}


def test_a_member_that_dies_takes_all_with_it(parent):
    os.kill(started(parent, 3)["member"], signal.SIGKILL)
    assert parent.communicate(timeout=PATIENCE) == ("", "")  # at its end: nobody is left who could write
    assert parent.returncode == 1


def test_what_is_begun_again_takes_nobody_with_it(parent):
    first = started(parent, 3)
    os.kill(first["again"], signal.SIGKILL)
    second = started(parent, 1)
    assert second["again"] != first["again"] and parent.poll() is None
    os.kill(first["member"], 0)
    parent.terminate()
    assert parent.communicate(timeout=PATIENCE) == ("", "A process ended (-9); another begins.\n")
    assert parent.returncode == 0


def test_they_end_with_the_parent_however_it_dies(parent):
    started(parent, 3)
    parent.kill()
    assert parent.communicate(timeout=PATIENCE) == ("", "")


@pytest.mark.parametrize("parent", ["lambda *_: None"], indirect=True)
def test_nobody_waits_for_what_is_finished_elsewhere(parent):
    """A worker comes to its end when its calls have; a site that broke down is up again long before."""
    first = started(parent, 3)
    os.kill(first["member"], signal.SIGKILL)
    assert parent.wait(PATIENCE) == 1
    os.kill(first["again"], signal.SIGKILL)  # was there still
