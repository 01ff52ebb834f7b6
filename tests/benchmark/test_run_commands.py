"""`run_benchmark`, the fixed command of scripts, `runs`, and the other commands that do what pages do."""

import csv
import json
import re
import zipfile
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Proposition
from benchmark.management.commands.runs import ACTIONS
from benchmark.models import Dataset, ResultsVisibility, Run, RunItem, RunReport, Snapshot, StoredPromptSet
from benchmark.services.downloads import WRITERS
from benchmark.services.reports import report_of, scores_of
from benchmark.suites.omnitom.data import LABEL
from tests.benchmark.evaluation import endpoint, generated, published, started, worked_off, write_records
from workers.models import Call, Endpoint, Item, ItemState

pytestmark = pytest.mark.django_db(transaction=True)
STORIES = 14
CALL = ("run_benchmark", "--suite", "omnitom", "--project", "oracle")
LABELS = "--step label --endpoint majority"
EXTRACTS = "--step extract --endpoint omniscient"
JUDGES = "--step judge --endpoint omniscient --judge lexical-judge"
SHARES1 = {"precision", "recall", "f1"}
SHARES2 = {
    "overall_accuracy", "acc_order", "acc_truth-status", "acc_knowledge-access", "acc_representation",
    "acc_content_type", "acc_mental-source", "acc_context",
}  # fmt: skip


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    """Two stories of each of seven categories; endpoints of the baselines are there."""
    for name in ("majority", "random", "omniscient", "lexical-judge"):
        endpoint(name, "baseline")
    return published(write_records(tmp_path / "records.jsonl", generated(STORIES)))


def labelling(dataset: Dataset, *names: str, limit: int = 3) -> Run:
    """A finished run."""
    models = [Endpoint.objects.get(name=name) for name in names]
    return worked_off(started(dataset=dataset, endpoints=models, steps=["label"], limit=limit))


@pytest.fixture
def labelled(dataset) -> Run:
    return labelling(dataset, "majority")


@pytest.fixture
def extracted(dataset) -> Run:
    omniscient, judge = (Endpoint.objects.get(name=name) for name in ("omniscient", "lexical-judge"))
    plan = {"steps": ["extract", "judge"], "judge": judge, "limit": 3}
    return worked_off(started(dataset=dataset, endpoints=[omniscient], **plan))


def told(*arguments: str) -> dict:
    """The one JSON object on standard output; messages go to standard error."""
    out = StringIO()
    call_command(*arguments, "--json", stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


def printed(*arguments: str) -> tuple[str, str]:
    """(what stands on standard output, what on standard error)"""
    out, err = StringIO(), StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refused(*arguments: str) -> str:
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command(*arguments, stdout=out, stderr=StringIO())
    assert out.getvalue() == "" and "\n" not in str(caught.value)
    return str(caught.value)


def run(options: str) -> dict:
    return told(*CALL, *options.split())


# --- run_benchmark
def test_the_answer_is_what_scripts_rely_on(dataset):
    answer = run(f"{EXTRACTS} --step judge --judge lexical-judge --wait")
    assert {"run", "state", "items", "calls", "tokens", "cost", "scores"} <= answer.keys()
    assert answer["judge_test"]["state"] == "tested"
    held = Run.objects.get()
    assert (answer["run"], answer["state"]) == (held.uid, "finished")
    # 14 stories, extraction and judging of each
    assert answer["items"] == {"done": 28, "failed": 0, "unreadable": 0}
    assert answer["calls"] == {"made": 28, "reused": 0}
    assert answer["tokens"] == {"input": 0, "output": 0} and answer["cost"] == 0.0
    scores = answer["scores"]
    assert scores.keys() == {"official", "repaired"} and scores == json.loads(json.dumps(scores_of(held)))
    stage1 = scores["official"]["stage1"]
    assert stage1.keys() == {"overall", "by_category", "stories"} and scores["official"]["stage2"] is None
    assert stage1["overall"].keys() == {"stories", *SHARES1, "f1_category_mean"}
    assert all(len(stage1["overall"][name].partition(".")[2]) == 6 for name in SHARES1)
    categories = sorted({row["story_category"] for row in stage1["stories"]})
    assert [row["story_category"] for row in stage1["by_category"]] == categories
    repaired = scores["repaired"]["stage1"]["overall"]
    assert repaired["interval"].keys() == repaired["bounds"].keys() == {*SHARES1, "f1_category_mean"}
    assert isinstance(repaired["f1"], float) and repaired["unreadable"] == 0
    assert RunReport.objects.filter(run=held).exists()
    calls, waiting = Call.objects.count(), run(LABELS)
    assert {"run", "state", "items", "calls", "tokens", "cost"} <= waiting.keys() and "scores" not in waiting
    assert (waiting["state"], waiting["items"]["done"], Call.objects.count()) == ("running", 0, calls)
    first, second = (run(f"{LABELS} --wait") for _ in range(2))
    assert first["scores"]["official"]["stage2"]["overall"].keys() == {"stories", *SHARES2}
    assert second["calls"] == {"made": 0, "reused": 14}
    assert second["scores"] == first["scores"] and second["run"] != first["run"]
    category = dataset.samples.first().category
    several = told(*CALL, *LABELS.split(), "--endpoint", "random", "--category", category, "--wait")
    assert several["items"]["done"] == 4  # two stories of each of seven categories
    assert several["scores"].keys() == {"majority", "random"}
    assert run(f"{LABELS} --limit 3 --wait")["items"]["done"] == 3
    judged = run(f"{EXTRACTS} --judge lexical-judge --wait --limit 2")
    assert judged["items"]["done"] == 4, "a judge that was named judges"


@pytest.mark.once
def test_without_json_people_read_a_table_and_what_it_may_cost(dataset):
    said, _ = printed(*CALL, *f"{LABELS} --endpoint random --wait".split())
    lines = said.splitlines()
    assert "items: 28 done, 0 failed, 0 unreadable" in lines and "calls: 28 made, 0 reused" in lines
    assert {"majority", "random"} < set(lines) and "{" not in said
    parses = report_of(Run.objects.get()).entrants[0].groups["stage2"].parses
    held = parses.overall("official").value_of("overall_accuracy")
    assert f"official  Stage 2: labelling  {'Overall':24}{held:>12}" in lines[lines.index("majority") :]
    paid = endpoint("paid", price_output="10")
    _, err = printed(*CALL, *f"--step label --endpoint {paid} --limit 2 --max-tokens 1000".split())
    # two answers of at most 1,000 tokens at 10 dollars a million
    assert "Up to 2 calls: about" in err and "at most $0.0200." in err


REFUSED = [
    ("--step label --endpoint gpt", "There is no endpoint 'gpt'; there are: lexical-judge, majority, "),
    (f"{LABELS} --limit -1", "--limit: it is -1; expected a whole number from 0 to 1000000."),
    (f"{LABELS} --judge lexical-judge", "--judge is for judging, and the steps are label: leave it out"),
    (f"{LABELS} --shots 0", "--shots is for judging, and the steps are label: leave it out"),
    (f"{EXTRACTS} --judge lexical-judge --without-story", "--without-story is of no use: lexical-judge is a baseline"),
    (f"{LABELS} --examples 2", "--examples are shown at level 4, and the level is 3: leave one of them out."),
    (f"{LABELS} --examples 4 --level 4", "A prompt can have 0 to 3 examples, not 4."),
    (f"{LABELS} --max-tokens 0", "--max-tokens: it is 0; expected a whole number from 1 to 200000."),
    (f"{LABELS} --budget plenty", "The budget is 'plenty'; expected US dollars"),
    (f"{LABELS} --prompt-set ours", "There is no prompt set 'ours'; there are omnitom-1."),
    (f"{LABELS} --dataset 7", "oracle has no dataset version 7; it has: 1."),
    (f"{LABELS} --level 9", "Argument --level: invalid choice: 9 (choose from 1, 2, 3, 4)"),
    (f"{LABELS} --split final", "'final'"),
]


@pytest.mark.once
def test_what_cannot_be_done_is_one_sentence(dataset):
    for options, sentence in REFUSED:
        assert sentence in refused(*CALL, "--json", *options.split()), options
    for arguments, sentence in (
        ("--suite omnitom --project nowhere --step label --endpoint x", "nowhere"),
        ("--suite foo", "Argument --suite: invalid choice: 'foo'"),
        ("--suite omnitom", "The following arguments are required: --project, --endpoint"),
    ):
        assert sentence in refused("run_benchmark", *arguments.split()), arguments
    assert not Run.objects.exists()


def test_what_is_chosen_is_what_is_launched(dataset):
    reader = endpoint("reader", batches=True)
    answer = run(
        "--step all --endpoint reader --judge reader --level 4 --examples 2 --examples-from calibration --judge-level 4"
        " --shots 1 --without-story --max-tokens 500 --seed 7 --budget 2.50 --batch --title Ours"
        " --answer-format structured --limit 3 --prompt-set omnitom-1 --dataset 1"
    )
    held = Run.objects.get(uid=answer["run"])
    assert (held.title, held.answer_format, held.level, held.prompt_set) == ("Ours", "structured", 4, "omnitom-1")
    assert (held.judge, held.job.budget, held.job.batch, held.dataset) == (reader, Decimal("2.5"), True, dataset)
    expected = {
        "examples": 2, "examples_from": "calibration", "judge_level": 4, "shots": 1, "with_story": False,
        "max_tokens": 500, "seed": 7, "stories": 3,
    }  # fmt: skip
    assert {name: held.params[name] for name in expected} == expected


def test_the_present_gold_is_asked_about_and_published_where_nothing_is_refused(dataset):
    endpoint("omni-label")
    # extractions that cannot be read are extractions that can be judged all the same
    with pytest.raises(CommandError, match="no answer is readable"):
        run("--step extract --endpoint omni-label --limit 2 --wait")
    belief = Proposition.objects.live_gold().filter(table__story__project=dataset.project).first()
    belief.belief += ", changed"
    belief.save()
    assert refused(*CALL, *f"{LABELS} --budget plenty".split())
    both = "--step label --step judge --endpoint omni-label --judge lexical-judge"
    assert refused(*CALL, *both.split()) == (
        "No run of oracle has extractions of omni-label with version 2 of the dataset; add --step extract."
    )
    assert Dataset.objects.count() == 1
    run(f"{both} --dataset 1 --limit 2")
    made = Run.objects.first()
    assert (made.dataset.version, sorted(made.steps)) == (1, ["judge", "label"])
    # two labels are asked, and two extractions that are there are judged
    assert made.job.items.count() == 4
    for options, version in ((LABELS, 2), (f"{LABELS} --dataset 1", 1)):
        run(options)
        assert Dataset.objects.count() == 2 and Run.objects.first().dataset.version == version, options


def test_a_judge_alone_takes_the_newest_extractions_that_fit(dataset):
    run(f"{EXTRACTS} --level 1 --limit 2 --wait")
    first = Run.objects.get()
    run(f"{EXTRACTS} --level 3 --limit 5 --wait")
    answer = run(f"{JUDGES} --wait")
    newest = Run.objects.first()
    assert (newest.level, newest.source.level) == (3, 3) and answer["calls"] == {"made": 5, "reused": 0}
    assert answer["scores"]["official"]["stage1"]["overall"]["stories"] == "5"
    assert not RunItem.objects.filter(entrant__run=newest, step=LABEL).exists()
    run(f"{JUDGES} --level 1")
    made = Run.objects.first()
    assert (made.source, made.level) == (first, 1)
    for more, sentence in (
        ("--level 2", "extractions of omniscient with level 2; add --step extract."),
        ("--level 1 --answer-format structured", "omniscient with level 1, answer format structured; add --step"),
        ("--examples 1", "--examples is for extraction and labelling, and the steps are judge: leave it out."),
    ):
        assert sentence in refused(*CALL, *f"{JUDGES} {more}".split())


# --- actions
def test_pause_resume_and_cancel(dataset):
    models = [Endpoint.objects.get(name=name) for name in ("majority", "random")]
    run = started(dataset=dataset, endpoints=models, steps=["label"])
    mine = Item.objects.filter(job=run.job, endpoint=models[1])
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


def test_a_run_is_extended_and_repeated_and_read_again(labelled):
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
def test_a_project_lists_its_runs_and_each_action_takes_its_own(labelled, extracted):
    slug = labelled.project.slug
    rows = told("runs", "list", "--project", slug)["runs"]
    assert [row["run"] for row in rows] == [extracted.uid, labelled.uid]
    assert rows[1]["models"] == ["majority"] and rows[1]["items"]["done"] == 3 and rows[1]["steps"] == ["label"]
    told("runs", "archive", labelled.uid)
    assert [row["run"] for row in told("runs", "list", "--project", slug, "--archived")["runs"]] == [labelled.uid]
    (line,) = printed("runs", "list", "--project", slug)[0].splitlines()
    assert line.startswith(f"{extracted.uid}  ") and "omniscient" in line and extracted.title in line
    for arguments, sentence in (
        ("list", "A list is of the runs of one project: runs list --project SLUG."),
        ("list --project none", "There is no project 'none'."),
        ("pause", "Name the run to pause: "),
        ("pause nothing", "There is no run 'nothing'; its id is the last part of its page's address."),
    ):
        assert refused("runs", *arguments.split()).startswith(sentence)
    for action in ACTIONS:
        option = ("--output", "x.csv") if action != "download" else ("--judge", "x")
        sentence = refused("runs", action, labelled.uid, *option)
        assert sentence.startswith(f"{option[0]} is not for {action}, which takes ")


def test_what_may_cost_something_is_estimated_first(extracted):
    def said(*arguments: str) -> str:
        return printed("runs", *arguments)[1]

    assert said("again", extracted.uid) == ""  # baselines compute their answers
    endpoint("paid", options={"default": "x"}, price_input=1, price_output=2)
    first = said("judge", extracted.uid, "--judge", "paid")
    assert re.match(r"Up to 15 calls: about [\d,]+ tokens in and [\d,]+ out, about \$0\.\d+, at most \$", first)
    assert said("again", Run.objects.get(judge__name="paid").uid).startswith("Up to 3 calls: ")
    # a new model extracts and is judged: two calls a story of three
    assert said("extend", extracted.uid, "--endpoint", "paid").startswith("Up to 6 calls: ")


# --- files and figures
@pytest.mark.once
def test_files_of_a_run_are_written(extracted, labelled, dataset, tmp_path):
    def written(of: Run, name: str, options: str = "") -> Path:
        path = tmp_path / name
        done = told("runs", "download", of.uid, *options.split(), "--output", str(path))
        assert done == {"run": of.uid, "path": str(path), "bytes": path.stat().st_size}
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
    both, path = labelling(dataset, "majority", "random", limit=2), tmp_path / "x"
    for of, options, sentence in (
        (labelled, "", "Say where to write it: --output PATH."),
        (labelled, "--output x.json", "--output is 'x.json'; scores is written as a .csv file."),
        (labelled, f"--name stage2 --output {path}.csv", "--name is for table and figure, not for scores."),
        (labelled, f"--what table --name stage9 --output {path}.csv", "There is no table 'stage9'; there are: stage2"),
        (labelled, f"--what figure --output {path}.csv", "--output ends in 'csv'; expected one of svg, pdf, png."),
        (both, f"--what official --output {path}.zip", "Name the model with --model, one of: majority, random."),
        (labelled, f"--width column --output {path}.csv", "--width is for figure, not for scores."),
        (labelled, f"--width column --what table --name stage2 --output {path}.tex", "is for figure, not for table."),
    ):
        assert sentence in refused("runs", "download", of.uid, *options.split()), options
    assert not path.with_suffix(".csv").exists()


def test_the_leaderboard_and_its_tables_are_printed_and_written(dataset, labelled, tmp_path):
    labelling(dataset, "random")
    project = ("--project", "oracle")
    done = told("leaderboard", *project)
    rows = done["groups"]["stage2"]
    assert (done["dataset"], done["answer_format"], done["suite"]) == (1, "text", "omnitom")
    assert [row["model"] for row in rows] == ["majority", "random"] and rows[0]["run"] == labelled.uid
    assert rows[0]["repaired"]["value"] > rows[1]["repaired"]["value"]
    assert told("leaderboard", *project, "--suite", "omnitom") == done
    said, _ = printed("leaderboard", *project)
    assert re.search(r"^majority +1 +\d+\.\d\d \[–\] +\d+\.\d\d \[–\] +0\.0 %", said, re.MULTILINE)
    listed = told("results", *project)
    assert listed["tables"]["stage2"] == "Stage 2: labelling" and "leaderboard-stage2" in listed["plots"]
    found = told("results", "stage2", *project, "--parse", "official")
    assert [row["model"] for row in found["rows"]] == ["majority", "random"] and found["table"] == "stage2"
    assert set(found["rows"][0]["official_overall_accuracy"]) >= {"value", "reason"}
    assert r"\begin{table" in printed("results", "stage2", *project, "--format", "latex")[0]
    path = tmp_path / "board.csv"
    assert told("results", "stage2", *project, "--output", str(path))["bytes"] == path.stat().st_size
    written = [row["Model"] for row in csv.DictReader(path.open(newline=""))]
    assert written == ["majority", "random", "Chance level", "Majority baseline"]
    told("results", "differences-stage2-repaired", *project, "--output", str(path))
    assert {row["First"] for row in csv.DictReader(path.open(newline=""))} == {"majority"}
    told("results", "leaderboard-stage2", *project, "--output", str(tmp_path / "board.svg"))
    assert "random" in (tmp_path / "board.svg").read_text()
    for options, sentence in (
        ("leaderboard --suite omnitomb", "invalid choice: 'omnitomb'"),
        ("leaderboard --suite tombench", "oracle has no copy of ToMBench; there are: none."),
        ("leaderboard --suite tombench --dataset 1", "oracle has no version 1 of a copy of ToMBench; there are: none."),
        ("leaderboard --dataset 9", "oracle has no version 9 of its gold; there are: 1."),
        ("leaderboard --split x", "No run covers the split 'x'"),
        ("results stage2 --kind model", "there are: "),
        (f"results x --output {path}", "There is no table 'x'; there are: stage2"),
        ("results stage2 --output x.doc", "--output ends in 'doc'; expected one of csv, json, tex, svg, pdf, png."),
    ):
        assert sentence in refused(*options.split(), *project), options


def test_a_report_and_two_models_have_their_tables_and_are_kept(dataset, labelled, tmp_path):
    other = labelling(dataset, "random", limit=5)
    ask = ("--project", "oracle", "--run", labelled.uid)
    assert told("results", "stage2", *ask)["rows"][0]["model"] == "majority"
    pair = (*ask, "--other-run", other.uid)
    done = told("results", "differences", *pair)
    assert done["title"] == "Accuracy of labelling: majority minus random, repaired parse" and done["rows"][0]["n"] == 3
    part = told("results", "differences", *pair, "--split", f"run:{labelling(dataset, 'random', limit=2).uid}")
    assert part["rows"][0]["n"] == 2
    told("results", "two-models", *pair, "--output", str(tmp_path / "two.svg"))
    assert (tmp_path / "two.svg").read_text().startswith("<?xml")
    assert len(told("results", "stories", *pair)["rows"]) == 5
    assert "has no split 'x'" in refused("results", "stories", *pair, "--split", "x")
    assert "no scores of stage1" in refused("results", "stories", *pair, "--group", "stage1")
    done = told("save_snapshot", labelled.uid, "--title", "March")
    held = Snapshot.objects.get(uid=done["snapshot"])
    assert (held.title, held.run, held.metrics["kind"]) == ("March", labelled, "run")
    assert done["address"].endswith(f"/results/snapshots/{held.uid}/")
    done = told("save_snapshot", labelled.uid, "--against", other.uid, "--group", "stage2", "--parse", "official")
    compared = Snapshot.objects.get(uid=done["snapshot"]).metrics
    assert compared["kind"] == "comparison" and compared["comparison"]["parse"] == "official"
    for options, sentence in (
        ("--group stage2", "--group is for a comparison: name the other run with --against."),
        (f"--against {other.uid} --group stage1", "no scores of stage1"),
        (f"--against {labelled.uid}", "Choose two different entrants"),
    ):
        assert sentence in refused("save_snapshot", labelled.uid, *options.split())


# --- prompts and visibility
def test_a_prompt_set_is_loaded_used_and_discarded(dataset, tmp_path):
    file = tmp_path / "label-level3.txt"
    file.write_text("Label.\n\n{story}\n\n{belief_table}\n\n{format}")
    own, folder = ("--project", "oracle"), ("--folder", str(tmp_path))
    made = told("load_prompt_set", "ours", *own, *folder)
    assert made == {"prompt_set": "ours", "files": 1, "levels": {"extract": [], "judge": [], "label": [3]}}
    assert "There is a set ours already" in refused("load_prompt_set", "ours", *own, *folder)
    file.write_text("No place for data.")
    majority = Endpoint.objects.get(name="majority")
    used = started(dataset=dataset, endpoints=[majority], steps=["label"], prompt_set="ours")
    for name, options, sentence in (
        ("ours", (), "Name the folder that holds the set's .txt files: --folder PATH."),
        ("a b", folder, "The name is 'a b'; expected letters"),
        ("other", folder, "lack the placeholder {story}"),
        ("ours", ("--discard",), "ours was used by a run: it stays as it is."),
    ):
        assert sentence in refused("load_prompt_set", name, *own, *options)
    RunItem.objects.filter(entrant__run=used).delete()
    used.entrants.all().delete()
    used.delete()
    discard = ("load_prompt_set", "ours", *own, "--discard")
    assert told(*discard) == {"prompt_set": "ours", "discarded": True} and not StoredPromptSet.objects.exists()
    assert refused(*discard) == "ours is not a prompt set of oracle's own: it stays as it is."


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
