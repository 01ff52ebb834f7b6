"""Pausing, resuming and cancelling a run takes the runs under its controls along; a control is steered by itself."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Run
from benchmark.services.archiving import archive_run
from benchmark.services.launches import start_run, start_runs
from benchmark.services.plans import RunRefused
from benchmark.services.runs import act_on
from tests.benchmark.controls.world import opentom, plan
from tests.benchmark.settled import written
from tests.cast import new_cast
from tests.copies import copied
from workers.models import Job, JobState
from workers.services.jobs import JobRefused, cancel_job

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


def _made(folder):
    cast = new_cast()
    planned = plan(*opentom(cast, folder), controls=("renamed", "storyless"), limit=2)
    return cast, start_run(by=cast.alice, plan=planned, now=timezone.now())


@pytest.fixture
def world(tmp_path):
    """A cast and a run that waits, with two controls."""
    cast, run = copied("steered controls", lambda: _made(tmp_path))
    return cast, Run.objects.select_related("job").get(pk=run.pk)


@pytest.fixture
def run(world) -> Run:
    return world[1]


def states() -> list[str]:
    return list(Run.objects.order_by("pk").values_list("job__state", flat=True))


def test_controls_follow_their_run(run):
    for action, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        run.job.refresh_from_db()
        assert act_on(run, action)[0] == 2
        assert states() == [state] * 3
    run.job.refresh_from_db()
    with pytest.raises(JobRefused, match="The run is cancelled; expected running or paused or preparing to cancel it"):
        act_on(run, "cancel")


def test_a_control_is_cancelled_by_itself(run):
    control = run.controls.select_related("job").get(control="renamed")
    assert act_on(control, "cancel")[0] == 0
    assert states() == ["running", "cancelled", "running"]
    assert act_on(run, "pause")[2] == "The run under its control was paused, too."
    assert states() == ["paused", "cancelled", "paused"]


def test_an_ended_run_still_stops_its_controls(run):
    cancel_job(job=run.job, now=timezone.now())
    run.job.refresh_from_db()
    with pytest.raises(RunRefused, match="under a control of the run, is running: let it end or cancel it"):
        archive_run(by=None, run=run, now=timezone.now())
    assert act_on(run, "cancel")[0] == 2
    assert states() == ["cancelled", "cancelled", "cancelled"]


def test_a_control_without_money_to_go_on_stays_and_is_named(run, monkeypatch):
    monkeypatch.setattr("workers.services.jobs.least_budget", lambda job: Decimal(1))
    Job.objects.update(state=JobState.PAUSED)
    Job.objects.filter(run__control="renamed").update(budget="0")
    run.job.refresh_from_db()
    along = act_on(run, "resume", budget="3")
    assert along[0] == 1 and states() == ["running", "paused", "running"]
    assert along[1][0].startswith("“Two readers: other names” stays as it is:")


def test_the_command_says_how_many(run):
    out, said = io.StringIO(), io.StringIO()
    call_command("runs", "cancel", run.uid, "--json", stdout=out, stderr=said)
    assert json.loads(out.getvalue())["controls_taken_along"] == 2
    assert "2 runs under its controls were cancelled, too." in said.getvalue()


def test_the_page_asks_and_says_so_and_the_api_answers_with_the_number(client, world):
    cast, run = world
    client.force_login(cast.alice)
    page = client.get(reverse("benchmark:run", args=[cast.project.slug, run.uid])).content.decode()
    for question in (
        "2 runs under its controls are cancelled, too. Nothing more is asked",
        "2 runs under its controls are paused",
    ):
        assert f'data-confirm="{question}' in page
    pressed = client.post(reverse("benchmark:run_action", args=[cast.project.slug, run.uid, "pause"]), follow=True)
    assert "2 runs under its controls were paused, too." in written(pressed) and states() == ["paused"] * 3
    address = reverse("api:run_action", args=[cast.project.slug, run.uid, "cancel"])
    assert client.post(address, "{}", content_type="application/json").json()["controls_taken_along"] == 2
    late = client.post(reverse("benchmark:run_action", args=[cast.project.slug, run.uid, "cancel"]), follow=True)
    assert "callout-error" not in late.content.decode()  # a press that comes too late


def test_all_runs_of_a_launch_are_done_to_by_page_command_and_api(client, tmp_path):
    cast = new_cast()
    client.force_login(cast.alice)
    planned = plan(*opentom(cast, tmp_path), limit=2)
    plans = [replace(planned, options={**planned.options, "method": name}) for name in ("plain", "cot")]
    first, second = start_runs(by=cast.alice, plans=plans, now=timezone.now())
    alone = start_run(by=cast.alice, plan=planned, now=timezone.now())
    page = reverse("benchmark:run", args=[cast.project.slug, first.uid])
    assert "Pause all of this launch" in written(client.get(page))
    address = reverse("api:run_action", args=[cast.project.slug, first.uid, "pause"])
    told = client.post(address, '{"launch": true}', content_type="application/json").json()
    assert (told["runs_of_launch"], told["state"], told["left"]) == (2, "paused", [])
    assert states() == ["paused", "paused", "running"]
    live = written(client.get(f"{page}progress/", {"seen": "as before"}))
    assert 'id="run-methods"' in live and "Resume all of this launch" in live
    out, said = io.StringIO(), io.StringIO()
    call_command("runs", "resume", second.uid, "--launch", "--json", stdout=out, stderr=said)
    assert json.loads(out.getvalue())["runs_of_launch"] == 2 and "2 runs of this launch were resumed" in said.getvalue()
    with pytest.raises(CommandError, match="A budget is of one run"):
        call_command("runs", "resume", first.uid, "--launch", "--budget", "3")
    with pytest.raises(CommandError, match="launched alone"):
        call_command("runs", "cancel", alone.uid, "--launch")
    refused = client.post(address.replace("pause", "retry"), '{"launch": true}', content_type="application/json")
    assert refused.status_code == 422 and states() == ["running"] * 3
