"""Code and templates are formatted and free of what the linter finds, as `make lint` has them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(sys.executable).parent
CHECKS = {
    "ruff check": (".py", "import os\n", "`os` imported but unused"),
    "ruff format --check": (".py", "x=1\n", "would be reformatted"),
    "djangofmt --check": (".html", "<p>{{x}}</p>\n", "would be reformatted"),
}


def told(command: str, at: Path) -> subprocess.CompletedProcess:
    tool, *options = command.split()
    return subprocess.run([TOOLS / tool, *options, at], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("command", CHECKS)
def test_everything_is_as_the_tool_wants_it(command):
    done = told(command, ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", CHECKS)
def test_what_is_not_is_found(command, tmp_path):
    ending, text, sentence = CHECKS[command]
    (tmp_path / f"wrong{ending}").write_text(text, encoding="utf-8")
    done = told(command, tmp_path)
    assert done.returncode != 0 and sentence in done.stdout + done.stderr, done.stdout + done.stderr
