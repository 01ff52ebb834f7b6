"""Files and modules that docstrings and comments name are there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATHS = re.compile(r"(?<![\w/.{<-])((?:[\w-]+/)+[\w-]+\.(?:py|html|js|css|md|txt|toml|yml))\b")
MODULES = re.compile(r"(?<![\w/.\"'])((?:annotation|benchmark|core|judge|workers|config)(?:\.(?!json\b)[A-Za-z_]\w*)+)")
TEXTS = re.compile(r'^ *"""[^"]*(?:"{1,2}[^"]+)*"""|(?:^| )# .*', re.M)
"""Docstrings, texts that stand after what they describe, and comments."""


class Repository:
    def __init__(self) -> None:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
        self.files = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
        parts = [name.split("/") for name in self.files]
        self.ends = {"/".join(each[at:]) for each in parts for at in range(len(each))}
        self.folders = {"/".join(each[:at]) for each in parts for at in range(1, len(each))}

    def has_module(self, name: str) -> bool:
        """Return whether a dotted name is a module, or one of which the first further name stands in its text."""
        parts = name.split(".")
        for at in range(len(parts), 0, -1):
            path = "/".join(parts[:at])
            file = next((each for each in (f"{path}.py", f"{path}/__init__.py") if each in self.files), None)
            if file or path in self.folders:
                text = (ROOT / file).read_text("utf-8") if file else ""
                return at == len(parts) or re.search(rf"\b{re.escape(parts[at])}\b", text) is not None
        return False

    def missing(self, text: str) -> list[str]:
        """Return what a text names and the repository lacks; specifications lie beside it."""
        paths = {path for path in PATHS.findall(text) if path not in self.ends and not path.startswith("specs/")}
        return sorted(paths | {name for name in MODULES.findall(text) if not self.has_module(name)})


def test_what_docstrings_and_comments_name_is_there():
    repository = Repository()
    sources = {name: (ROOT / name).read_text("utf-8") for name in repository.files if name.endswith(".py")}
    described = {name: "\n".join(TEXTS.findall(text)) for name, text in sources.items() if "/migrations/" not in name}
    assert {name: names for name, text in described.items() if (names := repository.missing(text))} == {}
    assert sum(len(PATHS.findall(text)) + len(MODULES.findall(text)) for text in described.values()) > 150


def test_a_file_and_a_module_that_went_are_found():
    repository = Repository()
    assert repository.missing("As in core/gone.py and `core.gone`.") == ["core.gone", "core/gone.py"]
    assert repository.missing("`core.digests.text_digest`, `core.digests.gone`") == ["core.digests.gone"]
