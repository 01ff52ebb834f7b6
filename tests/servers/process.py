"""The model server as a process of its own, for tests and benchmarks."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class ModelServer:
    """`with ModelServer(latency=0.2) as server:`; options are those of tests.servers.settings.Settings.

    `folder` keeps the log of paid calls and the batches; without it they go when the block ends. What was set by
    `control` holds over a `restart`.
    """

    def __init__(self, *, folder: Path | None = None, **options: Any) -> None:
        self._temporary = tempfile.TemporaryDirectory() if folder is None else None
        self.log = Path(self._temporary.name if self._temporary else folder) / "paid.jsonl"
        self.options, self.port = options, 0
        self._process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> ModelServer:
        command = [sys.executable, "-m", "tests.servers.model_server", "--port", str(self.port), "--log", str(self.log)]
        for name, value in self.options.items():
            command += [f"--{name.replace('_', '-')}", value if isinstance(value, str) else json.dumps(value)]
        # The server ends when its standard input closes.
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe)
        line = self._process.stdout.readline()
        if not line.strip().isdigit():
            self.kill()
            raise RuntimeError("the model server did not start; its reason is on standard error")
        self.port = int(line)
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        if self._temporary:
            self._temporary.cleanup()

    def kill(self) -> None:
        """SIGKILL, at once; nothing where it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def restart(self) -> ModelServer:
        """The same port, log and batches."""
        self.kill()
        return self.__enter__()

    def control(self, **changes: Any) -> None:
        """Raises ValueError for a setting that there is not."""
        self._ask("/control", json.dumps(changes).encode())
        self.options.update(changes)

    def stats(self) -> dict:
        """How many calls were asked, and how many answered with 429, which is their name."""
        return self._ask("/stats")

    def paid(self) -> list[dict]:
        """Every call that was paid: at, call, sha, and for an item of a batch custom_id and batch."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def _ask(self, path: str, data: bytes | None = None) -> dict:
        try:
            with urllib.request.urlopen(self.url + path, data=data, timeout=10) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise ValueError(error.read().decode()) from error
