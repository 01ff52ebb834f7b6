"""Launching, extending and repeating runs; what a run says of itself; and the report that is kept of it."""

import json
from decimal import Decimal

import pytest
from django.utils import timezone

from annotation.models import AuditEvent, Proposition, User
from benchmark.models import Run, RunItem, RunReport
from benchmark.services.datasets import publish_version
from benchmark.services.evaluating import read_again
from benchmark.services.extending import extend_run
from benchmark.services.launches import run_again, start_run
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan, RunRefused, plan_of
from benchmark.services.reports import report_of, scores_of
from benchmark.suites.omnitom import steps
from benchmark.suites.omnitom.data import EXTRACT, JUDGE
from benchmark.suites.omnitom.official import STRUCTURED
from benchmark.suites.omnitom.prompting.sets import built_in
from benchmark.suites.omnitom.steps import parse_stage2
from core.plain import plain
from tests.benchmark.evaluation import endpoint, generated, published, started, worked_off, write_records
from tests.benchmark.planning import changed, planned
from workers.models import Call, Item, ItemState, Job
from workers.services.jobs import cancel_job
from workers.services.progress import progress_of

pytestmark = pytest.mark.django_db(transaction=True)
NOW = timezone.now


@pytest.fixture
def dataset(tmp_path):
    """Eight stories; the baselines are the fixture `models`."""
    return published(write_records(tmp_path / "records.jsonl", generated(8)))


@pytest.fixture
def majority(models):
    return models["majority"]


@pytest.fixture
def omniscient(models):
    return models["omniscient"]


@pytest.fixture
def extracted(dataset, models, omniscient):
    """A run with extractions and their judgements."""
    plan = {"steps": ["extract", "judge"], "judge": models["lexical-judge"]}
    return worked_off(started(dataset=dataset, endpoints=[omniscient], **plan))


def refusal(plan: Plan) -> tuple[str, str]:
    """The sentence and the field to change; nothing was made."""
    before = Run.objects.count(), Job.objects.count(), Item.objects.count()
    with pytest.raises(RunRefused) as caught:
        start_run(by=None, plan=plan, now=NOW())
    assert (Run.objects.count(), Job.objects.count(), Item.objects.count()) == before
    return str(caught.value), caught.value.field


def test_every_refusal_says_why_in_one_sentence(dataset, models, majority, omniscient, extracted):
    lexical = models["lexical-judge"]
    model = endpoint("plain", "openai", base_url="http://127.0.0.1:1/v1", json_schema=False, batches=False)
    off = endpoint("off", active=False)
    plan = planned(dataset, [model], ["label"])
    extracting = changed(plan, steps=["extract", "judge"], judge=lexical)
    for refused, sentence in (
        (changed(plan, steps=[]), "The steps are none; expected some of extract, judge and label."),
        (changed(plan, steps=["sing"]), "The steps are sing; expected some of extract, judge and label."),
        (changed(plan, steps=["judge"], judge=lexical), "Judging needs extractions: choose extraction too"),
        (changed(extracting, judge=None), "Judging needs a judge: choose an endpoint"),
        (changed(extracting, judge=majority), "majority is a baseline that cannot judge."),
        (changed(plan, endpoints=[]), "No model was chosen."),
        (changed(extracting, shots=4), "The judge can have 0 to 3 examples, not 4."),
        (changed(plan, endpoints=[model, omniscient]), "omniscient is a baseline that can only extract"),
        (changed(plan, answer_format="structured"), "plain cannot hold its answers to a schema; choose free text."),
        (changed(plan, prompt_set="nobody's"), 'There is no prompt set "nobody\'s"; there are omnitom-1.'),
        (changed(plan, split="none"), "The choice of split and category leaves no story of this dataset."),
        (changed(plan, endpoints=[off]), "The endpoint off is switched off."),
        (changed(plan, batch=True), "The endpoint plain has no batch form."),
    ):
        told, field = refusal(refused)
        assert told.startswith(sentence)
        assert field and (field in {"judge", "steps"} or field in refused.options or hasattr(refused, field))
    # what a source must be
    plan = planned(dataset, [omniscient], ["judge"], judge=lexical, source=extracted)
    assert len(check(plan)) == 8
    waiting = started(dataset=dataset, endpoints=[omniscient], steps=["extract"])
    belief = Proposition.objects.live_gold().filter(table__story__project=dataset.project).first()
    belief.belief += ", changed"
    belief.save()
    later, fresh = publish_version(by=None, project=dataset.project)
    assert fresh and later.version == 2
    for refused, sentence in (
        (changed(plan, steps=["extract", "judge"]), "makes none of its own; leave extraction out."),
        (changed(plan, answer_format="structured"), "are free text, and are judged as such."),
        (changed(plan, endpoints=[endpoint("stranger")]), "has no extraction of stranger to be judged."),
        (changed(plan, dataset=later), "are about version 1 of the dataset, not version 2."),
        (changed(plan, source=waiting), "The earlier run has no extraction of these models and stories yet."),
    ):
        assert refusal(refused)[0].endswith(sentence)


def test_judging_anew_takes_extractions_over_and_calls_the_judge_alone(dataset, omniscient, extracted):
    strict = endpoint("strict", "baseline", model="lexical-judge", options={"threshold": 1.0})
    before = set(Call.objects.values_list("pk", flat=True))
    anew = worked_off(started(dataset=dataset, endpoints=[omniscient], steps=["judge"], judge=strict, source=extracted))
    new = Call.objects.exclude(pk__in=before)
    assert set(new.values_list("endpoint__name", flat=True)) == {"strict"} and new.count() == 8
    for step in (EXTRACT, JUDGE):
        assert RunItem.objects.filter(entrant__run=anew, step=step).count() == 8
    taken = RunItem.objects.filter(entrant__run=anew, step=EXTRACT)
    held = RunItem.objects.filter(entrant__run=extracted, step=EXTRACT)
    fields = ("sample", "call", "repaired", "unreadable")
    assert list(taken.order_by("sample").values_list(*fields)) == list(held.order_by("sample").values_list(*fields))
    assert read_again(by=None, run=anew, now=NOW()) == 0
    # a threshold of 1 finds fewer pairs than 0.55
    strictly, before = (scores_of(one)["official"]["stage1"]["overall"]["recall"] for one in (anew, extracted))
    assert float(strictly) <= float(before)


def test_a_run_says_what_made_it_and_no_secret(dataset, models, majority, monkeypatch):
    monkeypatch.setenv("MODEL_KEY", "sk-very-secret")
    reached = {"base_url": "http://127.0.0.1:1/v1", "api_key_env": "MODEL_KEY", "price_input": 1, "price_output": 2}
    model = endpoint("paid", "openai", revision="abc", **reached)
    alice = User.objects.create_user("alice")
    plan = planned(dataset, [model], ["label"], seed=7, budget=Decimal("2.50"))
    run = start_run(by=alice, plan=plan, now=NOW())
    assert run.spec["dataset"] == {"version": 1, "digest": dataset.digest}
    assert run.spec["made_by"]["code"] and run.spec["made_by"]["python"].startswith("3.")
    assert {"django", "openai", "numpy", "scipy"} <= run.spec["made_by"]["packages"].keys()
    assert run.params["seed"] == 7 and run.params["budget"] == "2.50"
    entrant = run.entrants.get()
    assert (entrant.spec["model"], entrant.spec["revision"]) == ("paid", "abc")
    told = json.dumps([run.spec, run.params, entrant.spec, run.job.params])
    assert "sk-very-secret" not in told and "MODEL_KEY" not in told
    entry = AuditEvent.objects.get(action="run.started")
    assert (entry.target, entry.actor) == (run.uid, alice)
    for level in (1, 2):  # another wording has another hash
        other = start_run(by=None, plan=changed(plan, endpoints=[majority], level=level), now=NOW())
        assert other.spec["prompts"] == {"label": built_in().content_hash("label", level)} != run.spec["prompts"]
    plan = planned(
        dataset, [majority], ["label"], judge=models["lexical-judge"], level=2, seed=3, limit=4, shots=1,
        with_story=False, examples=0, max_tokens=500, budget=Decimal("1.5"), title="Mine",
    )  # fmt: skip
    assert plan_of(start_run(by=None, plan=plan, now=NOW())) == plan, "what was launched"


def test_extending_adds_stories_and_models_and_leaves_what_is_there(dataset, models, majority, omniscient):
    run = worked_off(started(dataset=dataset, endpoints=[majority], steps=["label"], limit=3))
    held = set(RunItem.objects.values_list("pk", "call"))
    made = extend_run(by=None, run=run, stories=list(dataset.samples.selected()[:5]), now=NOW())
    assert (made, run.job.state) == (2, "running")
    other = models["random"]
    assert extend_run(by=None, run=run, endpoints=[majority, other], now=NOW()) == 5
    worked_off(run)
    assert held <= set(RunItem.objects.values_list("pk", "call"))
    assert (run.job.state, progress_of(run.job).done, run.params["stories"]) == ("finished", 10, 5)
    cancelled = started(dataset=dataset, endpoints=[majority], steps=["label"], limit=3)
    cancel_job(job=cancelled.job, now=NOW())
    for extended, added, sentence in (
        (run, {"endpoints": [other]}, "These models and stories are all in the run already."),
        (run, {"endpoints": [omniscient]}, "omniscient can do none of the run's steps."),
        (cancelled, {"stories": list(dataset.samples.all())}, "The run was cancelled; run it again instead."),
    ):
        with pytest.raises(RunRefused) as caught:
            extend_run(by=None, run=extended, now=NOW(), **added)
        assert str(caught.value) == sentence
    run.job.refresh_from_db()
    assert run.job.state == "finished"
    again = worked_off(run_again(by=None, run=run, now=NOW()))
    assert (progress_of(again.job).made, scores_of(again)) == (0, scores_of(run))


def test_structured_and_text_are_asked_and_read_differently(dataset):
    model = endpoint("scripted")
    for answer_format in ("text", "structured"):
        run = worked_off(started(dataset=dataset, endpoints=[model], steps=["label"], answer_format=answer_format))
        places = RunItem.objects.filter(entrant__run=run).select_related("call")
        text = answer_format == "text"
        assert {json.loads(one.call.body)["schema"] is None for one in places} == {text}
        assert {one.official is None for one in places} == {not text}
    official = scores_of(run)["official"]
    assert (official["stage1"], official["stage2"], official["reason"]["stage2"]) == (None, None, STRUCTURED)


def test_reading_again_makes_no_call_and_brings_the_report_up_to_date(dataset, majority, monkeypatch):
    run = worked_off(started(dataset=dataset, endpoints=[majority], steps=["label"]))
    before, calls = report_of(run), Call.objects.count()
    assert read_again(by=None, run=run, now=NOW()) == 0
    monkeypatch.setattr(steps, "parse_stage2", lambda record, answer, **how: parse_stage2(record, "", **how))
    assert read_again(by=None, run=run, now=NOW()) == 8
    assert Call.objects.count() == calls
    row = report_of(run).entrants[0].groups["stage2"]
    assert row.parses.overall("official").value_of("overall_accuracy") == "0.000000"
    assert row.parses.overall("repaired").stories == 0
    # what the run's page counts follows the parses
    assert Item.objects.filter(job=run.job, state=ItemState.UNREADABLE).count() == 8
    monkeypatch.undo()
    assert read_again(by=None, run=run, now=NOW()) == 8
    assert report_of(run) == before and Item.objects.filter(job=run.job, state=ItemState.DONE).count() == 8
    assert AuditEvent.objects.filter(action="run.read_again", target=run.uid).count() == 3


def test_the_report_is_kept_until_an_item_changes(dataset, majority, django_assert_max_num_queries):
    run = worked_off(started(dataset=dataset, endpoints=[majority], steps=["label"], limit=3))
    first = report_of(run)
    RunReport.objects.update(metrics=plain(first) | {"stories": -1})
    with django_assert_max_num_queries(2):
        assert report_of(run).stories == -1
    extend_run(by=None, run=run, stories=list(dataset.samples.all()), now=NOW())
    part = report_of(run)  # five stories have no answer yet
    assert part.stories == 8
    row = part.entrants[0].groups["stage2"]
    assert (row.answered, row.asked, row.parses.overall("repaired").unreadable) == (3, 8, 5)
    worked_off(run)
    assert report_of(run).entrants[0].groups["stage2"].answered == 8
