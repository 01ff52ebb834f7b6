"""An answer is read up to a limit, however far it unpacks: memory stays, neighbours go on, and what was read is
kept."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.servers.odd import Odd, OddServer
from workers.models import Call, Item
from workers.providers.anthropic import batches as anthropic_batches
from workers.providers.contract import Completion, Message, Request, Spec
from workers.providers.errors import BackendError, Unreadable
from workers.providers.openai import batches as openai_batches

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


@pytest.mark.parametrize("packed", [gzip.compress, zlib.compress, lambda text: zlib.compress(text)[2:-4]])
def test_every_way_of_packing_is_unpacked(packed):
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


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_of_a_file_of_results_each_line_has_the_limit(provider):
    lines = [line(provider, at, "a" * size) for at, size in enumerate([10, 100_000, 10, 900])]
    results = lines_of(provider, lines, limit=2_000)
    assert [(name, type(result)) for name, result in results] == [
        ("u-0", Completion), ("u-1", Unreadable), ("u-2", Completion), ("u-3", Completion),
    ]  # fmt: skip
    assert len(results[1][1].body) == 2_000 and results[1][1].body.startswith(lines[1][:50].decode())


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_file_of_results_has_a_limit_of_its_own(provider):
    """256 times that of an answer."""
    with pytest.raises(Unreadable, match=r"longer than 0\.512 MB"):
        lines_of(provider, [line(provider, at, "a" * 1_000) for at in range(600)], limit=2_000)


def test_both_batches_read_by_line():
    assert openai_batches.BY_LINE is anthropic_batches.BY_LINE
