"""A provider that nobody has heard of goes its whole way, with no other line changed; so does the backend that
docs/developers.md shows."""

import json
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest
from django.core.management import call_command
from django.urls import reverse

from tests.servers.odd import Odd, OddServer
from workers.models import Call, Endpoint
from workers.providers import registry
from workers.providers.chat_completions import ChatBackend
from workers.providers.contract import Completion, Stop, Usage
from workers.providers.description import Provider
from workers.providers.parsing import count_of, is_reported, object_of
from workers.services.endpoints import save_endpoint, try_endpoint
from workers.services.planning import key_of

ROOT = Path(__file__).parents[3]


class Echo:
    """Says the last message back."""

    def __init__(self, spec) -> None:
        self.spec = spec

    def body(self, request):
        return {"model": self.spec.model, "say": request.messages[-1].content, "max_tokens": request.max_tokens}

    async def complete(self, body, *, timeout, call) -> Completion:
        return Completion(body["say"], Stop.END, Usage(input=7, output=3), self.spec.model)

    async def aclose(self) -> None:
        pass


def register(name: str, backend: type, **fields) -> None:
    registry.register(Provider(name=name, label=f"An {name}", sentence=f"Is {name}.", backend=backend, **fields))


@pytest.mark.django_db(transaction=True)
def test_from_its_registration_to_the_ledger(own_registry, admin, page, worked, trial, admins_api, capsys):
    register("echo", Echo, hosted=False)
    assert "Is echo." in page("workers:new_endpoint")
    assert "An echo" in page("workers:new_endpoint", provider="echo")
    call_command("add_endpoint", "loud", "--provider=echo", "--model=e-1", "--try", "--json")
    tried = json.loads(capsys.readouterr().out)["tried"]
    assert (tried["ok"], tried["model"]) == (True, "e-1")
    sent = admins_api.post("/api/v1/endpoints/", {"name": "b", "provider": "echo", "model": "e-2"}, format="json")
    assert sent.status_code == 201
    endpoint = Endpoint.objects.get(name="loud")
    assert worked(endpoint, ["who knows?"]).state == "finished"
    call = Call.objects.get()
    assert (call.state, call.answer, call.provider) == ("answered", "who knows?", "echo")
    assert (call.input_tokens, call.output_tokens, call.cost) == (7, 3, 0)
    assert call.key == key_of(endpoint, json.loads(call.body), 0) and trial.answers == {"who knows?": "who knows?"}
    assert "An echo" in page("workers:endpoints") and "who knows?" in page("workers:call", call.uid)
    assert admin.get(reverse("workers:ledger"), {"endpoint": "loud"}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_server_that_counts_tokens_in_fields_of_its_own_needs_one_method(own_registry, worked):
    class Counting(ChatBackend):
        def usage(self, payload, text: str) -> Usage:
            given, made = (count_of(object_of(payload.get("meter")).get(name)) for name in ("read", "written"))
            return Usage(input=given, output=made, reported=is_reported(given, made, text))

    register("counting", Counting)
    said = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "meter": {"read": 11, "written": 2}}
    with OddServer(Odd(body=said)) as server:
        values = {"name": "c", "provider": "counting", "model": "m", "base_url": f"{server.url}/v1"}
        worked(save_endpoint(by="alice", values=values | {"price_input": "1", "price_output": "2"}), ["well?"])
    call = Call.objects.get()
    assert (call.state, call.answer, call.input_tokens, call.output_tokens) == ("answered", "yes", 11, 2)
    assert call.usage_told and float(call.cost) == pytest.approx((11 * 1 + 2 * 2) / 1_000_000)


def test_a_server_that_takes_the_key_in_a_header_of_its_own_needs_one_name(own_registry, monkeypatch, db):
    class Institute(ChatBackend):
        key_header = "X-Institute-Key"

    def answered(path, headers, body) -> Odd:
        came.append((headers.get("x-institute-key"), headers.get("authorization")))
        choice = {"message": {"content": f"You are {headers.get('x-institute-key')}."}, "finish_reason": "stop"}
        return Odd(body={"choices": [choice]})

    monkeypatch.setenv("INSTITUTE_KEY", "key-of-the-institute")
    register("institute", Institute, hosted=False)
    for variable, sent, said in (("INSTITUTE_KEY", "key-of-the-institute", "[key]"), ("", None, None)):
        came: list[tuple] = []
        with OddServer(answered) as server:
            values = {"name": f"ours{variable}", "provider": "institute", "model": "m", "base_url": f"{server.url}/v1"}
            tried = try_endpoint(endpoint=save_endpoint(by="alice", values=values | {"api_key_env": variable}))
        assert tried["said"] == f"You are {said}." and set(came) == {(sent, None)}


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


@pytest.mark.django_db(transaction=True)
def test_the_backend_shown_to_developers_asks_reads_and_translates(own_registry, worked, monkeypatch):
    page = (ROOT / "docs" / "developers.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n([^`]*class MyBackend:[^`]*)^```$", page, flags=re.M)
    module = ModuleType("shown")
    exec(compile(source, "developers.md", "exec", dont_inherit=True), module.__dict__)  # as in a file of its own
    register("mine", module.MyBackend, hosted=False)
    monkeypatch.setenv("MINE_KEY", "key-of-mine")
    came = []

    def answered(path, headers, body) -> Odd:
        came.append((path, headers["x-my-key"], json.loads(body)["turns"][-1]["words"]))
        return Odd(body={"model": "m-2", "words": "yes", "ended": "stop", "read": 11, "written": 2})

    with OddServer(answered) as server:
        values = {"name": "mine", "provider": "mine", "model": "m", "base_url": server.url, "api_key_env": "MINE_KEY"}
        endpoint = save_endpoint(by="alice", values=values | {"json_schema": False})
        worked(endpoint, ["well?"])
        call = Call.objects.get()
        assert (call.state, call.answer, call.input_tokens, call.output_tokens) == ("answered", "yes", 11, 2)
        assert came == [("/say", "key-of-mine", "well?")]
        for odd, kind in ((Odd(503), "Overloaded"), (Odd(body=b"no JSON"), "Unreadable"), (Odd(400), "Rejected")):
            server.reply = odd
            tried = try_endpoint(endpoint=endpoint)
            assert (tried["ok"], tried.get("kind")) == (False, kind)
    assert registry.wants_address("mine")
