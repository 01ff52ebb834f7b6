"""A site of real processes (workers, broker, web) that can be killed, stopped and started again, as a supervisor
would."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

from tests.forks import Fork, Forks, end_with_parent

ROOT = Path(__file__).resolve().parents[2]
LEASE = 4
"""Seconds after which a silent worker counts as lost."""
_CONSOLE, _BROKER = "console", "redis"
OPTIONS = "--pool threads --concurrency 2 -Q calls --without-gossip --without-mingle --loglevel WARNING"
WORKER = ["celery", "-A", "config", "worker", *OPTIONS.split()]


class Site:
    """`database_url` "" is SQLite; `redis` false is the embedded broker of files. Everything lies in `folder`.

    `kills` counts by kind of process: worker, redis, web.
    """

    def __init__(self, folder: Path, *, database_url: str = "", redis: bool = False, workers: int = 2) -> None:
        self.folder = folder
        self.web_port, redis_port = free_port(), free_port()
        others = ("DATABASE_URL", "REDIS_URL", "BROKER_URL", "SITE_URL", "COVERAGE_PROCESS_START")
        self.environment = {name: value for name, value in os.environ.items() if name not in others} | {
            "CREDENCE_VAR": str(folder / "var"), "DJANGO_SETTINGS_MODULE": "tests.chaos.settings",
            "PYTHONPATH": str(ROOT),
            "WORKER_LEASE_SECONDS": str(LEASE), "WORKER_SWEEP_SECONDS": "1", "LOG_LEVEL": "WARNING",
            "PORT": str(self.web_port), "WORKERS": "1", "THREADS": "2",
        }  # fmt: skip
        self.workers = [f"worker{at}" for at in range(workers)]
        self.commands = {name: [*WORKER, "-n", f"{name}@%h"] for name in self.workers} | {"web": ["config.web"]}
        if database_url:
            self.environment["DATABASE_URL"] = database_url
        if redis:
            self.environment["REDIS_URL"] = f"redis://127.0.0.1:{redis_port}/0"
            options = f"--port {redis_port} --bind 127.0.0.1 --save".split()
            self.commands[_BROKER] = ["redis-server", *options, "", "--dir", str(folder)]
        self.running: dict[str, subprocess.Popen | Fork] = {}
        self.kills: Counter[str] = Counter()

    def __enter__(self) -> Site:
        self.forks = Forks(self.environment)
        try:
            self._start(_CONSOLE, [sys.executable, "-m", "tests.chaos.console"], pipe=True)
            self.ask("prepare")
            for name in sorted(self.commands, key=lambda name: name != _BROKER):
                self.start(name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.running):
            self._end(name)
        self.forks.__exit__(None, None, None)

    def start(self, name: str) -> None:
        if name == _BROKER:
            self._start(name, self.commands[name])
        else:
            self.running[name] = self.forks.start(*self.commands[name], log=self._log(name))

    def _start(self, name: str, command: list[str], *, pipe: bool = False) -> None:
        with self._log(name).open("ab") as log:
            ways = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE} if pipe else {"stdout": log}
            own = {"cwd": ROOT, "env": self.environment, "preexec_fn": end_with_parent, "start_new_session": True}
            own = {"stdin": subprocess.DEVNULL, "stderr": log, "text": True} | own | ways
            self.running[name] = subprocess.Popen(command, **own)

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def kill(self, name: str) -> None:
        self._end(name)
        self.kills[name.rstrip("0123456789")] += 1

    def _end(self, name: str) -> None:
        process = self.running.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if name == _CONSOLE:
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def hang(self, name: str, seconds: float) -> None:
        """Stops a process in the middle of whatever it does, and lets it go on."""
        group = self.running[name].pid
        os.killpg(group, signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            os.killpg(group, signal.SIGCONT)

    def fallen(self) -> list[str]:
        """Processes that ended by themselves."""
        return [name for name, process in self.running.items() if process.poll() is not None]

    def ask(self, do: str, **asked: Any) -> Any:
        """Have the console do something (tests/chaos/console.py)."""
        console = self.running[_CONSOLE]
        console.stdin.write(json.dumps({"do": do} | asked) + "\n")
        console.stdin.flush()
        told = console.stdout.readline()
        if not told:
            raise RuntimeError(self._log(_CONSOLE).read_text())
        return json.loads(told)

    def finishes(self, *, seconds: float) -> bool:
        """Whether every job ends by itself within `seconds`."""
        end = time.monotonic() + seconds
        while self.ask("running"):
            if time.monotonic() > end:
                return False
            time.sleep(0.25)
        return True

    def web_answers(self) -> bool:
        for _ in range(100):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.web_port}/login/", timeout=5) as answer:
                    return answer.status == 200
            except OSError:
                time.sleep(0.2)
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
