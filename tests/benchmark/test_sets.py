"""Sets of samples of which all must be right, and steps that need several answers."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.utils import timezone

from benchmark.domain.estimating import StoryScore
from benchmark.models import Dataset, RunItem
from benchmark.services.estimates import estimate
from benchmark.services.launches import start_run
from benchmark.services.plans import Plan
from benchmark.suites import registry
from benchmark.suites.groups import MetricGroup
from benchmark.suites.guards import guarded
from benchmark.suites.measuring import SampleResult, measured_sets
from benchmark.suites.questions import Entered, Outcome, Sample, Step
from benchmark.suites.settings import Settings
from core.plain import plain
from tests.benchmark.settled import make_endpoint, work_off
from tests.benchmark.tiny.suite import SUITE
from tests.benchmark.tiny_copies import SUMS, imported
from workers.models import Call

GROUP = MetricGroup(
    key="tiny", title="Sets", noun="sets", shares=("right",), headers={"right": "Right"}, score="right",
    score_title="Sets",
    prompt="sum", rests_on=("sum",), scored="sum",
)  # fmt: skip
MISSING = ""
"""Of an answer: there is none."""


def scored(sample: Sample, outcomes) -> SampleResult:
    values = [one.repaired["right"] for one in outcomes if one.repaired]
    if len(values) < len(outcomes):
        return SampleResult(None, StoryScore("", {"right": 0.0}, {"right": 1.0}, None, "lost"), "it is lost")
    share = {"right": min(values)}
    return SampleResult(share, StoryScore("", share, share, share))


def is_short(sample: Sample) -> bool:
    return sample.key.endswith(("0", "1"))


def sets_of(answers: dict[str, list[float | str]], asked=None, **how):
    """The figures of sets a, b, …, whose samples are a0, a1, …, from what each of them came to."""
    samples = [
        Sample(f"{name}{at}", name, {}, {}, group=name, number=10 * place + at)
        for place, (name, values) in enumerate(answers.items(), start=1)
        for at, _ in enumerate(values)
    ]
    values = {f"{name}{at}": value for name, of_set in answers.items() for at, value in enumerate(of_set)}
    outcomes = {
        key: [
            Outcome("sum", None, None, without="failed") if value == MISSING else Outcome("sum", {}, {"right": value})
        ]
        for key, value in values.items()
        if asked is None or key in asked
    }
    resources = SimpleNamespace(derived=lambda name, compute: compute(samples))
    entered = Entered(
        "m", "model", [sample for sample in samples if sample.key in outcomes], outcomes, ["sum"], Settings(), resources
    )
    measured = measured_sets(entered, replace(GROUP, **how), scored, of_all=False)
    metrics = measured.metrics.reported()
    return metrics.parses.told | plain(metrics) | plain(metrics.levels), plain(measured.by_sample)


def test_a_set_is_right_by_majority_where_each_of_its_samples_is(monkeypatch):
    # a: both right; b: the third is not; the mean of 1 and 0
    monkeypatch.setattr(
        f"{__name__}.GROUP", replace(GROUP, majority=lambda sample, resources: float(sample.key != "b2"))
    )
    assert sets_of({"a": [1.0, 1.0], "b": [1.0, 0.0, 1.0]})[0]["majority"] == {"value": 0.5, "n": 2}


def test_a_set_is_right_by_chance_where_each_of_its_samples_is(monkeypatch):
    # a set of two and one of three, each sample right with 1/2: (1/4 + 1/8) / 2
    group = replace(GROUP, chance=lambda sample: 0.5)
    monkeypatch.setattr(f"{__name__}.GROUP", group)
    metrics, _ = sets_of({"a": [1.0, 1.0], "b": [1.0, 0.0, 1.0]})
    assert metrics["chance"] == {"value": (0.25 + 0.125) / 2, "n": 2}
    monkeypatch.setattr(f"{__name__}.GROUP", replace(GROUP, chance=lambda sample: None if sample.key == "b1" else 0.5))
    assert sets_of({"a": [1.0, 1.0], "b": [1.0, 0.0]})[0]["chance"] is None


def test_a_set_says_what_all_of_its_answers_say():
    rights = {"a": [0.0, 1.0], "b": [1.0, 0.0], "c": [0.0, 0.0], "d": [MISSING, 0.0]}
    says = {"says": lambda sample, repaired: f"{sample.key[-1]}:{repaired['right']}"}
    first, second, third, lost = sets_of(rights, **says)[1]["repaired"]["said"]
    # all three are wrong, and no two of them by the same answers
    assert len({*first, *second, *third}) == 3 and lost == [None]
    again = sets_of({"a": [0.0, 1.0], "b": [0.0, 1.0]}, **says)[1]["repaired"]["said"]
    assert again == [first, first]
    # without words for an answer a set says its score
    assert sets_of({"a": [0.0, 1.0], "b": [1.0, 1.0]})[1]["repaired"]["said"] == [["0"], ["1"]]


@pytest.fixture(autouse=True)
def _groups(tiny, monkeypatch):
    monkeypatch.setitem(registry._groups, "tiny", GROUP)


def test_a_set_is_right_where_all_of_it_is():
    # a: both right; b: one wrong; c: both wrong → 1 of 3
    metrics, by_sample = sets_of({"a": [1.0, 1.0], "b": [1.0, 0.0], "c": [0.0, 0.0]})
    assert metrics["repaired"]["overall"]["right"] == pytest.approx(1 / 3)
    assert float(metrics["official"]["overall"]["right"]) == pytest.approx(1 / 3, abs=1e-6)
    assert by_sample["repaired"]["stories"] == [10, 20, 30] and by_sample["repaired"]["values"]["right"] == [1, 0, 0]


def test_a_wrong_answer_settles_a_set_and_a_missing_one_leaves_it_open():
    # a: one lost, the other wrong → wrong; b: one lost, the other right → open; c: right. Estimate 1 of 2, bounds 1/3
    # and 2/3
    metrics, _ = sets_of({"a": [MISSING, 0.0], "b": [MISSING, 1.0], "c": [1.0, 1.0]})
    overall = metrics["repaired"]["overall"]
    assert (overall["stories"], overall["right"], overall["unreadable"]) == (2, 0.5, 1)
    assert overall["bounds"]["right"] == pytest.approx([1 / 3, 2 / 3])
    assert metrics["official"] is None and metrics["reason"] == "Sample 10: it is lost."


def test_a_set_that_was_asked_in_part_has_no_figure_unless_the_rest_does_not_count():
    answers = {"a": [1.0, 1.0, 0.0], "b": [1.0, 1.0, 1.0]}
    metrics, by_sample = sets_of(answers, asked={"a0", "a1", "b0", "b1", "b2"})
    assert by_sample["repaired"]["stories"] == [20] and metrics["repaired"]["overall"]["right"] == 1.0
    metrics, by_sample = sets_of(answers, asked={"a0", "a1", "b0", "b1", "b2"}, counts=is_short)
    assert by_sample["repaired"]["stories"] == [10, 20] and metrics["repaired"]["overall"]["right"] == 1.0


def _as_repeating(call):
    return lambda of, *more: call(replace(of, step="repeat") if of.step == "again" else of, *more)


@pytest.mark.django_db(transaction=True)
def test_a_step_waits_for_all_answers_that_it_needs_and_equal_questions_are_one_call(monkeypatch, client, cast):
    client.force_login(cast.alice)
    imported(client, cast)
    repeat, adding = SUITE.steps
    steps = (repeat, Step("again", "Repeating again", task="tiny-repeat"), replace(adding, needs=("repeat", "again")))
    own = {name: _as_repeating(getattr(SUITE, name)) for name in ("request", "parse", "expected")}
    monkeypatch.setitem(registry._suites, "tiny", guarded(replace(SUITE, steps=steps, **own)))
    models = [make_endpoint("adder", provider="baseline", model="adder")]
    plan = Plan(Dataset.objects.get(), models, ["repeat", "again", "sum"], suite="tiny", max_tokens=20)
    lines = {line.step: (line.calls, line.shared) for line in estimate(plan).lines}
    assert lines == {"repeat": (len(SUMS), 0), "again": (0, len(SUMS)), "sum": (len(SUMS), 0)}
    run = work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))
    answered = RunItem.objects.filter(entrant__run=run, call__isnull=False)
    assert (run.job.state, answered.count(), Call.objects.count()) == ("finished", 3 * len(SUMS), 2 * len(SUMS))
    assert RunItem.objects.filter(step="sum", repaired_score=1.0).count() == len(SUMS)


@pytest.mark.django_db(transaction=True)
def test_a_question_about_what_samples_share_is_one_call_in_the_estimate_and_in_the_run(monkeypatch, client, cast):
    client.force_login(cast.alice)
    imported(client, cast)

    def request(question):
        shared = replace(question.sample, content={"text": question.sample.cluster})
        return SUITE.request(replace(question, sample=shared) if question.step == "repeat" else question)

    monkeypatch.setitem(registry._suites, "tiny", guarded(replace(SUITE, request=request)))
    models = [make_endpoint("adder", provider="baseline", model="adder")]
    plan = Plan(Dataset.objects.get(), models, ["repeat"], suite="tiny", max_tokens=20, repetitions=2)
    assert [line.calls for line in estimate(plan).lines] == [len(SUMS)]  # two samples a cluster, each asked twice
    run = work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))
    assert RunItem.objects.filter(entrant__run=run, call__isnull=False).count() == 2 * len(SUMS)
    assert Call.objects.count() == len(SUMS)
