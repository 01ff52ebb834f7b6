"""The types of what knows no framework, held by mypy (pyproject.toml); a wrong one is shown to be found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MYPY = Path(sys.executable).parent / "mypy"


def _types(*paths: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([MYPY, *paths], cwd=ROOT, capture_output=True, text=True)


def test_types_hold():
    result = _types()
    assert result.returncode == 0, result.stdout


def test_a_wrong_type_is_found(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def count(rows: dict) -> int:\n    return rows.get('n') or 'none'\n")
    result = _types(wrong)
    assert result.returncode == 1
    assert "[type-arg]" in result.stdout
