"""The types of what knows no framework, held by mypy (pyproject.toml); a wrong one is shown to be found."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = [pytest.mark.dear, pytest.mark.xdist_group("mypy")]  # one cache for all
ROOT = Path(__file__).resolve().parent.parent
MYPY = Path(sys.executable).parent / "mypy"


def _types(*paths: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([MYPY, *paths], cwd=ROOT, capture_output=True, text=True)


def test_types_hold():
    result = _types()
    assert result.returncode == 0, result.stdout


def test_the_types_of_everything_that_knows_no_framework_are_looked_at():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    held = tuple(one.replace("/", ".") for one in tools["mypy"]["files"])
    [pure] = [one for one in tools["importlinter"]["contracts"] if one["name"] == "Pure rules know no framework"]
    assert [one for one in pure["source_modules"] if not f"{one}.".startswith(tuple(f"{name}." for name in held))] == []


def test_a_wrong_type_is_found(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def count(rows: dict) -> int:\n    return rows.get('n') or 'none'\n")
    result = _types(wrong)
    assert result.returncode == 1
    assert "[type-arg]" in result.stdout
