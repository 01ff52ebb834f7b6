"""Each state machine moves along its named transitions alone: from any other state a transition changes nothing."""

from __future__ import annotations

import ast
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone

from workers.domain.outcomes import Outcome
from workers.models import (
    COMPLETED,
    IN_FLIGHT,
    OPEN,
    UNSENT,
    Attempt,
    Batch,
    BatchState,
    Call,
    CallState,
    EndpointRateLimit,
    Item,
    ItemState,
    Job,
    JobState,
    Worker,
    WorkerState,
)
from workers.providers import registry
from workers.services import batching, recovery
from workers.services.claims import claim
from workers.services.jobs import ACTIONS, cancel_job

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
ROOT = Path(__file__).resolve().parents[2]

IDLE = (CallState.PLANNED, CallState.FAILED, CallState.UNKNOWN)


def answer_as(state):
    def move(call: Call) -> None:
        call.take_answer(state, answer="late", finished_at=NOW)
        Call.objects.answer([call])

    return move


def fail_as(state):
    return lambda call: Call.objects.record_failures([(state, "No answer.", 2, 0, call.pk)])


def rows_of(row):
    return type(row).objects.filter(pk=row.pk)


CALLS = [
    ("reserve", lambda call: rows_of(call).reserve(None), IDLE, CallState.RESERVED),
    ("reprice", lambda call: Call.objects.reprice([(Decimal(7), call.pk)]), IDLE, None),
    ("release", lambda call: rows_of(call).release(), [CallState.RESERVED], CallState.PLANNED),
    ("count_attempt", lambda call: rows_of(call).count_attempt(), [*CallState], None),
    ("mark_sent", lambda call: Call.objects.mark_sent({call.pk: 0}, now=NOW), [CallState.RESERVED], CallState.SENT),
    *[("answer", answer_as(state), (*IDLE, *IN_FLIGHT), state) for state in COMPLETED],
    *[("record_failures", fail_as(state), IN_FLIGHT, state) for state in IDLE],
    ("lose", lambda call: rows_of(call).lose(problem="Gone."), [CallState.SENT], CallState.UNKNOWN),
    ("retry", lambda call: rows_of(call).retry(), [CallState.FAILED, CallState.UNKNOWN], CallState.PLANNED),
]

IN_HAND = (ItemState.CLAIMED, ItemState.BATCHED)
UNENDED = (JobState.RUNNING, JobState.PAUSED)


def deliver_as(state):
    return lambda item: Item.objects.deliver([(state, "", True, 0, 0, item.pk)], now=NOW)


def another_call(item):
    return Call.objects.exclude(pk=item.call_id).earliest("pk").pk


def reparse_as(state):
    return lambda item: Item.objects.reparse([(state, "", item.pk)])


def without_answer(item):
    """Return the rows of an item whose call was not answered: an answered one stays."""
    Call.objects.filter(items=item).update(state=CallState.FAILED)
    return rows_of(item)


ITEMS = [
    ("claim", lambda item: rows_of(item).claim(None), [ItemState.WAITING], ItemState.CLAIMED),
    ("postpone", lambda item: rows_of(item).postpone(NOW), [ItemState.WAITING], None),
    ("book", lambda item: rows_of(item).book(None), [ItemState.CLAIMED], None),
    ("batch", lambda item: rows_of(item).batch(), [ItemState.WAITING], ItemState.BATCHED),
    ("release", lambda item: rows_of(item).release(now=NOW), [ItemState.CLAIMED], ItemState.WAITING),
    ("wait_again", lambda item: Item.objects.wait_again([(NOW, "", 0, 0, True, item.pk)]), IN_HAND, ItemState.WAITING),
    ("fail_asked", lambda item: Item.objects.fail_asked([("No.", 0, 0, True, item.pk)], now=NOW), IN_HAND,
     ItemState.FAILED),
    ("fail_unasked", lambda item: Item.objects.fail_unasked({item.pk: "No."}, now=NOW), [ItemState.WAITING],
     ItemState.FAILED),
    *[("deliver", deliver_as(state), (*OPEN, ItemState.CANCELLED), state)
      for state in (ItemState.DONE, ItemState.UNREADABLE, ItemState.FAILED)],
    *[("reparse", reparse_as(state), [ItemState.DONE, ItemState.UNREADABLE], state)
      for state in (ItemState.DONE, ItemState.UNREADABLE)],
    ("attach", lambda item: Item.objects.attach({item.pk: another_call(item)}), [ItemState.WAITING], None),
    ("detach", lambda item: without_answer(item).detach(), (*UNSENT, ItemState.FAILED), None),
    ("hold", lambda item: rows_of(item).hold(), [ItemState.WAITING], ItemState.HELD),
    ("hold_failed", lambda item: rows_of(item).hold_failed(), [ItemState.FAILED], ItemState.HELD),
    ("free", lambda item: rows_of(item).free(start=NOW), [ItemState.HELD], ItemState.WAITING),
    ("cancel", lambda item: rows_of(item).cancel(now=NOW), [ItemState.WAITING, ItemState.HELD], ItemState.CANCELLED),
    ("retry", lambda item: rows_of(item).retry(start=NOW), [ItemState.FAILED], ItemState.WAITING),
]  # fmt: skip


JOBS = [
    ("pause", lambda job: rows_of(job).pause(note="Dear."), [JobState.RUNNING], JobState.PAUSED),
    ("note", lambda job: rows_of(job).note("Held."), [JobState.RUNNING], None),
    ("resume", lambda job: rows_of(job).resume(budget=Decimal(3)), [JobState.PAUSED], JobState.RUNNING),
    ("finish", lambda job: rows_of(job).finish(Outcome.PARTLY, now=NOW), UNENDED, JobState.FINISHED),
    ("change_outcome", lambda job: rows_of(job).change_outcome(Outcome.PARTLY), [JobState.FINISHED],
     JobState.FINISHED),
    ("reopen", lambda job: rows_of(job).reopen(), [JobState.FINISHED], JobState.RUNNING),
    ("cancel", lambda job: rows_of(job).cancel(now=NOW), (*UNENDED, JobState.PREPARING), JobState.CANCELLED),
    ("prepared", lambda job: rows_of(job).prepared(), [JobState.PREPARING], JobState.RUNNING),
    ("fail_preparation", lambda job: rows_of(job).fail_preparation("No.", now=NOW), [JobState.PREPARING],
     JobState.FINISHED),
    ("prepare_again", lambda job: rows_of(job).prepare_again(), [JobState.FINISHED], JobState.PREPARING),
    ("prepare_more", lambda job: rows_of(job).prepare_more(), [JobState.RUNNING, JobState.FINISHED],
     JobState.PREPARING),
]  # fmt: skip


WORKERS = [
    ("beat", lambda worker: rows_of(worker).beat(), [WorkerState.LIVE], None),
    ("leave", lambda worker: rows_of(worker).leave(), [WorkerState.LIVE], WorkerState.GONE),
    ("lose", lambda worker: rows_of(worker).lose(), [WorkerState.LIVE], WorkerState.LOST),
]
WITH_PROVIDER = (BatchState.SUBMITTING, BatchState.RUNNING)
BATCHES = [
    ("watch", lambda batch: rows_of(batch).watch(recovery.enter()), WITH_PROVIDER, None),
    ("unwatch", lambda batch: rows_of(batch).unwatch(), WITH_PROVIDER, None),
    ("count_done", lambda batch: rows_of(batch).count_done(3, now=NOW), [*BatchState], None),
    ("run", lambda batch: rows_of(batch).run("batch_1"), [BatchState.SUBMITTING], BatchState.RUNNING),
    ("end", lambda batch: rows_of(batch).end(), WITH_PROVIDER, BatchState.ENDED),
    ("end", lambda batch: rows_of(batch).end(problem="Expired."), WITH_PROVIDER, BatchState.FAILED),
]


def reaches(row, move, sources, target) -> None:
    """The row arrives at `target` from one of `sources` (None: its state stays, and other columns change), and from any
    other state stays as it is in every column."""
    before, values = row.state, list(rows_of(row).values())
    move(row)
    if before in sources:
        assert rows_of(row).get().state == (target or before)
        assert target or list(rows_of(row).values()) != values
    else:
        assert list(rows_of(row).values()) == values


def tried(table, states, make) -> None:
    """Try each transition from each state, on a row of its own that is rolled back."""
    for name, move, sources, target in table:
        for before in states:
            with transaction.atomic():
                row = make(before)
                try:
                    reaches(row, move, sources, target)
                except AssertionError as error:
                    raise AssertionError(f"{name} from {before}: {error}") from error
                transaction.set_rollback(True)


def test_a_call_moves_from_its_source_states_alone(make_call):
    tried(CALLS, CallState, lambda before: make_call(state=before))


def test_a_planned_call_has_the_defaults_and_leaves_the_one_with_its_key_alone(make_call):
    there = make_call(state="answered", answer="kept")
    fields = ("uid", "key", "endpoint", "provider", "model", "body", "planned_at")
    rest = (there.endpoint_id, "scripted", "tiny", "{}", timezone.now())
    Call.objects.plan(fields, [("new0", there.key, *rest), ("new1", "f" * 64, *rest)])
    assert Call.objects.get(key=there.key).answer == "kept"
    made = Call.objects.get(key="f" * 64)
    assert (made.uid, made.state, made.tries, made.usage_told, made.worker) == ("new1", "planned", 0, True, None)


def test_a_late_answer_keeps_the_first_one_as_it_is(make_call):
    call = make_call(state="sent", answer="")
    early, late = Call.objects.get(pk=call.pk), Call.objects.get(pk=call.pk)
    for call, text in ((early, "first"), (late, "second")):
        call.take_answer(CallState.ANSWERED, answer=text)
        Call.objects.answer([call])
    assert Call.objects.get(pk=call.pk).answer == "first"


def test_an_item_moves_from_its_source_states_alone(make_endpoint, make_call, start):
    def make(before):
        job = start(make_endpoint(), ["a"])
        make_call()
        Item.objects.filter(job=job).update(state=before, call=make_call())
        return Item.objects.get(job=job)

    tried(ITEMS, ItemState, make)


def test_a_released_item_of_a_cancelled_job_is_cancelled(make_endpoint, start):
    endpoint = make_endpoint()
    left, other = start(endpoint, ["a"]), start(endpoint, ["b"])
    Item.objects.all().claim(None)
    cancel_job(job=left, now=NOW)
    assert Item.objects.all().release(now=NOW) == 2
    assert Item.objects.get(job=left).state == ItemState.CANCELLED
    assert Item.objects.get(job=other).state == ItemState.WAITING


def cancel_while_it_is_bought(monkeypatch, module: str, job) -> None:
    """Somebody cancels the job after its items were read as waiting, before they are taken."""
    real = batching.affordable

    def affordable(items):
        cancel_job(job=job, now=NOW)
        return real(items)

    monkeypatch.setattr(f"workers.services.{module}.affordable", affordable)


def test_an_item_cancelled_while_it_is_claimed_is_not_asked(make_endpoint, start, monkeypatch):
    endpoint = make_endpoint()
    job = start(endpoint, ["a", "b"])
    cancel_while_it_is_bought(monkeypatch, "claims", job)
    worker, backend = recovery.enter(), registry.make(endpoint.spec)
    result = claim(worker=worker, endpoint=endpoint, backend=backend, room=5, now=timezone.now())
    assert result.claimed == []
    assert set(Item.objects.values_list("state", "worker")) == {("cancelled", None)}
    assert set(Call.objects.values_list("state", "worker")) == {("planned", None)}
    assert EndpointRateLimit.objects.get().state.get("booked", 0) == 0


def test_an_item_cancelled_while_it_is_batched_is_in_no_batch(make_endpoint, start, monkeypatch):
    endpoint = make_endpoint(batches=True)
    job = start(endpoint, ["a", "b"], batch=True)
    cancel_while_it_is_bought(monkeypatch, "batching", job)
    assert batching.make_batch(job=job, endpoint=endpoint, worker=recovery.enter(), now=timezone.now()) is None
    assert not Batch.objects.exists()
    assert set(Item.objects.values_list("state", flat=True)) == {"cancelled"}
    assert set(Call.objects.values_list("state", flat=True)) == {"planned"}


def test_a_job_moves_from_its_source_states_alone():
    def make(before):
        outcome = Outcome.FAILED if before == JobState.FINISHED else ""
        return Job.objects.create(handler="trial", title="Trial", state=before, outcome=outcome, note="Why.", budget=2)

    tried(JOBS, JobState, make)


def test_a_pause_and_a_resumption_keep_what_they_are_not_told():
    job = Job.objects.create(handler="trial", title="Trial", note="Why.", budget=2)
    rows_of(job).pause()
    assert rows_of(job).values_list("note", "budget").get() == ("Why.", 2)
    rows_of(job).resume()
    assert rows_of(job).values_list("note", "budget").get() == ("", 2)


def test_a_worker_ends_once():
    fields = {"host": "h", "pid": 1, "started_at": NOW, "heartbeat_at": NOW}
    tried(WORKERS, WorkerState, lambda before: Worker.objects.create(state=before, **fields))


def test_a_batch_moves_from_its_source_states_alone(make_endpoint):
    def make(before):
        job = Job.objects.create(handler="trial", title="Trial", batch=True)
        watcher = Worker.objects.create(host="h", pid=1, started_at=NOW, heartbeat_at=NOW)
        fields = {"endpoint": make_endpoint(), "provider_id": "there", "worker": watcher}
        return Batch.objects.create(job=job, state=before, **fields)

    tried(BATCHES, BatchState, make)


MACHINES = (Attempt, Batch, Call, Item, Job, Worker)
COLUMNS = {"state", "call", "not_before", "made", "reserved_cost", "attempts_made", "tries", "unknowns"}
"""Columns that transitions alone write, and no other model has."""


def writing_past(source: str) -> list[int]:
    """Return the lines that write rows of a state machine without one of its transitions: the model is named, or one of
    the columns is."""
    names = {model.__name__ for model in MACHINES}
    lines = []
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        if isinstance(call.func, ast.Name) and call.func.id == "update_rows":
            written = {node.id for node in ast.walk(call.args[0]) if isinstance(node, ast.Name)} & names
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "update" and call.keywords:
            model = {node.value.id for node in ast.walk(call.func) if is_manager(node)} & names
            written = model or {keyword.arg for keyword in call.keywords} & COLUMNS
        else:
            continue
        if written:
            lines.append(call.lineno)
    return lines


def is_manager(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "objects" and isinstance(node.value, ast.Name)


def test_rows_of_the_machines_are_written_by_their_transitions_alone():
    paths = [path for app in ("workers", "benchmark", "judge", "annotation") for path in (ROOT / app).rglob("*.py")]
    texts = {path: path.read_text("utf-8") for path in paths if not {"models", "migrations"} & {*path.parts}}
    assert len(texts) > 500
    spoken = {path: text for path, text in texts.items() if "update(" in text or "update_rows(" in text}
    assert {str(path): lines for path, text in spoken.items() if (lines := writing_past(text))} == {}


CAME = ("answered", NOW, 200, {}, "", "", 0.0)
ATTEMPTS = [
    ("close", lambda attempt: Attempt.objects.close([(*CAME, attempt.pk)]), "answered"),
    ("lose", lambda attempt: rows_of(attempt).lose(problem="Gone.", now=NOW), "unknown"),
]


def test_an_outcome_of_an_attempt_is_written_once(make_call):
    for _, move, outcome in ATTEMPTS:
        for before in ("", "unknown", "throttled"):
            attempt = Attempt.objects.create(call=make_call(), number=1, sent_at=NOW, outcome=before)
            move(attempt)
            assert rows_of(attempt).get().outcome == (before or outcome)


def test_attempts_begin_awaited_or_are_listed_as_lost(make_call):
    call = make_call()
    Attempt.objects.begin([(call.pk, 1)], worker=None, now=NOW)
    Attempt.objects.begin_lost([(call.pk, 2)], problem="Late.", now=NOW)
    columns = ("number", "outcome", "finished_at", "problem")
    assert [*Attempt.objects.values_list(*columns)] == [(1, "", None, ""), (2, "unknown", NOW, "Late.")]


def test_what_people_may_do_to_a_job_is_what_its_transitions_do():
    sources = {name: {*states} for name, _, states, _ in JOBS}
    assert {name: {*states} for name, states in ACTIONS.items() if name != "retry"} == {
        name: sources[name] for name in ("pause", "resume", "cancel")
    }
