"""The types of the product, held by mypy (pyproject.toml)."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TYPED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["files"]


@pytest.mark.dear
def test_types_hold():
    assert {"annotation", "benchmark", "config", "core", "judge", "workers"} <= set(TYPED)
    cache = ["--cache-dir", os.devnull] if os.environ.get("CI") == "true" else []  # which nobody would read again
    command = [Path(sys.executable).parent / "mypy", *cache, *(path for held in TYPED for path in ROOT.glob(held))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
