"""A judge of free answers, of a suite that is not the product's, is tested by the same machinery."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from django.utils import timezone

from benchmark.models import Dataset, JudgeTest, JudgeTestItem, Run
from benchmark.services.follow_ups import ask_missing, gaps_of
from benchmark.services.judge_tests import calls_of, start_test, summaries_of, why_untestable
from benchmark.services.judge_versions import version_of
from benchmark.services.launches import start_run
from benchmark.services.plans import Plan, RunRefused
from benchmark.services.provenance import spec_of
from benchmark.suites import registry
from core.plain import plain
from tests.benchmark.graded.suite import SUITE
from tests.benchmark.importing import import_benchmark
from tests.benchmark.settled import make_endpoint
from workers.models import Endpoint
from workers.services.run_to_end import run_to_end

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def graded(monkeypatch, own_registry):
    registry.suites()
    monkeypatch.setattr(registry, "_suites", dict(registry._suites))
    monkeypatch.setattr(registry, "_groups", dict(registry._groups))
    registry.register(SUITE)
    return SUITE


@pytest.fixture
def dataset(graded, cast) -> Dataset:
    return import_benchmark(by=cast.alice, project=cast.project, suite=graded, folder=Path(), options={})[0]


def judged_run(dataset: Dataset, judge: Endpoint, **options: str) -> Run:
    """A run whose answers were told, and whose judge is that endpoint."""
    model = make_endpoint(f"model-{Run.objects.count()}", options={"default": "In the oven"})
    plan = Plan(dataset=dataset, endpoints=[model], steps=["tell"], suite="graded", options=options)
    run = start_run(by=None, plan=plan, now=timezone.now())
    run.judge, run.steps, run.spec = judge, ["tell", "grade"], run.spec | {"judge": plain(spec_of(judge))}
    run.save()
    return run


@pytest.fixture
def strict(graded) -> Endpoint:
    return make_endpoint("strict", provider="baseline", model="strict")


def test_a_judge_of_free_answers_is_tested(dataset, strict):
    run = judged_run(dataset, strict)
    test = start_test(by=None, run=run, now=timezone.now())
    run_to_end(job=test.job)
    asked = list(JudgeTestItem.objects.filter(test=test).select_related("sample"))
    # one pair a call, as each sample has one gold answer; the sample that prompts show is none of them
    assert (
        len(asked) == 4
        and {len(one.pairs) for one in asked} == {1}
        and {one.sample.split for one in asked} == {"asked"}
    )
    summary = summaries_of([run])[run.pk]
    assert (summary.state, summary.calls, summary.answered) == ("tested", 4, 4)
    kinds = {one.kind: one for one in summary.kinds}
    said = {one.pairs[0]["kind"]: one.counts for one in asked}
    assert (
        said["negated"] == [None] and kinds["negated"].missing == 1
    )  # an answer that is no verdict is not a wrong one
    assert said["place"] == [0] and kinds["place"].rate == 1.0
    assert kinds["actor"].n + kinds["actor"].missing == 0  # an answer is nobody's belief


def test_what_makes_the_instrument_is_what_the_suite_says(dataset, strict):
    mild, again, stern = (judged_run(dataset, strict, tone=tone) for tone in ("mild", "mild", "stern"))
    assert version_of(mild) == version_of(again) != version_of(stern)
    for run in (mild, stern):
        start_test(by=None, run=run, now=timezone.now())
    assert JudgeTest.objects.filter(suite="graded").count() == 2
    with pytest.raises(RunRefused, match="has its self-test already"):
        run_to_end(job=JudgeTest.objects.get(version=version_of(mild)).job)
        start_test(by=None, run=again, now=timezone.now())
    tones = {one.test.params["options"]["tone"] for one in JudgeTestItem.objects.select_related("test")}
    assert tones == {"mild", "stern"}


def test_a_suite_without_self_test_or_follow_up_offers_none(dataset, strict):
    run = judged_run(dataset, strict)
    assert gaps_of(run) == {"rows": 0, "judgements": 0, "all_rows": 0}
    with pytest.raises(RunRefused, match="has all its rows"):
        ask_missing(by=None, run=run, now=timezone.now())
    assert len(calls_of(run)) == 4
    registry._suites["graded"] = replace(SUITE, judge=replace(SUITE.judge, test=None))
    assert calls_of(run) == []
    assert why_untestable(run) == "The judge of Graded places has no self-test."
