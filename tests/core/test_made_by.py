"""What is kept of figures is kept under what computes and draws them."""

from __future__ import annotations

import ast
import shutil
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from django.apps import apps

from core import made_by as module
from core.made_by import ROOT, SHOWING, digest_of, files, libraries, made_by, packages

PACKAGES = packages()
DRAWING = "benchmark/domain/plots/dots.py"
DRAWN_FROM = "benchmark.services.plot_data"
"""Where pictures are drawn; a view keeps them."""


@pytest.fixture
def copy(tmp_path) -> Path:
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_another_copy_of_the_same_code_has_the_same_digest(copy):
    assert digest_of(copy) == digest_of(ROOT) == made_by()


@pytest.mark.parametrize("path", [DRAWING, "annotation/domain/schema.py", "benchmark/services/leaderboards.py"])
def test_a_line_of_what_computes_or_draws_changes_it(copy, path):
    (copy / path).write_text((copy / path).read_text() + "\n# wider\n")
    assert digest_of(copy) != digest_of(ROOT)


def test_a_page_changes_nothing(copy):
    (copy / "benchmark/views/compare.py").write_text("# another page\n")
    assert digest_of(copy) == digest_of(ROOT)


def test_another_release_of_a_library_changes_it(monkeypatch):
    before = digest_of(ROOT)
    installed = module.version_of
    monkeypatch.setattr(module, "version_of", lambda name: "99" if name == "pillow" else installed(name))
    assert digest_of(ROOT) != before  # matplotlib requires it


def test_a_package_that_registers_later_is_in_it(monkeypatch):
    before = made_by()
    monkeypatch.setattr(module, "_libraries", dict(module._libraries))
    module.register("config", libraries=["django"])
    assert made_by() != before and "django" in libraries() and ROOT / "config/settings.py" in set(files(ROOT))
    module.made_by.cache_clear()


def test_every_app_of_ours_has_registered():
    ours = {config.label for config in apps.get_app_configs() if Path(config.path).parent == ROOT}
    assert {*PACKAGES} == ours - {"config"}


# --- what must be in it, from the imports themselves
# ---------------------------------------------------------------------------
def _file(name: str) -> Path | None:
    path = ROOT.joinpath(*name.split("."))
    return next((one for one in (path / "__init__.py", path.with_suffix(".py")) if one.is_file()), None)


@cache
def _imported(path: Path) -> set[str]:
    """Names of modules, and of what may be one: `from a import b` is both a and a.b; inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return found


def _reached(roots: set[str]) -> dict[str, Path]:
    """Our modules that these import, whichever way."""
    waiting, found = list(roots), {}
    while waiting:
        name = waiting.pop()
        if name not in found and name.split(".")[0] in PACKAGES and (path := _file(name)):
            found[name] = path
            waiting += [*_imported(path), name.rpartition(".")[0]]
    return found


def _keepers() -> set[str]:
    """Modules that keep something under the digest."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}
    return {name for name, path in names.items() if "core.made_by.made_by" in _imported(path)}


def test_everything_that_the_computing_code_imports_is_in_it():
    keepers = _keepers()
    computing = {name for name in keepers if not SHOWING & set(name.split("."))}
    assert computing >= {
        "benchmark.services.reports",
        "benchmark.services.leaderboards",
    }
    assert keepers - computing == {"benchmark.views.downloads"}  # which draws by DRAWN_FROM
    reached = _reached(computing | {DRAWN_FROM})
    assert "benchmark.domain.plots.dots" in reached  # imported inside a function
    assert set(reached.values()) <= set(files(ROOT))


READERS = {"inspect_ai", "openpyxl"}
"""Libraries that read uploaded files; what they read is stored before anything is computed of it."""


def test_every_library_that_the_computing_code_imports_is_in_it():
    found: set[str] = set()
    for name, path in _reached(_keepers() - {"benchmark.views.downloads"} | {DRAWN_FROM}).items():
        if not name.startswith("workers"):  # which asks models and stores; Django does the same for rows
            found |= {one.split(".")[0] for one in _imported(path)} - {
                "django",
                *READERS,
                *PACKAGES,
                *sys.stdlib_module_names,
            }
    distributions = packages_distributions()
    assert {"numpy", "scipy", "matplotlib"} <= found
    assert {one.lower() for name in found for one in distributions.get(name, [name])} <= libraries()
