"""Pages of the site admin: how jobs end, who is at work, the ledger, one call, spending."""

import json
import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from tests.workers.test_pages import HOSTILE, escaped
from workers.models import Attempt, Call, EndpointRateLimit, Item, Job, Process, Worker, WorkerState
from workers.services import jobs, processes
from workers.services import ledger as service
from workers.services.delivery import end_jobs, refresh_outcome

pytestmark = pytest.mark.django_db
in_database = pytest.mark.django_db(transaction=True)
TITLE = "<script>alert(1)</script>"
REFUSED = "It was refused."


@pytest.fixture
def ended(make_endpoint, worked):
    """A job that was worked off: `ended("abc", failing="a", refused="b")` are questions, of which the calls of some
    keys are rejected, and others refused."""

    def make(keys: str, *, failing: str = "", refused: str = "") -> Job:
        script = [{"when": key, "fail": "rejected"} for key in failing]
        script += [{"when": key, "stop": "refusal"} for key in refused]
        model = f"tiny-{Job.objects.count()}"  # whose answers no other job has
        return worked(make_endpoint(model=model, options={"script": script}), list(keys))

    return make


@in_database
def test_a_job_ends_with_its_outcome(ended):
    for failing, refused, outcome, standing in [
        ("", "", "finished", "finished"),
        ("ab", "", "partly", "finished with failures"),
        ("abc", "", "failed", "failed"),
        ("", "a", "unreadable", "finished, some unreadable"),
        ("b", "a", "partly", "finished with failures"),
        ("", "abc", "useless", "finished, none readable"),
        ("c", "ab", "useless", "finished, none readable"),
    ]:
        job = ended("abc", failing=failing, refused=refused)
        told = (job.state, job.outcome, job.standing, job.has_failed)
        assert told == ("finished", outcome, standing, standing == "failed"), (failing, refused)
    for values in ({"state": "finished"}, {"state": "running", "outcome": "failed"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Job.objects.create(handler="trial", title="Trial", **values)


@in_database
def test_an_outcome_follows_answers_that_are_read_anew_or_asked_again(ended, run_worker):
    job = ended("ab", refused="ab")
    Item.objects.filter(job=job, key="a").update(state="done")
    for changed, wanted in (
        ({}, ("finished", "unreadable")),
        ({"state": "cancelled", "outcome": ""}, ("cancelled", "")),
    ):
        Job.objects.filter(pk=job.pk).update(**changed)
        with transaction.atomic():
            refresh_outcome(job.pk)
        job.refresh_from_db()
        assert (job.state, job.outcome) == wanted
    job = ended("ab", failing="ab")
    type(job.items.first().endpoint).objects.update(options={})
    assert jobs.retry_failed(job=job, now=timezone.now()) == 2
    job.refresh_from_db()
    assert (job.state, job.outcome, job.finished_at) == ("running", "", None)
    run_worker()
    job.refresh_from_db()
    assert (job.state, job.outcome) == ("finished", "finished")


@in_database
def test_the_command_says_how_a_job_ended(ended, capsys):
    def told(job: Job, refused: str = "") -> tuple[dict, str]:
        if refused:
            with pytest.raises(CommandError, match=refused):
                call_command("work", f"--job={job.uid}", "--json")
        else:
            call_command("work", f"--job={job.uid}", "--json")
        captured = capsys.readouterr()
        return json.loads(captured.out), captured.err

    job = ended("ab", failing="ab")
    result, _ = told(job, r"^The job failed, no item got an answer: 2 of 2 items failed")
    assert result["state"] == "failed" and result["failures"]["count"] == result["failures"]["of"] == 2
    assert result["failures"]["commonest"] == job.items.first().problem
    none = r"^The job came to nothing, no answer is readable: 1 of 3 items failed\. .* 2 of 2 answers are unreadable\."
    result, _ = told(ended("abc", refused="ab", failing="c"), none)
    assert result["state"] == "finished, none readable"
    result, err = told(ended("abc", failing="a"))
    assert result["state"] == "finished with failures"
    assert "The job is finished with failures: 1 of 3 items failed. The commonest reason: " in err
    result, err = told(ended("d"))
    assert result["failures"] is None and "failed" not in err.replace("failed=0", "")
    result, err = told(ended("abc", refused="a"))
    assert result["state"] == "finished, some unreadable" and result["failures"] is None
    assert result["unreadable_answers"] == {"count": 1, "of": 3, "commonest": REFUSED, "times": 1}
    assert "The job is finished, some unreadable: 1 of 3 answers is unreadable." in err and REFUSED in err


# --- pages


@in_database
def test_pages_say_how_many_failed_or_are_unreadable_why_and_where(ended, page):
    job = ended("abc", failing="ab")
    reason = job.items.filter(state="failed").first().problem
    text, listed = page("workers:job", job.uid), page("workers:work")
    assert "2 of 3 items failed." in text and reason in text and "badge-partly" in text
    assert f"/{job.uid}/?state=failed#job-items" in text
    assert 'aria-label="3 of 3 ended: 1 done, 2 failed"' in text
    only = page("workers:job", job.uid, state="failed")
    assert only.count('<th scope="row"') == 2 and "Only failed items." in only
    assert "finished with failures" in listed and reason in listed
    job = ended("abc", refused="ab")
    text, listed = page("workers:job", job.uid), page("workers:work")
    assert "2 of 3 answers are unreadable." in text and f'<q dir="auto">{REFUSED}</q>' in text
    assert f"/{job.uid}/?state=unreadable#job-items" in text and 'id="job-failures"' not in text
    assert 'aria-label="3 of 3 ended: 1 done, 2 unreadable"' in text
    assert f"2 of 3 answers are unreadable: {REFUSED}" in listed
    for rendered in (text, listed):
        assert "badge-partly" in rendered and ">finished, some unreadable</span>" in rendered


@in_database
def test_a_job_without_a_usable_answer_is_nowhere_green(ended, page):
    for given, standing, told in [
        ({"failing": "ab"}, "failed", "None got an answer."),
        ({"refused": "ab"}, "finished, none readable", "callout-error"),
    ]:
        Job.objects.all().delete()
        job = ended("ab", **given)
        for text in (page("workers:job", job.uid), page("workers:work")):
            assert "badge-failed" in text and f">{standing}</span>" in text
            assert ">finished<" not in text and "state-done" not in text and 'badge-partly">finished' not in text
        assert told in page("workers:job", job.uid)


def _set(job, problem: str = "", **states: str) -> None:
    for key, state in states.items():
        Item.objects.filter(job=job, key=key).update(state=state, problem=problem, finished_at=timezone.now())


def test_progress_and_trouble_of_a_running_job_are_said_while_it_runs(admin, make_endpoint, start, page):
    job = start(make_endpoint(), ["a", "b", "c"], budget=Decimal(5))
    _set(job, "No such model.", a="failed")
    text = page("workers:job", job.uid)
    assert "1 of 3 items failed so far." in text and "No such model." in text and "1 failed, 2 waiting" in text
    _set(job, "No table.", b="unreadable")
    text = page("workers:job", job.uid)
    assert "1 of 1 answers is unreadable so far." in text and "No table." in text
    address = reverse("workers:job_progress", args=[job.uid])
    moving = admin.get(address).content.decode()
    assert "hx-get" in moving and "<html" not in moving and "of at most $5.00" in moving
    _set(job, a="done", b="done", c="done")
    end_jobs([job.pk], now=timezone.now())
    assert "hx-get" not in admin.get(address).content.decode(), "it asks for itself while something moves"


def test_titles_and_problems_are_text(page, make_endpoint, start):
    job = start(make_endpoint(), [TITLE])
    type(job).objects.filter(pk=job.pk).update(title=TITLE, note=TITLE)
    Item.objects.update(state="failed", problem=TITLE)
    for text in (page("workers:job", job.uid), page("workers:work"), page("workers:work_state")):
        assert TITLE not in text and "&lt;script&gt;alert(1)" in text


def test_pages_are_read_in_few_statements(
    statements, admin, make_endpoint, make_call, start, django_assert_max_num_queries
):
    start(make_endpoint(), ["a"])
    few = statements("workers:work")
    for _ in range(12):
        job = start(make_endpoint(), ["a", "b"])
        start(make_endpoint(), ["c"])
        _set(job, a="done", b="failed")
        end_jobs([job.pk], now=timezone.now())
    assert statements("workers:work") == few <= 12
    job = start(make_endpoint(), [f"q{at}" for at in range(60)])
    Item.objects.filter(job=job).update(state="failed", finished_at=timezone.now(), call=make_call())
    with django_assert_max_num_queries(10):
        admin.get(reverse("workers:job", args=[job.uid]))


def test_nobody_but_the_site_admin_opens_any_of_it(cast, make_call, make_endpoint, start):
    call, job = make_call(answer="secret answer"), start(make_endpoint(), ["a"])
    addresses = []
    for pattern in get_resolver("workers.urls").url_patterns:
        uid = job.uid if pattern.name.startswith("job") else call.uid
        values = {"uid": uid, "name": call.endpoint.name, "action": "pause"}
        kwargs = {name: values[name] for name in pattern.pattern.converters}
        addresses.append(reverse(f"workers:{pattern.name}", kwargs=kwargs))
    assert len(addresses) == 13
    client = Client()
    for name in ("alice", "bob", "esi", "charlie"):
        client.force_login(getattr(cast, name))
        for address in addresses:
            for response in (client.get(address), client.post(address)):
                assert response.status_code in (403, 405), address
                assert "secret answer" not in response.content.decode()
    assert not Item.objects.exclude(state="waiting").exists()


# --- who is there


def _process(pid: int, *serves: str, keys=(), ago: int = 0) -> None:
    at = timezone.now() - timedelta(seconds=ago)
    Process.objects.create(host="box", pid=pid, serves=list(serves), keys=list(keys), started_at=at, seen_at=at)


def _worker(pid: int, state=WorkerState.LIVE, *, host: str = "box", ago: int = 0) -> None:
    at = timezone.now() - timedelta(minutes=ago)
    Worker.objects.create(host=host, pid=pid, started_at=at, heartbeat_at=at, state=state)


def test_the_work_page_shows_processes_once_what_they_do_and_rates(page, make_endpoint, start):
    text = page("workers:work")
    assert "Pre-filling" in text and "benchmark run" in text, "without work both ways to begin are named"
    _worker(2, WorkerState.LOST, host="lost-host")
    _worker(3, WorkerState.GONE, host="old-host", ago=120)
    for ago in range(50, 0, -10):  # a process that entered often
        _worker(7, WorkerState.GONE, ago=ago)
    _worker(7)
    _worker(8, WorkerState.GONE)
    _worker(5, ago=10)  # whose lease is over
    _worker(1, WorkerState.GONE)  # its last piece of work
    for pid, ago in ((1, 0), (7, 0), (4, 600)):
        _process(pid, "calls", ago=ago)
    endpoint = make_endpoint(name="slow")
    start(endpoint, ["a"])
    state = {"rate": 4.25, "ceiling": 5.0, "blocked_until": time.time() + 40, "reason": "429 from the provider"}
    EndpointRateLimit.objects.filter(endpoint=endpoint).update(state=state)
    text = page("workers:work")
    assert "lost-host" in text and "old-host" not in text and "slow" in text and "429 from the provider" in text
    shown = {1: "idle", 7: "working", 4: "silent", 5: "silent", 8: "ended"}
    assert {pid: text.count(f">box:{pid}</th>") for pid in shown} == dict.fromkeys(shown, 1)
    told = {pid: text.split(f">box:{pid}</th>")[1].split("</span>")[0].rsplit(">")[-1] for pid in shown}
    assert told == shown


def test_the_queue_says_what_waits_and_who_can_take_it(page, make_endpoint, start):
    start(make_endpoint(name="open"), ["a", "b", "c"])
    start(make_endpoint("openai", name="dear", base_url="https://x.test", api_key_env="DEAR_API_KEY"), ["a"])
    start(make_endpoint("vllm-engine", name="own"), ["a"])
    jobs.pause_job(job=start(make_endpoint(name="held"), ["a", "b"]))
    EndpointRateLimit.objects.filter(endpoint=make_endpoint(name="a-idle")).update(state={"accepted_at": time.time()})
    text = page("workers:work")
    assert text.index('id="workers-title"') < text.index('id="queue-title"')
    rows = [text.index(f'endpoint/{name}/">') for name in ("held", "open", "a-idle")]
    assert rows == sorted(rows)  # who has nothing to do comes last
    assert "5 items of running jobs wait for a worker." in text and "and 2 paused" in text
    assert text.count("No worker is running: make worker") == 2 and "make engine-worker ENDPOINT=own" in text
    _process(1, "calls")
    text = page("workers:work")
    assert text.count("No worker is running") == 0 and "No worker has the key DEAR_API_KEY." in text
    _process(2, "calls", keys=["DEAR_API_KEY"])
    _process(3, "engine-own")
    assert ">none</span>" not in page("workers:work")


def test_a_process_reports_the_names_of_its_keys_and_nothing_of_them(make_endpoint, monkeypatch, page):
    make_endpoint(name="dear", api_key_env="DEAR_API_KEY")
    make_endpoint(name="other", api_key_env="OTHER_API_KEY")
    monkeypatch.setenv("DEAR_API_KEY", "very-secret-value")
    for _ in range(2):
        processes.report(["calls"])
    process = Process.objects.get()
    assert (process.serves, process.keys) == (["calls"], ["DEAR_API_KEY"])
    assert "very-secret-value" not in page("workers:work")
    processes.leave()
    assert not Process.objects.exists()


# --- the ledger, one call, spending


def test_the_ledger_finds_by_every_field(page, make_endpoint, make_call):
    first = make_call(answer="The key is in the bag", handler="prefill", request_id="req-1")
    fields = {"answer": "", "problem": "No.", "finished_at": datetime(2026, 3, 5, tzinfo=UTC)}
    second = make_call(make_endpoint(name="other"), state="failed", **fields)
    Attempt.objects.create(call=second, number=1, sent_at=second.planned_at, outcome="unknown")

    def found(**query) -> list[str]:
        text = page("workers:ledger", **query)
        return [call.uid for call in (first, second) if call.uid in text]

    assert found() == [first.uid, second.uid]
    for text in ("THE KEY", "who knows 1", "req-1", first.uid):
        assert found(text=text) == [first.uid], text
    for query in ({"endpoint": "other"}, {"state": "failed"}, {"day": "2026-03-05"}, {"state": "lost"}):
        assert found(**query) == [second.uid], query
    assert found(text="nowhere") == found(endpoint="other", state="answered") == []
    # a day that is none is said, and what else was asked for still counts
    assert found(day="yesterday", state="failed") == [second.uid]
    assert "Enter a valid date." in page("workers:ledger", day="yesterday")


def test_a_ledger_query_of_any_kind_is_answered(admin, page, make_call):
    call = make_call()
    for query in ("page=x", "page=-1", "page=99", "text=%00", "text=%ED%A0%80", f"text={'x' * 300}"):
        assert admin.get(f"{reverse('workers:ledger')}?{query}").status_code == 200, query
    for text in ("x" * 201, "a\0b"):
        found = page("workers:ledger", text=text)
        assert call.uid not in found and 'class="field-error"' in found and "No call matches" in found


def test_the_ledger_is_read_in_few_statements_and_only_the_beginning_of_answers(
    page, statements, make_endpoint, make_call
):
    make_call(answer="b" * 200 + "THE-END", cost=Decimal(0))
    text = page("workers:ledger")
    assert "b" * 80 in text and "THE-END" not in text
    assert "$0.0000" in text, "what cost nothing is told from what has no price"
    assert "answer" in service.search().first().get_deferred_fields()
    few = statements("workers:ledger")
    for _ in range(30):
        make_call(make_endpoint())
    assert statements("workers:ledger") == few <= 8


def test_one_call_with_everything(page, make_call, make_endpoint, start):
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Wo?"}]
    body = {"model": "tiny", "messages": messages, "seed": 42}
    call = make_call(body=body, answer="Dort.", reasoning="Because.", cost=Decimal("0.001234"))
    told = {"outcome": "throttled", "status": 429, "headers": {"retry-after": "7"}, "problem": "Busy.", "waits": 7}
    Attempt.objects.create(call=call, number=1, sent_at=call.planned_at, **told)
    start(make_endpoint(), ["a-key"]).items.update(call=call, made=True, state="done")
    text = page("workers:call", call.uid).replace(" >", ">")
    for expected in ("Be short.", "Wo?", "42", "Dort.", "Because.", "$0.001234"):
        assert expected in text, expected
    for expected in ("throttled", "429", "retry-after", "Busy."):
        assert expected in text, expected
    # who asked says what for
    assert '<bdi>Trial</bdi></a> <span class="muted">trial, item <span class="mono">a-key</span>' in text


def test_long_texts_are_shown_in_part_and_downloaded_whole(admin, page, make_call):
    body = {"messages": [{"role": "user", "content": "p" * 19_999 + "…¶" + "p" * 40_000}], "task": {"t": "s" * 30_000}}
    call = make_call(body=body, answer="a" * 19_999 + "…¶", reasoning="r" * 20_001)
    text = page("workers:call", call.uid)
    # 20,000 characters end with the first of two marks that no key or token of the page can hold
    assert "a…<" in text and "p…<" in text and "…¶" not in text
    assert "The first 20,000 of 20,001 characters." in text and len(text) < 100_000
    for name, part in (("answer", "a…¶"), ("prompt", "…¶p"), ("reasoning", "r" * 20_001), ("settings", "s" * 30_000)):
        assert f'href="?text={name}"' in text
        response = admin.get(reverse("workers:call", args=[call.uid]), {"text": name})
        assert part in response.content.decode()
        assert response["Content-Type"] == "text/plain; charset=utf-8"
        assert response["Content-Disposition"] == f'attachment; filename="{call.uid}-{name}.txt"'
        assert response["X-Content-Type-Options"] == "nosniff"
    assert admin.get(reverse("workers:call", args=[call.uid]), {"text": "body"}).status_code == 404
    assert admin.get(reverse("workers:call", args=["nowhere"])).status_code == 404
    assert "characters." not in page("workers:call", make_call(answer="a" * 20_000).uid), "short ones are whole"
    assert len(page("workers:call", make_call(answer=json.dumps(["x" * 50] * 100_000)).uid)) < 80_000


def test_a_call_of_every_shape_has_a_page(page, make_call):
    for body in (
        {"model": "tiny", "system": [{"type": "text", "text": "Be short."}], "messages": []},
        {"model": "majority", "task": {"kind": "label"}, "sample": 0},
        {"messages": [{"role": "user", "content": "half a pair \ud800"}], "task": {"\udc00": ["\ud800"]}},
    ):
        assert page("workers:call", make_call(body=body).uid)
    deep = ["[" * 900 + "]" * 900, "[" * 100_000]
    for answer in ('{"a": "\\ud800", "\\udc00": ["\\ud800"]}', *deep, '{"a": ' + "9" * 5000 + "}", '{"a"'):
        assert page("workers:call", make_call(answer=answer).uid)


def test_questions_and_answers_are_text_and_nothing_else(page, make_call):
    body = {"messages": [{"role": HOSTILE, "content": HOSTILE}], HOSTILE: HOSTILE}
    plain = make_call(body=body, answer=HOSTILE, reasoning=HOSTILE, answered_by=HOSTILE, request_id=HOSTILE)
    as_json = make_call(answer=json.dumps({"a": HOSTILE}), problem=HOSTILE, handler=HOSTILE[:30])
    lost = {"number": 1, "outcome": "lost", "problem": HOSTILE, "headers": {HOSTILE: HOSTILE}}
    for call in (plain, as_json):
        Attempt.objects.create(call=call, sent_at=call.planned_at, **lost)
        assert escaped(page("workers:call", call.uid))
    assert escaped(page("workers:ledger")) and escaped(page("workers:ledger", text=HOSTILE))


def test_money_by_model_day_and_purpose(page, make_endpoint, make_call):
    assert "Nothing spent" in page("workers:spending")
    other, day = make_endpoint(name="other"), datetime(2026, 3, 5, 12, tzinfo=UTC)
    make_call(cost=None, finished_at=day)
    assert "<p> Unknown (1 call) for 1 answer, at the prices" in page("workers:spending")
    Call.objects.all().delete()
    make_call(cost=Decimal("1.5"), handler="prefill", finished_at=day)
    make_call(other, cost=Decimal("0.25"), handler="bench", finished_at=day, state="truncated")
    lost = make_call(other, state="failed", cost=Decimal(0), finished_at=day)
    Attempt.objects.create(call=lost, number=1, sent_at=day, outcome="unknown")
    # 1.5 + 0.25 of two answers; the failed call is none, its lost attempt may have been charged
    text = page("workers:spending")
    for part in ("$1.7500 for 2 answers", "1 answer was lost", "$1.5000", "$0.2500"):
        assert part in text, part
    by_day = page("workers:spending", by="day")
    assert "2026-03-05" in by_day and "$1.7500" in by_day
    assert "prefill" in page("workers:spending", by="handler") and page("workers:spending", by="nonsense")
    assert "$1.5000" in page("workers:endpoints")
    Call.objects.all().delete()
    make_call(cost=Decimal("0.0078"))  # small money is not rounded up to a cent
    for name in ("workers:spending", "workers:endpoints", "workers:ledger"):
        assert "$0.0078" in page(name) and "$0.01<" not in page(name) and "$0.01 " not in page(name), name
