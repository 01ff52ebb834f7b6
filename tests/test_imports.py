"""The import directions of docs/developers.md, held by import-linter, and what shared code may know by name."""

import graphlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import grimp
import pytest
from django.apps import apps

from benchmark.suites.registry import FOLDERS, suites

ROOT = Path(__file__).resolve().parent.parent
LINTED = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
APPS = LINTED["root_packages"]
pytestmark = pytest.mark.xdist_group("imports")  # the modules are read once for all


@cache
def graph_of(app: str) -> grimp.ImportGraph:
    return grimp.build_graph(app)


def imports_of(graph: grimp.ImportGraph, module: str) -> set[str]:
    return graph.find_modules_directly_imported_by(module)


def test_imports_run_downwards_and_in_no_circle():
    """Neither at once nor later, in a function or for types alone."""
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    for app in APPS:
        graph = graph_of(app)
        imports = {one: imports_of(graph, one) & graph.modules for one in graph.modules}
        graphlib.TopologicalSorter(imports).prepare()  # CycleError names the circle


def test_providers_are_independent_of_each_other():
    """What several of them need lies one level up and knows none, so that a new one is a folder and no other
    changes."""
    graph = graph_of("workers")
    children = graph.find_children("workers.providers")
    folders = {one for one in children if graph.find_children(one)}
    assert {"workers.providers.openai", "workers.providers.vllm"} < folders
    of_folder = {folder: {folder, *graph.find_descendants(folder)} for folder in folders}
    of_folder["what they share"] = children - folders
    crossing = [
        f"{importer} → {imported}"
        for own, modules in of_folder.items()
        for importer in modules
        for imported in imports_of(graph, importer)
        if any(imported == other or imported.startswith(f"{other}.") for other in folders - {own})
    ]
    assert crossing == []


def test_no_suite_is_known_outside_its_folder():
    """A suite is a folder with a `suite.py`. The registry loads suites by the names of their folders; nothing else
    knows one: no other suite, nothing that suites share, no other part of the app."""
    graph, folders = graph_of("benchmark"), [f"benchmark.suites.{name}" for name in FOLDERS]
    assert {f"{one}.suite" in graph.modules for one in folders} == {True}
    children = graph.find_children("benchmark.suites")
    assert {one for one in children if f"{one}.suite" in graph.modules} == set(folders)
    (independent,) = [one["modules"] for one in LINTED["contracts"] if one["type"] == "independence"]
    assert independent == folders, "pyproject.toml lists the suites in its contract of independence, as FOLDERS does"
    for folder in folders:
        inside = {folder, *graph.find_descendants(folder)}
        importers = {one: graph.find_modules_that_directly_import(one) - inside for one in inside}
        assert {one: by for one, by in importers.items() if by} == {}


def texts_of(folders: Sequence[str], endings: str = "py html js css md toml txt yml json") -> dict[str, str]:
    """What is written in these folders, by path, without migrations, which tell of what was."""
    paths = [path for name in folders for ending in endings.split() for path in (ROOT / name).rglob(f"*.{ending}")]
    return {one.relative_to(ROOT).as_posix(): one.read_text("utf-8") for one in paths if "migrations" not in one.parts}


def found_in(texts: dict[str, str], words: str) -> dict[str, str]:
    sought = re.compile(words, re.I)
    return {name: word[0] for name, text in texts.items() for word in [sought.search(text)] if word}


CAMEL = re.compile("[A-Z][a-z]+")
PLAIN = {
    "anchor", "annotation", "api", "call", "cell", "changed", "config", "count", "counts", "entry", "event", "in",
    "item", "label", "limit", "log", "look", "making", "pair", "process", "repeat", "report", "row", "run", "sample",
    "schema", "scores", "second", "set", "split", "stored", "table", "test", "token", "user",
}  # fmt: skip
"""Words of models or apps that stand in any program, or in statistics, for something else."""


def test_lower_apps_know_no_word_of_those_above():
    """For core the words are those in the names of the models of all other apps."""
    words = r"\b(stor(y|ies)|beliefs?|propositions?|majority|omniscient|omnitom|benchmarks?|leaderboard)\b"
    assert found_in(texts_of(["workers"], "py"), words) == {}
    ours = [app for app in apps.get_app_configs() if Path(app.path).parent == ROOT and app.label != "core"]
    named = {part.lower() for app in ours for model in app.get_models() for part in CAMEL.findall(model.__name__)}
    domain = named.union(app.label for app in ours) - PLAIN
    assert {"story", "proposition", "vote", "worker", "endpoint", "entrant", "judge", "benchmark"} <= domain
    forms = sorted({form for word in domain for form in (word, f"{word}s", f"{word.removesuffix('y')}ies")})
    assert found_in(texts_of(["core"], "py po"), rf"(?<![a-z])({'|'.join(forms)})(?![a-z])") == {}


OMNITOM = {
    "benchmark/suites/registry.py", "templates/annotation/corpus/_imported.html",
    "templates/annotation/exports/export.html",
}  # fmt: skip
"""The list of suites, and what says to readers which files can be imported and which format a file has."""
CORPORA = {
    "annotation/domain/stories.py", "annotation/domain/formats.py", "annotation/forms/corpus.py",
    "templates/annotation/corpus/_imported.html",
}  # fmt: skip
"""Shared files that name ToMBench, whose stories can be labelled: they read and describe files of its format."""
PLAIN_STEPS = {
    "answer", "answering", "answers", "belief", "first answer", "first answers", "follow", "follow-up", "judge",
    "judgement", "judgements", "judging", "label", "labelling",
}  # fmt: skip
"""Words of steps that stand for something else too, or for what every suite has."""
OWN_STEPS = ("benchmark/methods/", "benchmark/controls/lists.")
SHARED = ("benchmark/", "judge/", "templates/benchmark/", "templates/judge/", "static/benchmark/", "static/judge/")


def test_shared_code_names_no_suite_group_or_step():
    """What only one of them has is named by its property; who needs a title, a group or a step asks the registry."""
    texts = texts_of([*APPS, "templates", "static"])
    own = ("benchmark/suites/omnitom/", "annotation/domain/", "annotation/sample/")  # its schema, and our own stories
    assert {one for one in found_in(texts, "omnitom") if not one.startswith(own)} == OMNITOM
    texts = {name: text for name, text in texts.items() if not name.startswith("benchmark/suites/")}
    assert len(texts) > 700
    titles = [re.escape(suite.title) for suite in suites().values() if suite.name != "omnitom"]
    assert {one for one in found_in(texts, "|".join(titles)) if "/sample/" not in one} == CORPORA
    keys = {group.key for suite in suites().values() for group in suite.groups} - suites().keys()
    assert found_in(texts, rf"(?<![\w-])({'|'.join(sorted(keys))})(?![\w-])") == {}
    steps = [step for suite in suites().values() for step in suite.steps]
    names = {name.lower() for step in steps for name in (step.key, step.label, *step.answers)} - PLAIN_STEPS
    assert {"extract", "extraction", "perceptions", "perception inference", "stage1", "fantom-control"} <= names | keys
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    shared = {name: text for name, text in texts.items() if name.startswith(SHARED) and not name.startswith(OWN_STEPS)}
    assert found_in(shared, rf"(?<![\w-])({words})(?![\w-])") == {}
