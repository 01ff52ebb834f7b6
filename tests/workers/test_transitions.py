"""Each state machine moves along its named transitions alone: from any other state a transition changes nothing."""

from __future__ import annotations

import inspect

import pytest
from django.utils import timezone

from workers.models import COMPLETED, IN_FLIGHT, Call, CallState

pytestmark = pytest.mark.django_db

IDLE = (CallState.PLANNED, CallState.FAILED, CallState.UNKNOWN)


def answer_as(state):
    def move(call: Call) -> None:
        call.take_answer(state, answer="late", finished_at=timezone.now())
        Call.objects.answer([call])

    return move


def fail_as(state):
    return lambda call: Call.objects.record_failures([(state, "No answer.", 2, 0, call.pk)])


def rows_of(row):
    return type(row).objects.filter(pk=row.pk)


CALLS = [
    ("reserve", lambda call: rows_of(call).reserve(None), IDLE, CallState.RESERVED),
    ("release", lambda call: rows_of(call).release(), [CallState.RESERVED], CallState.PLANNED),
    ("mark_sent", lambda call: rows_of(call).mark_sent(now=timezone.now()), [CallState.RESERVED], CallState.SENT),
    *[("answer", answer_as(state), (*IDLE, *IN_FLIGHT), state) for state in COMPLETED],
    *[("record_failures", fail_as(state), IN_FLIGHT, state) for state in IDLE],
    ("lose", lambda call: rows_of(call).lose(problem="Gone."), [CallState.SENT], CallState.UNKNOWN),
    ("retry", lambda call: rows_of(call).retry(), [CallState.FAILED, CallState.UNKNOWN], CallState.PLANNED),
]


def reaches(row, move, sources, target) -> None:
    """The row arrives at `target` from one of `sources`, and from any other state stays as it is in every column."""
    before, held = row.state, list(rows_of(row).values())
    move(row)
    if before in sources:
        assert rows_of(row).get().state == target
    else:
        assert list(rows_of(row).values()) == held


def writers(queryset: type) -> set[str]:
    """The methods of a queryset that write."""
    texts = {name: inspect.getsource(one) for name, one in vars(queryset).items() if inspect.isfunction(one)}
    return {name for name, text in texts.items() if any(word in text for word in ("update(", "_rows(", "_missing("))}


@pytest.mark.parametrize("before", CallState)
@pytest.mark.parametrize("transition", CALLS, ids=lambda one: f"{one[0]}-{one[3]}")
def test_a_call_moves_from_its_source_states_alone(make_call, transition, before):
    _, move, sources, target = transition
    reaches(make_call(state=before), move, sources, target)


def test_every_transition_of_calls_is_tried():
    assert writers(type(Call.objects.all())) == {name for name, *_ in CALLS} | {"plan"}  # plan makes the row


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
    for one, text in ((early, "first"), (late, "second")):
        one.take_answer(CallState.ANSWERED, answer=text)
        Call.objects.answer([one])
    assert Call.objects.get(pk=call.pk).answer == "first"
