"""Controls of a run, from the launch to the answers, and that nothing takes their figures for those of the run."""

import io
import json
from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from benchmark.controls.chosen import INSTEAD, LISTS_VERSION
from benchmark.models import DatasetSample, Run, RunItem
from benchmark.services.archiving import delete_run
from benchmark.services.asking import sample_asked
from benchmark.services.documents import document_of
from benchmark.services.extending import extend_run
from benchmark.services.launches import add_controls, run_again, start_run
from benchmark.services.plan_checks import check
from benchmark.services.plans import RunRefused, plan_of
from benchmark.services.reports import report_of
from tests.benchmark.controls.world import (
    PUBLISHED,
    QUESTIONS,
    READS,
    REMEMBERS,
    controlled_world,
    opentom,
    plan,
    reads,
)
from tests.benchmark.rule_server import answering
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.suites.opentom.small import small
from tests.cast import new_cast

pytestmark = pytest.mark.django_db(transaction=True)
BOTH = ("renamed", "storyless")


@pytest.fixture
def world(tmp_path):
    return controlled_world(tmp_path, *BOTH)


@pytest.fixture
def cast(world):
    return world[0]


@pytest.fixture
def run(world) -> Run:
    return world[1]


def test_a_launch_asks_everything_once_more_under_each_control(client, tmp_path):
    cast = new_cast()
    client.force_login(cast.alice)
    opentom(cast, tmp_path)
    slug = cast.project.slug
    page = written(client.get(reverse("benchmark:launch", args=[slug]), {"dataset": 1}))
    assert 'value="renamed"' in page and 'value="shuffled"' not in page
    assert "Shuffled options: not for OpenToM. Its questions have no options to be shuffled." in page
    sent = {"dataset": 1, "endpoints": [READS, REMEMBERS], "steps": ["answer"], "method": "plain", "repetitions": 2}
    sent |= {"max_tokens": 50, "seed": 4, "title": "Two readers", "limit": 23, "controls": [*BOTH]}
    estimated = written(client.get(reverse("benchmark:estimate", args=[slug]), sent))
    assert f"{2 * 2 * 23 * 3} calls" in estimated and "23 questions" in estimated
    assert "answering, other names" in estimated and "answering, question without its story" in estimated
    assert client.post(reverse("benchmark:launch", args=[slug]), sent).status_code == 302
    (run,) = Run.objects.originals()
    titles = {"renamed": "Two readers: other names", "storyless": "Two readers: question without its story"}
    assert [(one.control, one.title) for one in run.controls.order_by("pk")] == [*titles.items()]
    renamed = run.controls.get(control="renamed")
    assert renamed.params["seed"] == 4 and renamed.params["control_lists"] == LISTS_VERSION
    assert "control_lists" not in run.params
    assert [RunItem.objects.filter(entrant__run=one).count() for one in (run, renamed)] == [2 * 2 * 23] * 2


def test_models_are_asked_about_the_changed_samples_and_read_by_them(run):
    renamed, storyless = (run.controls.get(control=name) for name in BOTH)
    sample = run.dataset.samples.get(key="00000000/location_cg_fo/1")
    asked = sample_asked(renamed, sample)
    assert "Ines" not in asked.content["story"] and asked.published.content == sample.content
    of_sample = RunItem.objects.filter(entrant__name=READS, sample=sample)
    told = json.loads(of_sample.get(entrant__run=renamed).call.body)["messages"][-1]["content"]
    assert asked.content["story"] in told
    without = of_sample.get(entrant__run=storyless).call.body
    assert INSTEAD["en"] in without and "hat in" not in without
    # one ledger: what was asked is another question, and every one of it has its own call
    assert of_sample.values("call").distinct().count() == 3
    accuracy = {
        (one.control, row.name): row.groups["opentom"].parses.overall("repaired").value_of("accuracy")
        for one in (run, renamed, storyless)
        for row in report_of(one).entrants
    }
    # one of the five narratives has questions that nobody can answer who does not know Ines
    assert accuracy["", REMEMBERS] > 0.95 and accuracy["", READS] == accuracy["renamed", READS] > 0.9
    assert accuracy["renamed", REMEMBERS] == accuracy["storyless", REMEMBERS] == accuracy["storyless", READS] < 0.5


def test_what_stays_as_it_is_is_not_asked_again_and_a_budget_is_divided(cast, run):
    DatasetSample.objects.filter(dataset=run.dataset, key="00000000/attitude/0").update(content={"story": ""})
    first = run.dataset.samples.order_by("position").first()
    empty = run.dataset.samples.get(key="00000000/attitude/0")
    taken = replace(plan_of(run), controls=["distracted"])
    started = start_run(by=cast.alice, plan=taken, now=timezone.now(), stories=[first, empty])
    (control,) = started.controls.all()
    assert {item.sample for item in RunItem.objects.filter(entrant__run=control)} == {first}
    taken = replace(plan_of(run), budget=Decimal("1.0000"), controls=[*BOTH])
    started = start_run(by=cast.alice, plan=taken, now=timezone.now())
    assert {one.job.budget for one in (started, *started.controls.all())} == {Decimal("0.3333")}
    assert plan_of(started).budget == Decimal("0.9999"), "never exceeded in sum"


def test_a_run_is_extended_and_repeated_with_its_controls(cast, run):
    third = make_endpoint("third", model="third", options={"function": READS})
    more = list(run.dataset.samples.order_by("position")[QUESTIONS : QUESTIONS + 2])
    # two models on two more questions, a third one on all of them, as published and under two controls
    added = extend_run(by=cast.alice, run=run, endpoints=[third], stories=more, now=timezone.now())
    assert added == 3 * (4 + QUESTIONS + 2)
    assert all(one.entrants.filter(endpoint=third).exists() for one in run.controls.all())
    again = run_again(by=cast.alice, run=run, now=timezone.now())
    assert [one.control for one in again.controls.order_by("pk")] == [*BOTH]


def test_a_run_is_deleted_with_its_controls(cast, run):
    beside = list(run.controls.all())
    delete_run(by=cast.alice, run=run, now=timezone.now())
    assert not Run.objects.exists() and not RunItem.objects.filter(entrant__run__in=beside).exists()


def test_controls_are_added_to_a_run_on_its_page_which_says_what_is_beside_it(client, cast, run):
    client.force_login(cast.alice)
    slug, renamed = cast.project.slug, run.controls.get(control="renamed")

    def page(name: str, *args, **query) -> str:
        return written(client.get(reverse(f"benchmark:{name}", args=[slug, *args]), query))

    shown = page("run", renamed.uid)
    assert "Under the control “other names”, beside" in shown and "Extend…" not in shown
    assert "Asked under controls" in page("run", run.uid)
    listed = page("runs")
    assert listed.count("row-link") == 1 and renamed.uid in listed
    keys = [f"{one.uid}.{one.entrants.get(name=READS).pk}" for one in (run, renamed)]
    assert "The two were asked under different controls" in page("compare", a=keys[0], b=keys[1])
    offered = page("add_controls", run.uid)
    assert 'value="distracted"' in offered and 'value="renamed"' not in offered
    estimated = page("estimate_controls", run.uid, controls="distracted")
    assert f"{2 * QUESTIONS} calls" in estimated and "an irrelevant sentence" in estimated
    address = reverse("benchmark:add_controls", args=[slug, run.uid])
    assert "Tick at least one control." in written(client.post(address, {}))
    assert client.post(address, {"controls": "distracted"}).status_code == 302
    assert run.controls.filter(control="distracted").exists()
    with pytest.raises(RunRefused, match="The run has the control “an irrelevant sentence” already"):
        add_controls(by=cast.alice, run=run, controls=["distracted"], now=timezone.now())


def test_what_makes_no_sense_is_refused_in_a_sentence(run):
    made, now = plan_of(run), timezone.now()
    for name, told in (
        ("shuffled", "OpenToM has no control “shuffled options”: its questions have no options to be shuffled"),
        ("else", "There is no control 'else'; OpenToM has: renamed, storyless, distracted"),
    ):
        with pytest.raises(RunRefused, match=told):
            check(replace(made, controls=[name]))
    control = run.controls.first()
    for refused in (
        lambda: run_again(by=None, run=control, now=now),
        lambda: add_controls(by=None, run=control, controls=["renamed"], now=now),
        lambda: extend_run(by=None, run=control, endpoints=[], stories=[], now=now),
    ):
        with pytest.raises(RunRefused, match="This run stands beside Two readers as its control"):
            refused()
    # the database holds it: a run has a control once, and none is without its original
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.filter(pk=control.pk).update(original=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        run.controls.exclude(pk=control.pk).update(control=control.control)


def test_the_command_takes_controls_and_waits_for_them(tmp_path):
    cast = new_cast()
    opentom(cast, tmp_path)
    asked = ["--project", cast.project.slug, "--suite", "opentom", "--endpoint", READS, "--limit", "5", "--json"]
    out = io.StringIO()
    call_command("run_benchmark", *asked, "--control", "storyless", "--wait", stdout=out)
    told = json.loads(out.getvalue())
    assert told["items"]["done"] == 5 and told["controls"]["storyless"]["items"]["done"] == 5
    with pytest.raises(CommandError, match="its questions have no options to be shuffled"):
        call_command("run_benchmark", *asked, "--control", "shuffled", stdout=io.StringIO())


def test_refusals_under_a_control_are_missing_over_http(tmp_path):
    """One model knows the published stories by heart and says of any other that it does not know."""
    files = small()
    known = {
        (entry["narrative"], question["question"].rstrip("?")): question["answer"]
        for key, entry in files["meta_data.json"].items()
        for name, entries in files.items()
        if not name.startswith("meta")
        for question in entries[key]
    }

    def answer(body: dict) -> str:
        prompt = body["messages"][-1]["content"]
        if body["model"] == READS:
            return reads(prompt, {"choices": ["I do not know."]})
        told = [(asked, said) for (story, asked), said in known.items() if story in prompt and asked in prompt]
        return max(told, key=lambda pair: len(pair[0]))[1] if told else "I do not know."

    cast = new_cast()
    dataset, _ = opentom(cast, tmp_path)
    with answering(answer) as served:
        models = {
            name: make_endpoint(f"http-{name}", provider="vllm", model=name, base_url=served)
            for name in (READS, REMEMBERS)
        }
        run = start_run(by=cast.alice, plan=plan(dataset, models, limit=46, controls=["renamed"]), now=timezone.now())
        for each in (run, *run.controls.all()):
            assert not work_off(each).job.has_failed
    rows = {row.model: row for row in document_of(run).controls.rows["opentom"]["repaired"]}
    read, remembered = rows[f"http-{READS}"], rows[f"http-{REMEMBERS}"]
    assert len(PUBLISHED) == 10 and (read.value, read.same_answer) == (0, 1)
    # it said nothing under other names, which may be memory or not: no difference, and bounds on both sides of 0
    assert (remembered.missing, remembered.n, remembered.value, remembered.verdict) == ([0, 46], 0, None, "–")
    assert remembered.bounds[0] <= 0 < 0.9 < remembered.bounds[1]
