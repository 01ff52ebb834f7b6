"""Processes of the program that stay until they are killed, forked from one that has loaded it: to load it takes longer
than what they do in a test."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[1]


class Forks:
    """A process that has loaded the program with this environment; it ends with the block, and what it started ends
    with it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        pipe = subprocess.PIPE
        self._loaded = subprocess.Popen(
            [sys.executable, "-m", "tests.forks"], cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True,
            preexec_fn=end_with_parent,
        )  # fmt: skip

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._loaded:
            self._loaded.kill()

    def start(self, module: str, *arguments: str, log: Path) -> Fork:
        """Start what `python -m MODULE ARGUMENTS` is, in a session of its own; what it prints is added to `log`."""
        return Fork(self.ask("start", command=[module, *arguments], log=str(log)), self)

    def ask(self, do: str, **asked: Any) -> Any:
        self._loaded.stdin.write(json.dumps({"do": do} | asked) + "\n")
        self._loaded.stdin.flush()
        told = self._loaded.stdout.readline()
        assert told, "the program did not start; its reason is in the captured stderr"
        return json.loads(told)


@dataclass(frozen=True)
class Fork:
    """As much of `subprocess.Popen` as tests use."""

    pid: int
    _forks: Forks

    def poll(self) -> int | None:
        return self._forks.ask("end", pid=self.pid)

    def wait(self) -> int:
        end = time.monotonic() + PATIENCE
        while (code := self.poll()) is None:
            assert time.monotonic() < end, "the process does not end"
            time.sleep(0.01)
        return code


def end_with_parent() -> None:
    """Linux: the kernel ends the process when its parent dies, however that dies."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


# --- in the process that has loaded the program
# --------------------------------------------------------------------------------
_ended: dict[int, int] = {}


def _answer_each_line() -> None:
    gc.disable()  # until all is loaded: nothing of it can go
    import django

    django.setup()
    import celery.apps.worker
    import celery.bin.celery
    import celery.concurrency.thread  # noqa: F401
    import kombu.transport.filesystem  # noqa: F401

    import config.urls  # noqa: F401

    gc.freeze()  # no process collects what all of them share
    gc.enable()
    done = {"start": _start, "end": _end}
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(done[asked.pop("do")](**asked)), flush=True)


def _start(command: list[str], log: str) -> int:
    ready, told = os.pipe()
    child = os.fork()
    if not child:
        end_with_parent()
        os.setsid()
        os.write(told, b".")
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for place, file in enumerate((os.open(os.devnull, os.O_RDONLY), out, out)):
            os.dup2(file, place)
        sys.argv = command
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
        sys.exit()
    os.read(ready, 1)  # from now on its session can be killed
    os.close(ready)
    os.close(told)
    return child


def _end(pid: int) -> int | None:
    """Return the exit status, None of a process that runs."""
    if pid not in _ended:
        found, status = os.waitpid(pid, os.WNOHANG)
        if not found:
            return None
        _ended[pid] = os.waitstatus_to_exitcode(status)
    return _ended[pid]


if __name__ == "__main__":
    _answer_each_line()
