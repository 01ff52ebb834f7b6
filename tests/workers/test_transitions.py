"""Each state machine moves along its named transitions alone: from any other state a transition changes nothing."""

import ast
import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone

from workers.domain.outcomes import Outcome
from workers.models.batch import Batch, BatchState
from workers.models.call import COMPLETED, IN_FLIGHT, Attempt, Call, CallState
from workers.models.endpoint import EndpointRateLimit
from workers.models.item import OPEN, UNSENT, Item, ItemState
from workers.models.job import Job, JobState
from workers.models.worker import Worker, WorkerState
from workers.providers import registry
from workers.services import batching, recovery
from workers.services.claims import claim
from workers.services.jobs import ACTIONS, cancel_job

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
IDLE = (CallState.PLANNED, CallState.FAILED, CallState.UNKNOWN)
GIVEN_UP = (CallState.FAILED, CallState.UNKNOWN)


def rows_of(row):
    return type(row).objects.filter(pk=row.pk)


def on_rows(name: str, *given, **named):
    """The transition `name` of the rows of one record."""
    return lambda row: getattr(rows_of(row), name)(*given, **named)


def answer_as(state):
    def move(call: Call) -> None:
        call.take_answer(state, answer="late", finished_at=NOW)
        Call.objects.answer([call])

    return move


def fail_as(state):
    return lambda call: Call.objects.record_failures([(state, "No answer.", 2, 0, call.pk)])


CALLS = [
    ("reserve", on_rows("reserve", None), IDLE, CallState.RESERVED),
    ("reprice", lambda call: Call.objects.reprice([(Decimal(7), call.pk)]), IDLE, None),
    ("release", on_rows("release"), [CallState.RESERVED], CallState.PLANNED),
    ("count_attempt", on_rows("count_attempt"), [*CallState], None),
    ("mark_sent", lambda call: Call.objects.mark_sent({call.pk: 0}, now=NOW), [CallState.RESERVED], CallState.SENT),
    *[("answer", answer_as(state), (*IDLE, *IN_FLIGHT), state) for state in COMPLETED],
    *[("record_failures", fail_as(state), IN_FLIGHT, state) for state in IDLE],
    ("lose", on_rows("lose", problem="Gone."), [CallState.SENT], CallState.UNKNOWN),
    ("retry", on_rows("retry"), GIVEN_UP, CallState.PLANNED),
]
WAITING, HELD, FAILED = ItemState.WAITING, ItemState.HELD, ItemState.FAILED
DONE, UNREADABLE = ItemState.DONE, ItemState.UNREADABLE
IN_HAND = (ItemState.CLAIMED, ItemState.BATCHED)


def deliver_as(state):
    return lambda item: Item.objects.deliver([(state, "", True, 0, 0, item.pk)], now=NOW)


def reparse_as(state):
    return lambda item: Item.objects.reparse([(state, "", item.pk)])


def attach_another(item):
    Item.objects.attach({item.pk: Call.objects.exclude(pk=item.call_id).earliest("pk").pk})


def detach_unanswered(item):
    """An answered call stays."""
    Call.objects.filter(items=item).update(state=CallState.FAILED)
    rows_of(item).detach()


ITEMS = [
    ("claim", on_rows("claim", None), [WAITING], ItemState.CLAIMED),
    ("postpone", on_rows("postpone", NOW), [WAITING], None),
    ("book", on_rows("book", None), [ItemState.CLAIMED], None),
    ("batch", on_rows("batch"), [WAITING], ItemState.BATCHED),
    ("release", on_rows("release", now=NOW), [ItemState.CLAIMED], WAITING),
    ("wait_again", lambda item: Item.objects.wait_again([(NOW, "", 0, 0, True, item.pk)]), IN_HAND, WAITING),
    ("fail_asked", lambda item: Item.objects.fail_asked([("No.", 0, 0, True, item.pk)], now=NOW), IN_HAND, FAILED),
    ("fail_unasked", lambda item: Item.objects.fail_unasked({item.pk: "No."}, now=NOW), [WAITING], FAILED),
    *[("deliver", deliver_as(state), (*OPEN, ItemState.CANCELLED), state) for state in (DONE, UNREADABLE, FAILED)],
    *[("reparse", reparse_as(state), [DONE, UNREADABLE], state) for state in (DONE, UNREADABLE)],
    ("attach", attach_another, [WAITING], None),
    ("detach", detach_unanswered, (*UNSENT, FAILED), None),
    ("hold", on_rows("hold"), [WAITING], HELD),
    ("hold_failed", on_rows("hold_failed"), [FAILED], HELD),
    ("free", on_rows("free", start=NOW), [HELD], WAITING),
    ("cancel", on_rows("cancel", now=NOW), [WAITING, HELD], ItemState.CANCELLED),
    ("retry", on_rows("retry", start=NOW), [FAILED], WAITING),
]
PREPARING, RUNNING, PAUSED, FINISHED = JobState.PREPARING, JobState.RUNNING, JobState.PAUSED, JobState.FINISHED
JOBS = [
    ("pause", on_rows("pause", note="Dear."), [RUNNING], PAUSED),
    ("note", on_rows("note", "Held."), [RUNNING], None),
    ("resume", on_rows("resume", budget=Decimal(3)), [PAUSED], RUNNING),
    ("finish", on_rows("finish", Outcome.PARTLY, now=NOW), (RUNNING, PAUSED), FINISHED),
    ("change_outcome", on_rows("change_outcome", Outcome.PARTLY), [FINISHED], FINISHED),
    ("reopen", on_rows("reopen"), [FINISHED], RUNNING),
    ("cancel", on_rows("cancel", now=NOW), (RUNNING, PAUSED, PREPARING), JobState.CANCELLED),
    ("prepared", on_rows("prepared"), [PREPARING], RUNNING),
    ("fail_preparation", on_rows("fail_preparation", "No.", now=NOW), [PREPARING], FINISHED),
    ("prepare_again", on_rows("prepare_again"), [FINISHED], PREPARING),
    ("prepare_more", on_rows("prepare_more"), [RUNNING, FINISHED], PREPARING),
]
WORKERS = [
    ("beat", on_rows("beat"), [WorkerState.LIVE], None),
    ("leave", on_rows("leave"), [WorkerState.LIVE], WorkerState.GONE),
    ("lose", on_rows("lose"), [WorkerState.LIVE], WorkerState.LOST),
]
WITH_PROVIDER = (BatchState.SUBMITTING, BatchState.RUNNING)
BATCHES = [
    ("watch", lambda batch: rows_of(batch).watch(recovery.enter()), WITH_PROVIDER, None),
    ("unwatch", on_rows("unwatch"), WITH_PROVIDER, None),
    ("count_done", on_rows("count_done", 3, now=NOW), [*BatchState], None),
    ("run", on_rows("run", "batch_1"), [BatchState.SUBMITTING], BatchState.RUNNING),
    ("end", on_rows("end"), WITH_PROVIDER, BatchState.ENDED),
    ("end", on_rows("end", problem="Expired."), WITH_PROVIDER, BatchState.FAILED),
]
CAME = ("answered", NOW, 200, {}, "", "", 0.0)
ATTEMPTS = [
    ("close", lambda attempt: Attempt.objects.close([(*CAME, attempt.pk)]), "answered"),
    ("lose", on_rows("lose", problem="Gone.", now=NOW), "unknown"),
]


def tried(table, states, make) -> None:
    """Try each transition from each state, on a row of its own that is rolled back: the row arrives at the target from
    one of the sources (None: its state stays, and other columns change), and from any other state stays as it is in
    every column."""
    for name, move, sources, target in table:
        for before in states:
            with transaction.atomic():
                row = make(before)
                values = list(rows_of(row).values())
                move(row)
                if before in sources:
                    assert rows_of(row).get().state == (target or before), (name, before)
                    assert target or list(rows_of(row).values()) != values, (name, before)
                else:
                    assert list(rows_of(row).values()) == values, (name, before)
                transaction.set_rollback(True)


def test_every_row_moves_from_its_source_states_alone(make_call, make_endpoint, start):
    def item(before) -> Item:
        job = start(make_endpoint(), ["a"])
        make_call()
        Item.objects.filter(job=job).update(state=before, call=make_call())
        return Item.objects.get(job=job)

    def job(before, **fields) -> Job:
        fields = {"state": before, "outcome": Outcome.FAILED if before == FINISHED else "", "note": "Why.", **fields}
        return Job.objects.create(handler="trial", title="Trial", budget=2, **fields)

    def worker(before) -> Worker:
        return Worker.objects.create(state=before, host="h", pid=1, started_at=NOW, heartbeat_at=NOW)

    def batch(before) -> Batch:
        fields = {"endpoint": make_endpoint(), "provider_id": "there", "worker": worker(WorkerState.LIVE)}
        return Batch.objects.create(job=job(RUNNING, batch=True), state=before, **fields)

    tried(CALLS, CallState, lambda before: make_call(state=before))
    tried(ITEMS, ItemState, item)
    tried(JOBS, JobState, job)
    tried(WORKERS, WorkerState, worker)
    tried(BATCHES, BatchState, batch)
    for name, move, outcome in ATTEMPTS:  # an outcome is written once
        for before in ("", "unknown", "throttled"):
            attempt = Attempt.objects.create(call=make_call(), number=1, sent_at=NOW, outcome=before)
            move(attempt)
            assert rows_of(attempt).get().outcome == (before or outcome), (name, before)
    # what people may do to a job is what its transitions do
    sources = {name: {*states} for name, _, states, _ in JOBS}
    people = {name: {*states} for name, states in ACTIONS.items() if name != "retry"}
    assert people == {name: sources[name] for name in ("pause", "resume", "cancel")}
    # a pause and a resumption keep what they are not told
    there = job(RUNNING)
    for move, note in (("pause", "Why."), ("resume", "")):
        getattr(rows_of(there), move)()
        assert rows_of(there).values_list("note", "budget").get() == (note, 2)


def test_a_planned_call_leaves_the_one_with_its_key_alone_and_a_late_answer_the_first(make_call):
    there = make_call(state="answered", answer="kept")
    fields = ("uid", "key", "endpoint", "provider", "model", "body", "planned_at")
    rest = (there.endpoint_id, "scripted", "tiny", "{}", timezone.now())
    Call.objects.plan(fields, [("new0", there.key, *rest), ("new1", "f" * 64, *rest)])
    assert Call.objects.get(key=there.key).answer == "kept"
    made = Call.objects.get(key="f" * 64)
    assert (made.uid, made.state, made.tries, made.usage_told, made.worker) == ("new1", "planned", 0, True, None)
    call = make_call(state="sent", answer="")
    early, late = Call.objects.get(pk=call.pk), Call.objects.get(pk=call.pk)
    for call, text in ((early, "first"), (late, "second")):
        call.take_answer(CallState.ANSWERED, answer=text)
        Call.objects.answer([call])
    assert rows_of(call).get().answer == "first"


def test_attempts_begin_awaited_or_are_listed_as_lost(make_call):
    call = make_call()
    Attempt.objects.begin([(call.pk, 1)], worker=None, now=NOW)
    Attempt.objects.begin_lost([(call.pk, 2)], problem="Late.", now=NOW)
    columns = ("number", "outcome", "finished_at", "problem")
    assert [*Attempt.objects.values_list(*columns)] == [(1, "", None, ""), (2, "unknown", NOW, "Late.")]


def test_a_released_item_of_a_cancelled_job_is_cancelled(make_endpoint, start):
    endpoint = make_endpoint()
    left, other = start(endpoint, ["a"]), start(endpoint, ["b"])
    Item.objects.all().claim(None)
    cancel_job(job=left, now=NOW)
    assert Item.objects.all().release(now=NOW) == 2
    assert (Item.objects.get(job=left).state, Item.objects.get(job=other).state) == (ItemState.CANCELLED, WAITING)


@pytest.mark.parametrize("module", ["claims", "batching"])
def test_an_item_cancelled_while_it_is_taken_is_not_asked(make_endpoint, start, monkeypatch, module):
    """Somebody cancels the job after its items were read as waiting, before they are taken."""
    endpoint, real = make_endpoint(batches=True), batching.affordable
    job = start(endpoint, ["a", "b"], batch=module == "batching")

    def affordable(items):
        cancel_job(job=job, now=NOW)
        return real(items)

    monkeypatch.setattr(f"workers.services.{module}.affordable", affordable)
    worker, now = recovery.enter(), timezone.now()
    if module == "claims":
        backend = registry.make(endpoint.spec)
        assert claim(worker=worker, endpoint=endpoint, backend=backend, room=5, now=now).claimed == []
    else:
        assert batching.make_batch(job=job, endpoint=endpoint, worker=worker, now=now) is None
    assert not Batch.objects.exists() and EndpointRateLimit.objects.get().state.get("booked", 0) == 0
    assert set(Item.objects.values_list("state", "worker")) == {("cancelled", None)}
    assert set(Call.objects.values_list("state", "worker")) == {("planned", None)}


# --- nobody writes rows past the transitions

MACHINES = {"Attempt", "Batch", "Call", "Item", "Job", "Worker"}
COLUMNS = {"state", "call", "not_before", "made", "reserved_cost", "attempts_made", "tries", "unknowns"}
"""Columns that transitions alone write, and no other model has."""


def writes_past(call: ast.AST) -> bool:
    """Whether it writes rows of a machine without a transition: the model is named, or one of the columns is."""
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Name) and call.func.id == "update_rows":
        return any(isinstance(node, ast.Name) and node.id in MACHINES for node in ast.walk(call.args[0]))
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "update" and call.keywords):
        return False
    manager = re.search(r"\b(\w+)\.objects\b", ast.unparse(call.func))
    return bool(manager and manager[1] in MACHINES) or any(one.arg in COLUMNS for one in call.keywords)


def test_rows_of_the_machines_are_written_by_their_transitions_alone():
    root = Path(__file__).resolve().parents[2]
    paths = [path for app in ("workers", "benchmark", "judge", "annotation") for path in (root / app).rglob("*.py")]
    texts = {path: path.read_text("utf-8") for path in paths if not {"models", "migrations"} & {*path.parts}}
    assert len(texts) > 500
    trees = {path: ast.parse(text) for path, text in texts.items() if "update(" in text or "update_rows(" in text}
    found = [f"{path}:{node.lineno}" for path, tree in trees.items() for node in ast.walk(tree) if writes_past(node)]
    assert found == []
