"""`runs` and the other commands that do what pages do."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import AuditEvent
from benchmark.management.commands.runs import ACTIONS
from benchmark.models import ResultsVisibility, Run, RunItem, Snapshot, StoredPromptSet
from benchmark.services.downloads import WRITERS
from benchmark.services.reports import scores_of
from benchmark.suites.omnitom import steps
from tests.benchmark.evaluation import endpoint, generated, published, started, worked_off, write_records
from workers.models import Call, Item, ItemState, JobState

pytestmark = pytest.mark.django_db(transaction=True)
STORIES = 8


@pytest.fixture
def models(db):
    return {name: endpoint(name, "baseline") for name in ("majority", "random", "omniscient", "lexical-judge")}


@pytest.fixture
def dataset(tmp_path):
    return published(write_records(tmp_path / "records.jsonl", generated(STORIES)))


@pytest.fixture
def labelled(dataset, models) -> Run:
    return worked_off(started(dataset=dataset, endpoints=[models["majority"]], steps=["label"], limit=3))


@pytest.fixture
def extracted(dataset, models) -> Run:
    plan = {"steps": ["extract", "judge"], "judge": models["lexical-judge"], "limit": 3}
    return worked_off(started(dataset=dataset, endpoints=[models["omniscient"]], **plan))


def told(*arguments: str) -> dict:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


def refused(*arguments: str) -> str:
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command(*arguments, stdout=out, stderr=StringIO())
    assert out.getvalue() == "" and "\n" not in str(caught.value)
    return str(caught.value)


# --- actions
# ------------------------------------------------------------------------------------------------------------------
def test_pause_resume_and_cancel(dataset, models):
    run = started(dataset=dataset, endpoints=[models["majority"]], steps=["label"])
    assert told("runs", "pause", run.uid)["state"] == "paused"
    assert refused("runs", "pause", run.uid) == "The run is paused; expected running to pause it."
    assert told("runs", "resume", run.uid, "--budget", "2.5")["state"] == "running"
    run.job.refresh_from_db()
    assert str(run.job.budget) == "2.5000"
    assert told("runs", "cancel", run.uid)["state"] == "cancelled"
    assert refused("runs", "resume", run.uid) == "The run is cancelled; expected paused to resume it."
    assert "failed items are not asked again" in refused("runs", "retry", run.uid)


def test_what_a_running_run_holds_back_is_resumed(dataset, models):
    run = started(dataset=dataset, endpoints=[models["majority"], models["random"]], steps=["label"])
    assert "expected paused to resume it" in refused("runs", "resume", run.uid)
    mine = Item.objects.filter(job=run.job, endpoint=models["random"])
    mine.update(state=ItemState.HELD)
    assert "a budget is for one that is paused" in refused("runs", "resume", run.uid, "--budget", "5")
    assert told("runs", "resume", run.uid)["state"] == "running"
    assert set(mine.values_list("state", flat=True)) == {ItemState.WAITING}


def test_failed_items_are_asked_again_and_seen_through(dataset):
    model = endpoint("flaky", options={"script": [{"fail": "rejected", "times": 1}]})
    run = worked_off(started(dataset=dataset, endpoints=[model], steps=["label"], limit=2, answer_format="structured"))
    assert Item.objects.filter(job=run.job, state=ItemState.FAILED).count() == 1
    model.options = {}  # it has come to its senses
    model.save()
    done = told("runs", "retry", run.uid, "--wait")
    assert (done["items"]["failed"], done["state"]) == (0, "finished") and "scores" in done


# --- more of a run
# -------------------------------------------------------------------------------------------------------------
def test_a_run_is_extended_by_models_and_stories(labelled, models):
    done = told("runs", "extend", labelled.uid, "--endpoint", "random", "--limit", "5", "--wait")
    # majority labels two more stories, random all five
    assert (done["added"], done["items"]["done"], done["state"]) == (7, 10, "finished")
    assert refused("runs", "extend", labelled.uid) == "Name what is to be added: --endpoint, --stories, or both."
    assert refused("runs", "extend", labelled.uid, "--split", "x").startswith(
        "The choice of split and category leaves no"
    )
    assert told("runs", "extend", labelled.uid, "--stories")["added"] == 2 * (STORIES - 5)


def test_the_same_once_more_makes_no_call(labelled):
    done = told("runs", "again", labelled.uid, "--wait")
    assert (done["of"], done["calls"]) == (labelled.uid, {"made": 0, "reused": 3})
    assert done["run"] != labelled.uid and done["scores"] == json.loads(json.dumps(scores_of(labelled)))


def test_another_judge_reads_the_extractions_that_are_there(extracted):
    endpoint("strict", "baseline", model="lexical-judge", options={"threshold": 1.0})
    done = told("runs", "judge", extracted.uid, "--judge", "strict", "--title", "Strict", "--wait")
    assert done["calls"] == {"made": 3, "reused": 0}
    made = Run.objects.get(uid=done["run"])
    assert (made.source, made.title, made.params["stories"]) == (extracted, "Strict", 3)
    assert refused("runs", "judge", extracted.uid) == "Name the judge: --judge NAME."
    assert "reads the two tables alone" in refused("runs", "judge", extracted.uid, "--judge", "strict", "--shots", "1")
    endpoint("reader")
    wrong = ("runs", "judge", extracted.uid, "--judge", "reader", "--shots", "2", "--judge-level", "2")
    assert refused(*wrong) == "--shots are shown at level 4, and the judge's level is 2: leave one of them out."


# --- reading again
# ---------------------------------------------------------------------------------------------------------------
def test_kept_answers_are_read_by_the_present_parser_without_a_call(labelled, monkeypatch):
    calls, read = Call.objects.count(), steps.parse_stage2
    monkeypatch.setattr(steps, "parse_stage2", lambda record, answer, **how: read(record, "", **how))
    assert told("runs", "reread", labelled.uid) == {"run": labelled.uid, "changed": 3}
    assert Call.objects.count() == calls
    assert scores_of(labelled)["repaired"]["stage2"]["overall"]["unreadable"] == 3
    # what the run's page counts follows the parses
    assert Item.objects.filter(job=labelled.job, state=ItemState.UNREADABLE).count() == 3
    labelled.refresh_from_db()
    (noted,) = labelled.spec["later"]
    assert (noted["did"], noted["changed"]) == ("read again", 3) and noted["code"] and noted["packages"]
    assert AuditEvent.objects.filter(action="run.read_again", target=labelled.uid).count() == 1
    monkeypatch.undo()
    assert told("runs", "reread", labelled.uid)["changed"] == 3
    assert Item.objects.filter(job=labelled.job, state=ItemState.DONE).count() == 3


# --- what each takes
# ------------------------------------------------------------------------------------------------------------
@pytest.mark.once
@pytest.mark.parametrize("action", ACTIONS)
def test_an_option_of_another_action_is_refused(labelled, action):
    option = ("--output", "x.csv") if action != "download" else ("--judge", "x")
    sentence = refused("runs", action, labelled.uid, *option)
    assert sentence.startswith(f"{option[0]} is not for {action}, which takes ")


def test_a_project_lists_its_runs(labelled, extracted):
    slug = labelled.project.slug
    rows = told("runs", "list", "--project", slug)["runs"]
    assert [row["run"] for row in rows] == [extracted.uid, labelled.uid]
    assert rows[1]["models"] == ["majority"] and rows[1]["items"]["done"] == 3 and rows[1]["steps"] == ["label"]
    told("runs", "archive", labelled.uid)
    assert [row["run"] for row in told("runs", "list", "--project", slug, "--archived")["runs"]] == [labelled.uid]
    out = StringIO()
    call_command("runs", "list", "--project", slug, stdout=out)
    (line,) = out.getvalue().splitlines()
    assert line.startswith(f"{extracted.uid}  ") and "omniscient" in line and extracted.title in line
    assert refused("runs", "list") == "A list is of the runs of one project: runs list --project SLUG."
    assert refused("runs", "list", "--project", "none") == "There is no project 'none'."
    assert refused("runs", "pause").startswith("Name the run to pause: ")


def test_a_run_that_is_not_there(db):
    assert (
        refused("runs", "pause", "nothing")
        == "There is no run 'nothing'; its id is the last part of its page's address."
    )


def test_what_may_cost_something_is_estimated_first(dataset, models, extracted):
    told_first = StringIO()  # baselines compute their answers
    call_command("runs", "again", extracted.uid, stdout=StringIO(), stderr=told_first)
    assert told_first.getvalue() == ""
    paid = endpoint("paid", options={"default": "x"}, price_input=1, price_output=2)
    call_command("runs", "judge", extracted.uid, "--judge", "paid", stdout=StringIO(), stderr=told_first)
    assert re.match(
        r"Up to 11 calls: about [\d,]+ tokens in and [\d,]+ out, about \$0\.\d+, at most \$", told_first.getvalue()
    )
    run = Run.objects.get(judge=paid)
    for action, calls in (
        ("again", 3),
        ("extend", 6),
    ):  # a new model extracts and is judged: two calls a story of three
        told_first = StringIO()
        options = ("--endpoint", "paid") if action == "extend" else ()
        uid = extracted.uid if action == "extend" else run.uid
        call_command("runs", action, uid, *options, stdout=StringIO(), stderr=told_first)
        assert told_first.getvalue().startswith(f"Up to {calls} calls: ")


# --- files
# -----------------------------------------------------------------------------------------------------------------------  # noqa: E501
def test_scores_and_the_official_folder_are_written(extracted, labelled, tmp_path):
    path = tmp_path / "scores.csv"
    done = told("runs", "download", extracted.uid, "--output", str(path))
    assert done == {"run": extracted.uid, "path": str(path), "bytes": path.stat().st_size}
    assert len(list(csv.DictReader(path.open(newline="")))) == 6  # extraction and judging of three stories
    folder = tmp_path / "official.zip"
    told("runs", "download", extracted.uid, "--what", "official", "--output", str(folder))
    assert "metrics/stage1_overall.csv" in zipfile.ZipFile(folder).namelist()


@pytest.mark.once
@pytest.mark.parametrize("suffix", WRITERS)
def test_tables_are_written_in_the_format_of_the_ending(labelled, tmp_path, suffix):
    path = tmp_path / f"table.{suffix}"
    told("runs", "download", labelled.uid, "--what", "table", "--name", "stage2", "--output", str(path))
    assert "majority" in path.read_text()


@pytest.mark.once
def test_a_figure_is_written(labelled, tmp_path):
    path = tmp_path / "figure.svg"
    told(
        "runs",
        "download",
        labelled.uid,
        "--what",
        "figure",
        "--name",
        "dimensions-official",
        "--output",
        str(path),
    )
    assert "<svg" in path.read_text()


@pytest.mark.once
@pytest.mark.parametrize(("options", "dots"), [((), 1260), (("--width", "column"), 600)])
def test_a_figure_is_as_wide_as_the_text_or_a_column_of_a_paper(labelled, tmp_path, options, dots):
    # 6.3 in and 3.0 in, of 200 dots each
    path = tmp_path / "figure.png"
    ask = ("runs", "download", labelled.uid, "--what", "figure", "--name", "leaderboard-stage2")
    told(*ask, "--output", str(path), *options)
    assert int.from_bytes(path.read_bytes()[16:20], "big") == dots


@pytest.mark.once
def test_a_width_is_of_a_figure(labelled, tmp_path):
    ask = ("runs", "download", labelled.uid, "--width", "column")
    assert refused(*ask, "--output", str(tmp_path / "x.csv")) == "--width is for figure, not for scores."
    table = ("--what", "table", "--name", "stage2", "--output", str(tmp_path / "x.tex"))
    assert refused(*ask, *table) == "--width is for figure, not for table."


@pytest.mark.once
def test_what_cannot_be_written(labelled, dataset, models, tmp_path):
    both = worked_off(
        started(dataset=dataset, endpoints=[models["majority"], models["random"]], steps=["label"], limit=2)
    )
    ask = ("runs", "download", labelled.uid)
    path = ("--output", str(tmp_path / "x.csv"))
    assert refused(*ask) == "Say where to write it: --output PATH."
    assert refused(*ask, "--output", "x.json") == "--output is 'x.json'; scores is written as a .csv file."
    assert refused(*ask, "--name", "stage2", *path) == "--name is for table and figure, not for scores."
    assert "There is no table 'stage9'; there are: stage2" in refused(
        *ask, "--what", "table", "--name", "stage9", *path
    )
    assert refused(*ask, "--what", "figure", *path) == "--output ends in 'csv'; expected one of svg, pdf, png."
    several = ("runs", "download", both.uid, "--what", "official", "--output", str(tmp_path / "x.zip"))
    assert refused(*several) == "Name the model with --model, one of: majority, random."
    assert not (tmp_path / "x.csv").exists()


# --- prompts, reports, visibility
# ---------------------------------------------------------------------------------------------------
def test_a_prompt_set_is_loaded_used_and_discarded(dataset, models, tmp_path):
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / "label-level3.txt").write_text("Label.\n\n{story}\n\n{belief_table}\n\n{format}")
    load = ("load_prompt_set", "ours", "--project", "oracle")
    assert told(*load, "--folder", str(folder)) == {
        "prompt_set": "ours",
        "files": 1,
        "levels": {"extract": [], "judge": [], "label": [3]},
    }
    assert "There is a set ours already" in refused(*load, "--folder", str(folder))
    assert refused(*load) == "Name the folder that holds the set's .txt files: --folder PATH."
    assert refused("load_prompt_set", "a b", "--folder", str(folder), "--project", "oracle").startswith(
        "The name is 'a b'; expected letters"
    )
    (folder / "label-level3.txt").write_text("No place for data.")
    assert "lack the placeholder {story}" in refused(
        "load_prompt_set", "other", "--folder", str(folder), "--project", "oracle"
    )
    run = started(dataset=dataset, endpoints=[models["majority"]], steps=["label"], prompt_set="ours")
    assert refused(*load, "--discard") == "ours was used by a run: it stays as it is."
    RunItem.objects.filter(entrant__run=run).delete()
    run.entrants.all().delete()
    run.delete()
    assert (
        told(*load, "--discard") == {"prompt_set": "ours", "discarded": True} and not StoredPromptSet.objects.exists()
    )
    assert refused(*load, "--discard") == "ours is not a prompt set of oracle's own: it stays as it is."


def test_a_report_and_a_comparison_are_kept(dataset, models, labelled):
    done = told("save_snapshot", labelled.uid, "--title", "March")
    held = Snapshot.objects.get(uid=done["snapshot"])
    assert (held.title, held.run, held.metrics["kind"]) == ("March", labelled, "run")
    assert done["address"].endswith(f"/results/snapshots/{held.uid}/")
    other = worked_off(started(dataset=dataset, endpoints=[models["random"]], steps=["label"], limit=3))
    done = told("save_snapshot", labelled.uid, "--against", other.uid, "--group", "stage2", "--parse", "official")
    compared = Snapshot.objects.get(uid=done["snapshot"]).metrics
    assert compared["kind"] == "comparison" and compared["comparison"]["parse"] == "official"
    assert refused("save_snapshot", labelled.uid, "--group", "stage2") == (
        "--group is for a comparison: name the other run with --against."
    )
    assert "no scores of stage1" in refused("save_snapshot", labelled.uid, "--against", other.uid, "--group", "stage1")
    assert "Choose two different entrants" in refused("save_snapshot", labelled.uid, "--against", labelled.uid)


def test_the_leaderboard_of_a_suite_is_asked_for_by_name(dataset, models, labelled):
    ask = ("leaderboard", "--project", "oracle")
    found = told(*ask, "--suite", "omnitom")
    assert found == told(*ask) and found["suite"] == "omnitom"
    unknown = refused(*ask, "--suite", "omnitomb")
    assert "invalid choice: 'omnitomb'" in unknown and "'omnitom', 'tombench'" in unknown
    assert refused(*ask, "--suite", "tombench") == "oracle has no copy of ToMBench; there are: none."
    assert refused(*ask, "--suite", "tombench", "--dataset", "1") == (
        "oracle has no version 1 of a copy of ToMBench; there are: none."
    )
    assert refused(*ask, "--dataset", "9") == "oracle has no version 9 of its gold; there are: 1."


def test_the_leaderboard_is_printed_and_written(dataset, models, labelled, tmp_path):
    worked_off(started(dataset=dataset, endpoints=[models["random"]], steps=["label"], limit=3))
    ask = ("leaderboard", "--project", "oracle")
    done = told(*ask)
    rows = done["groups"]["stage2"]
    assert (done["dataset"], done["answer_format"], [row["model"] for row in rows]) == (
        1,
        "text",
        ["majority", "random"],
    )
    assert rows[0]["repaired"]["value"] > rows[1]["repaired"]["value"] and rows[0]["run"] == labelled.uid
    out = StringIO()
    call_command(*ask, stdout=out)
    assert re.search(r"^majority +1 +\d+\.\d\d \[–\] +\d+\.\d\d \[–\] +0\.0 %", out.getvalue(), re.MULTILINE)
    assert "no version 7 of its gold" in refused(*ask, "--dataset", "7")
    assert "No run covers the split 'x'" in refused(*ask, "--split", "x")


def test_tables_of_the_leaderboard_are_listed_printed_and_written(dataset, models, labelled, tmp_path):
    worked_off(started(dataset=dataset, endpoints=[models["random"]], steps=["label"], limit=3))
    project = ("--project", "oracle")
    listed = told("results", *project)
    assert listed["tables"]["stage2"] == "Stage 2: labelling" and "leaderboard-stage2" in listed["plots"]
    found = told("results", "stage2", *project, "--parse", "official")
    assert [row["model"] for row in found["rows"]] == ["majority", "random"] and found["table"] == "stage2"
    assert set(found["rows"][0]["official_overall_accuracy"]) >= {"value", "reason"}
    out = StringIO()
    call_command("results", "stage2", *project, "--format", "latex", stdout=out)
    assert r"\begin{table" in out.getvalue()
    path = tmp_path / "board.csv"
    assert told("results", "stage2", *project, "--output", str(path))["bytes"] == path.stat().st_size
    written = [row["Model"] for row in csv.DictReader(path.open(newline=""))]
    assert written == ["majority", "random", "Chance level", "Majority baseline"]
    told("results", "differences-stage2-repaired", *project, "--output", str(path))
    assert {row["First"] for row in csv.DictReader(path.open(newline=""))} == {"majority"}
    told("results", "leaderboard-stage2", *project, "--output", str(tmp_path / "board.svg"))
    assert "random" in (tmp_path / "board.svg").read_text()
    assert "there are: " in refused("results", "stage2", *project, "--kind", "model")
    assert "There is no table 'x'; there are: stage2" in refused("results", "x", *project, "--output", str(path))
    assert refused("results", "stage2", *project, "--output", str(tmp_path / "board.doc")) == (
        "--output ends in 'doc'; expected one of csv, json, tex, svg, pdf, png."
    )


def test_a_report_and_two_models_have_their_tables_in_the_command(dataset, models, labelled, tmp_path):
    other = worked_off(started(dataset=dataset, endpoints=[models["random"]], steps=["label"], limit=5))
    ask = ("--project", "oracle", "--run", labelled.uid)
    assert told("results", "stage2", *ask)["rows"][0]["model"] == "majority"
    pair = (*ask, "--other-run", other.uid)
    done = told("results", "differences", *pair)
    assert done["title"] == "Accuracy of labelling: majority minus random, repaired parse" and done["rows"][0]["n"] == 3
    small = started(dataset=dataset, endpoints=[models["random"]], steps=["label"], limit=2)
    part = told("results", "differences", *pair, "--split", f"run:{worked_off(small).uid}")
    assert part["rows"][0]["n"] == 2
    told("results", "two-models", *pair, "--output", str(tmp_path / "two.svg"))
    assert (tmp_path / "two.svg").read_text().startswith("<?xml")
    assert len(told("results", "stories", *pair)["rows"]) == 5
    assert "has no split 'x'" in refused("results", "stories", *pair, "--split", "x")
    assert "no scores of stage1" in refused("results", "stories", *pair, "--group", "stage1")


def test_who_sees_results(dataset):
    first = {"project": "oracle", "audience": "admin", "once_published": False}
    assert told("results_visibility", "--project", "oracle") == first
    done = told("results_visibility", "--project", "oracle", "--audience", "expert")
    assert done["audience"] == "expert" == ResultsVisibility.objects.get().audience
    done = told("results_visibility", "--project", "oracle", "--once-published")
    assert (done["audience"], done["once_published"], ResultsVisibility.objects.get().once_published) == (
        "expert",
        True,
        True,
    )
    done = told("results_visibility", "--project", "oracle", "--audience", "annotator")
    assert (done["audience"], done["once_published"]) == ("annotator", True)
    assert not told("results_visibility", "--project", "oracle", "--no-once-published")["once_published"]
    assert "invalid choice" in refused("results_visibility", "--project", "oracle", "--audience", "strangers")


def test_waiting_is_for_what_runs(labelled):
    assert labelled.job.state == JobState.FINISHED
    with pytest.raises(CommandError, match="--wait is not for pause"):
        call_command("runs", "pause", labelled.uid, "--wait", stdout=io.StringIO())
