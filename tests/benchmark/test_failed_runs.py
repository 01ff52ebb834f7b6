"""Runs whose calls failed: what they end as, and that no leaderboard shows them as a row or drops them without a
word."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from benchmark.models import Run, RunItem
from benchmark.services.absences import Absence
from benchmark.services.evaluating import read_again
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.views.leaderboard import named_together
from tests.benchmark.evaluation import endpoint, generated, published, started, worked_off, write_records
from tests.benchmark.settled import written
from workers.models import Endpoint, Item, Job, JobOutcome

pytestmark = pytest.mark.django_db(transaction=True)
REASON = "Scripted to fail: rejected."


@pytest.fixture
def dataset(tmp_path):
    """Of five stories; `dead` never answers, and what `odd` answers cannot be read."""
    endpoint("dead", options={"script": [{"fail": "rejected"}]})
    endpoint("odd", options={"default": "no table at all"})
    return published(write_records(tmp_path / "records.jsonl", generated(5)))


@pytest.fixture
def page(dataset, admin_client):
    return lambda address="": written(admin_client.get(f"/p/{dataset.project.slug}/{address}"))


def run_of(dataset, *names: str) -> Run:
    models = list(Endpoint.objects.filter(name__in=names))
    run = worked_off(started(dataset=dataset, endpoints=models, steps=["label"]))
    run.job.refresh_from_db()
    return run


def shown(dataset) -> list[tuple[str, str]]:
    """The rows of models, and their runs."""
    found = leaderboard_of(dataset, "text", None).entrants["stage2"]
    return [(one.name, one.run) for one in found if one.kind != "person"]


def test_a_model_without_an_answer_is_named_and_has_no_row(dataset, page, capsys):
    run = run_of(dataset, "dead")
    assert (run.job.outcome, run.job.standing) == (JobOutcome.FAILED, "failed")
    found = leaderboard_of(dataset, "text", None)
    assert shown(dataset) == [] and (found.fitting, found.failed) == ([], [run])
    [absent] = found.absent
    assert (absent.model, absent.run, absent.failed, absent.problem) == ("dead", run.uid, 5, REASON)
    board, own, listed = page("results/"), page(f"runs/{run.uid}/"), page("runs/")
    assert board.count("has no figures of") == board.count(REASON) == 1 and "· 1 failed" in board
    assert "5 of 5 items failed." in own and f"/runs/{run.uid}/items/?state=failed" in own and "state-done" not in own
    for text in (own, listed):
        assert ">failed</span>" in text and REASON in text and ">finished</span>" not in text
    asked = ["--project", dataset.project.slug, "--suite", "omnitom", "--step", "label", "--json"]
    with pytest.raises(CommandError, match=r"^The run failed, no item got an answer: 5 of 5 items failed\."):
        call_command("run_benchmark", *asked, "--endpoint", "dead", "--wait")
    told = json.loads(capsys.readouterr().out)
    assert told["state"] == "failed" and told["failures"] == {"count": 5, "of": 5, "commonest": REASON, "times": 5}
    call_command("leaderboard", "--project", dataset.project.slug, "--json")
    out, err = capsys.readouterr()
    assert json.loads(out)["absent"][0]["model"] == "dead"
    assert f"all 5 calls failed. The commonest reason: {REASON}" in err
    one = Absence("stage1", "dead", "run", "Title", failed=40, problem=REASON)
    other = Absence("stage1", "dead", "run", "Title", failed=3, problem="another reason")
    held = named_together([one, Absence("stage2", "dead", "run", "Title", failed=5, problem=REASON), other])
    assert [(line["groups"], line["failed"]) for line in held] == [("extraction and labelling", 45), ("extraction", 3)]


def test_a_run_whose_every_answer_is_unreadable_did_not_simply_finish(dataset, page, capsys):
    run = run_of(dataset, "odd")
    assert run.job.outcome == JobOutcome.USELESS
    assert shown(dataset) == [("odd", run.uid)], "its answers are the model's own: it keeps its row"
    own, listed = page(f"runs/{run.uid}/"), page("runs/")
    reason = Item.objects.filter(job=run.job).first().problem
    for text in (own, listed):
        assert ">finished, none readable</span>" in text and reason in text
        assert ">finished</span>" not in text and "state-done" not in text and "state-unreadable" in text
    assert "5 of 5 answers are unreadable." in own and f"/runs/{run.uid}/items/?state=unreadable" in own
    with pytest.raises(CommandError, match=r"no answer is readable: 5 of 5 answers are unreadable\."):
        call_command("work", f"--job={run.job.uid}", "--json")
    assert json.loads(capsys.readouterr().out)["unreadable_answers"]["count"] == 5
    # answers that are read anew change how the run came out
    Item.objects.filter(job=run.job).update(state="done", problem="")  # as an earlier parser read them
    Job.objects.filter(pk=run.job_id).update(outcome=JobOutcome.FINISHED)
    RunItem.objects.filter(entrant__run=run).update(unreadable="")
    assert read_again(by=None, run=run, now=timezone.now()) == 5
    run.job.refresh_from_db()
    assert run.job.outcome == JobOutcome.USELESS


def test_a_run_that_failed_or_a_model_without_an_answer_in_it_hides_nobody(dataset):
    good, bad = run_of(dataset, "odd"), run_of(dataset, "odd")  # with the same settings: only the newest is shown
    places = RunItem.objects.filter(entrant__run=bad)
    places.update(call=None, official=None, repaired=None, score=None, repaired_score=None, unreadable="")
    Item.objects.filter(job=bad.job).update(state="failed", problem=REASON)
    Job.objects.filter(pk=bad.job_id).update(outcome=JobOutcome.FAILED)
    found = leaderboard_of(dataset, "text", None)
    assert shown(dataset) == [("odd", good.uid)]
    assert [one.run for one in found.absent] == [bad.uid] and found.failed == [bad]
    both = run_of(dataset, "odd", "dead")
    found = leaderboard_of(dataset, "text", None)
    assert both.job.outcome == JobOutcome.USELESS and both in found.fitting
    assert shown(dataset) == [("odd", both.uid)] and "dead" in {one.model for one in found.absent}
