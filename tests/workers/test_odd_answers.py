"""Answers that are none: each keeps its status and body, has a sentence and its own state, and nobody pays twice for
it."""

from __future__ import annotations

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
from tests.servers.odd import Odd, OddServer
from workers.models import Call, Item
from workers.providers.anthropic import batches as anthropic_batches
from workers.providers.contract import Completion, Message, Request, Spec
from workers.providers.errors import BackendError, OutOfQuota, Rejected, UnknownModel, Unreadable
from workers.providers.openai import batches as openai_batches
from workers.providers.statuses import of_status

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dear, pytest.mark.xdist_group("waiting")]
PROVIDERS = ["openai", "anthropic", "vllm"]


@pytest.fixture
def ask(make_endpoint, start, run_worker, monkeypatch):
    """Ask one question for each odd answer, in one job: `ask("openai", [Odd(…), …])` are the calls in that order."""
    monkeypatch.setattr("workers.domain.outcomes.FIRST_PAUSE", 0.01)

    def work(provider: str, odds: Sequence[Odd], **fields) -> list[Call]:
        keys = [f"question-{at:03d}" for at in range(len(odds))]

        def reply(path: str, headers: dict, body: bytes) -> Odd:
            return odds[int(re.search(rb"question-(\d+)", body).group(1))]

        with OddServer(reply) as server:
            tail = "" if provider == "anthropic" else "/v1"
            fields = {"max_attempts": 2, "repeat_unknown": 0, "timeout_seconds": 5, **fields}
            start(make_endpoint(provider, base_url=server.url + tail, **fields), keys)
            run_worker()
        return [item.call for item in Item.objects.select_related("call").order_by("key")]

    return work


def openai_answer(reason: object = "stop", *, content: str | None = "yes", **message) -> Odd:
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": content, **message}}
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    return Odd(body=json.dumps({"id": "c-1", "model": "tiny", "choices": [choice], "usage": usage}).encode())


def anthropic_answer(reason: object = "end_turn", content: list | None = None) -> Odd:
    blocks = [{"type": "text", "text": "yes"}] if content is None else content
    usage = {"input_tokens": 5, "output_tokens": 2}
    answer = {"id": "m-1", "type": "message", "model": "tiny", "content": blocks, "stop_reason": reason, "usage": usage}
    return Odd(body=json.dumps(answer).encode())


HTML = b"<!doctype html><html><head><title>Sign in</title></head><body>caf\xc3\xa9</body></html>"
UNREADABLE = [
    (Odd(body=HTML, headers={"content-type": "text/html"}), "The answer is a web page, not JSON", "café"),
    (Odd(body=b'{"choices": [{"mess'), "The answer is not JSON", '{"choices": [{"mess'),
    (Odd(body=b'{"choices": "\xff\xfe"}'), "The answer is not UTF-8 (byte 13 of 17).", '{"choices": "\\xff\\xfe"}'),
    (Odd(body=b"[" * 5000), "The answer is not JSON", "[" * 5000),
    (Odd(body=b"[1, 2]"), "The answer is a JSON list, expected an object.", "[1, 2]"),
    (
        Odd(body=b'{"error": {"message": "The upstream model broke off.", "code": 502}}'),
        "The provider answered with an error: The upstream model broke off. 502",
        '"The upstream model broke off."',
    ),
    (Odd(body=b'{"error": "out of memory"}'), "The provider answered with an error: out of memory", "out of memory"),
    (
        Odd(body=b'{"error": {"message": "Broke off."}, "choices": [{"message": {"content": "half"}}], "content": []}'),
        "The provider answered with an error: Broke off.",
        '"half"',
    ),
    (
        Odd(
            body=b'{"type": "error", "error": {"type": "api_error", "message": "Broke off."}, "stop_reason": '
            b'"end_turn",'
            b' "content": [{"type": "text", "text": "half"}], "choices": [{"message": {"content": "half"}}]}'
        ),
        "The provider answered with an error: Broke off.",
        '"half"',
    ),
    (
        Odd(body=b'{"type": "error", "content": [{"type": "text", "text": "half"}], "stop_reason": "end_turn"}'),
        "The provider answered with an error: without a word which",
        '"half"',
    ),
    (
        Odd(body=b'[{"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}]'),
        "The provider answered with an error: Overloaded. 503",
        '"UNAVAILABLE"',
    ),
    (
        Odd(body=b'{"error": true, "message": "No room.", "choices": []}'),
        "The provider answered with an error: No room.",
        "No room.",
    ),
    (Odd(body=b'{"choices": [{"message": {"content": 7}}], "content": 7}'), "The answer", '"content": 7'),
    (Odd(body=b"abc", headers={"content-encoding": "zstd"}), "The answer is packed as 'zstd'", ""),
    (Odd(body=b"abcdef", headers={"content-encoding": "gzip"}), "The answer could not be unpacked", ""),
]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_cannot_be_read_keeps_its_status_and_body(ask, admin, provider):
    calls = ask(provider, [odd for odd, _, _ in UNREADABLE])
    for call, (_, sentence, kept) in zip(calls, UNREADABLE, strict=True):
        attempt = call.attempts.get()
        assert call.state == "unknown" and call.problem.startswith(sentence)
        assert "may have been paid" in call.problem
        assert attempt.status == 200 and kept in attempt.body
        text = admin.get(reverse("workers:call", args=[call.uid])).content.decode()
        assert "What came, with HTTP 200" in text
        whole = admin.get(reverse("workers:call", args=[call.uid]), {"text": "body-1"}).content.decode()
        assert whole == attempt.body


def test_there_is_no_body_of_an_attempt_that_was_not_made(ask, admin):
    (call,) = ask("openai", [Odd(body=b"nothing")])
    for name in ("body-7", "body-", "body-x"):
        assert admin.get(reverse("workers:call", args=[call.uid]), {"text": name}).status_code == 404


TOKENS, TOOL = "The answer ended at the token limit.", "The model asked for a tool to be called"
DECLINED, FILTER = "Refused by the provider: the model declined", "Refused by the provider: its content filter"
STRANGE, NOTHING = (
    "The answer ended for a reason that is not known: ",
    "The provider does not say why the answer ended.",
)
EMPTY, ONLY_REASONING = (
    f"The answer is empty: the model ended {ending}." for ending in ("without a word", "after its reasoning")
)
TOOL_BLOCK = {"type": "tool_use", "id": "t-1", "name": "search", "input": {}}
OPENAI_ENDS = [
    (openai_answer(content=""), "unreadable", EMPTY),
    (openai_answer(content=" \n"), "unreadable", EMPTY),
    (openai_answer(content=None), "unreadable", EMPTY),
    (openai_answer(content=[]), "unreadable", EMPTY),
    (openai_answer(content="", reasoning_content="Let me see."), "unreadable", ONLY_REASONING),
    (openai_answer("length", content=""), "truncated", TOKENS),
    (openai_answer("length"), "truncated", TOKENS),
    (openai_answer("content_filter"), "refused", FILTER),
    *(
        (openai_answer(reason), "refused", FILTER)
        for reason in (
            "RECITATION",
            "PROHIBITED_CONTENT",
            "BLOCKLIST",
            "SPII",
            "content-filter",
            "content_filter: hate",
        )
    ),
    (openai_answer("guardrail_intervened"), "refused", FILTER),
    (openai_answer(content=None, refusal="I won't."), "refused", DECLINED),
    (openai_answer("tool_calls", content=None), "unreadable", TOOL),
    (openai_answer(content=None, tool_calls=[{"id": "t-1"}]), "unreadable", TOOL),
    (openai_answer("function_call", content=None), "unreadable", TOOL),
    (openai_answer(tool_calls=[{"id": "t-1"}]), "unreadable", TOOL),
    (openai_answer("length", tool_calls=[{"id": "t-1"}]), "truncated", TOKENS),
    (openai_answer("overheated"), "unreadable", STRANGE + "overheated."),
    (openai_answer(None), "unreadable", NOTHING),
]
ANTHROPIC_ENDS = [
    (anthropic_answer(content=[]), "unreadable", EMPTY),
    (anthropic_answer(content=[{"type": "text", "text": ""}]), "unreadable", EMPTY),
    (anthropic_answer(content=[{"type": "thinking", "thinking": "Let me see."}]), "unreadable", ONLY_REASONING),
    (anthropic_answer(content=[TOOL_BLOCK]), "unreadable", TOOL),
    (anthropic_answer(content=[{"type": "text", "text": "yes"}, TOOL_BLOCK]), "unreadable", TOOL),
    (anthropic_answer("max_tokens", []), "truncated", TOKENS),
    (anthropic_answer("max_tokens"), "truncated", TOKENS),
    (anthropic_answer("refusal", []), "refused", DECLINED),
    (anthropic_answer("tool_use", []), "unreadable", TOOL),
    (anthropic_answer("pause_turn"), "unreadable", STRANGE + "pause_turn."),
    (anthropic_answer(None), "unreadable", NOTHING),
]
ENDS = {"openai": OPENAI_ENDS, "vllm": OPENAI_ENDS, "anthropic": ANTHROPIC_ENDS}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_only_what_ended_by_itself_is_answered(ask, admin, provider):
    calls = ask(provider, [odd for odd, _, _ in ENDS[provider]])
    for call, (_, state, sentence) in zip(calls, ENDS[provider], strict=True):
        assert (call.state, call.attempts_made) == (state, 1) and call.problem.startswith(sentence)
        assert call.output_tokens == 2  # it was paid
        attempt = call.attempts.get()
        assert (attempt.outcome, attempt.status, attempt.problem) == (state, 200, call.problem)
        assert bool(attempt.body) == (state == "unreadable")  # what else came stands nowhere else
        assert sentence in admin.get(reverse("workers:call", args=[call.uid])).content.decode()
    assert {item.state for item in Item.objects.all()} == {"unreadable"}


def test_a_choice_that_broke_off_is_no_answer(ask):
    """A router says so within the choice, beside what came until then."""
    choice = {"finish_reason": "error", "error": {"code": 502, "message": "Broke off."}, "message": {"content": "half"}}
    (call,) = ask("openai", [Odd(body=json.dumps({"choices": [choice]}).encode())])
    assert call.state == "unknown" and call.problem.startswith("The provider answered with an error: Broke off. 502")


def test_text_in_parts_is_read_and_counts_that_are_none_are_not_told(ask):
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "yes"}, {"type": "text", "text": 7}]
    whole = json.loads(openai_answer(content=parts).body)
    strange = (
        {"prompt_tokens": "five", "completion_tokens": -1},
        ["five"],
        {"prompt_tokens": 1e3},
        {"prompt_tokens": 2**40},
    )
    calls = ask("openai", [Odd(body=json.dumps(whole | {"usage": usage}).encode()) for usage in strange])
    for call in calls:
        assert (call.state, call.answer, call.usage_told) == ("answered", "yes", False)


def test_an_empty_list_of_tools_is_ordinary(ask):
    (call,) = ask("openai", [openai_answer(tool_calls=[], function_call=None)])
    assert (call.state, call.answer) == ("answered", "yes")


LIMIT = "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."
NAMED = [
    (400, {"type": "error", "error": {"type": "invalid_request_error", "message": LIMIT}}, OutOfQuota),
    (429, {"type": "error", "error": {"type": "rate_limit_error", "message": LIMIT}}, OutOfQuota),
    (
        400,
        {"error": {"message": "Invalid model name passed in model=tiny. Call `/v1/models`.", "code": "400"}},
        UnknownModel,
    ),
    (422, {"error": "model 'tiny-3.1' not found"}, UnknownModel),
    (422, {"detail": "model 'tiny' not found"}, UnknownModel),
    (422, {"error": {"message": "The model is fine. The field seed was not found.", "code": 422}}, Rejected),
]


def test_quota_and_model_are_known_by_what_is_said():
    for status, body, kind in NAMED:
        assert type(of_status(status, body, json.dumps(body), {})) is kind


FILTERED = [
    (400, {"error": {"message": "The prompt was filtered.", "code": "content_filter", "status": 400}}),
    (400, {"error": {"message": "Filtered.", "code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
    (400, {"error": {"message": "It may be unsafe.", "code": "content_policy_violation"}}),
    (403, {"error": {"message": "Flagged.", "code": 403, "metadata": {"reasons": ["x"], "flagged_input": "…"}}}),
    (200, {"error": {"message": "Filtered.", "code": "content_filter"}}),
]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_filter_that_answers_with_an_error_has_refused(ask, provider):
    calls = ask(provider, [Odd(status, json.dumps(body).encode()) for status, body in FILTERED])
    for call, (status, body) in zip(calls, FILTERED, strict=True):
        message = body["error"]["message"]
        assert (call.state, call.attempts_made, call.stop) == ("refused", 1, "filter")
        assert call.problem.startswith("Refused by the provider: ") and message in call.problem
        attempt = call.attempts.get()
        assert (attempt.outcome, attempt.status) == ("refused", status) and message in attempt.body
    assert {(item.state, item.problem) for item in Item.objects.all()} == {("unreadable", "It was refused.")}


OWN = b'{"error": {"message": "It broke.", "type": "server_error"}}'
GATEWAY = b"<html><head><title>Bad gateway</title></head></html>"


TROUBLES = [
    (504, OWN, "unknown", 1),
    (504, GATEWAY, "unknown", 1),
    (524, GATEWAY, "unknown", 1),
    (408, OWN, "unknown", 1),
    (502, GATEWAY, "unknown", 1),
    (520, GATEWAY, "unknown", 1),
    (502, OWN, "failed", 2),
    (503, OWN, "failed", 2),
    (503, GATEWAY, "failed", 2),
    (500, GATEWAY, "failed", 2),
    (529, OWN, "failed", 2),
]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_a_gateway_gave_up_may_have_been_paid(ask, provider):
    calls = ask(provider, [Odd(status, body) for status, body, _, _ in TROUBLES])
    for call, (status, body, state, attempts) in zip(calls, TROUBLES, strict=True):
        assert (call.state, call.attempts_made) == (state, attempts)
        assert ("may have been paid" in call.problem) == (state == "unknown")
        assert call.attempts.first().status == status and call.attempts.first().body == body.decode()
        assert ("It broke." if body is OWN else "a web page, “Bad gateway”") in call.problem


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_connect_that_hangs_was_not_paid(make_endpoint, start, run_worker, monkeypatch, provider):
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
        endpoint = make_endpoint(
            provider, base_url=f"http://127.0.0.1:{address[1]}/v1", max_attempts=2, repeat_unknown=0
        )
        start(endpoint, ["a"])
        run_worker()
        for connection in queued:
            connection.close()
    call = Call.objects.get()
    assert (call.state, call.attempts_made) == ("failed", 2)
    assert call.problem.startswith("No connection") and "paid" not in call.problem
    assert Item.objects.get().cost == 0


ROOT = Path(__file__).parents[2]
GROWN = 200_000_000
"""Bytes, of a file that is packed a thousand times smaller."""
BEGUN = b'{"choices": [{"message": {"content": "'
GOOD = b'{"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "model": "tiny"}'


def bomb() -> bytes:
    packing = zlib.compressobj(9, wbits=31)
    block = b"a" * 1_000_000
    return (
        packing.compress(BEGUN)
        + b"".join(packing.compress(block) for _ in range(GROWN // len(block)))
        + packing.flush()
    )


ASKING = """
import asyncio, json, resource, sys
from workers.providers.registry import make
from workers.providers.contract import Message, Request, Spec
from workers.providers.errors import BackendError
from tests.patience import PATIENCE

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
    packed = bomb()
    assert len(packed) < GROWN / 900

    def reply(path: str, headers: dict, body: bytes) -> Odd:
        return Odd(body=packed, headers={"content-encoding": "gzip"}) if b"BOMB" in body else Odd(body=GOOD)

    with OddServer(reply) as server:
        command = [sys.executable, "-c", ASKING, server.url + "/v1"]
        process = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=PATIENCE)
    assert process.returncode == 0, process.stderr
    report = json.loads(process.stdout)
    assert report["first"] == "yes" and report["answers"][1:-1] == ["yes"] * 20
    sentence = "The answer is longer than 16 MB, which is the most that is read; it may have been paid."
    assert report["answers"][0] == report["answers"][-1] == ["TooLong", sentence, 200, 16_000_000]
    # two answers of 16 MB as bytes and as text, a copy on the way of each; 200 MB would be 400 and more
    assert report["grown"] < 160_000, f"{report['grown'] / 1000:.0f} MB"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("provider", ["openai", "anthropic", "vllm"])
def test_what_was_read_of_it_is_kept_and_may_have_been_paid(settings, make_endpoint, start, run_worker, provider):
    settings.ANSWER_MAX_BYTES = 2_000
    long = gzip.compress(BEGUN + b"a" * 1_000_000)
    with OddServer(lambda *_: Odd(body=long, headers={"content-encoding": "gzip"})) as server:
        start(make_endpoint(provider, base_url=server.url + "/v1", repeat_unknown=0), ["a"])
        run_worker()
    call = Call.objects.get()
    assert call.state == "unknown" and call.problem.startswith("The answer is longer than 0.002 MB")
    attempt = call.attempts.get()
    assert attempt.body == BEGUN.decode() + "a" * (2_000 - len(BEGUN)) and attempt.status == 200
    assert Item.objects.get().state == "failed"


def test_every_way_of_packing_is_unpacked():
    for packed in [gzip.compress, zlib.compress, lambda text: zlib.compress(text)[2:-4]]:
        encoding = "gzip" if packed is gzip.compress else "deflate"
        answer = Odd(body=packed(GOOD), headers={"content-encoding": encoding})
        assert one_answer(answer).text == "yes"


def test_gzip_in_several_pieces_is_one_answer():
    packed = gzip.compress(GOOD[:30]) + gzip.compress(GOOD[30:])
    assert one_answer(Odd(body=packed, headers={"content-encoding": "gzip"})).text == "yes"


def one_answer(odd: Odd) -> Completion:
    from workers.providers.openai.backend import OpenAIBackend

    async def ask(url: str) -> Completion:
        backend = OpenAIBackend(Spec("openai", "tiny", base_url=url))
        try:
            return await backend.complete(
                backend.body(Request((Message("user", "a"),), 10)), timeout=PATIENCE, call="c"
            )
        finally:
            await backend.aclose()

    with OddServer(lambda *_: odd) as server:
        return asyncio.run(ask(server.url))


def lines_of(provider: str, lines: list[bytes], limit: int) -> list[tuple[str, Completion | BackendError]]:
    """What the results of a batch are, read from a file of `lines`."""
    openai = provider == "openai"

    def reply(path: str, headers: dict, body: bytes) -> Odd:
        assert "x-read-by-line" not in headers  # it is for our own transport
        if path.endswith(("/content", "/results")):
            return Odd(body=gzip.compress(b"\n".join(lines)), headers={"content-encoding": "gzip"})
        about = {"id": "b-1", "status": "completed", "output_file_id": "f-1", "results_url": f"{url()}/b-1/results"}
        return Odd(body=json.dumps(about).encode())

    async def read(url: str) -> list:
        from workers.providers.registry import make, make_batches

        spec = Spec(provider, "tiny", base_url=url, answer_bytes=limit)
        backend = make(spec)
        try:
            return [pair async for pair in make_batches(spec, backend).results("b-1")]
        finally:
            await backend.aclose()

    with OddServer(reply) as server:
        url = lambda: server.url  # noqa: E731
        return asyncio.run(read(server.url + ("/v1" if openai else "")))


def line(provider: str, at: int, text: str) -> bytes:
    if provider == "openai":
        body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
        return json.dumps({"custom_id": f"u-{at}", "response": {"status_code": 200, "body": body}}).encode()
    message = {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
    return json.dumps({"custom_id": f"u-{at}", "result": {"type": "succeeded", "message": message}}).encode()


def test_of_a_file_of_results_each_line_has_the_limit():
    for provider in ["openai", "anthropic"]:
        lines = [line(provider, at, "a" * size) for at, size in enumerate([10, 100_000, 10, 900])]
        results = lines_of(provider, lines, limit=2_000)
        assert [(name, type(result)) for name, result in results] == [
            ("u-0", Completion), ("u-1", Unreadable), ("u-2", Completion), ("u-3", Completion),
        ]  # fmt: skip
        assert len(results[1][1].body) == 2_000 and results[1][1].body.startswith(lines[1][:50].decode())


def test_a_file_of_results_has_a_limit_of_its_own():
    """256 times that of an answer."""
    for provider in ["openai", "anthropic"]:
        with pytest.raises(Unreadable, match=r"longer than 0\.512 MB"):
            lines_of(provider, [line(provider, at, "a" * 1_000) for at in range(600)], limit=2_000)


def test_both_batches_read_by_line():
    assert openai_batches.BY_LINE is anthropic_batches.BY_LINE
