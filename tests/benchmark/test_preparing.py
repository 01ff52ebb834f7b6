"""Runs too large for a request: a worker makes their items, from where the last one left off."""

from __future__ import annotations

import threading

import pytest
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Run, RunItem, RunPreparation
from benchmark.services import preparing
from benchmark.services.archiving import delete_run
from benchmark.services.extending import extend_run
from benchmark.services.launches import add_controls, run_again, start_run
from benchmark.services.plans import RunRefused
from benchmark.services.runs import act_on
from benchmark.suites.guards import SuiteFailed
from tests.benchmark.controls.world import QUESTIONS, opentom, plan
from tests.benchmark.settled import work_off, written
from tests.cast import new_cast
from workers.models import Item, Job
from workers.services.run_to_end import prepare_all

pytestmark = pytest.mark.django_db(transaction=True)
MODELS = 2


@pytest.fixture
def world(tmp_path):
    cast = new_cast()
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


def prepare() -> None:
    prepare_all(threading.Event())


def asked(run: Run) -> list[tuple]:
    """What is asked, each with whether it has its work."""
    rows = RunItem.objects.filter(entrant__run=run, item__job=run.job)
    return sorted(rows.values_list("entrant__name", "step", "sample", "repetition", "item__endpoint__name"))


def page_of(client, run: Run) -> str:
    return written(client.get(reverse("benchmark:run", args=[run.project.slug, run.uid])))


def test_a_worker_asks_what_a_launch_would_have_asked_also_after_it_was_killed(world, client, monkeypatch, small_steps):
    with monkeypatch.context() as patch:
        patch.setattr(preparing, "AT_ONCE", 2_000)
        at_once = launched(world, repetitions=2)
    assert at_once.job.state == "running" and len(asked(at_once)) == QUESTIONS * MODELS * 2
    run = launched(world, repetitions=2)
    client.force_login(world[0].alice)
    assert run.job.state == "preparing" and not asked(run) and "0 of 115 questions prepared" in page_of(client, run)
    made = preparing.add_run_items

    class Killed(BaseException):
        """As a process that ends between two statements."""

    def killed(run, entrant, *rest):
        if RunPreparation.objects.get(run=run).done >= 30 and entrant.position == 1:
            raise Killed
        made(run, entrant, *rest)

    monkeypatch.setattr(preparing, "add_run_items", killed)
    with pytest.raises(Killed):
        prepare()
    there = RunPreparation.objects.get(run=run)
    assert (
        0 < there.done < QUESTIONS
        and len(asked(run)) == there.done * MODELS * 2 == Item.objects.filter(job=run.job).count()
    )
    answer = client.get(f"/api/v1/projects/{run.project.slug}/runs/{run.uid}/").json()
    assert answer["state"] == "preparing" and answer["preparing"] == {"done": there.done, "of": QUESTIONS}
    monkeypatch.setattr(preparing, "add_run_items", made)
    prepare()
    assert asked(run) == asked(at_once) and not RunPreparation.objects.exists()
    assert work_off(run).job.state == "finished" and "run-preparation" not in page_of(client, run)


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
    run, made, calls = launched(world), preparing.add_run_items, []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) > 4:
            raise SuiteFailed("OpenToM could not do its part.")
        made(*arguments)

    monkeypatch.setattr(preparing, "add_run_items", failing)
    client.force_login(world[0].alice)
    prepare()
    run.job.refresh_from_db()
    assert (run.job.standing, run.job.note) == ("failed", "OpenToM could not do its part.")
    assert not RunItem.objects.exists() and not Item.objects.exists()
    page = page_of(client, run)
    assert run.job.note in page and "Make the questions again" in page
    monkeypatch.setattr(preparing, "add_run_items", made)
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


def test_a_control_asks_only_about_what_it_changes(world, monkeypatch, small_steps):
    with monkeypatch.context() as patch:
        patch.setattr(preparing, "AT_ONCE", 2_000)
        patch.setattr(preparing, "LOOKED_AT", 2_000)
        at_once = launched(world, controls=("renamed", "storyless"))
    run = launched(world)
    add_controls(by=world[0].alice, run=run, controls=("renamed", "storyless"), now=timezone.now())
    prepare()
    for one, other in zip(at_once.controls.order_by("pk"), run.controls.order_by("pk"), strict=True):
        assert asked(one) == asked(other) and one.params["stories"] == other.params["stories"]
    monkeypatch.setattr(preparing, "_changed", lambda run, samples: [])
    unchanged = launched(world, controls=("renamed",)).controls.get()
    prepare()
    unchanged.job.refresh_from_db()
    assert (unchanged.job.standing, unchanged.job.note) == ("failed", preparing.NOTHING_CHANGES)


def half(world) -> Run:
    """A finished run of one model on the first samples."""
    cast, dataset, models = world
    name, model = next(iter(models.items()))
    return work_off(start_run(by=cast.alice, plan=plan(dataset, {name: model}, limit=40), now=timezone.now()))


def extended(world, run: Run) -> int:
    """Add the other model, and all samples that are not there, as the page does."""
    cast, dataset, models = world
    there = {*RunItem.objects.filter(entrant__run=run).values_list("sample", flat=True)}
    rest = [sample for sample in dataset.samples.all()[:QUESTIONS] if sample.pk not in there]
    return extend_run(by=cast.alice, run=run, endpoints=[*models.values()], stories=rest, now=timezone.now())


def test_a_worker_makes_what_an_extension_adds_once_also_after_it_was_killed(world, client, monkeypatch, small_steps):
    with monkeypatch.context() as patch:
        patch.setattr(preparing, "AT_ONCE", 2_000)
        at_once = half(world)
        added = extended(world, at_once)
    run = half(world)
    before, made = asked(run), preparing.add_run_items
    assert extended(world, run) == added == len(asked(at_once)) - len(before) == QUESTIONS * MODELS - len(before)
    client.force_login(world[0].alice)
    run.job.refresh_from_db()
    assert run.job.state == "preparing" and asked(run) == before
    assert "0 of 115 questions prepared" in page_of(client, run)

    class Killed(BaseException):
        """As a process that ends between two statements."""

    def killed(run, entrant, *rest):
        if RunPreparation.objects.get(run=run).done >= 60 and entrant.position == 1:
            raise Killed
        made(run, entrant, *rest)

    monkeypatch.setattr(preparing, "add_run_items", killed)
    with pytest.raises(Killed):
        prepare()
    assert len(before) < len(asked(run)) < len(asked(at_once))
    monkeypatch.setattr(preparing, "add_run_items", made)
    prepare()
    assert asked(run) == asked(at_once) and Item.objects.filter(job=run.job).count() == len(asked(run))
    assert work_off(run).job.standing == "finished"
    assert not RunItem.objects.filter(entrant__run=run, call=None).exists()


def test_an_extension_that_cannot_be_made_keeps_the_run_and_is_made_by_a_retry(world, client, monkeypatch, small_steps):
    run = half(world)
    before, made = asked(run), preparing.add_run_items

    def failing(*arguments):
        raise SuiteFailed("OpenToM could not do its part.")

    extended(world, run)
    monkeypatch.setattr(preparing, "add_run_items", failing)
    client.force_login(world[0].alice)
    prepare()
    run.job.refresh_from_db()
    assert (run.job.standing, asked(run)) == ("failed", before)
    page = page_of(client, run)
    assert run.job.note in page and "Make the questions again" in page
    monkeypatch.setattr(preparing, "add_run_items", made)
    action = reverse("benchmark:run_action", args=[run.project.slug, run.uid, "retry"])
    assert client.post(action).status_code == 302
    assert work_off(run).job.standing == "finished" and len(asked(run)) == QUESTIONS * MODELS


def test_a_paused_run_is_extended_at_once_and_stays_paused(world, small_steps):
    run = half(world)
    Job.objects.filter(pk=run.job_id).reopen()
    Job.objects.filter(pk=run.job_id).pause(note="Dear.")
    extended(world, run)
    run.job.refresh_from_db()
    assert run.job.state == "paused" and len(asked(run)) == QUESTIONS * MODELS
