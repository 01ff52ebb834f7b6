"""`runs` and the other commands that do what pages do."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchmark.management.commands.runs import ACTIONS
from benchmark.models import ResultsVisibility, Run, RunItem, Snapshot, StoredPromptSet
from benchmark.services.downloads import WRITERS
from benchmark.services.reports import scores_of
from tests.benchmark.evaluation import endpoint, generated, published, started, worked_off, write_records
from workers.models import Item, ItemState

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
    run = started(dataset=dataset, endpoints=[models["majority"], models["random"]], steps=["label"])
    mine = Item.objects.filter(job=run.job, endpoint=models["random"])
    assert "expected paused to resume it" in refused("runs", "resume", run.uid)
    mine.update(state=ItemState.HELD)
    assert "a budget is for one that is paused" in refused("runs", "resume", run.uid, "--budget", "5")
    assert told("runs", "resume", run.uid)["state"] == "running", "what it holds back"
    assert set(mine.values_list("state", flat=True)) == {ItemState.WAITING}
    assert told("runs", "pause", run.uid)["state"] == "paused"
    assert refused("runs", "pause", run.uid) == "The run is paused; expected running to pause it."
    assert told("runs", "resume", run.uid, "--budget", "2.5")["state"] == "running"
    run.job.refresh_from_db()
    assert str(run.job.budget) == "2.5000"
    assert told("runs", "cancel", run.uid)["state"] == "cancelled"
    assert refused("runs", "resume", run.uid) == "The run is cancelled; expected paused to resume it."
    assert "failed items are not asked again" in refused("runs", "retry", run.uid)
    assert "--wait is not for pause" in refused("runs", "pause", run.uid, "--wait")


def test_a_run_is_extended_and_repeated_and_read_again(labelled, models):
    done = told("runs", "extend", labelled.uid, "--endpoint", "random", "--limit", "5", "--wait")
    # majority labels two more stories, random all five
    assert (done["added"], done["items"]["done"], done["state"]) == (7, 10, "finished")
    assert refused("runs", "extend", labelled.uid) == "Name what is to be added: --endpoint, --stories, or both."
    assert "choice of split and category leaves no" in refused("runs", "extend", labelled.uid, "--split", "x")
    done = told("runs", "again", labelled.uid, "--wait")
    assert (done["of"], done["calls"]) == (labelled.uid, {"made": 0, "reused": 10})
    assert done["run"] != labelled.uid and done["scores"] == json.loads(json.dumps(scores_of(labelled)))
    assert told("runs", "extend", labelled.uid, "--stories")["added"] == 2 * (STORIES - 5)
    assert told("runs", "reread", labelled.uid) == {"run": labelled.uid, "changed": 0}
    labelled.refresh_from_db()
    noted = labelled.spec["later"][-1]
    assert (noted["did"], noted["parses"]) == ("read again", 0) and noted["by"]["code"] and noted["by"]["packages"]


def test_failed_items_are_asked_again_and_seen_through(dataset):
    model = endpoint("flaky", options={"script": [{"fail": "rejected", "times": 1}]})
    run = worked_off(started(dataset=dataset, endpoints=[model], steps=["label"], limit=2, answer_format="structured"))
    assert Item.objects.filter(job=run.job, state=ItemState.FAILED).count() == 1
    model.options = {}  # it has come to its senses
    model.save()
    done = told("runs", "retry", run.uid, "--wait")
    assert (done["items"]["failed"], done["state"]) == (0, "finished") and "scores" in done


def test_another_judge_reads_the_extractions_that_are_there(extracted):
    endpoint("strict", "baseline", model="lexical-judge", options={"threshold": 1.0})
    ask = ("runs", "judge", extracted.uid)
    done = told(*ask, "--judge", "strict", "--title", "Strict", "--wait")
    assert done["calls"] == {"made": 3, "reused": 0}
    made = Run.objects.get(uid=done["run"])
    assert (made.source, made.title, made.params["stories"]) == (extracted, "Strict", 3)
    endpoint("reader")
    for options, sentence in (
        ("", "Name the judge: --judge NAME."),
        ("--judge strict --shots 1", "reads the two tables alone"),
        ("--judge reader --shots 2 --judge-level 2", "--shots are shown at level 4, and the judge's level is 2"),
    ):
        assert sentence in refused(*ask, *options.split())


# --- what each takes
# ------------------------------------------------------------------------------------------------------------
@pytest.mark.once
def test_an_option_of_another_action_is_refused(labelled):
    for action in ACTIONS:
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
    for arguments, sentence in (
        ("list", "A list is of the runs of one project: runs list --project SLUG."),
        ("list --project none", "There is no project 'none'."),
        ("pause", "Name the run to pause: "),
        ("pause nothing", "There is no run 'nothing'; its id is the last part of its page's address."),
    ):
        assert refused("runs", *arguments.split()).startswith(sentence)


def test_what_may_cost_something_is_estimated_first(extracted):
    def said(*arguments: str) -> str:
        err = StringIO()
        call_command("runs", *arguments, stdout=StringIO(), stderr=err)
        return err.getvalue()

    assert said("again", extracted.uid) == ""  # baselines compute their answers
    paid = endpoint("paid", options={"default": "x"}, price_input=1, price_output=2)
    first = said("judge", extracted.uid, "--judge", "paid")
    assert re.match(r"Up to 11 calls: about [\d,]+ tokens in and [\d,]+ out, about \$0\.\d+, at most \$", first)
    assert said("again", Run.objects.get(judge=paid).uid).startswith("Up to 3 calls: ")
    # a new model extracts and is judged: two calls a story of three
    assert said("extend", extracted.uid, "--endpoint", "paid").startswith("Up to 6 calls: ")


# --- files
# -----------------------------------------------------------------------------------------------------------------------  # noqa: E501
@pytest.mark.once
def test_files_of_a_run_are_written(extracted, labelled, dataset, models, tmp_path):
    def written(run: Run, name: str, options: str = "") -> Path:
        path = tmp_path / name
        done = told("runs", "download", run.uid, *options.split(), "--output", str(path))
        assert done == {"run": run.uid, "path": str(path), "bytes": path.stat().st_size}
        return path

    with written(extracted, "scores.csv").open(newline="") as scores:
        assert len(list(csv.DictReader(scores))) == 6  # extraction and judging of three stories
    folder = written(extracted, "official.zip", "--what official")
    assert "metrics/stage1_overall.csv" in zipfile.ZipFile(folder).namelist()
    for suffix in WRITERS:
        assert "majority" in written(labelled, f"table.{suffix}", "--what table --name stage2").read_text()
    assert "<svg" in written(labelled, "figure.svg", "--what figure --name dimensions-official").read_text()
    for options, dots in (("", 1260), ("--width column", 600)):  # 6.3 in and 3.0 in, of 200 dots each
        figure = written(labelled, "figure.png", f"--what figure --name leaderboard-stage2 {options}")
        assert int.from_bytes(figure.read_bytes()[16:20], "big") == dots
    two = [models["majority"], models["random"]]
    both = worked_off(started(dataset=dataset, endpoints=two, steps=["label"], limit=2))
    path = tmp_path / "x"
    for run, options, sentence in (
        (labelled, "", "Say where to write it: --output PATH."),
        (labelled, "--output x.json", "--output is 'x.json'; scores is written as a .csv file."),
        (labelled, f"--name stage2 --output {path}.csv", "--name is for table and figure, not for scores."),
        (labelled, f"--what table --name stage9 --output {path}.csv", "There is no table 'stage9'; there are: stage2"),
        (labelled, f"--what figure --output {path}.csv", "--output ends in 'csv'; expected one of svg, pdf, png."),
        (both, f"--what official --output {path}.zip", "Name the model with --model, one of: majority, random."),
        (labelled, f"--width column --output {path}.csv", "--width is for figure, not for scores."),
        (
            labelled,
            f"--width column --what table --name stage2 --output {path}.tex",
            "--width is for figure, not for table.",
        ),
    ):
        assert sentence in refused("runs", "download", run.uid, *options.split()), options
    assert not path.with_suffix(".csv").exists()


# --- prompts, reports, visibility
# ---------------------------------------------------------------------------------------------------
def test_a_prompt_set_is_loaded_used_and_discarded(dataset, models, tmp_path):
    file = tmp_path / "label-level3.txt"
    file.write_text("Label.\n\n{story}\n\n{belief_table}\n\n{format}")
    own, folder = ("--project", "oracle"), ("--folder", str(tmp_path))
    made = told("load_prompt_set", "ours", *own, *folder)
    assert made == {"prompt_set": "ours", "files": 1, "levels": {"extract": [], "judge": [], "label": [3]}}
    assert "There is a set ours already" in refused("load_prompt_set", "ours", *own, *folder)
    file.write_text("No place for data.")
    run = started(dataset=dataset, endpoints=[models["majority"]], steps=["label"], prompt_set="ours")
    for name, options, sentence in (
        ("ours", (), "Name the folder that holds the set's .txt files: --folder PATH."),
        ("a b", folder, "The name is 'a b'; expected letters"),
        ("other", folder, "lack the placeholder {story}"),
        ("ours", ("--discard",), "ours was used by a run: it stays as it is."),
    ):
        assert sentence in refused("load_prompt_set", name, *own, *options)
    RunItem.objects.filter(entrant__run=run).delete()
    run.entrants.all().delete()
    run.delete()
    discard = ("load_prompt_set", "ours", *own, "--discard")
    assert told(*discard) == {"prompt_set": "ours", "discarded": True} and not StoredPromptSet.objects.exists()
    assert refused(*discard) == "ours is not a prompt set of oracle's own: it stays as it is."


def test_a_report_and_a_comparison_are_kept(dataset, models, labelled):
    done = told("save_snapshot", labelled.uid, "--title", "March")
    held = Snapshot.objects.get(uid=done["snapshot"])
    assert (held.title, held.run, held.metrics["kind"]) == ("March", labelled, "run")
    assert done["address"].endswith(f"/results/snapshots/{held.uid}/")
    other = worked_off(started(dataset=dataset, endpoints=[models["random"]], steps=["label"], limit=3))
    done = told("save_snapshot", labelled.uid, "--against", other.uid, "--group", "stage2", "--parse", "official")
    compared = Snapshot.objects.get(uid=done["snapshot"]).metrics
    assert compared["kind"] == "comparison" and compared["comparison"]["parse"] == "official"
    for options, sentence in (
        ("--group stage2", "--group is for a comparison: name the other run with --against."),
        (f"--against {other.uid} --group stage1", "no scores of stage1"),
        (f"--against {labelled.uid}", "Choose two different entrants"),
    ):
        assert sentence in refused("save_snapshot", labelled.uid, *options.split())


def test_the_leaderboard_is_printed_and_written(dataset, models, labelled, tmp_path):
    worked_off(started(dataset=dataset, endpoints=[models["random"]], steps=["label"], limit=3))
    ask = ("leaderboard", "--project", "oracle")
    done = told(*ask)
    rows = done["groups"]["stage2"]
    assert (done["dataset"], done["answer_format"], done["suite"]) == (1, "text", "omnitom")
    assert [row["model"] for row in rows] == ["majority", "random"] and rows[0]["run"] == labelled.uid
    assert rows[0]["repaired"]["value"] > rows[1]["repaired"]["value"]
    assert told(*ask, "--suite", "omnitom") == done
    out = StringIO()
    call_command(*ask, stdout=out)
    assert re.search(r"^majority +1 +\d+\.\d\d \[–\] +\d+\.\d\d \[–\] +0\.0 %", out.getvalue(), re.MULTILINE)
    for options, sentence in (
        ("--suite omnitomb", "invalid choice: 'omnitomb'"),
        ("--suite tombench", "oracle has no copy of ToMBench; there are: none."),
        ("--suite tombench --dataset 1", "oracle has no version 1 of a copy of ToMBench; there are: none."),
        ("--dataset 9", "oracle has no version 9 of its gold; there are: 1."),
        ("--split x", "No run covers the split 'x'"),
    ):
        assert sentence in refused(*ask, *options.split())


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
    for options, sentence in (
        ("stage2 --kind model", "there are: "),
        (f"x --output {path}", "There is no table 'x'; there are: stage2"),
        ("stage2 --output x.doc", "--output ends in 'doc'; expected one of csv, json, tex, svg, pdf, png."),
    ):
        assert sentence in refused("results", *options.split(), *project)


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
    seen = ("results_visibility", "--project", "oracle")
    assert told(*seen) == {"project": "oracle", "audience": "admin", "once_published": False}
    for options, audience, once_published in (
        ("--audience expert", "expert", False),
        ("--once-published", "expert", True),
        ("--audience annotator", "annotator", True),
        ("--no-once-published", "annotator", False),
    ):
        done, held = told(*seen, *options.split()), ResultsVisibility.objects.get()
        assert (done["audience"], done["once_published"]) == (held.audience, held.once_published)
        assert (held.audience, held.once_published) == (audience, once_published), options
    assert "invalid choice" in refused(*seen, "--audience", "strangers")
