"""The worked example of docs/results-by-api.md runs as it stands, against a served site, and comes to the figures of
the report."""

import re
from pathlib import Path

import pytest

from annotation.models import Scope
from benchmark.models import Run
from benchmark.services.documents import document_of
from tests.api.conftest import token_of
from tests.benchmark.methods.world import STEADY, opentom
from tests.benchmark.results_world import HOSTILE, STORIES, results_world
from workers.models import Endpoint

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "results-by-api.md"


def _blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S)


def test_its_launch_makes_a_run_by_each_method_and_under_each_control(cast, tmp_path, monkeypatch, live_server, capsys):
    opentom(cast, tmp_path)
    Endpoint.objects.update(price_input=1, price_output=1)
    monkeypatch.setenv("CREDENCE_SITE", live_server.url)
    monkeypatch.setenv("CREDENCE_TOKEN", token_of(cast.alice))
    monkeypatch.setenv("CREDENCE_PROJECT", cast.project.slug)
    names: dict = {}
    for block in _blocks()[:2]:
        exec(block, names)
    made = names["launch"](1, [STEADY], ["plain", "cot"], ["renamed"], "25.00")
    assert [one["name"] for one in made["methods"]] == ["plain", "cot"] and len(made["controls"]) == 1
    assert Run.objects.count() == 4 and "calls, at most" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="may not suffice"):
        names["launch"](1, [STEADY], ["plain", "cot"], ["renamed"], "0.01")
    assert Run.objects.count() == 4


def test_its_blocks_run_one_after_another(tmp_path, monkeypatch, live_server, capsys):
    world = results_world(tmp_path)
    monkeypatch.setenv("CREDENCE_SITE", live_server.url)
    monkeypatch.setenv("CREDENCE_TOKEN", token_of(world.alice, Scope.READ))
    monkeypatch.setenv("CREDENCE_PROJECT", world.dataset.project.slug)
    monkeypatch.chdir(tmp_path)
    blocks = _blocks()
    names: dict = {}
    for at, block in enumerate(blocks, 1):
        exec(compile(block, f"{PAGE.name}, block {at}", "exec"), names)
    assert len(blocks) == 8 and names["told"]["state"] == "finished, some unreadable"
    assert set(names["missing"]["model"]) == {HOSTILE}
    groups = document_of(world.run).groups["stage2"]
    kept = {
        row.model: row.parses.overall("repaired").value_of("overall_accuracy") for row in groups if row.parses.repaired
    }
    cells = {row["model"]: row["repaired_overall_accuracy"] for row in names["group"]["rows"]}
    shown = {model: cell["value"] if isinstance(cell, dict) else cell for model, cell in cells.items()}
    assert shown == kept and {"majority", "random"} <= set(shown)
    official = next(row for row in groups if row.model == "majority").parses.overall("official")
    assert names["means"].loc["majority", "All"] == pytest.approx(official.number_of("overall_accuracy"), abs=1e-6)
    assert len(names["scores"]["story_id"].unique()) == STORIES
    assert (tmp_path / "ranking.pdf").read_bytes().startswith(b"%PDF")
    assert "no readable row" in capsys.readouterr().out
