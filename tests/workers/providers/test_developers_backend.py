"""The backend without a package that docs/developers.md shows, as it stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.servers.odd import Odd, OddServer
from workers.models import Call
from workers.providers import registry
from workers.providers.description import Provider
from workers.services.endpoints import save_endpoint, try_endpoint

PAGE = Path(__file__).parents[3] / "docs" / "developers.md"
ANSWER = {"model": "m-2", "words": "yes", "ended": "stop", "read": 11, "written": 2}


@pytest.fixture
def shown(own_registry) -> None:
    (source,) = re.findall(
        r"^```python\n([^`]*class MyBackend:[^`]*)^```$", PAGE.read_text(encoding="utf-8"), flags=re.M
    )
    module = ModuleType("shown")
    exec(compile(source, PAGE.name, "exec", dont_inherit=True), module.__dict__)  # as in a file of its own
    registry.register(Provider(name="mine", label="Mine", sentence="Mine.", backend=module.MyBackend, hosted=False))


@pytest.mark.django_db(transaction=True)
def test_the_backend_shown_asks_reads_and_translates(shown, start, run_worker, monkeypatch):
    monkeypatch.setenv("MINE_KEY", "key-of-mine")
    came = []

    def answered(path: str, headers: dict[str, str], body: bytes) -> Odd:
        came.append((path, headers["x-my-key"], json.loads(body)["turns"][-1]["words"]))
        return Odd(body=json.dumps(ANSWER).encode())

    with OddServer(answered) as server:
        values = {"name": "mine", "provider": "mine", "model": "m", "base_url": server.url, "api_key_env": "MINE_KEY"}
        endpoint = save_endpoint(by="alice", values=values | {"json_schema": False})
        start(endpoint, ["well?"])
        run_worker()
        call = Call.objects.get()
        assert (call.state, call.answer, call.input_tokens, call.output_tokens) == ("answered", "yes", 11, 2)
        assert came == [("/say", "key-of-mine", "well?")]
        kinds = []
        for odd in (Odd(503), Odd(body=b"no JSON"), Odd(400)):
            server.reply = lambda *_, odd=odd: odd
            tried = try_endpoint(endpoint=endpoint)
            kinds.append((tried["ok"], tried.get("kind")))
    assert kinds == [(False, "Overloaded"), (False, "Unreadable"), (False, "Rejected")]
    assert registry.wants_address("mine")
