"""A provider that nobody has heard of goes its whole way, with no other line changed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from tests.servers.odd import Odd, OddServer
from workers.models import Call, Endpoint
from workers.providers import registry
from workers.providers.chat_completions import ChatBackend
from workers.providers.contract import Body, Completion, Request, Spec, Stop, Usage
from workers.providers.description import Provider
from workers.providers.parsing import count_of, is_reported, object_of
from workers.services.endpoints import save_endpoint, try_endpoint
from workers.services.planning import key_of

ROOT = Path(__file__).parents[3]


class Echo:
    """Says the last message back."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def body(self, request: Request) -> Body:
        return {"model": self.spec.model, "say": request.messages[-1].content, "max_tokens": request.max_tokens}

    async def complete(self, body: Body, *, timeout: float, call: str) -> Completion:
        return Completion(body["say"], Stop.END, Usage(input=7, output=3), self.spec.model)

    async def aclose(self) -> None:
        pass


@pytest.fixture
def echo(own_registry) -> None:
    registry.register(
        Provider(name="echo", label="An echo", sentence="Says what it is told.", backend=Echo, hosted=False)
    )


@pytest.mark.django_db(transaction=True)
def test_from_its_registration_to_the_ledger(echo, admin, page, start, run_worker, trial, admins_api, capsys):
    assert "Says what it is told." in page("workers:new_endpoint") and "An echo" in page(
        "workers:new_endpoint", provider="echo"
    )
    call_command("add_endpoint", "loud", "--provider=echo", "--model=e-1", "--try", "--json")
    tried = json.loads(capsys.readouterr().out)["tried"]
    assert (tried["ok"], tried["model"]) == (True, "e-1")
    sent = admins_api.post("/api/v1/endpoints/", {"name": "b", "provider": "echo", "model": "e-2"}, format="json")
    assert sent.status_code == 201
    endpoint = Endpoint.objects.get(name="loud")
    job = start(endpoint, ["who knows?"])
    run_worker()
    job.refresh_from_db()
    call = Call.objects.get()
    assert (job.state, call.state, call.answer) == ("finished", "answered", "who knows?")
    assert (call.provider, call.input_tokens, call.output_tokens, call.cost) == ("echo", 7, 3, 0)
    assert call.key == key_of(endpoint, json.loads(call.body), 0) and trial.answers == {"who knows?": "who knows?"}
    assert "An echo" in page("workers:endpoints") and "who knows?" in page("workers:call", call.uid)
    assert admin.get(reverse("workers:ledger"), {"endpoint": "loud"}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_server_that_counts_tokens_in_fields_of_its_own_needs_one_method(own_registry, start, run_worker):
    class Counting(ChatBackend):
        def usage(self, payload: Mapping[str, Any], text: str) -> Usage:
            given, made = (count_of(object_of(payload.get("meter")).get(name)) for name in ("read", "written"))
            return Usage(input=given, output=made, reported=is_reported(given, made, text))

    said = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "meter": {"read": 11, "written": 2}}
    registry.register(Provider(name="counting", label="Counting", sentence="Counts its own way.", backend=Counting))
    with OddServer(lambda path, headers, body: Odd(body=json.dumps(said).encode())) as server:
        values = {
            "name": "counting", "provider": "counting", "model": "m", "base_url": f"{server.url}/v1",
            "price_input": "1", "price_output": "2",
        }  # fmt: skip
        start(save_endpoint(by="alice", values=values), ["well?"])
        run_worker()
    call = Call.objects.get()
    assert (call.state, call.answer, call.input_tokens, call.output_tokens) == ("answered", "yes", 11, 2)
    assert call.usage_told and float(call.cost) == pytest.approx((11 * 1 + 2 * 2) / 1_000_000)


@pytest.mark.parametrize("variable", ["INSTITUTE_KEY", ""])
def test_a_server_that_takes_the_key_in_a_header_of_its_own_needs_one_name(variable, own_registry, monkeypatch, db):
    class Institute(ChatBackend):
        key_header = "X-Institute-Key"

    monkeypatch.setenv("INSTITUTE_KEY", "key-of-the-institute")
    registry.register(Provider(name="institute", label="Ours", sentence="Ours.", backend=Institute, hosted=False))
    came: list[Mapping[str, str]] = []

    def answered(path: str, headers: Mapping[str, str], body: Any) -> Odd:
        came.append(headers)
        choice = {"message": {"content": f"You are {headers.get('x-institute-key')}."}, "finish_reason": "stop"}
        return Odd(body=json.dumps({"choices": [choice]}).encode())

    with OddServer(answered) as server:
        values = {"name": "ours", "provider": "institute", "model": "m", "base_url": f"{server.url}/v1"}
        tried = try_endpoint(endpoint=save_endpoint(by="alice", values=values | {"api_key_env": variable}))
    sent = "key-of-the-institute" if variable else None
    assert tried["said"] == f"You are {'[key]' if variable else None}."
    assert {(each.get("x-institute-key"), each.get("authorization")) for each in came} == {(sent, None)}


FOLDER = '''
"""A provider in a folder of its own."""

from workers.providers.chat_completions import ChatBackend
from workers.providers.description import Provider

PROVIDER = Provider(name="found-by-folder", label="By its folder", sentence="Answers at home.", backend=ChatBackend)
'''
LOOKED_AT = dedent("""
    import sys
    import workers.providers
    workers.providers.__path__.append(sys.argv[1])
    import django
    django.setup()
    from django.core.management import call_command
    from workers.models import Endpoint
    from workers.providers import registry
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
    Endpoint(name="a", provider="found-by-folder", model="m").clean_fields()
    print("found-by-folder" in registry.names(), registry.find("found-by-folder").options_help)
""")


def test_a_folder_is_all_that_it_takes(tmp_path):
    """No migration, no list: what is in the folder is found."""
    (tmp_path / "found_by_folder").mkdir()
    (tmp_path / "found_by_folder" / "__init__.py").touch()
    (tmp_path / "found_by_folder" / "provider.py").write_text(FOLDER)
    command = [sys.executable, "-c", LOOKED_AT, str(tmp_path)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.strip() == "True A JSON object: {}, as there are none."
