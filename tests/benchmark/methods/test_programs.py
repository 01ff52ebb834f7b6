"""A run goes through the steps that its settings name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import timezone

from benchmark.methods.contract import PEOPLE, PERCEIVERS
from benchmark.methods.registry import METHODS, methods_for
from benchmark.models import Run, RunItem
from benchmark.services.cached_answers import cached_answers
from benchmark.services.estimates import estimate, parts_of
from benchmark.services.launches import start_run
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan
from benchmark.services.reports import forget_report, report_of
from benchmark.services.watching import step_progress
from benchmark.suites import registry
from tests.benchmark.importing import import_benchmark
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.tiny.suite import SUITE
from tests.benchmark.tiny_copies import SUMS
from workers.models import ItemState

pytestmark = pytest.mark.django_db(transaction=True)


def program(settings):
    return ("repeat", "sum") if settings["politeness"] == "please" else ("sum",)


def request(question):
    asked = {"repeat": question.sample.content["text"]} | dict(question.answers)
    return SUITE.request(replace(question, answers=asked))


@pytest.fixture
def programmed(tiny):
    """The suite of sums, whose curt runs do without repeating."""
    first, last = SUITE.steps
    suite = replace(
        SUITE,
        steps=(first, replace(last, needs=(), after=("repeat",))),
        asking=replace(SUITE.asking, program=program),
        request=request,
    )
    registry.register(suite)
    return suite


@pytest.fixture
def plan(programmed, cast, tmp_path):
    (tmp_path / "sums.txt").write_text("\n".join(f"{first} {second}" for first, second in SUMS))
    dataset = import_benchmark(by=None, project=cast.project, suite=programmed, folder=tmp_path, options={})[0]
    adder = make_endpoint("adder", provider="baseline", model="adder")
    return lambda tone: Plan(dataset, [adder], ["sum"], "tiny", options={"politeness": tone}, max_tokens=20)


@pytest.mark.parametrize(("tone", "steps"), [("please", ["repeat", "sum"]), ("now", ["sum"])])
def test_a_run_asks_at_the_steps_of_its_program(plan, cast, tone, steps):
    planned = plan(tone)
    assert planned.steps == steps and estimate(planned).total.calls == len(steps) * len(SUMS)
    run = start_run(by=cast.alice, plan=planned, now=timezone.now())
    assert {row.step: row.total for row in step_progress(run, now=timezone.now())} == dict.fromkeys(steps, len(SUMS))
    run = work_off(run)
    assert run.steps == steps and run.job.state == "finished"
    assert sorted(set(RunItem.objects.values_list("step", flat=True))) == steps
    assert report_of(run).entrants[0].groups["tiny"].parses.overall("repaired").value_of("right") == 1.0
    stories = check(planned)
    looked_up = cached_answers(planned, stories, parts_of(planned, stories))
    assert {step: len(cached) for (_, step), cached in looked_up.items()} == dict.fromkeys(steps, len(SUMS))


def test_a_lost_earlier_answer_is_a_missing_one(plan, cast):
    run = work_off(start_run(by=cast.alice, plan=plan("please"), now=timezone.now()))
    lost = RunItem.objects.filter(step="repeat").first()
    RunItem.objects.filter(step="sum", sample=lost.sample).delete()
    lost.item.__class__.objects.filter(pk=lost.item_id).update(state=ItemState.FAILED)
    RunItem.objects.filter(pk=lost.pk).update(call=None)
    forget_report(run)
    metrics = report_of(Run.objects.get(pk=run.pk)).entrants[0].groups["tiny"]
    assert (metrics.asked, metrics.parses.overall("repaired").unreadable) == (len(SUMS), 1)
    assert metrics.parses.official is None and "the call failed" in metrics.reason


def test_a_launch_form_does_not_ask_for_the_steps(plan, cast, client):
    client.force_login(cast.alice)
    dataset = plan("please").dataset
    page = written(client.get(reverse("benchmark:launch", args=[cast.project.slug]), {"dataset": dataset.version}))
    assert "<fieldset hidden" in page and "Models and steps" not in page


def test_the_registry_gives_the_methods_whose_needs_a_suite_meets():
    names = [method.name for method in METHODS]
    assert [method.name for method in methods_for(PEOPLE, PERCEIVERS)] == names
    assert [method.name for method in methods_for(PEOPLE)] == names[:-1]
    assert [method.name for method in methods_for()] == ["plain", "cot", "self-ask", "s2a"]
