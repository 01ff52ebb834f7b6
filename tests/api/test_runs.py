"""Datasets and runs over the API: who sees them, and the same figures as the pages have."""

from __future__ import annotations

import csv
import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmark.models import Audience, RunItem
from benchmark.services.documents import document_of
from tests.benchmark.results_world import HOSTILE, STORIES, ResultsWorld, results_world
from tests.benchmark.test_closed_gold import assign

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    held = results_world(tmp_path)
    held.project = held.dataset.project
    return held


@pytest.fixture
def base(world) -> str:
    return f"/api/v1/projects/{world.project.slug}/"


@pytest.fixture
def read(api, base):
    """`read(person, path, **query)`: the JSON of a 200."""

    def make(person, path: str, **query):
        response = api(person).get(f"{base}{path}", query)
        assert response.status_code == 200, response.content
        return response.json()

    return make


def told(response, status: int) -> str:
    assert response.status_code == status, response.content
    return response.json()["error"]["message"]


def test_versions_are_for_experts_and_admins(world, api, base, read):
    assert "role expert" in told(api(world.bob).get(f"{base}datasets/"), 403)
    (row,) = read(world.esi, "datasets/")["results"]
    assert (row["version"], row["suite"], row["samples"], row["runs"]) == (1, "", STORIES, 1)
    assert row["digest"] == world.dataset.digest
    one = read(world.esi, "datasets/1/")
    assert sum(one["categories"].values()) == STORIES and one["splits"] == {}
    assert one["asked"]["suite"] == "omnitom" and {"shots", "level"} <= {
        each["name"] for each in one["asked"]["settings"]
    }
    assert [step["key"] for step in one["asked"]["steps"]] == ["extract", "judge", "label"]
    assert told(api(world.esi).get(f"{base}datasets/9/"), 404)


def test_a_report_has_what_chance_and_the_majority_come_to(world, read):
    groups = {group["key"]: group for group in read(world.alice, f"runs/{world.run.uid}/report/")["groups"]}
    assert groups["stage1"]["totals"] == []
    score = "repaired_overall_accuracy"
    by_model = {row["model"]: row for row in groups["stage2"]["rows"]}
    levels = {row["model"]: row for row in groups["stage2"]["totals"]}
    majority = levels["Majority baseline"]
    assert majority[score]["value"] == pytest.approx(by_model["majority"][score]["value"])
    assert majority["stories"] == STORIES and 0 < levels["Chance level"][score]["value"] < majority[score]["value"]


def test_what_a_copy_of_a_benchmark_is_made_of_is_told_before_there_is_one(world, api, base, read):
    assert "role expert" in told(api(world.bob).get(f"{base}benchmarks/"), 403)
    needed = {row["suite"]: row["source"] for row in read(world.esi, "benchmarks/")}
    assert "omnitom" not in needed and needed["opentom"]["folder"] == "data/opentom_data"
    assert "CC BY-NC 4.0" in needed["opentom"]["licence"] and len(needed["opentom"]["files"]) == 10
    files = {file["name"]: file["optional"] for file in needed["fantom"]["files"]}
    assert files == {"fantom.tar.gz": False, "LICENSE": True, "flattened_fantom.csv": True}


def test_runs_are_for_those_whom_the_project_shows_results(world, api, base, read):
    for path in ("runs/", f"runs/{world.run.uid}/"):
        assert "shows results of models to admins only" in told(api(world.bob).get(f"{base}{path}"), 403)
        assert told(api(world.charlie).get(f"{base}{path}"), 404)
    world.show_to(Audience.EVERYONE)
    assert read(world.bob, "runs/")["count"] == 1


def test_a_run_says_how_each_model_stands_and_why_answers_are_missing(world, read):
    (row,) = read(world.alice, "runs/")["results"]
    run = read(world.alice, f"runs/{world.run.uid}/")
    assert {name: run[name] for name in row} == row
    assert (row["run"], row["suite"], row["dataset"], row["judge"]) == (world.run.uid, "omnitom", 1, "lexical-judge")
    assert row["models"] == ["majority", "random", "omniscient", HOSTILE] and row["steps"] == [
        "extract",
        "judge",
        "label",
    ]
    progress = {(each["model"], each["step"]): each for each in run["progress"]}
    assert progress["omniscient", "extract"]["done"] == STORIES
    mute = progress[HOSTILE, "extract"]
    assert (mute["total"], mute["unreadable"], mute["done"]) == (STORIES, STORIES, 0)
    reasons = [each for each in run["missing"] if (each["model"], each["step"]) == (HOSTILE, "extract")]
    assert [(each["state"], each["items"]) for each in reasons] == [("unreadable", STORIES)] and reasons[0]["reason"]
    assert run["entrants"][0]["key"] == world.entrant("majority")
    assert run["entrants"][0]["asked_as"]["provider"] == "baseline" and "base_url" not in run["entrants"][0]["asked_as"]
    assert (
        run["parameters"]["stories"] == STORIES
        and run["parameters"]["prompt_set"] == "omnitom-1"
        and run["withheld"] == 0
    )


def test_reasons_leave_out_stories_with_open_work(world, read):
    world.show_to(Audience.EVERYONE)
    assign(world, world.bob, 8)
    whole, part = (read(person, f"runs/{world.run.uid}/") for person in (world.alice, world.bob))
    items = RunItem.objects.filter(entrant__run=world.run, sample__number=8, item__state="unreadable").count()
    assert items and part["withheld"] == 1
    assert sum(each["items"] for each in whole["missing"]) - sum(each["items"] for each in part["missing"]) == items


def test_the_list_takes_the_same_number_of_statements_whatever_it_holds(world, api, base):
    alice = api(world.alice)

    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert alice.get(f"{base}runs/").status_code == 200
        return len(captured)

    few = statements()
    world.another("majority", "random", steps=("label",), judge=None)
    assert statements() == few
    assert alice.get(f"{base}runs/", {"state": "running"}).status_code == 400


# --- items and scores
# ------------------------------------------------------------------------------------------------------------
def test_items_come_with_their_answers_and_both_readings(world, read):
    path = f"runs/{world.run.uid}/items/"
    everything = read(world.alice, path, page_size=500)
    assert everything["count"] == RunItem.objects.filter(entrant__run=world.run).count()
    rows = read(world.alice, path, model="omniscient", step="extract")["results"]
    assert len(rows) == STORIES and {row["state"] for row in rows} == {"done"}
    first = RunItem.objects.get(pk=rows[0]["item"])
    assert (rows[0]["answer"], rows[0]["official"]) == (first.call.answer, first.official) and "prompt" not in rows[0]
    mute = read(world.alice, path, model=HOSTILE, step="label", state="unreadable", full="true")["results"]
    assert len(mute) == STORIES
    assert mute[0]["problem"] == "no readable row" and mute[0]["official_score"] == 0.0
    assert mute[0]["prompt"][0]["role"] == "system" and mute[0]["content"] and mute[0]["gold"]


def test_filters_of_items_are_those_of_the_page(world, api, base):
    alice, address = api(world.alice), f"{base}runs/{world.run.uid}/items/"
    for name, value in (("model", "nobody"), ("step", "guess"), ("category", "None"), ("problem", "sad")):
        assert f"The run has no {name} {value!r}" in told(alice.get(address, {name: value}), 404)
    for name, value in (("state", "odd"), ("modell", "x")):
        assert list(alice.get(address, {name: value}).json()["error"]["fields"]) == [name]
    assert "majority" in told(alice.get(address, {"model": "nobody"}), 404)
    scores = [
        row["repaired_score"] for row in alice.get(address, {"sort": "-repaired", "page_size": 5}).json()["results"]
    ]
    assert scores == sorted(scores, reverse=True)


def test_an_item_with_open_work_is_told_to_nobody_who_has_it(world, api, base, read):
    world.show_to(Audience.EVERYONE)
    assign(world, world.bob, 8)
    path = f"runs/{world.run.uid}/items/"
    hidden = RunItem.objects.filter(entrant__run=world.run, sample__number=8)
    assert read(world.bob, path)["count"] == read(world.alice, path)["count"] - hidden.count()
    assert "work to do on this story" in told(api(world.bob).get(f"{base}{path}{hidden.first().pk}/"), 403)
    one = read(world.alice, f"{path}{hidden.filter(step='label').first().pk}/")
    assert one["sample"] == 8 and one["gold"] and one["content"] and one["prompt"][0]["role"] == "data"
    rows = read(world.bob, f"runs/{world.run.uid}/scores/", page_size=500)["results"]
    withheld = [row for row in rows if row["story_id"] == 8]
    assert len(withheld) == hidden.count() and {row["repaired"] for row in withheld} == {None}
    assert all("withheld" in row["state"] for row in withheld)


def test_scores_are_one_table_in_json_and_csv(world, api, base, read):
    path = f"runs/{world.run.uid}/scores/"
    rows = read(world.alice, path, page_size=500)["results"]
    response = api(world.alice).get(f"{base}{path}", {"format": "csv"})
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    written = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert len(written) == len(rows) == RunItem.objects.filter(entrant__run=world.run).count()
    assert list(written[0]) == list(rows[0])
    assert [line["repaired"] for line in written] == [
        "" if row["repaired"] is None else repr(row["repaired"]) for row in rows
    ]
    page = api(world.alice).get(f"{base}{path}", HTTP_ACCEPT="text/csv")
    assert page["Content-Type"].startswith("text/csv")
    assert told(api(world.alice).get(f"{base}{path}", {"format": "parquet"}), 404)


# --- reports, leaderboards, comparisons
# --------------------------------------------------------------------------------------------
def test_a_report_has_the_figures_of_the_page(world, api, base, read):
    report = read(world.alice, f"runs/{world.run.uid}/report/")
    groups = {group["key"]: group for group in report["groups"]}
    assert (
        report["samples"] == STORIES and {"stage1", "stage2"} <= set(groups) and report["methods"] and report["facts"]
    )
    best = groups["stage1"]["rows"][0]
    kept = document_of(world.run).groups["stage1"][0].parses.overall("repaired")
    assert (best["model"], best["repaired_rank"]) == ("omniscient", 1)
    assert best["entrant"] == {"key": world.entrant("omniscient"), "kind": "baseline", "run": world.run.uid}
    assert best["repaired_f1"] == {"value": kept.value_of("f1"), "interval": kept.interval_of("f1")}
    table = read(world.alice, f"runs/{world.run.uid}/tables/stage2/")
    page = api(world.alice)
    page.force_login(world.alice)
    assert table == page.get(f"{world.base}/runs/{world.run.uid}/tables/stage2.json").json()
    assert {"stage2", "categories-stage2"} <= set(report["tables"])
    lines = page.get(f"{base}runs/{world.run.uid}/tables/stage2/", {"format": "csv", "parse": "official"})
    header = lines.content.decode().splitlines()[0]
    assert "Official" in header and "Repaired" not in header
    assert page.get(f"{base}runs/{world.run.uid}/tables/stage2/", {"format": "tex"}).content.startswith(b"%")
    assert "stage2" in told(api(world.alice).get(f"{base}runs/{world.run.uid}/tables/nothing/"), 404)


def test_a_leaderboard_is_the_one_that_was_asked_for_or_none(world, api, base, read):
    world.another("majority", "random", steps=("label",), judge=None)
    leaderboard = read(world.alice, "leaderboard/")
    assert (leaderboard["version"], leaderboard["suite"], leaderboard["answer_format"], leaderboard["withheld"]) == (
        1,
        "omnitom",
        "text",
        0,
    )
    assert leaderboard["selection"]["samples"] == STORIES
    names = {group["key"]: [row["model"] for row in group["rows"]] for group in leaderboard["groups"]}
    assert names["stage1"][0] == "omniscient" and {"majority", "random"} <= set(names["stage2"])
    shown = read(world.alice, "leaderboard/", show="baseline")["groups"]
    assert HOSTILE not in [row["model"] for group in shown for row in group["rows"]]
    for name, value in (("version", "7"), ("split", "nowhere"), ("judge", "nobody")):
        assert f"There is no {name}" in told(api(world.alice).get(f"{base}leaderboard/", {name: value}), 404)
    assert told(api(world.alice).get(f"{base}leaderboard/", {"version": "x"}), 400)
    assert read(world.alice, "leaderboard/tables/stage2/", version=1)["rows"]
    assert "shows results" in told(api(world.bob).get(f"{base}leaderboard/"), 403)


def test_two_models_side_by_side(world, api, base, read):
    pair = {"a": world.entrant("majority"), "b": world.entrant("random")}
    comparison = read(world.alice, "comparison/", **pair, group="stage2")
    assert (comparison["first"], comparison["second"], comparison["group"]) == ("majority", "random", "stage2")
    assert comparison["differences"]["rows"][0]["value"] and len(comparison["stories"]["rows"]) == STORIES
    rows = read(world.alice, "comparison/tables/differences/", **pair, group="stage2")["rows"]
    assert rows[0]["value"] == comparison["differences"]["rows"][0]["value"]
    assert set(api(world.alice).get(f"{base}comparison/", {"a": pair["a"]}).json()["error"]["fields"]) == {"b"}
    assert "two different" in told(api(world.alice).get(f"{base}comparison/", {"a": pair["a"], "b": pair["a"]}), 422)
    assert "no metric group" in told(api(world.alice).get(f"{base}comparison/", pair | {"group": "stage9"}), 404)
    assert "no split" in told(api(world.alice).get(f"{base}comparison/", pair | {"split": "nowhere"}), 404)


def test_figures_that_wait_for_open_work_wait_here_too(world, api, base, read):
    """What tells of the stories is neither listed nor given by name, and baselines have no row: as on the pages."""
    world.show_to(Audience.EVERYONE)
    assign(world, world.bob, 8)
    for path in (f"runs/{world.run.uid}/report/", "leaderboard/"):
        whole, part = (read(person, path) for person in (world.alice, world.bob))
        assert (whole["withheld"], part["withheld"]) == (0, 1)
        assert set(part["tables"]) < set(whole["tables"]) and "categories-stage2" not in part["tables"]
        kinds = {row["entrant"]["kind"] for group in part["groups"] for row in group["rows"]}
        assert kinds == {"model"} and any(
            "withheld" in row["why"] for group in part["groups"] for row in group.get("absent", ())
        )
    assert "finish that first" in told(api(world.bob).get(f"{base}runs/{world.run.uid}/tables/categories-stage2/"), 403)
    pair = {"a": world.entrant("majority"), "b": world.entrant("random")}
    assert "Finish that first" in told(api(world.bob).get(f"{base}comparison/", pair), 422)
