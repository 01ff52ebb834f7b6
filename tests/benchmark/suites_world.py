"""The world of structure against answers with a finished run of two baselines in every suite that is imported, for
tests of what its pages show; a conversation is as long as the longest that there are."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmark.models import Run
from benchmark.suites.registry import suite_named, suites
from tests.benchmark.evaluation import started, worked_off
from tests.benchmark.importing import import_benchmark
from tests.benchmark.methods.test_matrix import COPIES
from tests.benchmark.results_world import ResultsWorld
from tests.benchmark.structure_world import structure_world
from tests.copies import copied

LINES = 60
"""About as often the small conversation is told as makes 10,000 characters of it."""


@dataclass
class SuitesWorld:
    """`runs` are those of each suite that has a loader, by its name."""

    world: ResultsWorld
    runs: dict[str, Run] = field(default_factory=dict)


def suites_world(folder: Path) -> SuitesWorld:
    return copied("suites", lambda: _made(folder))


def _made(folder: Path) -> SuitesWorld:
    made = SuitesWorld(structure_world(folder))
    for name in [name for name, suite in suites().items() if suite.copied.load]:
        with pytest.MonkeyPatch.context() as patch:
            made.runs[name] = _run_of(made.world, name, folder / name, patch)
    return made


def _run_of(world: ResultsWorld, name: str, folder: Path, patch: pytest.MonkeyPatch) -> Run:
    folder.mkdir()
    copy = COPIES[name]
    written = copy.write(patch, folder)
    if name == "fantom":
        _lengthen(written / "fantom_v1.json")
    dataset, _ = import_benchmark(
        by=None, project=world.dataset.project, suite=suite_named(name), folder=written, options={}
    )
    models = [world.models["majority"], world.models["random"]]
    return worked_off(
        started(dataset=dataset, endpoints=models, steps=("answer",), suite=name, limit=copy.limit, repetitions=2)
    )


def _lengthen(file: Path) -> None:
    records = json.loads(file.read_text())
    for record in records:
        record |= {key: "\n".join([record[key]] * LINES) for key in ("short_context", "full_context")}
    file.write_text(json.dumps(records))
