"""The batch forms of both providers, with their own packages, against the local model server."""

import asyncio
import hashlib
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.patience import PATIENCE
from tests.servers import ModelServer
from workers.providers import chat_completions
from workers.providers.anthropic import backend as anthropic
from workers.providers.anthropic import batches as anthropic_batches
from workers.providers.contract import BatchStatus, Completion, Message, Request, Spec, Stop, Usage
from workers.providers.errors import Lost, Overloaded, Rejected, Unreachable, Unreadable
from workers.providers.openai import batches as openai_batches

pytestmark = [pytest.mark.dear, pytest.mark.xdist_group("waiting")]
UID, OTHER = "abcdefghijkm", "otherotherot"


@dataclass
class Provider:
    package: Any
    module: Any
    batches: type
    path: str
    stem: str

    def spec(self, url: str) -> Spec:
        return Spec(provider=self.stem, model="local", base_url=url + self.path, sets_temperature=False)

    def bodies(self, prompts: list[str], uid: str = UID) -> list[tuple[str, dict]]:
        asked = [Request((Message("system", "Answer."), Message("user", prompt)), max_tokens=50) for prompt in prompts]
        return [(f"{uid}-{at}", self.package.body_of(self.spec("http://"), one)) for at, one in enumerate(asked)]

    def run(self, server: ModelServer, work: Callable[[Any], Awaitable[Any]], **options: Any) -> Any:
        async def inside() -> Any:
            async with self.package.client_of(self.spec(server.url)) as client:
                return await work(self.batches(client, **options))

        return asyncio.run(inside())


OPENAI = Provider(chat_completions, openai_batches, openai_batches.OpenAIBatches, "/v1", "openai")
ANTHROPIC = Provider(anthropic, anthropic_batches, anthropic_batches.AnthropicBatches, "", "anthropic")
both = pytest.mark.parametrize("provider", [OPENAI, ANTHROPIC], ids=lambda provider: provider.stem)


@pytest.fixture
def server(tmp_path):
    with ModelServer(folder=tmp_path, batch_delay=0.1) as running:
        yield running


async def until_ended(batches, batch_id: str) -> BatchStatus:
    async with asyncio.timeout(PATIENCE):
        while not (status := await batches.status(batch_id)).ended:
            await asyncio.sleep(0.02)
    return status


async def all_results(batches, batch_id: str) -> dict[str, Any]:
    pairs = [pair async for pair in batches.results(batch_id)]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def answers(provider: Provider, server: ModelServer, prompts: list[str]) -> tuple[BatchStatus, list[Any]]:
    """Submits, waits, reads; results in the order of the prompts."""

    async def work(batches):
        batch_id = await batches.submit(UID, provider.bodies(prompts))
        return await until_ended(batches, batch_id), await all_results(batches, batch_id)

    status, results = provider.run(server, work)
    return status, [results[f"{UID}-{at}"] for at in range(len(prompts))]


@both
def test_every_answer_comes_back_under_its_custom_id_and_what_goes_wrong_stays_there(server, provider):
    prompts = [f"story {at}" for at in range(30)]
    status, results = answers(provider, server, prompts)
    assert status == BatchStatus(ended=True, done=30)
    assert [result.text for result in results] == prompts  # the server says the last message back
    # "Answer.\nstory 0" has 15 characters, "story 0" has 7; the server counts characters // 4 + 1
    assert results[0].usage == Usage(input=4, output=2)
    assert (results[0].stop, results[0].model) == (Stop.END, "local")
    assert sorted(call["custom_id"] for call in server.paid()) == sorted(f"{UID}-{at}" for at in range(30))
    modes = ["error-400", "refusal", "half-json", "overloaded", "invalid-utf8"]
    server.control(rules=[{"when": f"MAGIC-{mode}", "mode": mode} for mode in modes])
    status, results = answers(provider, server, ["a", *(f"MAGIC-{mode}" for mode in modes), "b"])
    # two of seven ended with a status that is no 200
    assert status == BatchStatus(ended=True, done=5, failed=2)
    kinds = [Completion, Rejected, Completion, Unreadable, Overloaded, Unreadable, Completion]
    assert [type(result) for result in results] == kinds
    assert (results[1].status, results[2].stop, results[4].status) == (400, Stop.REFUSAL, 529)
    assert "as the rule says" in str(results[1])  # the provider's own words


@both
def test_the_server_is_killed_and_started_again_in_the_middle(server, provider):
    server.control(batch_delay=0.5)

    async def work(batches):
        batch_id = await batches.submit(UID, provider.bodies(["one", "two"]))
        assert not (await batches.status(batch_id)).ended
        server.kill()
        for asked in (batches.status(batch_id), batches.find(UID)):
            with pytest.raises(Unreachable):
                await asked
        server.restart()
        await until_ended(batches, batch_id)
        return await all_results(batches, batch_id), await all_results(batches, batch_id)

    first, again = provider.run(server, work)
    assert {name: result.text for name, result in first.items()} == {f"{UID}-0": "one", f"{UID}-1": "two"}
    assert first == again and len(server.paid()) == 2


@both
def test_a_batch_whose_id_was_never_heard_is_found(server, provider):
    server.control(batch_reply="cut", batch_delay=0.4)

    async def work(batches):
        with pytest.raises(Lost):
            await batches.submit(UID, provider.bodies(["one"]))
        if provider is ANTHROPIC:
            # The batch runs and cannot be told from another's: no None, which would say that it is safe to submit
            # again.
            with pytest.raises(Lost, match="have not ended: 1"):
                await batches.find(UID)
            await asyncio.sleep(0.5)
        assert await batches.find("mkjihgfedcba") is None
        batch_id = await batches.find(UID)
        await until_ended(batches, batch_id)
        return await all_results(batches, batch_id)

    assert provider.run(server, work)[f"{UID}-0"].text == "one"
    assert len(server.paid()) == 1


@both
def test_find_looks_beyond_the_first_page(server, provider, monkeypatch):
    monkeypatch.setattr(provider.module, "PAGE", 2)
    uids = [f"uid{at}uid{at}uid{at}" for at in range(5)]

    async def work(batches):
        made = [await batches.submit(uid, provider.bodies(["one"], uid)) for uid in uids]
        for batch_id in made:
            await until_ended(batches, batch_id)
        assert [await batches.find(uid) for uid in uids] == made
        assert await batches.find(UID) is None

    provider.run(server, work)


def test_a_running_batch_of_somebody_else_does_not_hold_up_a_search(server):
    server.control(batch_delay=60)
    bodies = ANTHROPIC.bodies(["one"], OTHER)
    other = ANTHROPIC.run(server, lambda batches: batches.submit(OTHER, bodies))
    with pytest.raises(Lost):
        ANTHROPIC.run(server, lambda batches: batches.find(UID))
    assert ANTHROPIC.run(server, lambda batches: batches.find(UID), others=[other]) is None


@both
def test_a_batch_that_expired_half_way_keeps_what_was_paid_and_a_cancelled_one_is_not_sent_again(server, provider):
    server.control(batch_end="expired")
    status, results = answers(provider, server, ["a", "b", "c", "d"])
    assert status == BatchStatus(ended=True, done=2, failed=2)
    assert [type(result) for result in results] == [Completion, Completion, Overloaded, Overloaded]
    assert len(server.paid()) == 2
    server.control(batch_delay=60)

    async def work(batches):
        batch_id = await batches.submit(UID, provider.bodies(["a"]))
        await (batches.client.batches if provider is OPENAI else batches.client.messages.batches).cancel(batch_id)
        assert (await until_ended(batches, batch_id)).failed == 1
        return await all_results(batches, batch_id)

    assert type(provider.run(server, work)[f"{UID}-0"]) is Rejected
    assert len(server.paid()) == 2


def test_a_failed_batch_says_why_and_what_cannot_be_sent_is_refused_here(server):
    async def work(batches):
        return await until_ended(batches, await batches.submit(UID, OPENAI.bodies(["a"]) * 2))

    assert OPENAI.run(server, work) == BatchStatus(ended=True, problem="two requests have the same custom_id")
    broken = [(f"{UID}-0", {"model": "local", "messages": [{"role": "user", "content": "\ud83d"}]})]
    for bodies, sentence in ((broken, "half a character"), (ANTHROPIC.bodies(["a"], OTHER), "does not start with")):
        with pytest.raises(Rejected, match=sentence):
            ANTHROPIC.run(server, lambda batches, bodies=bodies: batches.submit(UID, bodies))


@both
def test_limits_are_named_before_anything_is_sent(server, provider, monkeypatch):
    most = {"openai": 50_000, "anthropic": 100_000}[provider.stem]
    many = provider.bodies(["a"]) * (most + 1)
    with pytest.raises(Rejected, match=f"at most {most:,} requests"):
        provider.run(server, lambda batches: batches.submit(UID, many))
    monkeypatch.setattr(provider.module, "MAX_BYTES", 2_000_000)
    with pytest.raises(Rejected, match="at most 2 MB"):
        provider.run(server, lambda batches: batches.submit(UID, provider.bodies(["x" * 1_000_000] * 2)))
    assert list(server.log.with_suffix(".batches").iterdir()) == []


@both
def test_results_that_break_off_say_so_after_those_that_came(server, provider):
    server.control(rules=[{"when": "story", "mode": "huge"}])  # 5 MB each: more than the buffers on the way hold

    async def work(batches):
        batch_id = await batches.submit(UID, provider.bodies([f"story {at}" for at in range(6)]))
        await until_ended(batches, batch_id)
        came = []
        with pytest.raises(Unreachable, match="broke off"):
            async for custom_id, _ in batches.results(batch_id):
                came.append(custom_id)
                server.kill()
        return came

    assert 1 <= len(provider.run(server, work)) < 6


@both
def test_a_field_for_more_fields_is_resolved_and_a_provider_that_says_nothing_is_not_waited_for(server, provider):
    body = {"model": "local", "max_tokens": 5, "messages": [{"role": "user", "content": "ä"}]}

    async def work(batches):
        batch_id = await batches.submit(UID, [(f"{UID}-0", body | {"extra_body": {"top_k": 3}})])
        await until_ended(batches, batch_id)
        canonical = '{"max_tokens":5,"messages":[{"content":"ä","role":"user"}],"model":"local","top_k":3}'
        assert [call["sha"] for call in server.paid()] == [hashlib.sha256(canonical.encode()).hexdigest()]
        os.kill(server.pid, signal.SIGSTOP)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(Unreachable):
                await batches.status(batch_id)

    provider.run(server, work, timeout=0.5)


# --- lines of results


def read(line: bytes | dict, module=openai_batches):
    line = line if isinstance(line, bytes) else json.dumps({"custom_id": "u-1"} | line).encode()
    return line.decode(errors="replace"), *openai_batches.parse_line(line, module._result)


def test_a_broken_line_is_unreadable_for_that_one():
    for line, custom_id in [
        (b'{"custom_id": "u-1", "response": {"status_code": 200', "u-1"),
        (b'{"custom_id": "u-1", "response": null, "error": null}', "u-1"),
        (b'{"custom_id": "u-1", "response": {"status_code": 200, "body": {"choices": []}}}', "u-1"),
        (b'{"custom_id": "u-1", "response": {"status_code": 200, "body": []}}', "u-1"),
        # an answer that quotes another request's id: the quotes inside it are escaped
        (b'{"response": {"body": "\\"custom_id\\": \\"u-2\\"", "custom_id": "u-1", \xff', "u-1"),
        (b"[" * 100_000, ""),
    ]:
        _, found_id, error = read(line)
        assert (found_id, type(error)) == (custom_id, Unreadable)


def succeeded(message: dict, **more) -> dict:
    return {"result": {"type": "succeeded", "message": message, **more}}


def test_an_error_beside_an_answer_is_no_answer():
    body = {"choices": [{"finish_reason": "stop", "message": {"content": "half"}}]}
    message = {"content": [{"type": "text", "text": "half"}], "stop_reason": "end_turn"}
    error = {"error": {"message": "Broke off.", "type": "api_error"}}
    for module, row in [
        (openai_batches, {"response": {"status_code": 200, "body": body | error}}),
        (openai_batches, {"response": {"status_code": 200, "body": body}} | error),
        (anthropic_batches, succeeded(message | error)),
        (anthropic_batches, succeeded(message | {"type": "error"})),
        (anthropic_batches, succeeded(message, error=error)),
    ]:
        line, found_id, found = read(row, module)
        assert (found_id, type(found), found.body) == ("u-1", Unreadable, line)


def test_a_line_that_is_no_whole_answer_says_so_and_is_kept():
    for reason, content, sentence in [
        ("overheated", "half", "The answer ended for a reason that is not known: overheated."),
        ("tool_calls", None, "The model asked for a tool to be called instead of answering."),
        ("stop", "", "The answer is empty: the model ended without a word."),
        (None, "half", "The provider does not say why the answer ended."),
    ]:
        body = {"choices": [{"finish_reason": reason, "message": {"content": content}}]}
        texts = [] if content is None else [{"type": "text", "text": content}]
        stop = {"stop": "end_turn", "tool_calls": "tool_use"}.get(reason, reason)
        for module, row in (
            (openai_batches, {"response": {"status_code": 200, "body": body}}),
            (anthropic_batches, succeeded({"content": texts, "stop_reason": stop})),
        ):
            line, _, completion = read(row, module)
            assert (completion.stop, completion.problem, completion.body) == (Stop.OTHER, sentence, line)


@settings(max_examples=60)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=8), st.integers(1, 9), st.booleans())
def test_lines_are_the_same_however_they_arrive(texts, size, ended):
    # each line is a JSON text, so that only its end can be a line break; U+2028 and U+0085 stay inside
    lines = [json.dumps(text, ensure_ascii=False).encode() for text in [*texts, "\u2028\x85"]]
    whole = b"\n".join(lines) + (b"\n" if ended else b"")

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(whole), size):
            yield whole[at : at + size]

    async def check() -> None:
        assert [line async for line in openai_batches.split_lines(pieces())] == lines

    asyncio.run(check())
