"""What people do to jobs: the buttons and the command, what they refuse, and what the page of a job says."""

import json
import signal
import time
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from tests.patience import PATIENCE
from tests.workers.process import MANAGE, start_process, until
from workers.management.console import JobBar
from workers.models import Call, Item, Job, JobState, Worker, WorkerState
from workers.services import jobs
from workers.services.delivery import end_jobs
from workers.services.jobs import apply_action
from workers.services.progress import progress_of

pytestmark = pytest.mark.django_db(transaction=True)
DEAR = {"price_input": Decimal(100_000), "price_output": Decimal(100_000)}


def _buttons(text: str) -> set[str]:
    return {action for action in ("pause", "resume", "retry", "cancel") if f"/{action}/" in text}


def test_a_job_is_paused_resumed_and_cancelled(admin, page, press, make_endpoint, start):
    job = start(make_endpoint(), ["a", "b"])
    assert _buttons(page("workers:job", job.uid)) == {"pause", "cancel"}
    for uid, action in ((job.uid, "explode"), ("nowhere", "pause")):
        assert admin.post(reverse("workers:job_action", args=[uid, action])).status_code == 404
    assert admin.get(reverse("workers:job_action", args=[job.uid, "pause"])).status_code == 405
    press(job, "pause")
    assert (job.state, _buttons(page("workers:job", job.uid))) == ("paused", {"resume", "cancel"})
    note = "The next call could exceed the budget of $3.00; $2.9 are spent."
    Job.objects.update(note=note)
    assert page("workers:job", job.uid).count(note) == page("workers:work").count(note) == 1
    for budget, kept in (("", None), ("2.50", Decimal("2.5"))):  # it may get a budget
        press(job, "resume", budget=budget)
        assert (job.state, job.budget) == ("running", kept)
        press(job, "pause")
    press(job, "cancel")
    assert (job.state, job.finished_at is not None) == ("cancelled", True)
    assert Item.objects.filter(job=job, state="cancelled").count() == 2
    assert _buttons(page("workers:job", job.uid)) == set()


def _end(job, **states: str) -> None:
    for key, state in states.items():
        problem = "Busy. Given up after 6 attempts." if state == "failed" else ""
        Item.objects.filter(job=job, key=key).update(state=state, problem=problem, finished_at=timezone.now())
    end_jobs([job.pk], now=timezone.now())


def test_failed_items_are_asked_again_and_no_others(page, press, make_endpoint, start, run_worker):
    job = start(make_endpoint(), ["good", "odd"])
    _end(job, good="done", odd="unreadable")
    for action in ("pause", "resume", "cancel", "retry"):  # buttons of an ended job
        press(job, action)
        assert job.state == "finished" and {item.state for item in job.items.all()} == {"done", "unreadable"}, action
    job = start(make_endpoint(), ["good", "bad", "odd"])
    _end(job, good="done", bad="failed", odd="unreadable")
    text = page("workers:job", job.uid)
    assert _buttons(text) == {"retry"} and "Given up after 6 attempts." in text
    press(job, "retry")
    assert job.state == "running" and job.items.get(key="bad").problem == ""
    assert dict(job.items.values_list("key", "state")) == {"good": "done", "bad": "waiting", "odd": "unreadable"}
    # those of a paused job wait with the others
    Job.objects.all().delete()
    job = start(make_endpoint(), ["bad", "open"])
    _end(job, bad="failed")
    Job.objects.filter(pk=job.pk).pause(note="Paused by hand.")
    assert "/retry/" in page("workers:job", job.uid)
    press(job, "retry")
    assert (job.state, job.note) == ("paused", "Paused by hand.")
    assert dict(job.items.values_list("key", "state")) == {"bad": "waiting", "open": "waiting"}
    run_worker()
    assert not Call.objects.exists()
    # and those of a cancelled job stay
    _end(job, bad="failed")
    press(job, "cancel")
    assert "/retry/" not in page("workers:job", job.uid)
    assert "The job was cancelled, so its failed items are not asked again" in press(job, "retry")
    assert jobs.retry_failed(job=job, now=timezone.now()) == 0
    run_worker()
    job.refresh_from_db()
    assert (job.state, job.note) == ("cancelled", "")
    assert dict(job.items.values_list("key", "state")) == {"bad": "failed", "open": "cancelled"}


# --- the budget


@pytest.fixture
def poor(make_endpoint, worked):
    """A job of four calls whose budget was enough for some: paused by it, with the note that says so.

    At $0.1 a token a call is booked at 44 tokens in (130 characters / 3) and 50 out, about $9.4, and costs $0.4 for the
    four tokens of its answer: after two, $9.2 are left.
    """
    job = worked(make_endpoint(max_concurrency=1, **DEAR), ["a", "b", "c", "d"], budget=Decimal(10))
    assert job.state == "paused" and "budget" in job.note
    return job


def test_a_job_goes_on_with_a_budget_that_is_large_enough(poor, press, page, run_worker):
    text = page("workers:job", poor.uid)
    assert 'name="budget"' in text and "required" in text and "or more" in text
    spent = Item.objects.filter(job=poor).spent()
    small = (f"${spent:.4f} are spent, and with the next call it can be $", "is too small to go on")
    for budgets, sentences in (
        (("much", "-1", "NaN", "Infinity", "1e12"), ("A budget is an amount of US dollars",)),
        (("", "10", "0.01"), small),
    ):
        for budget in budgets:
            refusal = press(poor, "resume", budget=budget)
            assert all(sentence in refusal for sentence in sentences), budget
            assert (poor.state, poor.budget) == ("paused", 10)
    press(poor, "resume", budget="100")
    assert (poor.state, poor.budget, poor.note) == ("running", 100, "")
    run_worker()
    poor.refresh_from_db()
    assert poor.state == "finished"


def test_the_command_goes_on_with_a_budget(poor, capsys):
    # what three items cost so far or are waiting for: the sum of their costs, and the reserve of the first that waits
    spent = sum(item.cost for item in poor.items.all())
    following = poor.items.filter(state="waiting", call__isnull=False).order_by("id").first()
    least = jobs.least_budget(poor)
    assert spent > 0 and least == spent + following.call.reserved_cost
    for arguments, sentence in (
        ([f"--job={poor.uid}", f"--budget={least - Decimal('0.01')}"], "is too small to go on"),
        (["--budget=100"], "A budget belongs to one job"),
        (["--job=nowhere"], r"^There is no job 'nowhere'\.$"),
    ):
        with pytest.raises(CommandError, match=sentence):
            call_command("work", *arguments)
    assert apply_action(poor, "resume", budget=str(least)) == ""
    poor.refresh_from_db()
    assert poor.state == JobState.RUNNING
    jobs.pause_job(job=poor)
    call_command("work", f"--job={poor.uid}", "--budget=100")
    poor.refresh_from_db()
    assert (poor.state, poor.budget) == ("finished", 100)
    with pytest.raises(CommandError, match="The job is finished; only a paused one"):
        call_command("work", f"--job={poor.uid}", "--budget=100")


# --- what is shown


def test_why_an_item_waits_is_said_and_until_when(admin, make_endpoint, start, page):
    job = start(make_endpoint(), ["calm", "burnt"])
    address = reverse("workers:job_progress", args=[job.uid])
    seen = admin.get(address).context["seen"]
    assert "job-items" not in admin.get(address, {"seen": seen}).content.decode()
    at = datetime(2030, 1, 1, 12, 34, 56, tzinfo=UTC)
    Item.objects.filter(key="burnt").update(problem="HTTP 429: slow down", not_before=at)
    assert "HTTP 429" in admin.get(address, {"seen": seen}).content.decode(), "the page shows it when it appears"
    text = page("workers:job", job.uid)
    assert "HTTP 429: slow down" in text and "12:34:56 UTC" in text and ">calm<" not in text
    jobs.pause_job(job=job)
    assert "tried again when the job goes on" in page("workers:job", job.uid)


def test_an_item_says_whether_the_ledger_answered_it(make_endpoint, worked, page):
    ledger = '<span class="muted">from the ledger</span>'
    failing = worked(make_endpoint(max_attempts=1, options={"script": [{"fail": "rejected"}]}), ["a"])
    assert ledger not in page("workers:job", failing.uid), "it was never answered"
    assert "from the ledger" not in page("workers:call", Call.objects.get().uid)
    endpoint = make_endpoint()
    for answered_by_ledger in (False, True):
        text = page("workers:job", worked(endpoint, ["b"]).uid)
        assert (ledger in text) == answered_by_ledger
        assert "badge-done" in page("workers:work") and ">finished</span>" in text and "lost answers" not in text
    assert page("workers:call", Call.objects.get(endpoint=endpoint).uid).count("from the ledger") == 1


def test_money_for_lost_answers_is_named(make_endpoint, start, run_worker, worked, page):
    script = [{"when": "gone", "fail": "lost"}, {"when": "twice", "fail": "lost", "times": 1}]
    endpoint = make_endpoint(repeat_unknown=1, options={"script": script}, **DEAR)
    job = start(endpoint, ["gone", "twice", "fine"])
    while job.state == JobState.RUNNING:
        run_worker()
        job.refresh_from_db()
    # "gone" was lost twice and "twice" once, each booked with its call's reserve; the rest is what the answers cost
    reserves = {item.key: item.call.reserved_cost for item in Item.objects.select_related("call")}
    lost = 2 * reserves["gone"] + reserves["twice"]
    answers, progress = sum(call.cost for call in Call.objects.all()), progress_of(job)
    assert (float(progress.lost), float(progress.cost)) == pytest.approx((float(lost), float(lost + answers)))
    assert f"of it up to ${lost:.4f} for lost answers" in page("workers:job", job.uid)
    # an answer that another job paid later takes nothing from what was lost
    endpoint = make_endpoint(model="other", repeat_unknown=0, options={"script": [{"fail": "lost"}]}, **DEAR)
    first = worked(endpoint, ["a"])
    type(endpoint).objects.update(options={})
    second = worked(endpoint, ["a"])
    assert jobs.retry_failed(job=second, now=timezone.now()) == 1
    run_worker()
    call = Call.objects.get(endpoint=endpoint)
    assert call.state == "answered" and call.cost > 0
    # the first job lost one answer, booked with the reserve of its call; the second paid the answer and lost none
    assert (progress_of(first).lost, progress_of(second).lost) == (call.reserved_cost, 0)


# --- the command


@pytest.fixture
def work(tmp_path):
    """Start `work` with `arguments`; kills what a failed test left."""
    running = []

    def begin(*arguments: str):
        running.append(start_process(MANAGE, "work", *arguments, folder=tmp_path))
        return running[-1]

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def in_flight() -> int:
    return Call.objects.filter(state="sent").count()


def test_it_works_everything_off_and_ends(make_endpoint, start, work):
    job = start(make_endpoint(), [f"q{at}" for at in range(20)])
    process = work("--json")
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, json.loads(out)) == (0, {"open jobs": 0}), err
    job.refresh_from_db()
    assert (job.state, job.items.filter(state="done").count()) == ("finished", 20)
    assert set(Worker.objects.values_list("state", flat=True)) == {WorkerState.GONE}


@pytest.mark.once  # what the process makes of a signal
@pytest.mark.parametrize(("name", "by_job"), [("SIGTERM", False), ("SIGINT", True)], ids=["all work", "one job"])
def test_a_signal_lets_what_is_in_flight_come_to_its_end(make_endpoint, start, work, name, by_job):
    endpoint = make_endpoint(options={"delay": 1.5}, max_concurrency=4)
    job = start(endpoint, [f"q{at}" for at in range(40)])
    process = work("--json", *(["--job", job.uid] if by_job else []))
    until(lambda: in_flight() == 4)
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "Ending: waiting for the answers that are on their way." in err and "Traceback" not in err
    # 40 asked for at 4 in flight: those that had begun are answered, none was lost, none is held
    states = Item.objects.filter(job=job).counts()
    assert 4 <= states["done"] < 40 and states["done"] + states["waiting"] == 40
    expected = {"state": "running", "done": states["done"]} if by_job else {"open jobs": 1}
    assert json.loads(out).items() >= expected.items()
    assert Call.objects.filter(state="answered").count() == states["done"] and in_flight() == 0
    assert not Call.objects.filter(state__in=["unknown", "reserved"]).exists()
    assert Worker.objects.get().state == WorkerState.GONE


@pytest.mark.once
def test_a_second_signal_ends_it_at_once(make_endpoint, start, work):
    start(make_endpoint(options={"delay": 60}), ["a"])
    process = work()
    until(lambda: in_flight() == 1)
    process.send_signal(signal.SIGTERM)
    assert "Ending" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE) == -signal.SIGTERM


def test_one_job_is_seen_through_with_a_bar(make_endpoint, start, trial, capsys):
    endpoint = make_endpoint(max_attempts=1, options={"script": [{"when": "bad", "fail": "overloaded"}]})
    other, job = start(endpoint, ["x"]), start(endpoint, ["a", "bad"])
    call_command("work", "--job", job.uid, "--json")
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert result.pop("failures")["count"] == 1 and result.pop("unreadable_answers") is None
    counts, money = {"done": 1, "failed": 1, "unreadable": 0}, {"cost": 0.0, "known_cost": 0.0, "unpriced_calls": 0}
    assert result == {"job": job.uid, "state": "finished with failures"} | counts | money
    assert "2/2" in err and "failed=1" in err
    assert other.items.get().state == "waiting"
    for title, shown in {"rand, first-option, dry: False beliefs": "rand, first-option, dry: Fals…", "S": "S"}.items():
        job.title = title
        JobBar(job, time.monotonic).close()
        assert capsys.readouterr().err.strip("\r").startswith(f"{shown}: "), "the bar says where its title is cut"


def test_a_reader_who_has_seen_enough_is_no_error(tmp_path):
    """As in `add_endpoint … | head -0`: the pipe is closed before anything is written."""
    asked = ("add_endpoint", "one", "--provider", "scripted", "--model", "m", "--json")
    process = start_process(MANAGE, *asked, folder=tmp_path)
    process.stdout.close()
    with process.stderr as errors:
        output = errors.read()
    assert process.wait() == 0 and "Traceback" not in output and "BrokenPipe" not in output
