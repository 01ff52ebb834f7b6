"""A setting that a server refuses is refused of every question: after a few the endpoint's items wait, the note names
our setting that cures it, and the corrected setting is what resumed items are asked with."""

from __future__ import annotations

import itertools
import json

import pytest
from django.core.management import call_command

from tests.servers.odd import Odd, OddServer
from tests.workers.test_holding import GOOD, states
from workers.domain.outcomes import Outcome
from workers.models import Call, Endpoint, Item, Job
from workers.providers import registry
from workers.providers.contract import Message, Request, Spec, for_endpoint
from workers.providers.errors import Unreadable
from workers.providers.parsing import parse_json
from workers.services.channels import Channel
from workers.services.endpoints import save_endpoint
from workers.services.holding import FEW
from workers.services.jobs import apply_action

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.xdist_group("waiting")]
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@pytest.fixture
def full(trial, monkeypatch):
    """Have every question use what a request can have."""

    def request(item):
        messages = (Message("system", "Be brief."), Message("user", item.key))
        return Request(messages, max_tokens=50, temperature=0.0, seed=7, schema=SCHEMA)

    monkeypatch.setattr(trial, "request", request)
    return trial


def refused_while(condition, message: str, *, status: int = 400):
    """A server that refuses a body of which the condition holds, and answers any other."""

    def reply(path: str, headers: dict, body: bytes) -> Odd:
        if condition(json.loads(body)):
            return Odd(status, json.dumps({"error": {"message": message, "code": status}}).encode())
        return Odd(200, json.dumps(GOOD).encode())

    return reply


CURES = {
    "max_tokens": (
        lambda body: "max_tokens" in body,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        {"options": {"max_tokens_field": "max_completion_tokens"}},
    ),
    "temperature": (
        lambda body: "temperature" in body,
        "Unsupported value: 'temperature' does not support 0 with this model.",
        {"sets_temperature": False},
    ),
    "system role": (
        lambda body: body["messages"][0]["role"] == "system",
        "System role not supported",
        {"no_system_role": True},
    ),
    "json_schema": (
        lambda body: "response_format" in body,
        "This response_format type is unavailable now",
        {"json_schema": False},
    ),
    "effort": (
        lambda body: "reasoning_effort" in body,
        "Unrecognized request argument supplied: reasoning_effort",
        {"options": {}},
    ),
    "seed": (
        lambda body: "seed" in body,
        "Extra inputs are not permitted, field: 'seed'",
        {"options": {"seed": False}},
    ),
    "extra_body": (lambda body: "top_k" in body, "Unknown parameter: 'top_k'.", {"options": {}}),
}


@pytest.mark.parametrize(
    "name", [name if name == "max_tokens" else pytest.param(name, marks=pytest.mark.once) for name in CURES]
)
def test_a_refused_setting_holds_until_it_is_changed(name, full, make_endpoint, start, run_worker):
    condition, message, cure = CURES[name]
    options = {"effort": {"reasoning_effort": "low"}, "extra_body": {"extra_body": {"top_k": 4}}}.get(name, {})
    with OddServer(refused_while(condition, message)) as server:
        endpoint = make_endpoint(
            "openai", name="small", base_url=server.url + "/v1", max_concurrency=2, options=options
        )
        job = start(endpoint, [f"q{at}" for at in range(60)])
        run_worker()
        job.refresh_from_db()
        assert (job.state, states(job)) == ("paused", {"held": 60})
        assert FEW <= server.asked <= FEW + 4
        assert job.note.startswith("small: The ") and "then resume." in job.note and message[:20] in job.note
        save_endpoint(by="alice", endpoint=endpoint, values=cure)
        assert not Item.objects.filter(call__isnull=False).exists()  # nothing waits with the former settings
        assert apply_action(job, "resume") == ""
        run_worker()
        assert server.asked <= 60 + FEW + 4
    job.refresh_from_db()
    assert (job.state, job.outcome, job.note, states(job)) == ("finished", Outcome.FINISHED, "", {"done": 60})
    assert not any(condition(call.request) for call in Call.objects.filter(state="answered"))


def asked_by(server: OddServer, make_endpoint, start, run_worker, count: int, **fields) -> Job:
    """A job of so many questions to the server, one at a time, worked off."""
    fields = {"name": "small", "max_concurrency": 1, **fields}
    job = start(make_endpoint("openai", base_url=server.url + "/v1", **fields), [f"q{at}" for at in range(count)])
    run_worker()
    job.refresh_from_db()
    return job


def test_the_page_says_what_to_change(full, make_endpoint, start, run_worker, page):
    condition, message, _ = CURES["system role"]
    with OddServer(refused_while(condition, message, status=500)) as server:
        job = asked_by(server, make_endpoint, start, run_worker, 40)
    text = page("workers:job", job.uid)
    assert "40 held back" in text and "tick “has no system role” on the model" in text and "Resume" in text


def test_event_streams_hold_the_endpoint_until_the_server_answers_whole(make_endpoint, start, run_worker):
    """They may have been paid: what a person resumes is asked again all the same."""
    streams = [True]
    stream = Odd(200, b"data: [DONE]\n\n", {"content-type": "text/event-stream"})
    with OddServer(lambda *_: stream if streams else Odd(200, json.dumps(GOOD).encode())) as server:
        job = asked_by(server, make_endpoint, start, run_worker, 9, repeat_unknown=0)
        assert (job.state, states(job)) == ("paused", {"held": 9}) and server.asked <= FEW + 1
        assert job.note.startswith("small: The server streams its answers: have it, or the gateway before it, answer")
        streams.clear()
        assert apply_action(job, "resume") == ""
        run_worker()
    assert states(job) == {"done": 9}


def test_refusals_that_answers_or_others_part_hold_nothing(full, make_endpoint, start, run_worker):
    """Where one question in two is refused, or each for another reason, the fault lies with the question."""
    messages = [CURES[name][1] for name in ("temperature", "seed", "system role")]
    turns = itertools.count()

    def in_turn(path: str, headers: dict, body: bytes) -> Odd:
        return Odd(400, json.dumps({"error": {"message": messages[next(turns) % 3]}}).encode())

    for reply, count, found in (
        (refused_while(lambda body: next(turns) % 2, messages[0]), 10, {"done": 5, "failed": 5}),
        (in_turn, 9, {"failed": 9}),
    ):
        with OddServer(reply) as server:
            job = asked_by(server, make_endpoint, start, run_worker, count, name=f"of-{count}", model=f"of-{count}")
        assert (job.state, states(job)) == ("finished", found)


def test_refusals_of_one_job_count_for_the_next(full, make_endpoint, start, run_worker):
    """They are counted in the database, whichever worker made the call."""
    condition, message, _ = CURES["temperature"]
    with OddServer(refused_while(condition, message)) as server:
        endpoint = make_endpoint("openai", name="small", base_url=server.url + "/v1", max_concurrency=1)
        first = start(endpoint, ["a", "b"])
        run_worker()
        second = start(endpoint, [f"q{at}" for at in range(9)])
        run_worker()
        assert server.asked <= FEW + 1  # the next call is claimed meanwhile
    assert (states(first), states(second)) == ({"failed": 2}, {"held": 9})


def test_a_batch_that_is_refused_waits_too(full, make_endpoint, start, run_worker, monkeypatch):
    """A batch whose requests are refused one by one."""
    from workers.providers.contract import BatchStatus
    from workers.providers.statuses import of_status

    refusal = {"error": {"message": CURES["temperature"][1], "param": "temperature"}}

    class Batches:
        async def submit(self, uid, bodies):
            self.ids = [custom_id for custom_id, _ in bodies]
            return "batch_1"

        async def find(self, uid):
            return None

        async def status(self, batch_id):
            return BatchStatus(ended=True)

        async def results(self, batch_id):
            for custom_id in self.ids:
                yield custom_id, of_status(400, refusal, json.dumps(refusal), {})

    batches = Batches()
    monkeypatch.setattr("workers.providers.registry.make_batches", lambda *_, **__: batches)
    job = start(make_endpoint("openai", name="small", batches=True), [f"q{at}" for at in range(8)], batch=True)
    run_worker()
    job.refresh_from_db()
    assert (job.state, states(job)) == ("paused", {"held": 8})
    assert "switch “takes a temperature” off" in job.note


def test_a_worker_takes_changed_settings_while_it_runs(full, make_endpoint):
    endpoint = make_endpoint("openai", base_url="http://127.0.0.1:9/v1")
    channel = Channel(endpoint, registry.make(endpoint.spec))
    before = channel.backend
    channel.renew(Endpoint.objects.get(pk=endpoint.pk))
    assert channel.backend is before
    save_endpoint(by="alice", endpoint=endpoint, values={"sets_temperature": False})
    channel.renew(Endpoint.objects.get(pk=endpoint.pk))
    assert channel.replaced == [before]
    assert "temperature" not in channel.backend.body(Request((), max_tokens=5, temperature=0.0))


def test_answered_items_keep_their_calls(make_endpoint, start, run_worker):
    endpoint = make_endpoint("scripted", options={"script": [{"when": "bad", "fail": "rejected"}], "default": "yes"})
    job = start(endpoint, ["a", "bad"])
    run_worker()
    save_endpoint(by="alice", endpoint=endpoint, values={"sets_temperature": False})
    assert {item.key: item.call_id is not None for item in Item.objects.filter(job=job)} == {"a": True, "bad": False}


# --- no system role
# ---------------------------------------------------------------------------------------------------------------------


def asked(*messages: tuple[str, str], **spec) -> list[tuple[str, str]]:
    request = Request(tuple(Message(*message) for message in messages), max_tokens=5)
    changed = for_endpoint(request, Spec("openai", "tiny", **spec))
    return [(message.role, message.content) for message in changed.messages]


def test_the_system_text_goes_before_the_first_user_message():
    system, user, assistant = ("system", "Be brief."), ("user", "Who?"), ("assistant", "Mia.")
    cases = [
        ([system, user], [("user", "Be brief.\n\nWho?")]),
        ([system, user, assistant, user], [("user", "Be brief.\n\nWho?"), assistant, user]),
        ([system, ("system", "In English."), user], [("user", "Be brief.\n\nIn English.\n\nWho?")]),
        ([system, assistant, user], [assistant, ("user", "Be brief.\n\nWho?")]),
        ([system], [("user", "Be brief.")]),
        ([user, assistant], [user, assistant]),
    ]
    for messages, expected in cases:
        assert asked(*messages, no_system_role=True) == expected
        assert asked(*messages) == messages


@pytest.mark.parametrize("provider", ["openai", "anthropic", "vllm"])
def test_no_provider_sends_a_system_text(provider, full, make_endpoint, start, run_worker):
    bodies = []

    def reply(path: str, headers: dict, body: bytes) -> Odd:
        bodies.append(json.loads(body))
        return Odd(200, json.dumps(GOOD).encode())

    with OddServer(reply) as server:
        tail = "" if provider == "anthropic" else "/v1"
        start(make_endpoint(provider, base_url=server.url + tail, no_system_role=True), ["Who?"])
        run_worker()
    (body,) = bodies
    assert body["messages"] == [{"role": "user", "content": "Be brief.\n\nWho?"}] and "system" not in body
    assert "system" not in Call.objects.get().request  # the canonical body, which the key of the ledger is made of


def test_the_setting_is_on_page_command_and_api(admin, page, cast, make_endpoint):
    from tests.api.conftest import token_of

    call_command("add_endpoint", "gemma", provider="openai", model="gemma-2", no_system_role="yes")
    assert Endpoint.objects.get().no_system_role
    text = page("workers:endpoint", "gemma")
    assert "Has no system role" in text or "has no system role" in text
    header = {"Authorization": f"Token {token_of(cast.charlie)}"}
    body = {"name": "mistral", "provider": "openai", "model": "mistral-0.1", "no_system_role": True}
    made = admin.post("/api/v1/endpoints/", json.dumps(body), content_type="application/json", headers=header)
    assert made.status_code == 201 and made.json()["no_system_role"] is True
    shown = admin.get("/api/v1/endpoints/gemma/", headers=header).json()
    assert shown["no_system_role"] is True


# --- what comes before or instead of JSON
# ---------------------------------------------------------------------------------------------------------------------


def test_a_byte_order_mark_is_harmless(make_endpoint, start, run_worker):
    with OddServer(lambda *_: Odd(200, b"\xef\xbb\xbf" + json.dumps(GOOD).encode())) as server:
        job = start(make_endpoint("openai", base_url=server.url + "/v1"), ["a"])
        run_worker()
    assert states(job) == {"done": 1}


def test_an_event_stream_is_called_that(make_endpoint, start, run_worker):
    stream = b'data: {"choices": [{"delta": {"content": "yes"}}]}\n\ndata: [DONE]\n\n'
    streams = [
        (stream, "application/json"), (b"\xef\xbb\xbf" + stream, ""), (b": PROCESSING\n\n" + stream, ""),
        (b"event: message_start\n" + stream, ""), (b"", "text/event-stream; charset=utf-8"), (b"\n" + stream, ""),
    ]  # fmt: skip
    for body, media_type in streams:
        with pytest.raises(Unreadable, match="The answer is an event stream, which nobody asked for"):
            parse_json(body, media_type)
    assert parse_json(b'{"choices": []}', "text/event-stream") == {"choices": []}
    with OddServer(lambda *_: Odd(200, stream, {"content-type": "text/event-stream"})) as server:
        for provider, tail in (("openai", "/v1"), ("anthropic", "")):
            endpoint = make_endpoint(provider, base_url=server.url + tail, repeat_unknown=0)
            job = start(endpoint, [provider])
            run_worker()
            assert "The answer is an event stream" in Item.objects.get(job=job).problem
