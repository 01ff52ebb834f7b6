"""A row of results says under which settings and by which judge it came about, and never mixes two."""

from __future__ import annotations

import pytest

from benchmark.models import Form
from benchmark.services.boards import board
from benchmark.services.comparisons import compare, difference_table, pair_of
from benchmark.services.documents import board_document, tables_of
from benchmark.services.result_tables import judged_by
from tests.benchmark.results_world import ResultsWorld, endpoint, results_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


def document(world, *, all_runs: bool = False) -> dict:
    stages = board(world.dataset, Form.TEXT, None, all_runs=all_runs)["stages"]
    return board_document("Leaderboard", {stage: entries for stage, (entries, _) in stages.items()})


def test_another_judge_is_named_with_every_figure(world, client):
    strict = endpoint("strict", "baseline", model="lexical-judge", options={"threshold": 1.0})
    other = endpoint("other", options={"default": "no table"})
    world.models["other"] = other
    run = world.another("other", stages=("extract", "judge"), judge=strict)
    held = tables_of(document(world))
    for name in ("stage1", "categories-stage1", "main-repaired"):
        table = held[name]()
        [note] = [one for one in table.notes if one.startswith("Judges differ")]
        assert "strict: other" in note and "lexical-judge: " in note
        rows = {row["model"]: row["settings"] for row in table.rows}
        assert rows["other"] == "judge strict" and "judge lexical-judge" in rows["omniscient"]
        assert table.columns[-1].header == "Settings"
    client.force_login(world.alice)
    for page in ("", "differences/?stage=stage1&reading=official"):
        assert "Judges differ" in client.get(f"{world.base}/results/{page}").content.decode()
    keys = [world.entrant("omniscient"), f"{run.uid}.{run.entrants.get().pk}"]
    comparison = compare(pair_of(world.dataset.project, *keys)[1]["stage1"], "stage1", "repaired")
    assert comparison["differ"] == "omniscient: judge lexical-judge; other: judge strict"
    assert any("Settings that differ" in note for note in difference_table(comparison).notes)
    asked = {"a": keys[0], "b": keys[1]}
    assert "Settings that differ" in client.get(f"{world.base}/results/compare/", asked).content.decode()


def test_one_judge_needs_no_word(world):
    entries = board(world.dataset, Form.TEXT, None)["stages"]["stage1"][0]
    assert judged_by(entries) == []
    table = tables_of(document(world))["stage1"]()
    assert "settings" not in {one.key for one in table.columns}


def test_two_stages_that_were_asked_differently_are_two_rows(world):
    """Labelling at level 1 in one run, extraction at level 4 in another: no row of table 3 has both."""
    world.models["m"] = endpoint("m", options={"default": "no table"})
    labelled = world.another("m", stages=("label",), level=1)
    extracted = world.another("m", stages=("extract", "judge"), level=4)
    rows = [row for row in tables_of(document(world))["main-official"]().rows if row["model"].startswith("m (")]
    assert [(row.get("f1") is None, row.get("overall_accuracy") is None) for row in rows] == [
        (False, True),
        (True, False),
    ]
    assert "level 4" in rows[0]["model"] and "level 1" in rows[1]["model"]
    assert [row["_run"] for row in rows] == [extracted.uid, labelled.uid]


def test_two_stages_that_were_asked_alike_are_one_row_and_each_opens_its_run(world):
    world.models["m"] = endpoint("m", options={"default": "no table"})
    labelled = world.another("m", stages=("label",))
    extracted = world.another("m", stages=("extract", "judge"))
    [row] = [row for row in tables_of(document(world))["main-official"]().rows if row["model"] == "m"]
    assert row["f1"] is not None and row["overall_accuracy"] is not None
    assert row["_where"]["f1"]["_run"] == extracted.uid
    assert row["_where"]["overall_accuracy"]["_run"] == labelled.uid


def test_the_longest_answer_is_a_setting(world):
    world.models["m"] = endpoint("m", options={"default": "no table"})
    world.another("m", stages=("label",), max_tokens=50)
    world.another("m", stages=("label",))
    entries = board(world.dataset, Form.TEXT, None)["stages"]["stage2"][0]
    names = {one["model"] for one in entries if one["name"] == "m"}
    assert names == {"m (longest answer 50 tokens)", "m (longest answer 6,000 tokens)"}


def test_what_changed_at_an_endpoint_tells_two_rows_apart(world):
    world.models["m"] = endpoint("m", options={"default": "no table"})
    world.another("m", stages=("label",))
    world.models["m"].model = "m-2"
    world.models["m"].save()
    world.another("m", stages=("label",))
    entries = board(world.dataset, Form.TEXT, None)["stages"]["stage2"][0]
    assert {one["model"] for one in entries if one["name"] == "m"} == {"m (model m)", "m (model m-2)"}
