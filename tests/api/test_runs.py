"""Datasets and runs over the API: who sees them, and the same figures as the pages have."""

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
def get(api, world):
    """`get(person, path, **query)`: the answer; `.json()` of a file fails."""
    return lambda person, path, **query: api(person).get(f"/api/v1/projects/{world.project.slug}/{path}", query)


@pytest.fixture
def read(get):
    def make(person, path: str, **query):
        response = get(person, path, **query)
        assert response.status_code == 200, response.content
        return response.json()

    return make


def told(response, status: int) -> str:
    assert response.status_code == status, response.content
    return response.json()["error"]["message"]


def test_datasets_and_benchmarks_are_for_experts_and_runs_for_those_whom_results_are_shown(world, get, read):
    for path in ("datasets/", "benchmarks/"):
        assert "role expert" in told(get(world.bob, path), 403)
    (row,) = read(world.esi, "datasets/")["results"]
    assert (row["version"], row["suite"], row["samples"], row["runs"]) == (1, "", STORIES, 1)
    assert row["digest"] == world.dataset.digest
    one = read(world.esi, "datasets/1/")
    assert sum(one["categories"].values()) == STORIES and one["splits"] == {}
    settings = {each["name"] for each in one["asked"]["settings"]}
    assert one["asked"]["suite"] == "omnitom" and {"shots", "level"} <= settings
    assert [step["key"] for step in one["asked"]["steps"]] == ["extract", "judge", "label"]
    assert told(get(world.esi, "datasets/9/"), 404)
    needed = {row["suite"]: row["source"] for row in read(world.esi, "benchmarks/")}
    assert "omnitom" not in needed and needed["opentom"]["folder"] == "data/opentom_data"
    assert "CC BY-NC 4.0" in needed["opentom"]["licence"] and len(needed["opentom"]["files"]) == 10
    files = {file["name"]: file["optional"] for file in needed["fantom"]["files"]}
    assert files == {"fantom.tar.gz": False, "LICENSE": True, "flattened_fantom.csv": True}
    for path in ("runs/", f"runs/{world.run.uid}/", "leaderboard/"):
        assert "shows results" in told(get(world.bob, path), 403), path
        assert told(get(world.charlie, path), 404)
    world.show_to(Audience.EVERYONE)
    assert read(world.bob, "runs/")["count"] == 1


def test_a_run_says_how_each_model_stands_and_why_answers_are_missing(world, get, read):
    (row,) = read(world.alice, "runs/")["results"]
    run = read(world.alice, f"runs/{world.run.uid}/")
    assert {name: run[name] for name in row} == row
    assert (row["run"], row["suite"], row["dataset"], row["judge"]) == (world.run.uid, "omnitom", 1, "lexical-judge")
    assert row["models"] == ["majority", "random", "omniscient", HOSTILE]
    assert row["steps"] == ["extract", "judge", "label"]
    progress = {(each["model"], each["step"]): each for each in run["progress"]}
    assert progress["omniscient", "extract"]["done"] == STORIES
    mute = progress[HOSTILE, "extract"]
    assert (mute["total"], mute["unreadable"], mute["done"]) == (STORIES, STORIES, 0)
    reasons = [each for each in run["missing"] if (each["model"], each["step"]) == (HOSTILE, "extract")]
    assert [(each["state"], each["items"]) for each in reasons] == [("unreadable", STORIES)] and reasons[0]["reason"]
    first = run["entrants"][0]
    assert (first["key"], first["asked_as"]["provider"]) == (world.entrant("majority"), "baseline")
    assert "base_url" not in first["asked_as"]
    assert (run["parameters"]["stories"], run["parameters"]["prompt_set"]) == (STORIES, "omnitom-1")

    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert get(world.alice, "runs/").status_code == 200
        return len(captured)

    few = statements()
    world.another("majority", "random", steps=("label",), judge=None)
    assert statements() == few
    assert get(world.alice, "runs/", state="running").status_code == 400


def test_items_come_with_their_answers_and_both_readings_and_scores_as_one_table(world, api, get, read):
    path, of_run = f"runs/{world.run.uid}/items/", RunItem.objects.filter(entrant__run=world.run)
    assert read(world.alice, path, page_size=500)["count"] == of_run.count()
    rows = read(world.alice, path, model="omniscient", step="extract")["results"]
    assert len(rows) == STORIES and {row["state"] for row in rows} == {"done"}
    first = RunItem.objects.get(pk=rows[0]["item"])
    assert (rows[0]["answer"], rows[0]["official"]) == (first.call.answer, first.official) and "prompt" not in rows[0]
    mute = read(world.alice, path, model=HOSTILE, step="label", state="unreadable", full="true")["results"]
    assert len(mute) == STORIES
    assert mute[0]["problem"] == "no readable row" and mute[0]["official_score"] == 0.0
    assert mute[0]["prompt"][0]["role"] == "system" and mute[0]["content"] and mute[0]["gold"]
    for name, value in (("model", "nobody"), ("step", "guess"), ("category", "None"), ("problem", "sad")):
        assert f"The run has no {name} {value!r}" in told(get(world.alice, path, **{name: value}), 404)
    for name, value in (("state", "odd"), ("modell", "x")):
        assert list(get(world.alice, path, **{name: value}).json()["error"]["fields"]) == [name]
    assert "majority" in told(get(world.alice, path, model="nobody"), 404), "which there are"
    scores = [row["repaired_score"] for row in read(world.alice, path, sort="-repaired", page_size=5)["results"]]
    assert scores == sorted(scores, reverse=True)

    path = f"runs/{world.run.uid}/scores/"
    rows = read(world.alice, path, page_size=500)["results"]
    response = get(world.alice, path, format="csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    written = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert len(written) == len(rows) == of_run.count() and list(written[0]) == list(rows[0])
    said = ["" if row["repaired"] is None else repr(row["repaired"]) for row in rows]
    assert [line["repaired"] for line in written] == said
    accepted = api(world.alice).get(f"/api/v1/projects/{world.project.slug}/{path}", HTTP_ACCEPT="text/csv")
    assert accepted["Content-Type"].startswith("text/csv")
    assert told(get(world.alice, path, format="parquet"), 404)


def test_what_tells_of_a_story_is_withheld_from_who_has_open_work_on_it(world, get, read):
    """Its items, scores and reasons; what tells of the stories is neither listed nor given by name, and baselines have
    no row: as on the pages."""
    world.show_to(Audience.EVERYONE)
    assign(world, world.bob, 8)
    run = f"runs/{world.run.uid}/"
    hidden = RunItem.objects.filter(entrant__run=world.run, sample__number=8)
    whole, part = (read(person, run) for person in (world.alice, world.bob))
    unreadable = hidden.filter(item__state="unreadable").count()
    assert unreadable and (whole["withheld"], part["withheld"]) == (0, 1)
    assert (
        sum(each["items"] for each in whole["missing"]) - sum(each["items"] for each in part["missing"]) == unreadable
    )
    assert read(world.bob, f"{run}items/")["count"] == read(world.alice, f"{run}items/")["count"] - hidden.count()
    assert "work to do on this story" in told(get(world.bob, f"{run}items/{hidden.first().pk}/"), 403)
    one = read(world.alice, f"{run}items/{hidden.filter(step='label').first().pk}/")
    assert one["sample"] == 8 and one["gold"] and one["content"] and one["prompt"][0]["role"] == "data"
    rows = read(world.bob, f"{run}scores/", page_size=500)["results"]
    withheld = [row for row in rows if row["story_id"] == 8]
    assert len(withheld) == hidden.count() and {row["repaired"] for row in withheld} == {None}
    assert all("withheld" in row["state"] for row in withheld)
    for path in (f"{run}report/", "leaderboard/"):
        whole, part = (read(person, path) for person in (world.alice, world.bob))
        assert (whole["withheld"], part["withheld"]) == (0, 1)
        assert set(part["tables"]) < set(whole["tables"]) and "categories-stage2" not in part["tables"]
        kinds = {row["entrant"]["kind"] for group in part["groups"] for row in group["rows"]}
        absent = [row for group in part["groups"] for row in group.get("absent", ())]
        assert kinds == {"model"} and any("withheld" in row["why"] for row in absent)
    assert "finish that first" in told(get(world.bob, f"{run}tables/categories-stage2/"), 403)
    pair = {"a": world.entrant("majority"), "b": world.entrant("random")}
    assert "Finish that first" in told(get(world.bob, "comparison/", **pair), 422)


def test_a_report_has_the_figures_of_the_page(world, client, get, read):
    run = f"runs/{world.run.uid}/"
    report = read(world.alice, f"{run}report/")
    groups = {group["key"]: group for group in report["groups"]}
    assert report["samples"] == STORIES and report["methods"] and report["facts"]
    best = groups["stage1"]["rows"][0]
    kept = document_of(world.run).groups["stage1"][0].parses.overall("repaired")
    assert (best["model"], best["repaired_rank"]) == ("omniscient", 1)
    assert best["entrant"] == {"key": world.entrant("omniscient"), "kind": "baseline", "run": world.run.uid}
    assert best["repaired_f1"] == {"value": kept.value_of("f1"), "interval": kept.interval_of("f1")}
    # what chance and the majority come to
    assert groups["stage1"]["totals"] == []
    score = "repaired_overall_accuracy"
    by_model = {row["model"]: row for row in groups["stage2"]["rows"]}
    levels = {row["model"]: row for row in groups["stage2"]["totals"]}
    majority = levels["Majority baseline"]
    assert majority[score]["value"] == pytest.approx(by_model["majority"][score]["value"])
    assert majority["stories"] == STORIES and 0 < levels["Chance level"][score]["value"] < majority[score]["value"]
    client.force_login(world.alice)
    table = client.get(f"{world.base}/{run}tables/stage2.json").json()
    assert read(world.alice, f"{run}tables/stage2/") == table
    assert {"stage2", "categories-stage2"} <= set(report["tables"])
    header = get(world.alice, f"{run}tables/stage2/", format="csv", parse="official").content.decode().splitlines()[0]
    assert "Official" in header and "Repaired" not in header
    assert get(world.alice, f"{run}tables/stage2/", format="tex").content.startswith(b"%")
    assert "stage2" in told(get(world.alice, f"{run}tables/nothing/"), 404)


def test_a_leaderboard_and_a_comparison_are_those_that_were_asked_for_or_none(world, get, read):
    world.another("majority", "random", steps=("label",), judge=None)
    leaderboard = read(world.alice, "leaderboard/")
    assert {name: leaderboard[name] for name in ("version", "suite", "answer_format", "withheld")} == {
        "version": 1, "suite": "omnitom", "answer_format": "text", "withheld": 0,
    }  # fmt: skip
    assert leaderboard["selection"]["samples"] == STORIES
    names = {group["key"]: [row["model"] for row in group["rows"]] for group in leaderboard["groups"]}
    assert names["stage1"][0] == "omniscient" and {"majority", "random"} <= set(names["stage2"])
    shown = read(world.alice, "leaderboard/", show="baseline")["groups"]
    assert HOSTILE not in [row["model"] for group in shown for row in group["rows"]]
    for name, value in (("version", "7"), ("split", "nowhere"), ("judge", "nobody")):
        assert f"There is no {name}" in told(get(world.alice, "leaderboard/", **{name: value}), 404)
    assert told(get(world.alice, "leaderboard/", version="x"), 400)
    assert read(world.alice, "leaderboard/tables/stage2/", version=1)["rows"]

    pair = {"a": world.entrant("majority"), "b": world.entrant("random")}
    comparison = read(world.alice, "comparison/", **pair, group="stage2")
    assert (comparison["first"], comparison["second"], comparison["group"]) == ("majority", "random", "stage2")
    assert comparison["differences"]["rows"][0]["value"] and len(comparison["stories"]["rows"]) == STORIES
    rows = read(world.alice, "comparison/tables/differences/", **pair, group="stage2")["rows"]
    assert rows[0]["value"] == comparison["differences"]["rows"][0]["value"]
    assert set(get(world.alice, "comparison/", a=pair["a"]).json()["error"]["fields"]) == {"b"}
    for asked, status, sentence in (
        ({"b": pair["a"]}, 422, "two different"), ({"group": "stage9"}, 404, "no metric group"),
        ({"split": "nowhere"}, 404, "no split"),
    ):  # fmt: skip
        assert sentence in told(get(world.alice, "comparison/", **(pair | asked)), status)
