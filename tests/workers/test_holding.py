"""What cannot succeed is not asked again and again: a wrong key, model or address, an empty account and a setting that
a server refuses hold an endpoint's items back; the note names the cure, and resumed items are asked with what was
corrected."""

import itertools
import json
import re

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command

from tests.servers.odd import GOOD, Odd, OddServer
from tests.workers.conftest import states
from workers.models import Attempt, Call, Endpoint, Item, Job
from workers.providers import registry
from workers.providers.contract import BatchStatus, Message, Request, Spec, for_endpoint
from workers.providers.errors import Unreadable
from workers.providers.parsing import parse_json
from workers.providers.statuses import of_status
from workers.services import jobs
from workers.services.channels import Channel
from workers.services.endpoints import save_endpoint
from workers.services.holding import FEW
from workers.services.jobs import apply_action

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.xdist_group("waiting")]
ONCE = pytest.mark.once  # how a provider words it is no matter of the database
KEYS = [f"q{at}" for at in range(12)]


@pytest.fixture
def holds(worked, run_worker):
    """A job is held back after a few calls, its note begins so, and once it is mended and resumed it is answered:
    `holds(server, endpoint, "small: …", mend)`."""

    def check(server: OddServer, endpoint: Endpoint, note: str, mend) -> Job:
        job = worked(endpoint, KEYS)
        assert job.state == "paused" and job.note.startswith(note), job.note
        assert states(job) == {"held": 12}  # those that had failed wait with the others
        assert FEW <= server.asked <= FEW + 4  # two are under way, and two more when the third is written down
        told = job.note
        mend()
        assert apply_action(job, "resume") == ""
        run_worker()
        assert server.asked <= 12 + FEW + 4
        job.refresh_from_db()
        assert (job.state, job.outcome, job.note, states(job)) == ("finished", "finished", "", {"done": 12})
        return told

    return check


def error(message: str, **more) -> dict:
    return {"error": {"message": message, **more}}


QUOTA = "The provider says that the quota is exhausted: top it up, then resume."
MODEL = "The provider does not know this model: correct its name on the model's page, then resume."
ADDRESS = "No model answers at this address: correct it on the model's page, then resume."
CAUSES = {
    "openai": (402, error("Payment required."), QUOTA),
    "anthropic": (404, {"type": "error"} | error("model: x", type="not_found_error"), MODEL),
    "vllm": (404, {"detail": "Not Found"}, ADDRESS),
}


@pytest.mark.parametrize("provider", ["openai", *(pytest.param(name, marks=ONCE) for name in ("anthropic", "vllm"))])
def test_what_no_call_can_pass_pauses_after_a_few(make_endpoint, holds, provider):
    status, body, advice = CAUSES[provider]
    with OddServer(Odd(status, body)) as server:
        endpoint = make_endpoint(provider, name="small", base_url=server.url + "/v1", max_concurrency=2)
        mend = lambda: setattr(server, "reply", Odd(body=GOOD))  # noqa: E731
        holds(server, endpoint, f"small: {advice} (HTTP {status}", mend)


def refused_while(condition, message: str, *, status: int = 400):
    """A server that refuses a body of which the condition holds, and answers any other."""

    def reply(path: str, headers: dict, body: bytes) -> Odd:
        return Odd(status, error(message, code=status)) if condition(json.loads(body)) else Odd(body=GOOD)

    return reply


TEMPERATURE = "Unsupported value: 'temperature' does not support 0 with this model."


@pytest.fixture
def full(trial, monkeypatch):
    """Have every question use what a request can have."""
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

    def request(item):
        messages = (Message("system", "Be brief."), Message("user", item.key))
        return Request(messages, max_tokens=50, temperature=0.0, seed=7, schema=schema)

    monkeypatch.setattr(trial, "request", request)


def test_a_refused_setting_holds_until_it_is_changed(full, make_endpoint, holds, page):
    """Whatever the setting is: all requests are refused, in the same words, before any was answered."""
    with OddServer(refused_while(lambda body: "temperature" in body, TEMPERATURE)) as server:
        fields = {"base_url": server.url + "/v1", "max_concurrency": 2}
        endpoint = make_endpoint("openai", name="small", **fields)

        def mend() -> None:
            assert "12 held back" in (text := page("workers:job", Job.objects.get().uid)) and "Resume" in text
            save_endpoint(by="alice", endpoint=endpoint, values={"sets_temperature": False})
            assert not Item.objects.filter(call__isnull=False).exists()  # nothing waits with the former settings

        told = holds(server, endpoint, "small: Every request is refused in the same words: change the setting", mend)
        assert f"(HTTP 400: {TEMPERATURE[:-1]}" in told


def test_event_streams_hold_the_endpoint_until_the_server_answers_whole(make_endpoint, holds):
    """They may have been paid: what a person resumes is asked again all the same."""
    with OddServer(Odd(200, b"data: [DONE]\n\n", {"content-type": "text/event-stream"})) as server:
        fields = {"base_url": server.url + "/v1", "max_concurrency": 1, "repeat_unknown": 0}
        told = "small: The server streams its answers: have it, or the gateway before it, answer"
        mend = lambda: setattr(server, "reply", Odd(body=GOOD))  # noqa: E731
        holds(server, make_endpoint("openai", name="small", **fields), told, mend)


def test_a_server_that_is_not_there_pauses_after_a_few_calls_were_given_up(make_endpoint, worked, monkeypatch):
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.01)
    fields = {"base_url": "http://127.0.0.1:9/v1", "max_attempts": 2, "max_concurrency": 2}
    job = worked(make_endpoint("openai", name="small", **fields), [f"q{at}" for at in range(20)])
    assert job.state == "paused" and states(job) == {"held": 20}
    told = "The server cannot be reached: start it, or correct the address on the model's page, then resume."
    assert job.note.startswith(f"small: {told} (No connection")
    assert Attempt.objects.filter(waits=0).count() <= FEW + 4  # so many calls were given up
    # a name that nobody knows is a wrong address too
    unknown = make_endpoint("anthropic", base_url="http://no-such-host.invalid", max_attempts=1)
    job = worked(unknown, ["a", "b", "c", "d"])
    assert job.state == "paused" and "The server cannot be reached" in job.note


def test_calls_fail_alone_where_they_are_few_not_in_a_row_or_refused_for_other_reasons(make_endpoint, worked, full):
    """Where one question in two is refused, or each for another reason, the fault lies with the question."""
    script = [{"when": "bad", "fail": "unknown-model"}]
    job = worked(make_endpoint(max_concurrency=1, options={"script": script}), ["bad1", "a", "bad2", "b", "bad3", "c"])
    assert (job.state, states(job)) == ("finished", {"done": 3, "failed": 3})
    job = worked(make_endpoint(options={"script": [{"fail": "quota"}]}), ["x", "y"])
    assert (job.state, job.outcome, states(job)) == ("finished", "failed", {"failed": 2})
    turns, later = itertools.count(), itertools.count()
    for reply, count, found in (
        (refused_while(lambda body: next(turns) % 2, TEMPERATURE), 10, {"done": 5, "failed": 5}),
        (lambda *_: Odd(400, error(f"The prompt has {next(turns)} tokens too many.")), 9, {"failed": 9}),
        (refused_while(lambda body: next(later) >= 20, TEMPERATURE), 40, {"done": 20, "failed": 20}),
    ):
        with OddServer(reply) as server:
            fields = {"base_url": server.url + "/v1", "model": f"of-{count}", "max_concurrency": 1}
            job = worked(make_endpoint("openai", **fields), [f"q{at}" for at in range(count)])
        assert (job.state, states(job)) == ("finished", found)


def test_refusals_of_one_job_count_for_the_next(full, make_endpoint, worked):
    """They are counted in the database, whichever worker made the call."""
    with OddServer(refused_while(lambda body: "temperature" in body, TEMPERATURE)) as server:
        endpoint = make_endpoint("openai", base_url=server.url + "/v1", max_concurrency=1)
        first, second = worked(endpoint, ["a", "b"]), worked(endpoint, KEYS)
        assert server.asked <= FEW + 1  # the next call is claimed meanwhile
    assert (states(first), states(second)) == ({"failed": 2}, {"held": 12})


def test_the_other_models_of_a_job_go_on_and_a_running_job_says_what_it_holds_back(
    make_endpoint, start, run_worker, page, press
):
    empty = make_endpoint(name="empty", options={"script": [{"fail": "quota"}]})
    good = make_endpoint(name="good", options={"default": "yes"})

    def mixed() -> Job:
        job = start(empty, KEYS[:8])
        jobs.add_items(job=job, items=[(good, "", key) for key in KEYS[:8]], now=job.created_at)
        return job

    job = mixed()
    Item.objects.filter(job=job, endpoint=empty).update(state="held")
    Job.objects.filter(pk=job.pk).update(note="empty: top it up, then resume.")
    text = page("workers:job", job.uid)
    assert "8 held back; the other models go on" in text and "top it up" in text
    assert "Resume what is held back" in text
    press(job, "resume")
    assert (job.state, job.note, states(job)) == ("running", "", {"waiting": 16})
    run_worker()
    job.refresh_from_db()
    assert job.state == "paused" and job.note.startswith("empty: The provider says that the quota is exhausted")
    assert states(job) == {"held": 8, "done": 8}
    apply_action(job, "cancel")
    assert states(job) == {"cancelled": 8, "done": 8}, "what is held back is cancelled with its job"


class Refusing:
    """Batches whose requests are refused one by one."""

    async def submit(self, uid, bodies):
        self.ids = [custom_id for custom_id, _ in bodies]
        return "batch_1"

    async def find(self, uid):
        return None

    async def status(self, batch_id):
        return BatchStatus(ended=True)

    async def results(self, batch_id):
        refusal = error(TEMPERATURE, param="temperature")
        for custom_id in self.ids:
            yield custom_id, of_status(400, refusal, json.dumps(refusal), {})


def test_a_batch_that_is_refused_waits_too(full, make_endpoint, worked, monkeypatch):
    with OddServer(Odd(402, error("Payment required."))) as server:
        endpoint = make_endpoint("openai", name="small", base_url=server.url + "/v1", batches=True)
        job = worked(endpoint, ["a", "b", "c", "d"], batch=True)
    assert job.state == "paused" and job.note.startswith(f"small: {QUOTA}") and states(job) == {"held": 4}
    batches = Refusing()
    monkeypatch.setattr("workers.providers.registry.make_batches", lambda *_, **__: batches)
    job = worked(make_endpoint("openai", model="other", batches=True), KEYS, batch=True)
    assert (job.state, states(job)) == ("paused", {"held": 12})
    assert TEMPERATURE[:-1] in job.note


def test_a_wrong_address_can_be_corrected_before_anything_was_answered(make_endpoint, worked, run_worker):
    def reply(path: str, headers: dict, body: bytes) -> Odd:
        right = path == "/v1/chat/completions" and re.search(rb'"model": ?"right"', body)
        return Odd(body=GOOD) if right else Odd(404, {"detail": "Not Found"})

    with OddServer(reply) as server:
        endpoint = make_endpoint("openai", name="small", model="wrong", base_url=server.url)
        job = worked(endpoint, [f"q{at}" for at in range(5)])
        assert states(job) == {"held": 5}
        save_endpoint(by="alice", endpoint=endpoint, values={"base_url": server.url + "/v1", "model": "right"})
        apply_action(job, "resume")
        run_worker()
    assert states(job) == {"done": 5}
    assert {call.model for call in Call.objects.filter(state="answered")} == {"right"}
    with pytest.raises(ValidationError, match="has answered already"):
        save_endpoint(by="alice", endpoint=endpoint, values={"model": "another"})


def test_a_worker_takes_changed_settings_while_it_runs_and_answered_items_keep_their_calls(make_endpoint, worked):
    endpoint = make_endpoint("openai", base_url="http://127.0.0.1:9/v1")
    channel = Channel(endpoint, registry.make(endpoint.spec))
    before = channel.backend
    channel.renew(Endpoint.objects.get(pk=endpoint.pk))
    assert channel.backend is before
    save_endpoint(by="alice", endpoint=endpoint, values={"sets_temperature": False})
    channel.renew(Endpoint.objects.get(pk=endpoint.pk))
    assert channel.replaced == [before]
    assert "temperature" not in channel.backend.body(Request((), max_tokens=5, temperature=0.0))
    endpoint = make_endpoint(options={"script": [{"when": "bad", "fail": "rejected"}], "default": "yes"})
    worked(endpoint, ["a", "bad"])
    save_endpoint(by="alice", endpoint=endpoint, values={"sets_temperature": False})
    assert {item.key: item.call_id is not None for item in Item.objects.all()} == {"a": True, "bad": False}


def test_without_a_system_role_the_system_text_goes_before_the_first_user_message():
    system, user, assistant = ("system", "Be brief."), ("user", "Who?"), ("assistant", "Mia.")
    both = ("user", "Be brief.\n\nWho?")
    for messages, expected in [
        ([system, user], [both]),
        ([system, user, assistant, user], [both, assistant, user]),
        ([system, ("system", "In English."), user], [("user", "Be brief.\n\nIn English.\n\nWho?")]),
        ([system, assistant, user], [assistant, both]),
        ([system], [("user", "Be brief.")]),
        ([user, assistant], [user, assistant]),
    ]:
        request = Request(tuple(Message(*message) for message in messages), max_tokens=5)
        for no_system_role, asked in ((True, expected), (False, messages)):
            changed = for_endpoint(request, Spec("openai", "tiny", no_system_role=no_system_role))
            assert [(message.role, message.content) for message in changed.messages] == asked


def test_no_provider_sends_a_system_text_to_a_model_without_that_role(full, make_endpoint, worked):
    for provider in ("openai", "anthropic", "vllm"):
        bodies: list[dict] = []
        with OddServer(
            lambda path, headers, body, bodies=bodies: bodies.append(json.loads(body)) or Odd(body=GOOD)
        ) as s:
            endpoint = make_endpoint(provider, base_url=s.url_for(provider), no_system_role=True)
            job = worked(endpoint, ["Who?"])
        (body,) = bodies
        assert body["messages"] == [{"role": "user", "content": "Be brief.\n\nWho?"}] and "system" not in body
        assert "system" not in job.items.get().call.request  # the canonical body, which the ledger's key is made of


def test_that_a_model_has_no_system_role_is_said_on_page_command_and_api(admins_api, page):
    call_command("add_endpoint", "gemma", provider="openai", model="gemma-2", no_system_role="yes")
    assert Endpoint.objects.get().no_system_role
    assert "has no system role" in page("workers:endpoint", "gemma").lower()
    body = {"name": "mistral", "provider": "openai", "model": "mistral-0.1", "no_system_role": True}
    made = admins_api.post("/api/v1/endpoints/", body, format="json")
    assert made.status_code == 201 and made.json()["no_system_role"] is True
    assert admins_api.get("/api/v1/endpoints/gemma/").json()["no_system_role"] is True


def test_an_event_stream_is_called_that_and_a_byte_order_mark_is_harmless(make_endpoint, worked):
    stream, mark = b'data: {"choices": [{"delta": {"content": "yes"}}]}\n\ndata: [DONE]\n\n', b"\xef\xbb\xbf"
    starts = (b"", mark, b": PROCESSING\n\n", b"event: message_start\n", b"\n")
    for body, media_type in [*((start + stream, "") for start in starts), (b"", "text/event-stream; charset=utf-8")]:
        with pytest.raises(Unreadable, match="The answer is an event stream, which nobody asked for"):
            parse_json(body, media_type)
    assert parse_json(b'{"choices": []}', "text/event-stream") == {"choices": []}
    with OddServer(Odd(200, stream, {"content-type": "text/event-stream"})) as server:
        for provider in ("openai", "anthropic"):
            endpoint = make_endpoint(provider, base_url=server.url_for(provider), repeat_unknown=0)
            assert "The answer is an event stream" in worked(endpoint, [provider]).items.get().problem
        server.reply = Odd(200, mark + json.dumps(GOOD).encode())
        job = worked(make_endpoint("openai", model="other", base_url=server.url + "/v1"), ["a"])
    assert states(job) == {"done": 1}
