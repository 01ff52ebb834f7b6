"""Pausing, resuming and cancelling a run takes the runs under its controls along; a control is steered by itself."""

import io
import json
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Run
from benchmark.services.archiving import archive_run
from benchmark.services.launches import start_run
from benchmark.services.plans import RunRefused
from benchmark.services.runs import act_on
from tests.benchmark.controls.world import opentom, plan
from tests.benchmark.settled import written
from tests.cast import new_cast
from tests.copies import copied
from workers.models import Job, JobState
from workers.services.jobs import JobRefused, cancel_job

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path):
    """A cast and a run that waits, with two controls."""

    def made():
        cast = new_cast()
        planned = plan(*opentom(cast, tmp_path), controls=("renamed", "storyless"), limit=2)
        return cast, start_run(by=cast.alice, plan=planned, now=timezone.now())

    cast, run = copied("steered controls", made)
    return cast, Run.objects.select_related("job").get(pk=run.pk)


@pytest.fixture
def run(world) -> Run:
    return world[1]


def states() -> list[str]:
    return list(Run.objects.order_by("pk").values_list("job__state", flat=True))


def command(*arguments: str) -> tuple[dict, str]:
    """What the command prints as JSON, and what it says beside it."""
    out, said = io.StringIO(), io.StringIO()
    call_command("runs", *arguments, "--json", stdout=out, stderr=said)
    return json.loads(out.getvalue()), said.getvalue()


def test_controls_follow_their_run(run):
    for action, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        run.job.refresh_from_db()
        assert act_on(run, action)[0] == 2 and states() == [state] * 3
    run.job.refresh_from_db()
    with pytest.raises(JobRefused, match="The run is cancelled; expected running or paused or preparing to cancel it"):
        act_on(run, "cancel")


def test_a_control_is_cancelled_by_itself_and_an_ended_run_still_stops_its_controls(run):
    control = run.controls.select_related("job").get(control="renamed")
    assert act_on(control, "cancel")[0] == 0 and states() == ["running", "cancelled", "running"]
    assert act_on(run, "pause")[2] == "The run under its control was paused, too."
    assert states() == ["paused", "cancelled", "paused"]
    run.job.refresh_from_db()
    act_on(run, "resume")
    cancel_job(job=run.job, now=timezone.now())
    run.job.refresh_from_db()
    with pytest.raises(RunRefused, match="under a control of the run, is running: let it end or cancel it"):
        archive_run(by=None, run=run, now=timezone.now())
    assert act_on(run, "cancel")[0] == 1 and states() == ["cancelled"] * 3


def test_a_control_without_money_to_go_on_stays_and_is_named(run, monkeypatch):
    monkeypatch.setattr("workers.services.jobs.least_budget", lambda job: Decimal(1))
    Job.objects.update(state=JobState.PAUSED)
    Job.objects.filter(run__control="renamed").update(budget="0")
    run.job.refresh_from_db()
    along = act_on(run, "resume", budget="3")
    assert along[0] == 1 and states() == ["running", "paused", "running"]
    assert along[1][0].startswith("“Two readers: other names” stays as it is:")


def test_page_command_and_api_say_how_many(client, world):
    cast, run = world
    client.force_login(cast.alice)

    def press(action: str) -> str:
        address = reverse("benchmark:run_action", args=[cast.project.slug, run.uid, action])
        return written(client.post(address, follow=True))

    page = client.get(reverse("benchmark:run", args=[cast.project.slug, run.uid])).content.decode()
    for question in ("are cancelled, too. Nothing more is asked", "are paused"):
        assert f'data-confirm="2 runs under its controls {question}' in page
    assert "2 runs under its controls were paused, too." in press("pause") and states() == ["paused"] * 3
    told, said = command("resume", run.uid)
    assert told["controls_taken_along"] == 2 and "2 runs under its controls were resumed, too." in said
    address = reverse("api:run_action", args=[cast.project.slug, run.uid, "cancel"])
    assert client.post(address, "{}", content_type="application/json").json()["controls_taken_along"] == 2
    assert "callout-error" not in press("cancel")  # a press that comes too late
