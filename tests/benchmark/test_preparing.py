"""Runs too large for a request: a worker makes their items, from where the last one left off; and estimates of them."""

import threading
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmark.models import DatasetSample, Run, RunItem, RunPreparation, dataset
from benchmark.services import asking, detectable, estimates, preparing
from benchmark.services.archiving import delete_run
from benchmark.services.extending import extend_run
from benchmark.services.launches import add_controls, again_of, controls_of_run, run_again, start_run
from benchmark.services.plan_checks import check
from benchmark.services.plans import RunRefused
from benchmark.services.reports import each_entered, forget_report, samples_of
from benchmark.services.runs import act_on
from benchmark.suites.guards import SuiteFailed
from tests.benchmark.controls.world import QUESTIONS, READS, REMEMBERS, controlled_world, opentom, plan
from tests.benchmark.settled import work_off, written
from tests.cast import new_cast
from workers.models import Endpoint, Item, Job
from workers.services.run_to_end import prepare_all

pytestmark = pytest.mark.django_db(transaction=True)

MODELS = 2


class Killed(BaseException):
    """As a process that ends between two statements."""


@pytest.fixture
def world(tmp_path, client):
    cast = new_cast()
    client.force_login(cast.alice)
    return cast, *opentom(cast, tmp_path)


@pytest.fixture
def small_steps(monkeypatch):
    """Every launch is left to the workers, who take a few samples at a time."""
    monkeypatch.setattr(preparing, "AT_ONCE", 0)
    monkeypatch.setattr(preparing, "LOOKED_AT", 30)
    monkeypatch.setattr(preparing, "A_STEP", 40)


def launched(world, **fields) -> Run:
    cast, dataset, models = world
    return start_run(by=cast.alice, plan=plan(dataset, models, **fields), now=timezone.now())


def half(world) -> Run:
    """A finished run of one model on the first samples."""
    cast, dataset, models = world
    name, model = next(iter(models.items()))
    return work_off(start_run(by=cast.alice, plan=plan(dataset, {name: model}, limit=40), now=timezone.now()))


def extend(world, run: Run) -> int:
    """Add the other model, and all samples that are not there, as the page does."""
    cast, dataset, models = world
    there = {*RunItem.objects.filter(entrant__run=run).values_list("sample", flat=True)}
    rest = [sample for sample in dataset.samples.all()[:QUESTIONS] if sample.pk not in there]
    return extend_run(by=cast.alice, run=run, endpoints=[*models.values()], stories=rest, now=timezone.now())


def extended(world) -> Run:
    run = half(world)
    extend(world, run)
    return run


def at_once(monkeypatch, make: Callable[[], Run]) -> Run:
    with monkeypatch.context() as patch:
        patch.setattr(preparing, "AT_ONCE", 2_000)
        patch.setattr(preparing, "LOOKED_AT", 2_000)
        return make()


def prepare() -> None:
    prepare_all(threading.Event())


def asked(run: Run) -> list[tuple]:
    """What is asked, each with whether it has its work."""
    rows = RunItem.objects.filter(entrant__run=run, item__job=run.job)
    return sorted(rows.values_list("entrant__name", "step", "sample", "repetition", "item__endpoint__name"))


def standing(run: Run) -> tuple[str, str]:
    run.job.refresh_from_db()
    return run.job.standing, run.job.note


def page_of(client, run: Run) -> str:
    return written(client.get(reverse("benchmark:run", args=[run.project.slug, run.uid])))


def test_a_killed_worker_leaves_the_rest_of_a_launch_or_an_extension_to_the_next(
    world, client, monkeypatch, small_steps
):
    whole = at_once(monkeypatch, lambda: launched(world, repetitions=2))
    assert whole.job.state == "running" and len(asked(whole)) == QUESTIONS * MODELS * 2
    run = launched(world, repetitions=2)
    assert run.job.state == "preparing" and not asked(run) and "0 of 115 questions prepared" in page_of(client, run)
    kill_at(30, run, monkeypatch)
    there = RunPreparation.objects.get(run=run)
    assert 0 < there.done < QUESTIONS
    assert len(asked(run)) == there.done * MODELS * 2 == Item.objects.filter(job=run.job).count()
    answer = client.get(f"/api/v1/projects/{run.project.slug}/runs/{run.uid}/").json()
    assert answer["state"] == "preparing" and answer["preparing"] == {"done": there.done, "of": QUESTIONS}
    prepare()
    assert asked(run) == asked(whole) and not RunPreparation.objects.exists()
    assert work_off(run).job.state == "finished" and "run-preparation" not in page_of(client, run)

    whole = at_once(monkeypatch, lambda: extended(world))
    run = half(world)
    before = asked(run)
    assert extend(world, run) == len(asked(whole)) - len(before) == QUESTIONS * MODELS - len(before)
    assert standing(run)[0] == "preparing" and asked(run) == before
    assert "0 of 115 questions prepared" in page_of(client, run)
    kill_at(60, run, monkeypatch)
    assert len(before) < len(asked(run)) < len(asked(whole))
    prepare()
    assert asked(run) == asked(whole) and Item.objects.filter(job=run.job).count() == len(asked(run))
    assert work_off(run).job.standing == "finished"
    assert not RunItem.objects.filter(entrant__run=run, call=None).exists()


def kill_at(done: int, run: Run, monkeypatch) -> None:
    """Prepare until so many samples are done, and be killed."""
    made = preparing.add_run_items

    def killed(run, entrant, *rest):
        if RunPreparation.objects.get(run=run).done >= done and entrant.position == 1:
            raise Killed
        made(run, entrant, *rest)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(preparing, "add_run_items", killed)
        prepare()


def test_two_workers_make_no_item_twice(world, small_steps, monkeypatch):
    run, looked = launched(world), preparing._following
    other = []

    def following(*arguments):
        samples = looked(*arguments)
        if not other:  # between looking and writing, another worker makes these and the next ones
            other.append(True)
            prepare()
        return samples

    monkeypatch.setattr(preparing, "_following", following)
    prepare()
    assert len(asked(run)) == QUESTIONS * MODELS == Item.objects.filter(job=run.job).count()


def test_what_cannot_be_made_is_one_sentence_and_made_by_a_retry(world, client, monkeypatch, small_steps):
    for make, first in ((launched, 4), (extended, 0)):
        run, made, calls = make(world), preparing.add_run_items, []
        before = [] if make is launched else asked(run)

        def failing(*arguments, first=first, made=made, calls=calls):
            calls.append(arguments)
            if len(calls) > first:
                raise SuiteFailed("OpenToM could not do its part.")
            made(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(preparing, "add_run_items", failing)
            prepare()
        assert standing(run) == ("failed", "OpenToM could not do its part.")
        assert asked(run) == before and Item.objects.filter(job=run.job).count() == len(before)
        page = page_of(client, run)
        assert run.job.note in page and "Make the questions again" in page
        action = reverse("benchmark:run_action", args=[run.project.slug, run.uid, "retry"])
        assert client.post(action).status_code == 302
        assert work_off(run).job.standing == "finished" and len(asked(run)) == QUESTIONS * MODELS


def test_a_run_that_is_being_prepared_can_be_cancelled_and_run_again_but_not_extended(world, small_steps):
    run, alice = launched(world), world[0].alice
    with pytest.raises(RunRefused, match="not all there yet"):
        extend_run(by=alice, run=run, stories=list(run.dataset.samples.all()), now=timezone.now())
    with pytest.raises(RunRefused, match="let it end or cancel it before"):
        delete_run(by=alice, run=run, now=timezone.now())
    act_on(run, "cancel")
    prepare()
    assert not asked(run)
    again = work_off(run_again(by=alice, run=run, now=timezone.now()))
    assert len(asked(again)) == QUESTIONS * MODELS
    run.refresh_from_db()
    delete_run(by=alice, run=run, now=timezone.now())
    assert not RunPreparation.objects.exists()
    run = half(world)
    Job.objects.filter(pk=run.job_id).reopen()
    Job.objects.filter(pk=run.job_id).pause(note="Dear.")
    extend(world, run)
    run.job.refresh_from_db()
    assert run.job.state == "paused" and len(asked(run)) == QUESTIONS * MODELS, "it is extended at once, and stays so"


def test_a_control_asks_only_about_what_it_changes(world, monkeypatch, small_steps):
    whole = at_once(monkeypatch, lambda: launched(world, controls=("renamed", "storyless")))
    run = launched(world)
    add_controls(by=world[0].alice, run=run, controls=("renamed", "storyless"), now=timezone.now())
    prepare()
    for one, other in zip(whole.controls.order_by("pk"), run.controls.order_by("pk"), strict=True):
        assert asked(one) == asked(other) and one.params["stories"] == other.params["stories"]
    monkeypatch.setattr(preparing, "_changed", lambda run, samples: [])
    unchanged = launched(world, controls=("renamed",)).controls.get()
    prepare()
    assert standing(unchanged) == ("failed", preparing.NOTHING_CHANGES)


# --- estimates
@pytest.fixture
def planned(world):
    return plan(*world[1:])


def statements_of(action: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as found:
        action()
    return len(found)


def test_samples_are_read_lean_together_and_each_text_held_once(planned, monkeypatch, django_assert_num_queries):
    """What lacked something at a launch would take a query for each sample."""
    controlled = replace(planned, controls=("renamed",))
    of_all, of_few = (
        statements_of(lambda one=one: start_run(by=None, plan=one, now=timezone.now()))
        for one in (controlled, replace(controlled, limit=23))
    )
    assert of_all < of_few + 10
    for again in (again_of, lambda run: controls_of_run(run, ["storyless"])):
        run = Run.objects.originals().earliest("pk")
        taken = statements_of(lambda again=again, run=run: estimates.estimate_all(estimates.askings_of(*again(run))))
        assert taken < 60
    monkeypatch.setattr(dataset, "IN_FULL_AT_ONCE", 7)
    full, whole = DatasetSample.in_full(check(planned, lean=True)), check(planned)
    assert [(one.pk, one.content["question"]) for one in full] == [(one.pk, one.content["question"]) for one in whole]
    monkeypatch.setattr(asking, "_READ_AT_ONCE", 7)
    samples = [*map(asking.sample_of, asking.all_at_once(planned.dataset.samples.all()))]
    assert samples == [*map(asking.sample_of, planned.dataset.samples.order_by("position"))]
    texts = [sample.content["story"] for sample in samples]
    assert len({id(text) for text in texts}) == len({*texts}) < len(samples)
    # what is derived of a dataset is of the whole one
    whole, part = (start_run(by=None, plan=one, now=timezone.now()) for one in (replace(planned, limit=0), planned))
    samples = samples_of(whole)
    _, entered = next(each_entered(whole, samples))
    with django_assert_num_queries(0):  # its samples are at hand
        keys = entered.resources.derived("of the whole", lambda held: [sample.key for sample in held])
    assert keys == [sample.key for sample in samples.values()]
    assert entered.resources.derived("how many", len) == len(samples), "a number is not kept for other processes"
    _, entered = next(each_entered(part, samples_of(part)))
    assert entered.resources.derived("of a part", lambda held: [sample.key for sample in held]) == keys


def test_a_large_launch_is_estimated_from_whole_clusters_and_says_so(world, planned, client, monkeypatch):
    controlled = replace(planned, controls=("renamed",))
    stories = check(controlled)
    whole = estimates.estimate(controlled)
    cheaper = replace(planned, endpoints=planned.endpoints[:1], budget=Decimal(1), repetitions=2, batch=True)
    assert estimates.estimate(cheaper).lines[0].input_tokens == 2 * estimates.estimate(planned).lines[0].input_tokens
    thinking = estimates.estimate(replace(planned, options={"method": "cot"}))
    assert thinking.lines[0].input_tokens > whole.lines[0].input_tokens and whole.notes == []
    monkeypatch.setattr(estimates, "MOST_LOOKED_AT", 50)
    published, part = estimates.askings_of(controlled, stories)
    assert len(part.stories) == 46 and published.each == part.each == QUESTIONS / 46
    assert published.stories == stories, "what a prompt shows depends on all of them"
    clusters = {story.cluster for story in part.stories}
    assert sum(story.cluster in clusters for story in stories) == 46, "a narrative is in it whole or not at all"
    assert published.notes == ["Estimated from 46 of the 115 questions, drawn by whole narratives."]
    assert part.notes == ["Other names: estimated from 46 of the 115 questions, drawn by whole narratives."]
    told = estimates.estimate_all([published, part])
    assert (told.total.calls, told.count) == (whole.total.calls, whole.count) == (4 * QUESTIONS, QUESTIONS)
    assert told.total.input_tokens == pytest.approx(whole.total.input_tokens, rel=0.05)
    beside = estimates.estimate_all(estimates.askings_of_controls(controlled, stories))
    assert (beside.total.calls, beside.count) == (2 * QUESTIONS, QUESTIONS)
    asked = {"dataset": 1, "steps": ["answer"], "method": "plain", "repetitions": 1, "max_tokens": 50, "seed": 1}
    address = reverse("benchmark:estimate", args=[world[0].project.slug])
    first, second = (
        written(client.get(address, asked | {"endpoints": [READS], "controls": ["renamed"]} | look))
        for look in ({}, {"ledger": 1})
    )
    assert "looking into the ledger" in first and "looking" not in second
    for page in (first, second):
        assert "460 calls" in page and "for 230 questions" in page and "stimated from 46 of the 230 questions" in page


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
