"""A folder whose suite cannot be registered is one sentence, and nothing starts without it."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import benchmark.suites
from benchmark.suites import registry

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parents[2]
FILE = "benchmark/suites/mine/suite.py"
TOMBENCH = "from dataclasses import replace\nfrom benchmark.suites.tombench.suite import SUITE as OTHER\n"
START = """
import sys
import benchmark.suites
from benchmark.suites import registry
benchmark.suites.__path__.append(sys.argv.pop(1))
registry.FOLDERS += ("mine",)
"""


def written(folder: Path, code: str) -> Path:
    (folder / "mine").mkdir(parents=True)
    (folder / "mine" / "suite.py").write_text(code)
    return folder


def group(**fields: str) -> str:
    """A suite of another name with one group of ToMBench's, but for these fields."""
    changed = ", ".join(f"{name}={value}" for name, value in fields.items())
    return f"{TOMBENCH}GROUP = replace(OTHER.groups[0], key='mine', {changed})\nSUITE = replace(OTHER, name='mine', "


REFUSED = {
    f"{TOMBENCH}SUITE = OTHER": "benchmark/suites/tombench/suite.py has a suite 'tombench' already; expected another",
    f"{TOMBENCH}SUITE = replace(OTHER, name='mine')": "Two metric groups have the key",
    f"{TOMBENCH}\nSUITE = OTHER.nothing": "line 4 of suite.py: AttributeError: 'Suite' object has no attribute",
    "from benchmark.suites.contract import Suite\n\nSUITE = Suite(name='mine')": "line 3 of suite.py: TypeError: ",
    "SUITE = 1": "SUITE is a int; expected a Suite.",
    "SUITES = []": "has no attribute 'SUITE'",
    "SUITE = (": "SyntaxError: '(' was never closed",
    group(scored="'nowhere'") + "groups=(GROUP,))": "The metric group 'mine' of mine names a step 'nowhere'",
    group(score="'best'") + "groups=(GROUP,))": "The metric group 'mine' of mine names a share 'best'",
    group() + "groups=(GROUP,), results=replace(OTHER.results, main=('theirs',)))": (
        "names a metric group 'theirs'; expected one of: mine."
    ),
}


def test_a_wrong_registration_is_one_sentence(tmp_path, monkeypatch):
    for at, (code, told) in enumerate(REFUSED.items()):
        folder = written(tmp_path / str(at), code)
        with monkeypatch.context() as patch, pytest.raises(registry.SuiteRefused) as caught:
            patch.setattr(benchmark.suites, "__path__", [*benchmark.suites.__path__, str(folder)])
            patch.setattr(registry, "FOLDERS", ("tombench", "mine"))
            patch.setattr(registry, "_suites", {})
            patch.setattr(registry, "_groups", {})
            registry._load.__wrapped__()
        for name in ("benchmark.suites.mine", "benchmark.suites.mine.suite"):
            sys.modules.pop(name, None)
        vars(benchmark.suites).pop("mine", None)
        sentence = str(caught.value)
        assert sentence.startswith(FILE) and told in sentence and "\n" not in sentence, code


def test_neither_a_command_nor_the_server_starts_without_it(tmp_path):
    folder = written(tmp_path, f"{TOMBENCH}SUITE = OTHER")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    kept |= {"DJANGO_SETTINGS_MODULE": "config.settings", "PORT": port, "CREDENCE_VAR": str(tmp_path / "var")}
    for main in ("import manage; sys.argv.append('check')", "from config import web as manage"):
        asked = [sys.executable, "-c", f"{START}{main}\nmanage.main()", str(folder)]
        done = subprocess.run(asked, cwd=ROOT, env=kept, capture_output=True, text=True)
        assert done.returncode == 1 and "Traceback" not in done.stderr, main
        assert FILE in done.stderr and "has a suite 'tombench' already" in done.stderr
        assert len(done.stderr.split("\n")) == 2, main
