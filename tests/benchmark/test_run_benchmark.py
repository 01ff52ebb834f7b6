"""`run_benchmark`: the fixed command of scripts."""

from __future__ import annotations

import json
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Proposition
from benchmark.models import Dataset, Run, RunItem, RunReport
from benchmark.services.reports import report_of, scores_of
from benchmark.suites.omnitom.data import LABEL
from tests.benchmark.evaluation import endpoint, generated, published, write_records
from workers.models import Call

pytestmark = pytest.mark.django_db(transaction=True)

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
def dataset(tmp_path):
    for name in ("majority", "random", "omniscient", "lexical-judge"):
        endpoint(name, "baseline")
    return published(write_records(tmp_path / "records.jsonl", generated(14)))


def run(options: str) -> dict:
    """The one JSON object on standard output; messages go to standard error."""
    out = StringIO()
    call_command(*CALL, "--json", *options.split(), stdout=out, stderr=StringIO())
    assert out.getvalue().count("\n") == 1
    return json.loads(out.getvalue())


def refused(*arguments: str) -> str:
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command(*arguments, stdout=out, stderr=StringIO())
    sentence = str(caught.value)
    assert out.getvalue() == "" and "\n" not in sentence
    return sentence


def test_the_answer_is_what_scripts_rely_on(dataset):
    told = run(f"{EXTRACTS} --step judge --judge lexical-judge --wait")
    assert {"run", "state", "items", "calls", "tokens", "cost", "scores"} <= told.keys()
    assert told["judge_test"]["state"] == "tested"
    held = Run.objects.get()
    assert (told["run"], told["state"]) == (held.uid, "finished")
    # 14 stories, extraction and judging of each
    assert told["items"] == {"done": 28, "failed": 0, "unreadable": 0}
    assert told["calls"] == {"made": 28, "reused": 0}
    assert told["tokens"] == {"input": 0, "output": 0} and told["cost"] == 0.0
    assert told["scores"].keys() == {"official", "repaired"}
    stage1 = told["scores"]["official"]["stage1"]
    assert stage1.keys() == {"overall", "by_category", "stories"}
    assert stage1["overall"].keys() == {"stories", *SHARES1, "f1_category_mean"}
    assert all(len(stage1["overall"][name].partition(".")[2]) == 6 for name in SHARES1)
    categories = sorted({row["story_category"] for row in stage1["stories"]})
    assert [row["story_category"] for row in stage1["by_category"]] == categories
    repaired = told["scores"]["repaired"]["stage1"]["overall"]
    assert repaired["interval"].keys() == repaired["bounds"].keys() == {*SHARES1, "f1_category_mean"}
    assert isinstance(repaired["f1"], float) and repaired["unreadable"] == 0
    assert told["scores"] == json.loads(json.dumps(scores_of(held)))
    assert told["scores"]["official"]["stage2"] is None
    assert RunReport.objects.filter(run=held).exists()


def test_labelling_has_its_own_columns_and_a_second_run_makes_no_call(dataset):
    waiting = run(LABELS)
    assert {"run", "state", "items", "calls", "tokens", "cost"} <= waiting.keys() and "scores" not in waiting
    assert (waiting["state"], waiting["items"]["done"], Call.objects.count()) == ("running", 0, 0)
    first = run(f"{LABELS} --wait")
    assert first["scores"]["official"]["stage2"]["overall"].keys() == {"stories", *SHARES2}
    second = run(f"{LABELS} --wait")
    assert second["calls"] == {"made": 0, "reused": 14}
    assert second["scores"] == first["scores"] and second["run"] != first["run"]


@pytest.mark.once
def test_without_json_people_read_a_table_and_what_it_may_cost(dataset):
    out, err = StringIO(), StringIO()
    call_command(*CALL, *f"{LABELS} --endpoint random --wait".split(), stdout=out, stderr=err)
    lines = out.getvalue().splitlines()
    assert "items: 28 done, 0 failed, 0 unreadable" in lines and "calls: 28 made, 0 reused" in lines
    assert {"majority", "random"} < set(lines) and "{" not in out.getvalue()
    parses = report_of(Run.objects.get()).entrants[0].groups["stage2"].parses
    held = parses.overall("official").value_of("overall_accuracy")
    assert f"official  Stage 2: labelling  {'Overall':24}{held:>12}" in lines[lines.index("majority") :]
    endpoint("paid", price_output="10")
    asked = "--step label --endpoint paid --limit 2 --max-tokens 1000"
    call_command(*CALL, *asked.split(), stdout=StringIO(), stderr=err)
    # two answers of at most 1,000 tokens at 10 dollars a million
    assert "Up to 2 calls: about" in err.getvalue() and "at most $0.0200." in err.getvalue()


def test_category_limit_and_several_models(dataset):
    category = dataset.samples.first().category
    out = StringIO()
    asked = (*LABELS.split(), "--endpoint", "random", "--category", category, "--wait")
    call_command(*CALL, "--json", *asked, stdout=out, stderr=StringIO())
    told = json.loads(out.getvalue())
    assert told["items"]["done"] == 4  # two stories of each of seven categories
    assert told["scores"].keys() == {"majority", "random"}
    assert run(f"{LABELS} --limit 3 --wait")["items"]["done"] == 3
    judged = run(f"{EXTRACTS} --judge lexical-judge --wait --limit 2")
    assert judged["items"]["done"] == 4, "a judge that was named judges"


REFUSED = [
    ("--step label --endpoint gpt", "There is no endpoint 'gpt'; there are: lexical-judge, majority, "),
    ("--step label --endpoint omniscient", "omniscient is a baseline that can only extract; none of the chosen"),
    (JUDGES, "No run of oracle has extractions of omniscient; add --step extract."),
    (f"{EXTRACTS} --step judge", "Judging needs a judge: choose an endpoint"),
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
    (f"{LABELS} --batch", "The endpoint majority has no batch form."),
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
    told = run(
        "--step all --endpoint reader --judge reader --level 4 --examples 2 --examples-from calibration --judge-level 4"
        " --shots 1 --without-story --max-tokens 500 --seed 7 --budget 2.50 --batch --title Ours"
        " --answer-format structured --limit 3 --prompt-set omnitom-1 --dataset 1"
    )
    held = Run.objects.get(uid=told["run"])
    assert (held.title, held.answer_format, held.level, held.prompt_set) == ("Ours", "structured", 4, "omnitom-1")
    assert (held.judge, held.job.budget, held.job.batch, held.dataset) == (reader, Decimal("2.5"), True, dataset)
    expected = {
        "examples": 2, "examples_from": "calibration", "judge_level": 4, "shots": 1, "with_story": False,
        "max_tokens": 500, "seed": 7, "stories": 3,
    }  # fmt: skip
    assert {name: held.params[name] for name in expected} == expected


def changed_gold(dataset) -> None:
    belief = Proposition.objects.live_gold().filter(table__story__project=dataset.project).first()
    belief.belief += ", changed"
    belief.save()


def test_a_run_publishes_the_present_gold_and_a_refused_one_nothing(dataset):
    changed_gold(dataset)
    refused(*CALL, *["--step", "label", "--endpoint", "omniscient"])
    assert Dataset.objects.count() == 1
    run(LABELS)
    assert Dataset.objects.count() == 2
    assert Run.objects.get().dataset.version == 2, "the present gold, as the help says"
    run(f"{LABELS} --dataset 1")
    assert Run.objects.first().dataset.version == 1


def test_labelling_beside_a_judge_asks_the_present_gold_and_never_an_older_one(dataset):
    both = "--step label --step judge --endpoint omni-label --judge lexical-judge"
    endpoint("omni-label")
    # extractions that cannot be read are extractions that can be judged all the same
    with pytest.raises(CommandError, match="no answer is readable"):
        run("--step extract --endpoint omni-label --limit 2 --wait")
    changed_gold(dataset)
    assert refused(*CALL, *both.split()) == (
        "No run of oracle has extractions of omni-label with version 2 of the dataset; add --step extract."
    )
    assert Dataset.objects.count() == 1
    run(f"{both} --dataset 1 --limit 2")
    made = Run.objects.first()
    assert (made.dataset.version, sorted(made.steps)) == (1, ["judge", "label"])
    # two labels are asked, and two extractions that are there are judged
    assert made.job.items.count() == 4


def test_a_judge_alone_takes_the_newest_extractions_that_fit(dataset):
    run(f"{EXTRACTS} --level 1 --limit 2 --wait")
    first = Run.objects.get()
    run(f"{EXTRACTS} --level 3 --limit 5 --wait")
    told = run(f"{JUDGES} --wait")
    newest = Run.objects.first()
    assert (newest.level, newest.source.level) == (3, 3) and told["calls"] == {"made": 5, "reused": 0}
    assert told["scores"]["official"]["stage1"]["overall"]["stories"] == "5"
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
