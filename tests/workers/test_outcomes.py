"""How jobs end: finished, finished with failures or failed; what the pages and commands say of it."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from workers.models import Item, Job, JobOutcome, JobState
from workers.services import jobs
from workers.services.delivery import refresh_outcome

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worked(make_endpoint, start, run_worker):
    """A job that was worked off; the calls of the keys in `failing` are rejected: `worked("a", "b", failing="a")`."""

    def make(*keys: str, failing: str = "", refused: str = "") -> Job:
        script = [{"when": key, "fail": "rejected"} for key in failing] + [
            {"when": key, "stop": "refusal"} for key in refused
        ]
        job = start(make_endpoint(options={"script": script}), keys)
        run_worker()
        job.refresh_from_db()
        return job

    return make


@pytest.mark.parametrize(
    ("failing", "outcome", "standing"),
    [("", "finished", "finished"), ("ab", "partly", "finished with failures"), ("abc", "failed", "failed")],
)
def test_a_job_ends_with_its_outcome(worked, failing, outcome, standing):
    job = worked("a", "b", "c", failing=failing)
    assert (job.state, job.outcome, job.standing) == (JobState.FINISHED, outcome, standing)


@pytest.mark.parametrize(
    ("failing", "refused", "outcome", "standing"),
    [
        ("", "a", "unreadable", "finished, some unreadable"),
        ("b", "a", "partly", "finished with failures"),
        ("", "abc", "useless", "finished, none readable"),
        ("c", "ab", "useless", "finished, none readable"),
    ],
)
def test_a_job_with_unreadable_answers_did_not_simply_finish(worked, failing, refused, outcome, standing):
    job = worked("a", "b", "c", failing=failing, refused=refused)
    assert (job.outcome, job.standing, job.has_failed) == (outcome, standing, False)


def test_answers_read_anew_change_the_outcome_of_a_finished_job_only(worked):
    job = worked("a", "b", refused="ab")
    Item.objects.filter(job=job, key="a").update(state="done")
    with transaction.atomic():
        refresh_outcome(job.pk)
    job.refresh_from_db()
    assert (job.state, job.outcome) == ("finished", "unreadable")
    Job.objects.filter(pk=job.pk).update(state="cancelled", outcome="")
    with transaction.atomic():
        refresh_outcome(job.pk)
    job.refresh_from_db()
    assert (job.state, job.outcome) == ("cancelled", "")


def test_retrying_opens_the_job_and_the_outcome_is_computed_anew(worked, run_worker):
    job = worked("a", "b", failing="ab")
    endpoint = job.items.first().endpoint
    endpoint.options = {}
    endpoint.save()
    assert jobs.retry_failed(job=job, now=timezone.now()) == 2
    job.refresh_from_db()
    assert (job.state, job.outcome, job.finished_at) == (JobState.RUNNING, "", None)
    run_worker()
    job.refresh_from_db()
    assert (job.state, job.outcome) == (JobState.FINISHED, JobOutcome.FINISHED)


@pytest.mark.parametrize("values", [{"state": "finished"}, {"state": "running", "outcome": "failed"}])
def test_the_database_holds_state_and_outcome_together(worked, values):
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.create(handler="trial", title="Trial", **values)


# --- pages ------------------------------------------------------------------------------------------------------------


def test_the_page_says_how_many_failed_why_and_where_they_are(worked, page):
    job = worked("a", "b", "c", failing="ab")
    reason = Item.objects.filter(job=job, state="failed").first().problem
    text = page("workers:job", job.uid)
    assert "2 of 3 items failed." in text and reason in text and "badge-partly" in text
    assert f"/{job.uid}/?state=failed#job-items" in text
    assert 'aria-label="3 of 3 ended: 1 done, 2 failed"' in text
    only = page("workers:job", job.uid, state="failed")
    assert only.count('<th scope="row"') == 2 and "Only failed items." in only
    listed = page("workers:work")
    assert "finished with failures" in listed and reason in listed


def test_a_failed_job_is_nowhere_green(worked, page):
    job = worked("a", failing="a")
    for text in (page("workers:job", job.uid), page("workers:work")):
        assert ">failed</span>" in text and ">finished<" not in text and "state-done" not in text
    assert "None got an answer." in page("workers:job", job.uid)


def test_failures_of_a_running_job_are_said_while_it_runs(make_endpoint, start, page):
    job = start(make_endpoint(), ["a", "b"])
    Item.objects.filter(key="a").update(state="failed", problem="No such model.", finished_at=timezone.now())
    text = page("workers:job", job.uid)
    assert "1 of 2 items failed so far." in text and "No such model." in text and "1 failed, 1 waiting" in text


UNREADABLE_SENTENCE = "It was refused."


def test_the_pages_say_how_many_answers_are_unreadable_why_and_where_they_are(worked, page):
    job = worked("a", "b", "c", refused="ab")
    text = page("workers:job", job.uid)
    assert "2 of 3 answers are unreadable." in text and f'<q dir="auto">{UNREADABLE_SENTENCE}</q>' in text
    assert f"/{job.uid}/?state=unreadable#job-items" in text and 'id="job-failures"' not in text
    assert 'aria-label="3 of 3 ended: 1 done, 2 unreadable"' in text
    listed = page("workers:work")
    assert f"2 of 3 answers are unreadable: {UNREADABLE_SENTENCE}" in listed
    for rendered in (text, listed):
        assert "badge-partly" in rendered and ">finished, some unreadable</span>" in rendered


def test_a_job_without_a_usable_answer_is_nowhere_green(worked, page):
    job = worked("a", "b", refused="ab")
    for text in (page("workers:job", job.uid), page("workers:work")):
        assert "badge-failed" in text and ">finished, none readable</span>" in text
        assert ">finished<" not in text and "state-done" not in text and 'badge-partly">finished' not in text
    assert "callout-error" in page("workers:job", job.uid)


def test_unreadable_answers_of_a_running_job_are_said_while_it_runs(make_endpoint, start, page):
    job = start(make_endpoint(), ["a", "b"])
    Item.objects.filter(key="a").update(state="unreadable", problem="No table.", finished_at=timezone.now())
    text = page("workers:job", job.uid)
    assert "1 of 1 answers is unreadable so far." in text and "No table." in text


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_ends_with_one_and_a_sentence_where_all_failed(worked, capsys):
    job = worked("a", "b", failing="ab")
    with pytest.raises(
        CommandError,
        match=r"^The job failed, no item got an answer: 2 of 2 items failed",
    ):
        call_command("work", f"--job={job.uid}", "--json")
    result = json.loads(capsys.readouterr().out)
    assert result["state"] == "failed" and result["failures"]["count"] == result["failures"]["of"] == 2
    assert result["failures"]["commonest"] == Item.objects.first().problem


def test_the_command_says_what_failed_of_a_job_that_finished(worked, capsys):
    job = worked("a", "b", "c", failing="a")
    call_command("work", f"--job={job.uid}", "--json")
    captured = capsys.readouterr()
    assert json.loads(captured.out)["state"] == "finished with failures"
    assert "The job is finished with failures: 1 of 3 items failed. The commonest reason: " in captured.err
    call_command("work", f"--job={worked('d').uid}", "--json")
    captured = capsys.readouterr()
    assert json.loads(captured.out)["failures"] is None and "failed" not in captured.err.replace("failed=0", "")


def test_the_command_says_what_answers_are_unreadable(worked, capsys):
    job = worked("a", "b", "c", refused="a")
    call_command("work", f"--job={job.uid}", "--json")
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert result["state"] == "finished, some unreadable" and result["failures"] is None
    assert result["unreadable_answers"] == {"count": 1, "of": 3, "commonest": UNREADABLE_SENTENCE, "times": 1}
    assert (
        "The job is finished, some unreadable: 1 of 3 answers is unreadable. "
        f"The commonest reason: {UNREADABLE_SENTENCE}" in captured.err
    )


def test_the_command_ends_with_one_where_no_answer_is_usable(worked, capsys):
    job = worked("a", "b", "c", refused="ab", failing="c")
    with pytest.raises(
        CommandError,
        match=r"^The job came to nothing, no answer is readable: 1 of 3 items failed\. .* 2 of 2 "
        r"answers are unreadable\.",
    ):
        call_command("work", f"--job={job.uid}", "--json")
    assert json.loads(capsys.readouterr().out)["state"] == "finished, none readable"
