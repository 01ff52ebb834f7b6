"""What a vLLM server does with the fields of a request: runs where VLLM_PYTHON names a Python that has vLLM."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import time
from pathlib import Path
from urllib.request import urlopen

import openai
import pytest

from workers.providers.contract import Message, Request, Spec, Stop
from workers.providers.errors import Rejected
from workers.providers.vllm.backend import VllmBackend

ROOT = Path(__file__).parents[2]
VLLM_PYTHON = os.environ.get("VLLM_PYTHON", "")
LABELS = ["True", "False", "Unknown"]
SCHEMA = {
    "type": "object",
    "properties": {"truth": {"type": "string", "enum": LABELS}},
    "required": ["truth"],
    "additionalProperties": False,
}
QUESTION = {"model": "tiny", "messages": [{"role": "user", "content": "Is it in the box?"}], "temperature": 0.0}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("vllm"),
    pytest.mark.skipif(not VLLM_PYTHON, reason="set VLLM_PYTHON to a Python that has vLLM"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The base URL of a server that holds the tiny model; prints how long it took to start."""
    folder = tmp_path_factory.mktemp("vllm")
    settings = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"} | os.environ
    model = str(folder / "tiny")
    subprocess.run([VLLM_PYTHON, "-m", "tests.workers.tiny_model", model], cwd=ROOT, env=settings, check=True)
    port = _free_port()
    asked = ["--model", model, "--served-model-name", "tiny", "--port", str(port), "--host", "127.0.0.1"]
    asked += ["--enforce-eager", "--generation-config", "vllm"]
    asked += ["--structured-outputs-config", '{"backend": "guidance"}']
    started = time.monotonic()
    with (folder / "log").open("wb") as log:
        command = [VLLM_PYTHON, "-m", "vllm.entrypoints.openai.api_server", *asked]
        server = subprocess.Popen(command, env=settings, stdout=log, stderr=log)
        try:
            _wait(server, f"http://127.0.0.1:{port}/health", folder / "log")
            print(f"The server started in {time.monotonic() - started:.0f} s.")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            server.wait(60)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait(server: subprocess.Popen, url: str, log: Path, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:  # not listening yet
            time.sleep(0.5)
    pytest.fail(f"The server did not start: {log.read_text(errors='replace')[-3000:]}")


@pytest.fixture
def ask(address):
    """Ask the question with more fields; returns the text."""
    client = openai.OpenAI(base_url=address, api_key="none", max_retries=0, timeout=120)

    def ask(**fields) -> str:
        return client.chat.completions.create(**QUESTION, max_tokens=60, **fields).choices[0].message.content

    yield ask
    client.close()


def test_a_json_schema_is_honoured(ask):
    described = {"name": "answer", "schema": SCHEMA, "strict": True}
    text = ask(response_format={"type": "json_schema", "json_schema": described})
    assert json.loads(text)["truth"] in LABELS


def test_structured_outputs_is_honoured(ask):
    assert ask(extra_body={"structured_outputs": {"choice": LABELS}}) in LABELS


def test_guided_json_is_accepted_and_ignored(ask):
    free = ask()
    with pytest.raises(ValueError):
        json.loads(free)  # random weights: without a constraint no JSON
    assert ask(extra_body={"guided_json": SCHEMA}) == free


def test_the_backend_gets_an_answer_by_the_schema(address):
    async def ask(question: str):
        backend = VllmBackend(Spec("vllm", "tiny", base_url=address))
        try:
            request = Request((Message("user", question),), max_tokens=60, schema=SCHEMA)
            return await backend.complete(backend.body(request), timeout=120, call="1")
        finally:
            await backend.aclose()

    completion = asyncio.run(ask("Is it in the box?"))
    assert json.loads(completion.text)["truth"] in LABELS
    assert completion.stop == Stop.END and completion.usage.input > 0 < completion.usage.output
    # the model takes 2,048 tokens
    with pytest.raises(Rejected, match="HTTP 400"):
        asyncio.run(ask("x " * 2048))
