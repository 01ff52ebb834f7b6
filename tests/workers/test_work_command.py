"""`work` as a process: it works everything off, and a signal lets it end without losing an answer."""

from __future__ import annotations

import json
import signal
import time

import pytest
from django.core.management import CommandError, call_command

from tests.patience import PATIENCE
from tests.workers.process import MANAGE, start_process
from workers.management.console import JobBar
from workers.models import Call, Item, JobState, Worker, WorkerState

pytestmark = pytest.mark.django_db(transaction=True)


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
        process.wait()
        process.stdout.close()
        process.stderr.close()


def until(condition, *, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def in_flight() -> int:
    return Call.objects.filter(state="sent").count()


def test_it_works_everything_off_and_ends(make_endpoint, start, work):
    job = start(make_endpoint(), [f"q{at}" for at in range(20)])
    process = work("--json")
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, json.loads(out)) == (0, {"open jobs": 0}), err
    job.refresh_from_db()
    assert (job.state, Item.objects.filter(job=job, state="done").count()) == (JobState.FINISHED, 20)
    assert set(Worker.objects.values_list("state", flat=True)) == {WorkerState.GONE}


@pytest.mark.once  # what a terminal shows
def test_the_bar_of_a_job_says_where_its_title_is_cut(make_endpoint, start, capsys):
    job = start(make_endpoint(), ["q"])
    for title, shown in (
        ("rand, first-option, dry: False beliefs", "rand, first-option, dry: Fals…"),
        ("Short", "Short"),
    ):
        job.title = title
        JobBar(job, time.monotonic).close()
        assert capsys.readouterr().err.strip("\r").startswith(f"{shown}: ")


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
    assert "Ending: waiting for the answers that are on their way." in err
    assert "Traceback" not in err
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
    assert result == {
        "job": job.uid, "state": "finished with failures", "done": 1, "failed": 1, "unreadable": 0,
        "cost": 0.0, "known_cost": 0.0, "unpriced_calls": 0,
    }  # fmt: skip
    assert "2/2" in err and "failed=1" in err
    assert Item.objects.get(job=other).state == "waiting"


def test_a_job_that_is_not_there(db):
    with pytest.raises(CommandError, match=r"^There is no job 'nowhere'\.$"):
        call_command("work", "--job", "nowhere")


def test_a_reader_who_has_seen_enough_is_no_error(tmp_path):
    """As in `add_endpoint … | head -0`: the pipe is closed before anything is written."""
    process = start_process(
        MANAGE, "add_endpoint", "one", "--provider", "scripted", "--model", "m", "--json", folder=tmp_path
    )
    process.stdout.close()
    output = process.stderr.read()
    assert process.wait() == 0 and "Traceback" not in output and "BrokenPipe" not in output
    process.stderr.close()
