"""A run goes through the steps that its settings name."""

from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import timezone

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
from workers.models import Item, ItemState

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def plan(tiny, cast, tmp_path):
    """A plan for the suite of sums, whose curt runs do without repeating: `plan("please")`."""

    def program(settings):
        return ("repeat", "sum") if settings["politeness"] == "please" else ("sum",)

    def request(question):
        asked = {"repeat": question.sample.content["text"]} | dict(question.answers)
        return SUITE.request(replace(question, answers=asked))

    first, last = SUITE.steps
    steps, asking = (first, replace(last, needs=(), after=("repeat",))), replace(SUITE.asking, program=program)
    suite = replace(SUITE, steps=steps, asking=asking, request=request)
    registry.register(suite)
    (tmp_path / "sums.txt").write_text("\n".join(f"{first} {second}" for first, second in SUMS))
    dataset = import_benchmark(by=None, project=cast.project, suite=suite, folder=tmp_path, options={})[0]
    adder = make_endpoint("adder", provider="baseline", model="adder")
    return lambda tone: Plan(dataset, [adder], ["sum"], "tiny", options={"politeness": tone}, max_tokens=20)


@pytest.mark.parametrize(("tone", "steps"), [("please", ["repeat", "sum"]), ("now", ["sum"])])
def test_a_run_asks_at_the_steps_of_its_program(plan, cast, tone, steps):
    planned, of_each = plan(tone), dict.fromkeys(steps, len(SUMS))
    assert planned.steps == steps and estimate(planned).total.calls == len(steps) * len(SUMS)
    run = start_run(by=cast.alice, plan=planned, now=timezone.now())
    assert {row.step: row.total for row in step_progress(run, now=timezone.now())} == of_each
    run = work_off(run)
    assert run.steps == steps and run.job.state == "finished"
    assert sorted(set(RunItem.objects.values_list("step", flat=True))) == steps
    assert report_of(run).entrants[0].groups["tiny"].parses.overall("repaired").value_of("right") == 1.0
    stories = check(planned)
    looked_up = cached_answers(planned, stories, parts_of(planned, stories))
    assert {step: len(cached) for (_, step), cached in looked_up.items()} == of_each


def test_a_lost_earlier_answer_is_a_missing_one_and_the_launch_form_does_not_ask_for_the_steps(plan, cast, alice):
    planned = plan("please")
    run = work_off(start_run(by=cast.alice, plan=planned, now=timezone.now()))
    lost = RunItem.objects.filter(step="repeat").first()
    RunItem.objects.filter(step="sum", sample=lost.sample).delete()
    Item.objects.filter(pk=lost.item_id).update(state=ItemState.FAILED)
    RunItem.objects.filter(pk=lost.pk).update(call=None)
    forget_report(run)
    metrics = report_of(Run.objects.get(pk=run.pk)).entrants[0].groups["tiny"]
    assert (metrics.asked, metrics.parses.overall("repaired").unreadable) == (len(SUMS), 1)
    assert metrics.parses.official is None and "the call failed" in metrics.reason
    launch = reverse("benchmark:launch", args=[cast.project.slug])
    page = written(alice.get(launch, {"dataset": planned.dataset.version}))
    assert "<fieldset hidden" in page and "Models and steps" not in page
