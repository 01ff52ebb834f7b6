"""Answers that are none: each keeps its status and body, has a sentence and its own state, and nobody pays twice for
it."""

import asyncio
import gzip
import json
import os
import re
import socket
import subprocess
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.urls import reverse

from tests.patience import PATIENCE
from tests.servers.odd import GOOD, Odd, OddServer
from workers.models import Call, Item
from workers.providers.chat_completions import OpenAIBackend
from workers.providers.contract import Completion, Message, Request, Spec
from workers.providers.errors import OutOfQuota, Rejected, UnknownModel, Unreadable, WrongAddress
from workers.providers.registry import make, make_batches
from workers.providers.statuses import of_status

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.xdist_group("waiting")]
by_each = pytest.mark.parametrize("provider", ["openai", "anthropic", "vllm"])


@pytest.fixture
def ask(make_endpoint, worked, monkeypatch):
    """Ask one question for each odd answer, in one job: `ask("openai", [Odd(…), …])` are the calls in that order."""
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.01)

    def work(provider: str, odds: Sequence[Odd]) -> list[Call]:
        def reply(path: str, headers: dict, body: bytes) -> Odd:
            return odds[int(re.search(rb"question-(\d+)", body).group(1))]

        with OddServer(reply) as server:
            fields = {"max_attempts": 2, "repeat_unknown": 0, "timeout_seconds": 5}
            endpoint = make_endpoint(provider, base_url=server.url_for(provider), **fields)
            worked(endpoint, [f"question-{at:03d}" for at in range(len(odds))])
        return [item.call for item in Item.objects.select_related("call").order_by("key")]

    return work


def error(message: str, **more) -> dict:
    return {"error": {"message": message, **more}}


HTML = b"<!doctype html><html><head><title>Sign in</title></head><body>caf\xc3\xa9</body></html>"
HALF = {"choices": [{"message": {"content": "half"}}], "content": [{"type": "text", "text": "half"}]}
BROKE = {"message": "Broke off.", "type": "api_error"}
FAILED = "The provider answered with an error: "
UNREADABLE = [
    (Odd(body=HTML, headers={"content-type": "text/html"}), "The answer is a web page, not JSON", "café"),
    (Odd(body=b'{"choices": [{"mess'), "The answer is not JSON", '{"choices": [{"mess'),
    (Odd(body=b'{"choices": "\xff\xfe"}'), "The answer is not UTF-8 (byte 13 of 17).", '{"choices": "\\xff\\xfe"}'),
    (Odd(body=b"[" * 5000), "The answer is not JSON", "[" * 5000),
    (Odd(body=[1, 2]), "The answer is a JSON list, expected an object.", "[1, 2]"),
    (Odd(body=error("The model broke off.", code=502)), f"{FAILED}The model broke off. 502", "off"),
    (Odd(body={"error": "out of memory"}), f"{FAILED}out of memory", "out of memory"),
    (Odd(body=HALF | {"error": {"message": "Broke off."}}), f"{FAILED}Broke off.", '"half"'),
    (Odd(body=HALF | {"type": "error", "error": BROKE, "stop_reason": "end_turn"}), f"{FAILED}Broke off.", '"half"'),
    (Odd(body=HALF | {"type": "error", "choices": [], "stop_reason": "end_turn"}), f"{FAILED}without a word", '"half"'),
    (Odd(body=[{"error": {"code": 503, "message": "Busy.", "status": "AWAY"}}]), f"{FAILED}Busy. 503", '"AWAY"'),
    (Odd(body={"error": True, "message": "No room.", "choices": []}), f"{FAILED}No room.", "No room."),
    (Odd(body={"choices": [{"message": {"content": 7}}], "content": 7}), "The answer", '"content": 7'),
    (Odd(body=b"abc", headers={"content-encoding": "zstd"}), "The answer is packed as 'zstd'", ""),
    (Odd(body=b"abcdef", headers={"content-encoding": "gzip"}), "The answer could not be unpacked", ""),
]


@by_each
def test_what_cannot_be_read_keeps_its_status_and_body(ask, admin, provider):
    calls = ask(provider, [odd for odd, _, _ in UNREADABLE])
    for call, (_, sentence, kept) in zip(calls, UNREADABLE, strict=True):
        attempt = call.attempts.get()
        assert call.state == "unknown" and call.problem.startswith(sentence), call.problem
        assert "may have been paid" in call.problem
        assert attempt.status == 200 and kept in attempt.body
        address = reverse("workers:call", args=[call.uid])
        assert "What came, with HTTP 200" in admin.get(address).content.decode()
        assert admin.get(address, {"text": "body-1"}).content.decode() == attempt.body
        for name in ("body-7", "body-", "body-x"):  # no such attempt was made
            assert admin.get(address, {"text": name}).status_code == 404


def openai_answer(reason: object = "stop", *, content: object = "yes", usage: object = None, **message) -> Odd:
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": content, **message}}
    usage = usage or {"prompt_tokens": 5, "completion_tokens": 2}
    return Odd(body={"id": "c-1", "model": "tiny", "choices": [choice], "usage": usage})


def anthropic_answer(reason: object = "end_turn", *blocks: dict) -> Odd:
    usage = {"input_tokens": 5, "output_tokens": 2}
    answer = {"id": "m-1", "type": "message", "model": "tiny", "content": blocks, "stop_reason": reason}
    return Odd(body=answer | {"usage": usage})


TOKENS, TOOL = "The answer ended at the token limit.", "The model asked for a tool to be called"
DECLINED, FILTER = "Refused by the provider: the model declined", "Refused by the provider: its content filter"
STRANGE, NOTHING = (
    "The answer ended for a reason that is not known: ",
    "The provider does not say why the answer ended.",
)
EMPTY = "The answer is empty: the model ended without a word."
ONLY_REASONING = "The answer is empty: the model ended after its reasoning."
FILTERS = ["content_filter", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "content-filter"]
FILTERS += ["content_filter: hate", "guardrail_intervened"]
OPENAI_ENDS = [
    *((openai_answer(content=nothing), "unreadable", EMPTY) for nothing in ("", " \n", None, [])),
    (openai_answer(content="", reasoning_content="Let me see."), "unreadable", ONLY_REASONING),
    (openai_answer("length", content=""), "truncated", TOKENS),
    (openai_answer("length"), "truncated", TOKENS),
    *((openai_answer(reason), "refused", FILTER) for reason in FILTERS),
    (openai_answer(content=None, refusal="I won't."), "refused", DECLINED),
    (openai_answer("tool_calls", content=None), "unreadable", TOOL),
    (openai_answer(content=None, tool_calls=[{"id": "t-1"}]), "unreadable", TOOL),
    (openai_answer("function_call", content=None), "unreadable", TOOL),
    (openai_answer(tool_calls=[{"id": "t-1"}]), "unreadable", TOOL),
    (openai_answer("length", tool_calls=[{"id": "t-1"}]), "truncated", TOKENS),
    (openai_answer("overheated"), "unreadable", STRANGE + "overheated."),
    (openai_answer(None), "unreadable", NOTHING),
]
YES, TOOL_BLOCK = {"type": "text", "text": "yes"}, {"type": "tool_use", "id": "t-1", "name": "search", "input": {}}
ANTHROPIC_ENDS = [
    (anthropic_answer(), "unreadable", EMPTY),
    (anthropic_answer("end_turn", {"type": "text", "text": ""}), "unreadable", EMPTY),
    (anthropic_answer("end_turn", {"type": "thinking", "thinking": "Let me see."}), "unreadable", ONLY_REASONING),
    (anthropic_answer("end_turn", TOOL_BLOCK), "unreadable", TOOL),
    (anthropic_answer("end_turn", YES, TOOL_BLOCK), "unreadable", TOOL),
    (anthropic_answer("max_tokens"), "truncated", TOKENS),
    (anthropic_answer("max_tokens", YES), "truncated", TOKENS),
    (anthropic_answer("refusal"), "refused", DECLINED),
    (anthropic_answer("tool_use"), "unreadable", TOOL),
    (anthropic_answer("pause_turn", YES), "unreadable", STRANGE + "pause_turn."),
    (anthropic_answer(None, YES), "unreadable", NOTHING),
]
ENDS = {"openai": OPENAI_ENDS, "vllm": OPENAI_ENDS, "anthropic": ANTHROPIC_ENDS}


@by_each
def test_only_what_ended_by_itself_is_answered(ask, admin, provider):
    calls = ask(provider, [odd for odd, _, _ in ENDS[provider]])
    for call, (_, state, sentence) in zip(calls, ENDS[provider], strict=True):
        assert (call.state, call.attempts_made) == (state, 1) and call.problem.startswith(sentence), call.problem
        assert call.output_tokens == 2  # it was paid
        attempt = call.attempts.get()
        assert (attempt.outcome, attempt.status, attempt.problem) == (state, 200, call.problem)
        assert bool(attempt.body) == (state == "unreadable")  # what else came stands nowhere else
        assert sentence in admin.get(reverse("workers:call", args=[call.uid])).content.decode()
    assert {item.state for item in Item.objects.all()} == {"unreadable"}


def test_what_is_odd_and_harmless_and_a_choice_that_broke_off(ask):
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "yes"}, {"type": "text", "text": 7}]
    counts = ({"prompt_tokens": "five", "completion_tokens": -1}, ["five"], {"prompt_tokens": 1e3})
    untold = [openai_answer(content=parts, usage=usage) for usage in (*counts, {"prompt_tokens": 2**40})]
    choice = {"finish_reason": "error", "error": {"code": 502, "message": "Broke off."}, "message": {"content": "half"}}
    no_tools, half = openai_answer(tool_calls=[], function_call=None), Odd(body={"choices": [choice]})
    *calls, tools, broken = ask("openai", [*untold, no_tools, half])
    for call in calls:  # text in parts is read, and counts that are none are not told
        assert (call.state, call.answer, call.usage_told) == ("answered", "yes", False)
    assert (tools.state, tools.answer) == ("answered", "yes"), "an empty list of tools is ordinary"
    # a router says so within the choice, beside what came until then
    assert broken.state == "unknown" and broken.problem.startswith(f"{FAILED}Broke off. 502")


def test_quota_model_and_address_are_known_by_what_is_said():
    limit = "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."
    credit, none = "Your credit balance is too low to access the API.", "The model `x` does not exist."
    for kind, cases in {
        OutOfQuota: [
            (400, {"type": "error"} | error(limit, type="invalid_request_error")),
            (429, {"type": "error"} | error(limit, type="rate_limit_error")),
            (402, error("Payment required.")),
            (429, error("You exceeded your current quota.", code="insufficient_quota")),
            (400, error(credit, type="invalid_request_error")),
        ],
        UnknownModel: [
            (400, error("Invalid model name passed in model=tiny. Call `/v1/models`.", code="400")),
            (422, {"error": "model 'tiny-3.1' not found"}),
            (422, {"detail": "model 'tiny' not found"}),
            (404, error(none, code="model_not_found")),
            (404, error("Nothing answers as the model x here.")),
            (404, {"type": "error"} | error("model: x", type="not_found_error")),
            (404, error('model "x" not found, try pulling it first', type="api_error")),
            (404, {"object": "error", "message": none, "code": 404}),
            (404, error("The API deployment does not exist.", code="DeploymentNotFound")),
            (400, error("x is not a valid model ID", code=400)),
        ],
        WrongAddress: [
            (404, {"detail": "Not Found"}),
            (404, error("Invalid URL (POST /v1/x)", type="invalid_request_error")),
            (405, {}),
        ],
        Rejected: [(422, error("The model is fine. The field seed was not found.", code=422))],
    }.items():
        for status, body in cases:
            assert type(of_status(status, body, json.dumps(body), {})) is kind, body


FILTERED = [
    (400, {"message": "The prompt was filtered.", "code": "content_filter", "status": 400}),
    (400, {"message": "Filtered.", "code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}),
    (400, {"message": "It may be unsafe.", "code": "content_policy_violation"}),
    (403, {"message": "Flagged.", "code": 403, "metadata": {"reasons": ["x"], "flagged_input": "…"}}),
    (200, {"message": "Filtered.", "code": "content_filter"}),
]
OWN = b'{"error": {"message": "It broke.", "type": "server_error"}}'
GATEWAY = b"<html><head><title>Bad gateway</title></head></html>"
TROUBLES = [(status, GATEWAY, "unknown", 1) for status in (504, 524, 502, 520)]
TROUBLES += [(status, OWN, "unknown", 1) for status in (504, 408)]
TROUBLES += [(status, OWN, "failed", 2) for status in (502, 503, 529)]
TROUBLES += [(status, GATEWAY, "failed", 2) for status in (503, 500)]


@by_each
def test_a_filter_has_refused_and_what_a_gateway_gave_up_may_have_been_paid(ask, provider):
    odds = [Odd(status, {"error": told}) for status, told in FILTERED]
    calls = ask(provider, odds + [Odd(status, body) for status, body, _, _ in TROUBLES])
    for call, (status, told) in zip(calls, FILTERED, strict=False):
        assert (call.state, call.attempts_made, call.stop) == ("refused", 1, "filter")
        assert call.problem.startswith("Refused by the provider: ") and told["message"] in call.problem
        attempt = call.attempts.get()
        assert (attempt.outcome, attempt.status) == ("refused", status) and told["message"] in attempt.body
        item = call.items.get()
        assert (item.state, item.problem) == ("unreadable", "It was refused.")
    for call, (status, body, state, attempts) in zip(calls[len(FILTERED) :], TROUBLES, strict=True):
        assert (call.state, call.attempts_made) == (state, attempts), (status, body)
        assert ("may have been paid" in call.problem) == (state == "unknown")
        assert call.attempts.first().status == status and call.attempts.first().body == body.decode()
        assert ("It broke." if body is OWN else "a web page, “Bad gateway”") in call.problem


@by_each
def test_a_connect_that_hangs_was_not_paid(make_endpoint, worked, monkeypatch, provider):
    """A socket that listens and accepts nobody: with its queue full, the next connection is never made."""
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("workers.providers.wire.CONNECT_SECONDS", 0.3)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        address = listening.getsockname()
        queued = [socket.socket() for _ in range(4)]
        for connection in queued:
            connection.setblocking(False)
            connection.connect_ex(address)
        url = f"http://127.0.0.1:{address[1]}/v1"
        worked(make_endpoint(provider, base_url=url, max_attempts=2, repeat_unknown=0), ["a"])
        for connection in queued:
            connection.close()
    call = Call.objects.get()
    assert (call.state, call.attempts_made) == ("failed", 2)
    assert call.problem.startswith("No connection") and "paid" not in call.problem
    assert Item.objects.get().cost == 0


# --- long and packed answers


GROWN = 200_000_000
"""Bytes, of a file that is packed a thousand times smaller."""
BEGUN = b'{"choices": [{"message": {"content": "'
ASKING = """
import asyncio, json, resource, sys
from workers.providers.registry import make
from workers.providers.contract import Message, Request, Spec
from workers.providers.errors import BackendError

async def ask(backend, text):
    try:
        done = await backend.complete(backend.body(Request((Message("user", text),), 10)), timeout=60, call=text)
        return done.text
    except BackendError as error:
        return [type(error).__name__, str(error), error.status, len(error.body)]

async def main(url):
    backend = make(Spec("openai", "tiny", base_url=url))
    first = await ask(backend, "small")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answers = await asyncio.gather(*(ask(backend, one) for one in ["BOMB", *["small"] * 20, "BOMB"]))
    await backend.aclose()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"first": first, "answers": answers, "grown": grown}))

asyncio.run(main(sys.argv[1]))
"""


def test_a_bomb_takes_no_memory_and_its_neighbours_go_on():
    packing, block = zlib.compressobj(9, wbits=31), b"a" * 1_000_000
    packed = packing.compress(BEGUN) + b"".join(packing.compress(block) for _ in range(GROWN // len(block)))
    packed += packing.flush()
    assert len(packed) < GROWN / 900

    def reply(path: str, headers: dict, body: bytes) -> Odd:
        return Odd(body=packed, headers={"content-encoding": "gzip"}) if b"BOMB" in body else Odd(body=GOOD)

    with OddServer(reply) as server:
        command, root = [sys.executable, "-c", ASKING, server.url + "/v1"], Path(__file__).parents[2]
        process = subprocess.run(command, cwd=root, env=os.environ, capture_output=True, text=True, timeout=PATIENCE)
    assert process.returncode == 0, process.stderr
    report = json.loads(process.stdout)
    assert report["first"] == "yes" and report["answers"][1:-1] == ["yes"] * 20
    sentence = "The answer is longer than 16 MB, which is the most that is read; it may have been paid."
    assert report["answers"][0] == report["answers"][-1] == ["TooLong", sentence, 200, 16_000_000]
    # two answers of 16 MB as bytes and as text, a copy on the way of each; 200 MB would be 400 and more
    assert report["grown"] < 160_000, f"{report['grown'] / 1000:.0f} MB"


def test_what_was_read_of_a_long_answer_is_kept_and_may_have_been_paid(settings, make_endpoint, worked):
    settings.ANSWER_MAX_BYTES = 2_000
    long = Odd(body=gzip.compress(BEGUN + b"a" * 1_000_000), headers={"content-encoding": "gzip"})
    for provider in ("openai", "anthropic", "vllm"):
        with OddServer(long) as server:
            job = worked(make_endpoint(provider, base_url=server.url + "/v1", repeat_unknown=0), ["a"])
        item = job.items.get()
        assert (item.state, item.call.state) == ("failed", "unknown")
        assert item.call.problem.startswith("The answer is longer than 0.002 MB")
        attempt = item.call.attempts.get()
        assert attempt.body == BEGUN.decode() + "a" * (2_000 - len(BEGUN)) and attempt.status == 200


def test_every_way_of_packing_is_unpacked():
    async def ask(url: str) -> Completion:
        backend = OpenAIBackend(Spec("openai", "tiny", base_url=url))
        try:
            body = backend.body(Request((Message("user", "a"),), 10))
            return await backend.complete(body, timeout=PATIENCE, call="c")
        finally:
            await backend.aclose()

    good = json.dumps(GOOD).encode()
    for encoding, packed in [
        ("gzip", gzip.compress(good)),
        ("gzip", gzip.compress(good[:30]) + gzip.compress(good[30:])),  # in several pieces
        ("deflate", zlib.compress(good)),
        ("deflate", zlib.compress(good)[2:-4]),
    ]:
        with OddServer(Odd(body=packed, headers={"content-encoding": encoding})) as server:
            assert asyncio.run(ask(server.url)).text == "yes"


def results_of(provider: str, lines: list[bytes]) -> list[tuple]:
    """What the results of a batch are, read from a file of `lines`, with a limit of 2,000 bytes for an answer."""

    def reply(path: str, headers: dict, body: bytes) -> Odd:
        assert "x-read-by-line" not in headers  # it is for our own transport
        if path.endswith(("/content", "/results")):
            return Odd(body=gzip.compress(b"\n".join(lines)), headers={"content-encoding": "gzip"})
        about = {"id": "b-1", "status": "completed", "output_file_id": "f-1"}
        return Odd(body=about | {"results_url": f"{server.url}/b-1/results"})

    async def read() -> list:
        spec = Spec(provider, "tiny", base_url=server.url_for(provider), answer_bytes=2_000)
        backend = make(spec)
        try:
            return [pair async for pair in make_batches(spec, backend).results("b-1")]
        finally:
            await backend.aclose()

    with OddServer(reply) as server:
        return asyncio.run(read())


def test_of_a_file_of_results_each_line_and_the_whole_have_a_limit():
    def line(at: int, text: str) -> bytes:
        body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
        message = {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
        result = {"type": "succeeded", "message": message}
        told = {"response": {"status_code": 200, "body": body}} if provider == "openai" else {"result": result}
        return json.dumps({"custom_id": f"u-{at}"} | told).encode()

    for provider in ("openai", "anthropic"):
        lines = [line(at, "a" * size) for at, size in enumerate([10, 100_000, 10, 900])]
        results = results_of(provider, lines)
        kinds = [(name, type(result) is Completion) for name, result in results]
        assert kinds == [("u-0", True), ("u-1", False), ("u-2", True), ("u-3", True)]
        long = results[1][1]
        assert type(long) is Unreadable and len(long.body) == 2_000 and long.body.startswith(lines[1][:50].decode())
        with pytest.raises(Unreadable, match=r"longer than 0\.512 MB"):  # 256 times that of an answer
            results_of(provider, [line(at, "a" * 1_000) for at in range(600)])
