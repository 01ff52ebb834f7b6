"""Sets of samples of which all must be right, and steps that need several answers."""

from dataclasses import replace
from random import Random
from statistics import fmean, variance
from types import SimpleNamespace

import pytest
from django.utils import timezone

from benchmark.domain.estimating import StoryScore
from benchmark.models import Dataset, RunItem
from benchmark.services.documents import document_of, tables_of
from benchmark.services.estimates import estimate
from benchmark.services.launches import start_run
from benchmark.services.plans import Plan
from benchmark.suites import registry
from benchmark.suites.contract import Results
from benchmark.suites.groups import MetricGroup
from benchmark.suites.guards import guarded
from benchmark.suites.measuring import measured_samples, measured_sets
from benchmark.suites.questions import Entered, Outcome, Sample, Step
from benchmark.suites.settings import Settings
from core.plain import plain
from tests.benchmark.settled import make_endpoint, work_off
from tests.benchmark.tiny.suite import SUITE
from tests.benchmark.tiny_copies import SUMS, cast_with_sums
from workers.models import Call

GROUP = MetricGroup(
    key="tiny", title="Sets", noun="sets", shares=("right",), headers={"right": "Right"}, score="right",
    score_title="Sets",
    prompt="sum", rests_on=("sum",), scored="sum",
)  # fmt: skip
MISSING = ""
"""Of an answer: there is none."""
LEFT_OUT = -1.0
"""Of an answer: it is wrong, and official scoring leaves it out."""


def scored(sample: Sample, outcomes) -> StoryScore:
    values = [one.repaired["right"] for one in outcomes if one.repaired]
    if len(values) < len(outcomes):
        return StoryScore("", {"right": 0.0}, {"right": 1.0}, None, "lost", reason="it is lost")
    share = {"right": max(0.0, min(values))}
    return StoryScore("", share, share, share, official={"right": None} if LEFT_OUT in values else share)


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
    metrics = measured_sets(entered, replace(GROUP, **how), scored, of_all=False)
    return metrics.parses.told | plain(metrics) | plain(metrics.levels), plain(metrics.by_sample)


@pytest.fixture(autouse=True)
def _groups(tiny, monkeypatch):
    monkeypatch.setitem(registry._groups, "tiny", GROUP)


def test_a_set_is_right_where_all_of_it_is():
    # a: both right; b: one wrong; c: both wrong → 1 of 3
    metrics, by_sample = sets_of({"a": [1.0, 1.0], "b": [1.0, 0.0], "c": [0.0, 0.0]})
    assert metrics["repaired"]["overall"]["right"] == pytest.approx(1 / 3)
    assert float(metrics["official"]["overall"]["right"]) == pytest.approx(1 / 3, abs=1e-6)
    assert by_sample["repaired"]["stories"] == [10, 20, 30] and by_sample["repaired"]["values"]["right"] == [1, 0, 0]
    # one that was asked in part has no figure unless the rest does not count
    answers = {"a": [1.0, 1.0, 0.0], "b": [1.0, 1.0, 1.0]}
    for how, stories in (({}, [20]), ({"counts": lambda sample: sample.key.endswith(("0", "1"))}, [10, 20])):
        metrics, by_sample = sets_of(answers, asked={"a0", "a1", "b0", "b1", "b2"}, **how)
        assert by_sample["repaired"]["stories"] == stories and metrics["repaired"]["overall"]["right"] == 1.0


def test_a_wrong_answer_settles_a_set_and_a_missing_one_leaves_it_open():
    # a: one lost, the other wrong → wrong; b: one lost, the other right → open; c: right. Estimate 1 of 2, bounds 1/3
    # and 2/3
    metrics, _ = sets_of({"a": [MISSING, 0.0], "b": [MISSING, 1.0], "c": [1.0, 1.0]})
    overall = metrics["repaired"]["overall"]
    assert (overall["stories"], overall["right"], overall["unreadable"]) == (2, 0.5, 1)
    assert overall["bounds"]["right"] == pytest.approx([1 / 3, 2 / 3])
    assert metrics["official"] is None and metrics["reason"] == "Sample 10: it is lost."


def test_a_set_of_which_official_scoring_takes_nothing_is_left_out_there():
    # official: a right, b left out; repaired: b wrong, 1 of 2
    metrics, by_sample = sets_of({"a": [1.0, 1.0], "b": [LEFT_OUT, LEFT_OUT]})
    assert float(metrics["official"]["overall"]["right"]) == 1.0 and metrics["repaired"]["overall"]["right"] == 0.5
    assert by_sample["official"]["values"]["right"] == [1.0, [0.0, 1.0]]
    assert by_sample["official"]["unreadable"] == {"20": "official scoring leaves it out"}


def test_a_set_is_right_by_majority_or_chance_where_each_of_its_samples_is():
    answers = {"a": [1.0, 1.0], "b": [1.0, 0.0, 1.0]}
    # a: both right; b: the third is not; the mean of 1 and 0
    metrics, _ = sets_of(answers, majority=lambda sample, resources: float(sample.key != "b2"))
    assert metrics["majority"] == {"value": 0.5, "n": 2}
    # a set of two and one of three, each sample right with 1/2: (1/4 + 1/8) / 2
    metrics, _ = sets_of(answers, chance=lambda sample: 0.5)
    assert metrics["chance"] == {"value": (0.25 + 0.125) / 2, "n": 2}
    assert sets_of(answers, chance=lambda sample: None if sample.key == "b1" else 0.5)[0]["chance"] is None


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


def _as_repeating(call):
    return lambda of, *more: call(replace(of, step="repeat") if of.step == "again" else of, *more)


@pytest.mark.django_db(transaction=True)
def test_equal_questions_of_several_steps_or_samples_are_one_call_in_the_estimate_and_in_the_run(monkeypatch):
    """A step waits for all answers that it needs."""
    cast = cast_with_sums()
    models = [make_endpoint("adder", provider="baseline", model="adder")]
    repeat, adding = SUITE.steps
    steps = (repeat, Step("again", "Repeating again", task="tiny-repeat"), replace(adding, needs=("repeat", "again")))
    own = {name: _as_repeating(getattr(SUITE, name)) for name in ("request", "parse", "expected")}
    monkeypatch.setitem(registry._suites, "tiny", guarded(replace(SUITE, steps=steps, **own)))
    plan = Plan(Dataset.objects.get(), models, ["repeat", "again", "sum"], suite="tiny", max_tokens=20)
    lines = {line.step: (line.calls, line.shared) for line in estimate(plan).lines}
    assert lines == {"repeat": (len(SUMS), 0), "again": (0, len(SUMS)), "sum": (len(SUMS), 0)}
    run = work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))
    answered = RunItem.objects.filter(entrant__run=run, call__isnull=False)
    assert (run.job.state, answered.count(), Call.objects.count()) == ("finished", 3 * len(SUMS), 2 * len(SUMS))
    assert RunItem.objects.filter(step="sum", repaired_score=1.0).count() == len(SUMS)

    def request(question):
        shared = replace(question.sample, content={"text": question.sample.cluster})
        return SUITE.request(replace(question, sample=shared) if question.step == "repeat" else question)

    monkeypatch.setitem(registry._suites, "tiny", guarded(replace(SUITE, request=request)))
    plan = replace(plan, steps=["repeat"], repetitions=2)
    assert [line.calls for line in estimate(plan).lines] == [len(SUMS)]  # two samples a cluster, each asked twice
    run = work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))
    assert RunItem.objects.filter(entrant__run=run, call__isnull=False).count() == 2 * len(SUMS)
    assert Call.objects.count() == 3 * len(SUMS)


@pytest.mark.django_db(transaction=True)
def test_the_variance_of_each_score_of_the_same_answers_lies_between_its_own_units(monkeypatch):
    """Sums one by one, and as sets of those with the same first digit, each asked twice."""
    cast, single = cast_with_sums(), replace(GROUP, key="sums", score_title="Sums")
    dataset = Dataset.objects.get()
    for sample in dataset.samples.all():
        dataset.samples.filter(pk=sample.pk).update(group=sample.content["text"][0])
    measures = {"tiny": (measured_sets, GROUP, {"of_all": False}), "sums": (measured_samples, single, {})}

    def measure(entered: Entered):
        return {key: make(entered, group, scored, **how) for key, (make, group, how) in measures.items()}

    monkeypatch.setitem(registry._groups, "sums", single)
    suite = replace(SUITE, groups=(GROUP, single), measure=measure, results=Results())
    monkeypatch.setitem(registry._suites, "tiny", guarded(suite))
    model = make_endpoint("adder", provider="baseline", model="adder")
    plan = Plan(dataset, [model], ["repeat", "sum"], suite="tiny", max_tokens=20, repetitions=2)
    run = work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))
    by_set: dict[str, list[list[float]]] = {}
    for sample in dataset.samples.all():  # one of three errs each time, others now and then
        draw = Random(sample.key)
        turns = [float(sample.number % 3 > 0 and draw.random() < 0.8) for _ in range(2)]
        for turn, right in enumerate(turns):
            run_item = RunItem.objects.filter(entrant__run=run, step="sum", sample=sample, repetition=turn)
            run_item.update(repaired={"right": right})
        by_set.setdefault(sample.group, []).append(turns)
    tables, shares = tables_of(document_of(run)), []
    for key, units in (
        ("tiny", [[*map(min, zip(*turns, strict=True))] for turns in by_set.values()]),
        ("sums", [turns for of_set in by_set.values() for turns in of_set]),
    ):
        within = fmean(map(variance, units))
        between = (2 * variance([fmean(turns) for turns in units]) - within) / 2
        [row] = tables[f"repetitions-{key}-repaired"]().rows
        shares.append(row["of_samples"].value)
        assert shares[-1] == pytest.approx(between / (between + within)), key
        assert row["of_repetitions"].value == pytest.approx(1 - shares[-1])
    assert shares[0] != shares[1]
