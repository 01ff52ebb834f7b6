"""The worked example of docs/results-by-api.md runs as it stands, against a served site, and comes to the figures of the report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotation.models import Scope
from benchmark.services.documents import document_of
from tests.api.conftest import token_of
from tests.benchmark.results_world import HOSTILE, STORIES, results_world

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "results-by-api.md"


def test_its_blocks_run_one_after_another(tmp_path, monkeypatch, live_server, capsys):
    world = results_world(tmp_path)
    monkeypatch.setenv("CREDENCE_SITE", live_server.url)
    monkeypatch.setenv("CREDENCE_TOKEN", token_of(world.alice, Scope.READ))
    monkeypatch.setenv("CREDENCE_PROJECT", world.dataset.project.slug)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S)
    names: dict = {}
    for at, block in enumerate(blocks, 1):
        exec(compile(block, f"{PAGE.name}, block {at}", "exec"), names)
    assert len(blocks) == 7 and names["told"]["state"] == "finished, some unusable"
    assert set(names["missing"]["model"]) == {HOSTILE}
    stages = document_of(world.run)["stages"]["stage2"]
    kept = {
        row["model"]: row["readings"]["repaired"]["overall"]["overall_accuracy"]
        for row in stages
        if row["readings"]["repaired"]
    }
    shown = {row["model"]: row["repaired"]["value"] for row in names["group"]["entrants"] if row["repaired"]}
    assert shown == kept and {"majority", "random"} <= set(shown)
    official = next(row for row in stages if row["model"] == "majority")["readings"]["official"]["overall"]
    assert names["means"].loc["majority", "All"] == pytest.approx(float(official["overall_accuracy"]), abs=1e-6)
    assert len(names["scores"]["story_id"].unique()) == STORIES
    assert (tmp_path / "ranking.pdf").read_bytes().startswith(b"%PDF")
    assert "no usable row" in capsys.readouterr().out
