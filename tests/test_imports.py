"""The import directions of docs/developers.md, held by import-linter; each contract is shown to be able to fail."""

from __future__ import annotations

import graphlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import grimp
import pytest
from django.apps import apps

from benchmark.suites.registry import FOLDERS, suites

ROOT = Path(__file__).resolve().parent.parent
LINT = Path(sys.executable).parent / "lint-imports"
pytestmark = pytest.mark.xdist_group("imports")  # the modules are read once for all


def _lint(folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run([LINT, "--no-cache"], cwd=folder, capture_output=True, text=True)


@cache
def graph_of(app: str) -> grimp.ImportGraph:
    return grimp.build_graph(app)


def test_imports_run_downwards():
    result = _lint(ROOT)
    assert result.returncode == 0, result.stdout


def test_workers_knows_no_word_of_the_apps_above():
    """What a model is asked about, and what the answer means, is theirs."""
    words = re.compile(
        r"\b(stor(y|ies)|beliefs?|propositions?|majority|omniscient|omnitom|benchmarks?|leaderboard)\b", re.I
    )
    code = [path for path in (ROOT / "workers").rglob("*.py") if "migrations" not in path.parts]
    assert len(code) > 80
    assert [f"{path}: {found[0]}" for path in code for found in [words.search(path.read_text("utf-8"))] if found] == []


CAMEL = re.compile("[A-Z][a-z]+")
APPS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]


PLAIN = {
    "anchor", "annotation", "api", "call", "cell", "changed", "config", "count", "counts", "entry", "event", "in",
    "item", "label", "limit", "log", "look", "making", "pair", "process", "repeat", "report", "row", "run", "sample",
    "schema", "scores", "second", "set", "split", "stored", "table", "test", "token", "user",
}  # fmt: skip
"""Words of models or apps that stand in any program, or in statistics, for something else."""


def test_core_knows_no_app_and_no_word_of_the_domain():
    """The words are those in the names of the models of all other apps."""
    ours = [app for app in apps.get_app_configs() if Path(app.path).parent == ROOT and app.label != "core"]
    named = {part.lower() for app in ours for model in app.get_models() for part in CAMEL.findall(model.__name__)}
    words = named.union(app.label for app in ours) - PLAIN
    assert {"story", "proposition", "vote", "worker", "endpoint", "entrant", "judge", "benchmark"} <= words
    forms = sorted({form for word in words for form in (word, f"{word}s", f"{word.removesuffix('y')}ies")})
    spoken = re.compile(rf"(?<![a-z])({'|'.join(forms)})(?![a-z])", re.I)
    code = [path for ending in ("py", "po") for path in (ROOT / "core").rglob(f"*.{ending}")]
    assert len(code) > 40 and {path.suffix for path in code} == {".py", ".po"}
    assert [f"{path}: {found[0]}" for path in code for found in [spoken.search(path.read_text("utf-8"))] if found] == []


def test_modules_import_each_other_in_no_circle():
    """Neither at once nor later, in a function or for types alone."""
    for app in APPS:
        graph = graph_of(app)
        imports = {one: graph.find_modules_directly_imported_by(one) & graph.modules for one in graph.modules}
        graphlib.TopologicalSorter(imports).prepare()  # CycleError names the circle


def test_providers_are_independent_of_each_other():
    """What several of them need lies one level up, so that a new one is a folder and no other changes."""
    graph = graph_of("workers")
    folders = {one for one in graph.find_children("workers.providers") if graph.find_children(one)}
    assert {"workers.providers.openai", "workers.providers.vllm"} < folders
    crossing = [
        f"{importer} → {imported}"
        for folder in folders
        for importer in {folder, *graph.find_descendants(folder)}
        for imported in graph.find_modules_directly_imported_by(importer)
        if any(imported == other or imported.startswith(f"{other}.") for other in folders - {folder})
    ]
    assert crossing == []


def test_what_providers_share_knows_none_of_them():
    graph = graph_of("workers")
    shared = {one for one in graph.find_children("workers.providers") if not graph.find_children(one)}
    folders = {one for one in graph.find_children("workers.providers") if graph.find_children(one)}
    up = [
        f"{importer} → {imported}"
        for importer in shared
        for imported in graph.find_modules_directly_imported_by(importer)
        if any(imported.startswith(f"{folder}.") for folder in folders)
    ]
    assert up == []


NAMED = {
    "README.md": "the commands that show the product, which take the suite by its name",
    "bench/benchmarking.py": "measures runs of this suite, the largest",
    "bench/growing.py": "imports and exports a corpus of its format",
    "bench/importing.py": "imports a corpus of its format",
    "bench/judging.py": "measures intervals of its judged steps",
    "bench/make_corpus.py": "makes a corpus of its size and format",
    "benchmark/suites/registry.py": "the list of suites",
    "pyproject.toml": "lists the suites, which may not import each other",
    "templates/annotation/corpus/_imported.html": "says to readers which files can be imported",
    "templates/annotation/exports/export.html": "says to readers which format a file has",
}
"""The files that name OmniToM, and why they must."""
NAMES_IT = ("benchmark/suites/omnitom/", "annotation/domain/", "annotation/sample/")
"""The suite, the schema that it measures, and the stories that come with the program."""


def texts_of(folders: Sequence[str]) -> dict[str, str]:
    """What is written in these folders, by path, without migrations and catalogues, which tell of what was."""
    endings = {".py", ".html", ".js", ".css", ".md", ".toml", ".txt", ".yml", ".json"}
    paths = [path for name in folders for path in (ROOT / name).rglob("*.*") if path.suffix in endings]
    return {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in [*ROOT.glob("*.*"), *paths]
        if path.is_file() and path.suffix in endings and "migrations" not in path.parts
    }


def test_omnitom_is_one_suite_among_others():
    """What must know it is its own folder, the schema and the sample; documents, tests and migrations tell of it."""
    texts = texts_of([*APPS, "templates", "static", "bench"])
    assert len(texts) > 900
    naming = {name for name, text in texts.items() if "omnitom" in text.lower()}
    assert {name for name in naming if not name.startswith(NAMES_IT)} == NAMED.keys()


CORPORA = {
    "annotation/domain/stories.py": "reads stories from records of its format",
    "annotation/domain/formats.py": "names the formats of story files",
    "annotation/forms/corpus.py": "says what of a file of its format is imported",
    "templates/annotation/corpus/_imported.html": "says to readers which files can be imported",
}
"""The shared files that name ToMBench, whose stories can be labelled, and why they must."""


def naming_a_suite(texts: Mapping[str, str]) -> dict[str, str]:
    """Return which files of shared code name a suite as a person reads it, and how they do. OmniToM is left to the
    test above."""
    titles = sorted(suite.title for suite in suites().values() if suite.name != "omnitom")
    assert {"ToMBench", "FANToM", "OpenToM", "Percept-ToMi"} <= set(titles)
    named = re.compile("|".join(map(re.escape, titles)), re.I)
    shared = {name: text for name, text in texts.items() if not name.startswith("benchmark/suites/")}
    return {name: words[0] for name, text in shared.items() for words in [named.search(text)] if words}


def test_shared_code_names_no_suite():
    """What only one of them has is named by its property; who needs a title asks the registry."""
    texts = texts_of([*APPS, "templates", "static"])
    texts = {name: text for name, text in texts.items() if "/" in name and "/sample/" not in name}
    assert len(texts) > 900
    named = naming_a_suite(texts)
    assert named.keys() == CORPORA.keys(), f"the title of a suite stands in code or a text that others share: {named}"


def test_a_suite_that_is_named_is_found():
    for path, text, title in [
        ("judge/api/studies.py", 'CLUSTERS = "of FANToM conversations"', "FANToM"),
        ("core/incoming/text.py", "# the bare NaN that tombench writes", "tombench"),
        ("templates/benchmark/runs/run.html", "<p>Percept-ToMi</p>", "Percept-ToMi"),
    ]:
        assert naming_a_suite({path: text, "benchmark/suites/fantom/suite.py": text}) == {path: title}


def test_code_of_all_suites_names_no_metric_group():
    """Their keys are words of the suites; who needs one asks the registry. Some are the name of their suite."""
    keys = {group.key for suite in suites().values() for group in suite.groups} - suites().keys()
    assert {"stage1", "stage2", "fantom-control"} <= keys
    named = re.compile(rf"(?<![\w-])({'|'.join(sorted(keys))})(?![\w-])")
    texts = texts_of([*APPS, "templates", "static"])
    shared = {name: text for name, text in texts.items() if not name.startswith("benchmark/suites/")}
    assert len(shared) > 700
    assert [f"{name}: {key[0]}" for name, text in shared.items() for key in [named.search(text)] if key] == []


PLAIN_STEPS = {
    "answer", "answering", "answers", "belief", "first answer", "first answers", "follow", "follow-up", "judge",
    "judgement", "judgements", "judging", "label", "labelling",
}  # fmt: skip
"""Words of steps that stand for something else too, or for what every suite has."""
OWN_STEPS = ("benchmark/suites/", "benchmark/methods/", "benchmark/controls/lists/")
"""The suites, the methods, whose steps are in every suite that takes them, and lists of words of any text."""
SHARED = ("benchmark/", "judge/", "templates/benchmark/", "templates/judge/", "static/benchmark/", "static/judge/")


def naming_a_step(texts: Mapping[str, str]) -> list[str]:
    """Return where shared code names a step: by its key, as a person reads it, or by what is answered at it."""
    steps = [step for suite in suites().values() for step in suite.steps]
    names = {name.lower() for step in steps for name in (step.key, step.label, *step.answers)} - PLAIN_STEPS
    assert {"extract", "extraction", "extractions", "perceptions", "perception inference"} <= names
    named = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?![\w-])", re.I)
    shared = {name: text for name, text in texts.items() if name.startswith(SHARED) and not name.startswith(OWN_STEPS)}
    return [f"{name}: {step[0]}" for name, text in shared.items() for step in [named.search(text)] if step]


def test_code_of_all_suites_names_no_step():
    """Whoever needs one asks the registry: of OmniToM it is an extraction that a judge reads, of others an answer."""
    texts = texts_of(["benchmark", "judge", "templates", "static"])
    assert len([name for name in texts if name.startswith(SHARED)]) > 500
    assert naming_a_step(texts) == []


def test_a_step_that_is_named_is_found():
    for path, text, names in [
        ("templates/benchmark/runs/run.html", "<p>Extractions of {{ run }}</p>", ["Extractions"]),
        ("judge/services/studies.py", 'raise Refused("These runs have no extraction.")', ["extraction"]),
        ("benchmark/services/launches.py", 'steps = ["extract"]', ["extract"]),
        ("benchmark/suites/omnitom/steps.py", 'EXTRACT = "extract"', []),
        ("benchmark/services/launches.py", "traceback.extract_tb(error), extracted, answers", []),
    ]:
        assert naming_a_step({path: text}) == [f"{path}: {name}" for name in names]


def suite_folders(graph: grimp.ImportGraph) -> set[str]:
    """A suite is a folder with a `suite.py`; what suites share has none."""
    children = graph.find_children("benchmark.suites")
    return {folder for folder in children if f"{folder}.suite" in graph.modules}


def known_from_outside(graph: grimp.ImportGraph) -> list[str]:
    """The imports of a suite by a module that is not in its folder: of another suite, of what suites share, of the
    app."""
    crossing = []
    for folder in suite_folders(graph):
        inside = {folder, *graph.find_descendants(folder)}
        for module in inside:
            importers = graph.find_modules_that_directly_import(module) - inside
            crossing += [f"{importer} → {module}" for importer in importers]
    return crossing


def test_the_contract_of_suites_has_every_suite():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (independent,) = [contract["modules"] for contract in contracts if contract["type"] == "independence"]
    folders = [f"benchmark.suites.{name}" for name in FOLDERS]
    assert independent == folders, "pyproject.toml lists the suites in its contract of independence, as FOLDERS does"


def test_no_suite_is_known_outside_its_folder():
    """The registry loads suites by the names of their folders; nothing else knows one."""
    graph = graph_of("benchmark")
    assert suite_folders(graph) == {f"benchmark.suites.{name}" for name in FOLDERS}
    assert known_from_outside(graph) == []


def test_an_import_of_a_suite_is_found():
    for importer, imported in [
        ("benchmark.services.plot_data", "benchmark.suites.tombench"),
        ("benchmark.suites.tombench.data", "benchmark.suites.omnitom.data"),
        ("benchmark.suites.showing.entrants", "benchmark.suites.fantom.suite"),
        ("benchmark.suites.contract", "benchmark.suites.opentom"),
    ]:
        graph = graph_of("benchmark")
        assert {importer, imported} <= graph.modules
        graph.add_import(importer=importer, imported=imported)
        found = known_from_outside(graph)
        graph.remove_import(importer=importer, imported=imported)
        assert found == [f"{importer} → {imported}"]


WRONG = [
    ("workers/__init__.py", "annotation.models", "Apps import downwards"),
    ("core/__init__.py", "workers.models", "Apps import downwards"),
    ("annotation/models/story.py", "annotation.services.audit", "Layers of annotation"),
    ("annotation/domain/resolution.py", "django", "Pure rules know no framework"),
    ("workers/providers/openai/backend.py", "celery", "Pure rules know no framework"),
    ("workers/models/call.py", "workers.services.ledger", "Layers of workers"),
    ("benchmark/domain/averaging.py", "django", "Pure rules know no framework"),
    ("core/statistics/holm.py", "workers", "Apps import downwards"),
    ("core/statistics/holm.py", "django", "Pure rules know no framework"),
    ("benchmark/suites/percept_tomi/metrics.py", "benchmark.suites.percept_fantom.steps", "Suites know no other suite"),
]
"""Imports that run up or across: the file, what it imports, and the contract that forbids it."""


@pytest.fixture(scope="module")
def broken(tmp_path_factory) -> dict[str, str]:
    """What is said of each contract that is broken where all of these imports are."""
    folder = tmp_path_factory.mktemp("imports")
    for name in APPS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "sample"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for file, imported, _ in WRONG:
        with (folder / file).open("a") as changed:
            changed.write(f"\nimport {imported}\n")
    result = _lint(folder)
    assert result.returncode == 1
    _, *told = re.split(r"^(.+)\n-+\n", result.stdout.partition("Broken contracts")[2], flags=re.M)
    said = dict(zip(told[::2], told[1::2], strict=True))
    assert {name for name in said if f"{name} BROKEN" in result.stdout} == said.keys()
    return said


@pytest.mark.parametrize(("file", "imported", "contract"), WRONG)
def test_an_import_that_is_forbidden_is_found(broken, file, imported, contract):
    importer = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert re.search(rf"\b{re.escape(importer)} -> {re.escape(imported)}\s\(l\.\d+\)", broken[contract])
