"""Locals say what they hold: words that name nothing are not bound in the product's code."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EMPTY_WORDS = {"one", "held", "found", "told", "said", "shown", "wanted", "known"}
EXEMPT = {
    "annotation/domain/anchoring/tables.py": {"shown", "told"},
    "benchmark/api/shapes/calibration.py": {"known"},
    "benchmark/api/shapes/runs.py": {"held"},
    "benchmark/api/shapes/sweeps.py": {"found", "shown"},
    "benchmark/services/run_progress.py": {"held"},
    "benchmark/suites/asked.py": {"said"},
    "benchmark/suites/omnitom/analyses.py": {"said"},
    "judge/api/shapes.py": {"wanted"},
    "judge/domain/calibration/agreement.py": {"known"},
    "judge/domain/proposal_effect.py": {"shown"},
    "judge/services/alignment_report.py": {"wanted"},
    "workers/services/endpoints.py": {"held", "said", "told"},
}
"""Fields that are keys of kept JSON or of the API, by file: their names are said to others."""


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of every local, parameter, attribute, function and import that a module binds."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name


def empty_words(source: str) -> list[str]:
    return [f"{line}: {name}" for line, name in bound_names(ast.parse(source)) if name in EMPTY_WORDS]


def not_exempt(texts: dict[str, str], exempt: dict[str, set[str]]) -> dict[str, list[str]]:
    """Return the empty words that a file binds and is not exempt for, and those that it is exempt for and does not
    bind, by file."""
    bound = {file: empty_words(text) for file, text in texts.items()}
    wrong = {
        file: [
            *(place for place in bound.get(file, []) if place.split(": ")[1] not in exempt.get(file, ())),
            *(f"no longer bound: {name}" for name in sorted(exempt.get(file, set()) - _names(bound.get(file, [])))),
        ]
        for file in texts.keys() | exempt.keys()
    }
    return {file: places for file, places in wrong.items() if places}


def _names(places: list[str]) -> set[str]:
    return {place.split(": ")[1] for place in places}


def test_names_say_what_they_hold():
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.split() if not name.startswith(("tests/", "bench/"))]
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in files if "/migrations/" not in name}
    assert not_exempt(texts, EXEMPT) == {}


def test_a_name_that_says_nothing_is_noticed():
    assert empty_words("for one in rows:\n    pass") == ["1: one"]
    assert empty_words("def f(item, *, known): ...\nmatch item:\n    case [found]: pass") == ["1: known", "3: found"]
    assert empty_words("class Row:\n    shown: str\nhold_one = [said for said in rows]") == ["2: shown", "3: said"]
    assert empty_words("row.shown, at = 1, 2") == ["1: shown"] and empty_words("async def told(): ...") == ["1: told"]


def test_an_exemption_is_for_a_name_that_is_bound():
    texts = {"kept.py": "said: str\nshown: str", "other.py": "said: str"}
    assert not_exempt(texts, {"kept.py": {"said", "told"}, "gone.py": {"one"}}) == {
        "kept.py": ["2: shown", "no longer bound: told"], "other.py": ["1: said"], "gone.py": ["no longer bound: one"],
    }  # fmt: skip
