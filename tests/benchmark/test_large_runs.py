"""Many questions: what estimates rest on is kept, a control changes a part of the samples alone, and a run is read once
for many answers."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmark.models import DatasetSample, Run, dataset
from benchmark.services import asking, detectable, estimates, evaluating, question_sizes
from benchmark.services.launches import again_of, controls_of_run, start_run
from benchmark.services.plan_checks import check
from benchmark.services.reports import forget_report
from benchmark.services.results import each_entered, samples_of
from tests.benchmark.controls.world import QUESTIONS, READS, REMEMBERS, controlled_world, opentom, plan
from tests.benchmark.settled import written
from tests.cast import new_cast
from workers.models import Endpoint, Item

pytestmark = pytest.mark.django_db(transaction=True)  # calls are made in a thread of their own


@pytest.fixture
def planned(tmp_path):
    return plan(*opentom(new_cast(), tmp_path))


@pytest.fixture
def made(monkeypatch) -> list[int]:
    """How many questions each making of sizes was of."""
    counts: list[int] = []
    make = question_sizes._made

    def counted(draft, step, samples, prompts):
        counts.append(len(samples))
        return make(draft, step, samples, prompts)

    monkeypatch.setattr(question_sizes, "_made", counted)
    monkeypatch.setattr(question_sizes, "FEWEST_KEPT", 10)
    return counts


def test_the_form_changes_and_sizes_are_made_once_for_the_same_questions(planned, made):
    first = estimates.estimate(planned)
    cheaper = replace(planned, endpoints=planned.endpoints[:1], budget=Decimal(1), repetitions=2, batch=True)
    assert estimates.estimate(cheaper).lines[0].input_tokens == 2 * first.lines[0].input_tokens
    assert made == [QUESTIONS]
    changed = [replace(planned, options={"method": "cot"}), replace(planned, limit=23), replace(planned, seed=2)]
    assert estimates.estimate(changed[0]).lines[0].input_tokens > first.lines[0].input_tokens
    for other in changed[1:]:
        estimates.estimate(other)
    assert made == [QUESTIONS, QUESTIONS, 23, QUESTIONS]


def test_samples_are_read_without_what_they_hold_until_sizes_are_made(planned, made, django_assert_num_queries):
    exact = estimates.estimate(planned)
    stories = check(planned, lean=True)
    assert stories[0].get_deferred_fields() >= {"content", "gold"}
    with django_assert_num_queries(0):  # the sizes are kept
        lean = estimates.estimate_all(estimates.askings_of(planned, stories))
    assert lean.total == exact.total
    (full,) = DatasetSample.in_full(stories[:1])
    assert (full.pk, full.get_deferred_fields()) == (stories[0].pk, {"methods", "votes", "adjudications"})


def test_a_launch_reads_no_sample_by_itself(planned, monkeypatch):
    """Samples are read lean; what lacked something would take a query for each of them."""
    controlled = replace(planned, controls=("renamed",))
    with CaptureQueriesContext(connection) as of_all:
        start_run(by=None, plan=controlled, now=timezone.now())
    few = replace(controlled, limit=23)
    with CaptureQueriesContext(connection) as of_few:
        start_run(by=None, plan=few, now=timezone.now())
    assert len(of_all) < len(of_few) + 10
    for again in (again_of, lambda run: controls_of_run(run, ["storyless"])):
        with CaptureQueriesContext(connection) as statements:
            askings = estimates.askings_of(*again(Run.objects.originals().earliest("pk")))
            estimates.estimate_all(askings)
        assert len(statements) < 60
    monkeypatch.setattr(dataset, "IN_FULL_AT_ONCE", 7)
    lean = check(planned, lean=True)
    assert [(one.pk, one.content["question"]) for one in DatasetSample.in_full(lean)] == [
        (one.pk, one.content["question"]) for one in check(planned)
    ]


def test_a_control_is_estimated_from_whole_clusters_and_says_so(planned):
    controlled = replace(planned, controls=("renamed",))
    stories = check(controlled)
    _, asking = estimates.askings_of(controlled, stories, most=100)
    assert (len(asking.stories), {story.cluster for story in asking.stories}) == (
        46,
        {story.cluster for story in asking.stories},
    )
    assert asking.each == QUESTIONS / 46
    assert asking.notes == ["Other names: estimated from 46 of the 115 questions, drawn by whole narratives."]
    whole = estimates.estimate(controlled)
    part = estimates.estimate_all(estimates.askings_of(controlled, stories, most=100))
    assert (part.total.calls, part.count) == (whole.total.calls, whole.count) == (4 * QUESTIONS, QUESTIONS)
    assert part.total.input_tokens == pytest.approx(whole.total.input_tokens, rel=0.05)
    assert whole.notes == []
    beside = estimates.estimate_all(estimates.askings_of_controls(controlled, stories, most=100))
    assert (beside.total.calls, beside.count) == (2 * QUESTIONS, QUESTIONS)


def test_the_page_says_that_a_control_was_looked_at_in_part(client, tmp_path, monkeypatch):
    monkeypatch.setattr(estimates, "MOST_CHANGED", 100)
    cast = new_cast()
    client.force_login(cast.alice)
    opentom(cast, tmp_path)
    sent = {
        "dataset": 1, "endpoints": [READS], "steps": ["answer"], "method": "plain", "repetitions": 1, "max_tokens": 50,
        "seed": 1, "controls": ["renamed"],
    }  # fmt: skip
    page = written(client.get(reverse("benchmark:estimate", args=[cast.project.slug]), sent | {"ledger": 1}))
    assert "460 calls" in page and "for 230 questions" in page
    assert "estimated from 46 of the 230 questions" in page


def test_a_page_measures_a_part_first_and_more_with_each_look(client, tmp_path, monkeypatch):
    monkeypatch.setattr(estimates, "MOST_CHANGED", 50)
    monkeypatch.setattr(question_sizes, "FEWEST_KEPT", 10)
    monkeypatch.setattr(question_sizes, "TOGETHER", 100)
    monkeypatch.setattr("benchmark.views.estimates.TOGETHER", 100)
    cast = new_cast()
    client.force_login(cast.alice)
    opentom(cast, tmp_path)
    sent = {
        "dataset": 1, "endpoints": [READS], "steps": ["answer"], "method": ["plain", "cot"], "repetitions": 1,
        "max_tokens": 50, "seed": 1,
    }  # fmt: skip
    address = reverse("benchmark:estimate", args=[cast.project.slug])
    part = "Estimated from 46 of the 230 questions, drawn by whole narratives; the others are being measured."
    looks = [client.get(address, sent)]
    while b"hx-get" in looks[-1].content:  # as the page does: the first measures nothing more
        looks.append(client.get(address, sent | {"ledger": 1}))
    assert [part in written(look) for look in looks] == [True] * 5 + [False]
    assert all("460 calls" in written(look) and "for 230 questions" in written(look) for look in looks)
    assert part not in written(client.get(address, sent))
    tokens = [look.context["total"].input_tokens for look in looks]
    assert tokens[0] == pytest.approx(tokens[-1], rel=0.05) and tokens[0] != tokens[-1]


def test_the_spread_of_earlier_runs_is_kept_until_an_answer_changes(tmp_path, monkeypatch):
    _, run = controlled_world(tmp_path)
    asked = plan(run.dataset, {name: Endpoint.objects.get(name=name) for name in (READS, REMEMBERS)})
    reads: list[int] = []
    earlier = detectable._earlier
    monkeypatch.setattr(detectable, "_earlier", lambda plan, kept: reads.append(1) or earlier(plan, kept))
    stories = check(asked)
    first = detectable.can_show(asked, stories)
    assert detectable.can_show(asked, stories) == first and len(reads) == 1
    run.entrants.get(name=READS).items.filter(step="answer").update(unreadable="it cannot be read")
    forget_report(run)
    assert detectable.can_show(asked, stories) != first and len(reads) == 2


def test_a_run_is_read_once_for_all_questions_that_are_asked_together(planned, django_assert_num_queries):
    run = start_run(by=None, plan=planned, now=timezone.now())
    items = list(Item.objects.filter(job=run.job))
    with django_assert_num_queries(2):
        run_items = evaluating._run_items(items).values()
        assert len({id(run_item.entrant) for run_item in run_items}) == 2
        assert {run_item.entrant.run.dataset.pk for run_item in run_items} == {run.dataset_id}
    assert len(run_items) == 2 * QUESTIONS


def test_samples_that_are_held_together_hold_a_text_once(planned, monkeypatch):
    monkeypatch.setattr(asking, "_READ_AT_ONCE", 7)
    first, again = ([*map(asking.sample_of, asking.all_at_once(planned.dataset.samples.all()))] for _ in range(2))
    assert [sample.key for sample in first] == [row.key for row in planned.dataset.samples.order_by("position")]
    assert first == [*map(asking.sample_of, planned.dataset.samples.order_by("position"))]
    texts = [sample.content["story"] for sample in [*first, *again]]
    assert len({id(text) for text in texts}) == len({*texts}) < len(first)
    names = [name for sample in [*first, *again] for name in sample.content]
    assert len({id(name) for name in names}) == len({*names})


def test_what_is_derived_of_a_dataset_is_made_of_the_samples_at_hand(planned, django_assert_num_queries):
    whole, part = (start_run(by=None, plan=one, now=timezone.now()) for one in (replace(planned, limit=0), planned))
    samples = samples_of(whole)
    _, entered = next(each_entered(whole, samples))
    with django_assert_num_queries(0):
        keys = entered.resources.derived("of the whole", lambda held: [sample.key for sample in held])
    assert keys == [sample.key for sample in samples.values()]
    _, entered = next(each_entered(part, samples_of(part)))
    assert entered.resources.derived("of a part", lambda held: [sample.key for sample in held]) == keys
