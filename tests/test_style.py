"""Code and templates are formatted and free of what the linter finds (`make lint`); no test measures time."""

from __future__ import annotations

import ast
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


CLOCKS = {"monotonic", "perf_counter", "process_time", "time"}


def _measures(node: ast.AST) -> bool:
    """Whether an assertion is about a difference of a clock's readings: it would fail on a busy machine alone."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub)]
    calls = [inner for part in parts for inner in ast.walk(part) if isinstance(inner, ast.Call)]
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in CLOCKS for call in calls)


def measured(source: str) -> list[int]:
    if not any(f"{clock}()" in source for clock in CLOCKS):
        return []
    return [node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert) and _measures(node)]


def test_no_test_measures_time():
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    assert {path: lines for path, text in texts.items() if (lines := measured(text))} == {}
    assert measured("began = time.monotonic()\nassert 1 <= time.monotonic() - began") == [2]
    assert measured("assert time.monotonic() < end, 'it did not happen in time'") == []
