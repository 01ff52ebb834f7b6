"""Code and templates are formatted and free of what the linter finds (`make lint`)."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_everything_is_as_the_tool_wants_it():
    for command in ("ruff check", "ruff format --check", "djangofmt --check"):
        tool, *options = command.split()
        done = subprocess.run([Path(sys.executable).parent / tool, *options, ROOT], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
