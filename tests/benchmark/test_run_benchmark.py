"""`run_benchmark`: the fixed command of scripts."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.services.sample import load_sample
from benchmark.models import Run, RunItem, RunReport, Stage
from benchmark.services.reports import scores_of
from tests.benchmark.evaluation import endpoint, frozen, generated, write_records
from workers.models import Call

pytestmark = pytest.mark.django_db(transaction=True)

CALL = ("run_benchmark", "--suite", "omnitom", "--project", "oracle", "--json")
SHARES1 = {"precision", "recall", "f1"}
SHARES2 = {
    "overall_accuracy", "acc_order", "acc_truth-status", "acc_knowledge-access", "acc_representation", "acc_content_type",
    "acc_mental-source", "acc_context",
}  # fmt: skip


@pytest.fixture
def dataset(tmp_path):
    for name in ("majority", "random", "omniscient", "lexical-judge"):
        endpoint(name, "baseline")
    return frozen(write_records(tmp_path / "records.jsonl", generated(14)))


def run(*arguments: str) -> dict:
    """The one JSON object on standard output; messages go to standard error."""
    out, err = StringIO(), StringIO()
    call_command(*CALL, *arguments, stdout=out, stderr=err)
    assert out.getvalue().count("\n") == 1
    return json.loads(out.getvalue())


def refused(*arguments: str) -> str:
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command(*CALL, *arguments, stdout=out, stderr=StringIO())
    sentence = str(caught.value)
    assert out.getvalue() == "" and "\n" not in sentence and not Run.objects.exists()
    return sentence


def test_the_answer_is_what_scripts_rely_on(dataset):
    told = run(
        "--stage", "extract", "--stage", "judge", "--endpoint", "omniscient", "--judge", "lexical-judge", "--wait"
    )
    assert list(told) == ["run", "state", "items", "calls", "tokens", "cost", "scores"]
    held = Run.objects.get()
    assert (told["run"], told["state"]) == (held.uid, "finished")
    # 14 stories, extraction and judging of each
    assert told["items"] == {"done": 28, "failed": 0, "unusable": 0}
    assert told["calls"] == {"made": 28, "reused": 0}
    assert told["tokens"] == {"input": 0, "output": 0} and told["cost"] == 0.0
    assert told["scores"].keys() == {"official", "repaired"}
    stage1 = told["scores"]["official"]["stage1"]
    assert stage1.keys() == {"overall", "by_category", "stories"}
    assert stage1["overall"].keys() == {"stories", *SHARES1, "f1_category_mean"}
    assert all(len(stage1["overall"][name].partition(".")[2]) == 6 for name in SHARES1)
    assert [row["story_category"] for row in stage1["by_category"]] == sorted(
        {row["story_category"] for row in stage1["stories"]}
    )
    repaired = told["scores"]["repaired"]["stage1"]["overall"]
    assert repaired["interval"].keys() == repaired["bounds"].keys() == {*SHARES1, "f1_category_mean"}
    assert isinstance(repaired["f1"], float) and repaired["unusable"] == 0
    assert told["scores"] == json.loads(json.dumps(scores_of(held)))
    assert told["scores"]["official"]["stage2"] is None
    assert RunReport.objects.filter(run=held).exists()


def test_labelling_has_its_own_columns_and_a_second_run_makes_no_call(dataset):
    first = run("--stage", "label", "--endpoint", "majority", "--wait")
    overall = first["scores"]["official"]["stage2"]["overall"]
    assert overall.keys() == {"stories", *SHARES2}
    second = run("--stage", "label", "--endpoint", "majority", "--wait")
    assert second["calls"] == {"made": 0, "reused": 14}
    assert second["scores"] == first["scores"] and second["run"] != first["run"]


def test_without_wait_nothing_is_asked_yet(dataset):
    told = run("--stage", "label", "--endpoint", "majority")
    assert list(told) == ["run", "state", "items", "calls", "tokens", "cost"]
    assert (told["state"], told["items"]["done"], Call.objects.count()) == ("running", 0, 0)


def test_split_category_limit_and_several_models(dataset):
    category = dataset.stories.first().category
    told = run("--stage", "label", "--endpoint", "majority", "--endpoint", "random", "--category", category, "--wait")
    assert told["items"]["done"] == 4  # two stories of each of seven categories
    assert told["scores"].keys() == {"majority", "random"}
    assert run("--stage", "label", "--endpoint", "majority", "--limit", "3", "--wait")["items"]["done"] == 3


def test_a_judge_alone_takes_the_newest_extractions(dataset):
    run("--stage", "extract", "--endpoint", "omniscient", "--limit", "5", "--wait")
    told = run("--stage", "judge", "--endpoint", "omniscient", "--judge", "lexical-judge", "--wait")
    assert told["calls"] == {"made": 5, "reused": 0}
    assert told["scores"]["official"]["stage1"]["overall"]["stories"] == "5"
    newest = Run.objects.first()
    assert newest.source is not None and not RunItem.objects.filter(entrant__run=newest, stage=Stage.LABEL).exists()


def test_a_judge_that_was_named_judges(dataset):
    told = run("--stage", "extract", "--endpoint", "omniscient", "--judge", "lexical-judge", "--wait", "--limit", "2")
    assert told["items"]["done"] == 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--stage", "label", "--endpoint", "gpt"), "There is no endpoint 'gpt'; there are: lexical-judge, majority, omniscient, random."),
        (("--stage", "label", "--endpoint", "omniscient"), "omniscient is a baseline that can only extract; none of the chosen stages is for it."),
        (("--stage", "judge", "--endpoint", "omniscient", "--judge", "lexical-judge"), "No run of oracle has extractions of omniscient; add --stage extract."),
        (("--stage", "extract", "--stage", "judge", "--endpoint", "omniscient"), "Judging needs a judge: choose an endpoint, for instance the lexical judge."),
        (("--stage", "label", "--endpoint", "majority", "--limit", "-1"), "--limit is -1; expected 0 or more stories."),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_sentence(dataset, arguments, sentence):
    assert refused(*arguments) == sentence


def test_a_split_and_a_project_that_are_not_there(dataset):
    assert "'final'" in refused("--stage", "label", "--endpoint", "majority", "--split", "final")
    with pytest.raises(CommandError, match="nowhere"):
        call_command(
            "run_benchmark", "--suite", "omnitom", "--project", "nowhere", "--stage", "label", "--endpoint", "x"
        )


def test_the_sample_project(db):
    load_sample()
    for name in ("majority", "omniscient", "lexical-judge"):
        from workers.models import Endpoint

        if not Endpoint.objects.filter(name=name).exists():
            endpoint(name, "baseline")
    out = StringIO()
    call_command(
        "run_benchmark", "--suite", "omnitom", "--project", "sample", "--stage", "all", "--endpoint", "majority",
        "--endpoint", "omniscient", "--judge", "lexical-judge", "--wait", "--json", stdout=out, stderr=StringIO(),
    )  # fmt: skip
    told = json.loads(out.getvalue())
    assert told["items"]["failed"] == 0 and told["items"]["done"] > 0
    assert told["scores"]["majority"]["official"]["stage1"] is None
    assert told["scores"]["omniscient"]["official"]["stage2"] is None
