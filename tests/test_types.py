"""The types of the product, held by mypy (pyproject.toml); a wrong one is shown to be found."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

pytestmark = [pytest.mark.dear, pytest.mark.xdist_group("mypy")]  # one run for all
ROOT = Path(__file__).resolve().parent.parent
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
TYPED = TOOLS["mypy"]["files"]
FOLDERS = [path.relative_to(ROOT) for held in TYPED for path in sorted(ROOT.glob(held))]
MYPY = Path(sys.executable).parent / "mypy"


WRONG = "def count(rows: dict) -> int:\n    return rows.get('n') or 'none'\n"


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> list[str]:
    """What mypy says of everything and a wrong file in one run: to read the libraries takes most of the time."""
    wrong = tmp_path_factory.mktemp("types") / "wrong.py"
    wrong.write_text(WRONG)
    cache = ["--cache-dir", os.devnull] if os.environ.get("CI") == "true" else []  # which nobody would read again
    done = subprocess.run([MYPY, *cache, *FOLDERS, wrong], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, ""), done.stderr
    return done.stdout.splitlines()


def test_types_hold(told):
    *found, total = told
    assert [line for line in found if "wrong.py:" not in line] == []
    assert total.startswith("Found 2 errors in 1 file (checked ")


def test_whole_apps_are_looked_at_and_pure_rules_are_no_exception():
    assert {"annotation", "benchmark", "config", "core", "judge", "workers"} <= set(TYPED)
    [pure] = [one for one in TOOLS["importlinter"]["contracts"] if one["name"] == "Pure rules know no framework"]
    left_out = [name for one in TOOLS["mypy"]["overrides"] if one.get("ignore_errors") for name in one["module"]]
    pairs = [(one, out) for one in pure["source_modules"] for out in left_out if fnmatchcase(f"{one}.x", out)]
    assert pairs == []


def test_a_wrong_type_is_found(told):
    vague, other = (line for line in told if "wrong.py:" in line)
    assert "wrong.py:1: error: Missing type arguments for generic type" in vague and vague.endswith("[type-arg]")
    assert "wrong.py:2: error: Incompatible return value type" in other and other.endswith("[return-value]")
