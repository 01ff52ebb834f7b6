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


def test_everything_is_as_the_tool_wants_it():
    for command in CHECKS:
        done = told(command, ROOT)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", CHECKS)
def test_what_is_not_is_found(command, tmp_path):
    ending, text, sentence = CHECKS[command]
    (tmp_path / f"wrong{ending}").write_text(text, encoding="utf-8")
    done = told(command, tmp_path)
    assert done.returncode != 0 and sentence in done.stdout + done.stderr, done.stdout + done.stderr


CLOCKS = {"monotonic", "perf_counter", "process_time", "time", "now"}


def _reads(node: ast.AST, clocks: set[str]) -> bool:
    name = node.func if isinstance(node, ast.Call) else None
    return (name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else "") in clocks


def _measures(node: ast.AST) -> bool:
    """Whether an assertion is about a difference of a clock's readings, or compares one with the time of day: it would
    fail on a busy machine alone, or on one whose clock is set meanwhile."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub)]
    compared = [part for part in ast.walk(node) if isinstance(part, ast.Compare)]
    return any(_reads(inner, CLOCKS) for part in parts for inner in ast.walk(part)) or any(
        _reads(side, {"now"}) for part in compared for side in (part.left, *part.comparators)
    )


def measured(source: str) -> list[int]:
    if not any(f"{clock}()" in source for clock in CLOCKS):
        return []
    return [node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert) and _measures(node)]


def test_no_test_measures_time():
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    assert {path: lines for path, text in texts.items() if (lines := measured(text))} == {}
    assert measured("began = time.monotonic()\nassert 1 <= time.monotonic() - began") == [2]
    assert measured("assert time.monotonic() < end, 'it did not happen in time'") == []
    assert measured("assert row.at <= timezone.now()\nassert abs(at - now()) < SOON") == [1, 2]
    assert measured("assert ask_due(now=timezone.now()) == []") == []
