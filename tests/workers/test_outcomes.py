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


UNREADABLE_SENTENCE = "It was refused."


ENDS = [
    ("", "", "finished", "finished"),
    ("ab", "", "partly", "finished with failures"),
    ("abc", "", "failed", "failed"),
    ("", "a", "unreadable", "finished, some unreadable"),
    ("b", "a", "partly", "finished with failures"),
    ("", "abc", "useless", "finished, none readable"),
    ("c", "ab", "useless", "finished, none readable"),
]


@pytest.fixture
def worked(make_endpoint, start, run_worker):
    """A job that was worked off; the calls of the keys in `failing` are rejected: `worked("a", "b", failing="a")`."""

    def make(*keys: str, failing: str = "", refused: str = "") -> Job:
        script = [{"when": key, "fail": "rejected"} for key in failing] + [
            {"when": key, "stop": "refusal"} for key in refused
        ]
        model = f"tiny-{Job.objects.count()}"  # whose answers no other job has
        job = start(make_endpoint(model=model, options={"script": script}), keys)
        run_worker()
        job.refresh_from_db()
        return job

    return make


def test_a_job_ends_with_its_outcome(worked):
    for failing, refused, outcome, standing in ENDS:
        job = worked("a", "b", "c", failing=failing, refused=refused)
        ended = (job.state, job.outcome, job.standing, job.has_failed)
        assert ended == (JobState.FINISHED, outcome, standing, standing == "failed"), (failing, refused)


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


def test_the_database_holds_state_and_outcome_together(db):
    for values in ({"state": "finished"}, {"state": "running", "outcome": "failed"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Job.objects.create(handler="trial", title="Trial", **values)


def test_trouble_of_a_running_job_is_said_while_it_runs(make_endpoint, start, page):
    job = start(make_endpoint(), ["a", "b", "c"])
    Item.objects.filter(key="a").update(state="failed", problem="No such model.", finished_at=timezone.now())
    text = page("workers:job", job.uid)
    assert "1 of 3 items failed so far." in text and "No such model." in text and "1 failed, 2 waiting" in text
    Item.objects.filter(key="b").update(state="unreadable", problem="No table.", finished_at=timezone.now())
    text = page("workers:job", job.uid)
    assert "1 of 1 answers is unreadable so far." in text and "No table." in text


# --- the command ------------------------------------------------------------------------------------------------------
def test_the_command_says_how_a_job_ended(worked, capsys):
    def told(job: Job) -> tuple[dict, str]:
        call_command("work", f"--job={job.uid}", "--json")
        captured = capsys.readouterr()
        return json.loads(captured.out), captured.err

    def refused(job: Job, sentence: str) -> dict:
        with pytest.raises(CommandError, match=sentence):
            call_command("work", f"--job={job.uid}", "--json")
        return json.loads(capsys.readouterr().out)

    result = refused(worked("a", "b", failing="ab"), r"^The job failed, no item got an answer: 2 of 2 items failed")
    assert result["state"] == "failed" and result["failures"]["count"] == result["failures"]["of"] == 2
    assert result["failures"]["commonest"] == Item.objects.first().problem
    none = r"^The job came to nothing, no answer is readable: 1 of 3 items failed\. .* 2 of 2 answers are unreadable\."
    result = refused(worked("a", "b", "c", refused="ab", failing="c"), none)
    assert result["state"] == "finished, none readable"
    result, err = told(worked("a", "b", "c", failing="a"))
    assert result["state"] == "finished with failures"
    assert "The job is finished with failures: 1 of 3 items failed. The commonest reason: " in err
    result, err = told(worked("d"))
    assert result["failures"] is None and "failed" not in err.replace("failed=0", "")
    result, err = told(worked("a", "b", "c", refused="a"))
    assert result["state"] == "finished, some unreadable" and result["failures"] is None
    assert result["unreadable_answers"] == {"count": 1, "of": 3, "commonest": UNREADABLE_SENTENCE, "times": 1}
    assert "The job is finished, some unreadable: 1 of 3 answers is unreadable." in err and UNREADABLE_SENTENCE in err


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


# --- the command ------------------------------------------------------------------------------------------------------
