"""No redirect is followed, and no name leads to an address that is forbidden: neither when it is saved nor when it is
asked."""

from __future__ import annotations

import asyncio
import json
import socket
from http.server import BaseHTTPRequestHandler

import pytest
from django.core.exceptions import ValidationError

from tests.servers.threads import serving
from workers.models import Call, Endpoint, Item
from workers.providers import addresses, registry
from workers.providers.anthropic.backend import ADDRESS
from workers.providers.client import http_client
from workers.providers.errors import Rejected, Unreachable
from workers.providers.openai.backend import OpenAIBackend
from workers.services.endpoints import save_endpoint

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
PROVIDERS = ["openai", "anthropic", "vllm"]
FORBIDDEN_SPELLINGS = [
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "025177524776",
    "169.254.43518",
    "169.16689662",
    "169.254.169.254.",
    "::ffff:169.254.169.254",
    "[::ffff:a9fe:a9fe]",
    "::169.254.169.254",
    "2002:a9fe:a9fe::1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::a9fe:a9fe",
    "64:ff9b:1:a9fe:a9:fe00::",
    "64:ff9b:1:1a9:fe:a9fe::",
    "64:ff9b:1:1:a9:fea9:fe00:0",
    "::ffff:0:a9fe:a9fe",
    "::ffff:0:169.254.169.254",
    "2001:0:a9fe:a9fe::",
    "2001:0:808:808:0:0:5601:5601",
    "2001:db8::5efe:169.254.169.254",
    "2001:db8::200:5efe:169.254.169.254",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "FD00:0EC2:0:0:0:0:0:254",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "::ffff:192.0.0.192",
]
"""Addresses in every way of writing them, and in IPv6 addresses that gateways and tunnels take them out of."""


@pytest.fixture
def redirecting():
    """(address, paths that were asked): sends everything on to a path of its own, which would answer."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200 if self.path == "/taken" else 307)
            self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/taken")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_POST = answer

    with serving(Handler) as address:
        yield address, asked


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_redirect_is_an_end_with_a_sentence(provider, redirecting, make_endpoint, start, run_worker, settings):
    url, asked = redirecting
    start(make_endpoint(provider, base_url=url), ["a"])
    run_worker()
    call = Call.objects.get()
    assert (call.state, call.attempts_made, len(asked)) == ("failed", 1, 1) and "/taken" not in asked
    assert Item.objects.get().problem == (
        "HTTP 307: The server sends on to another address (127.0.0.1), which is not followed; register the address "
        "that answers itself."
    )
    # the list of hosts binds the workers, too
    settings.ENDPOINT_HOSTS = ["models.example"]
    start(make_endpoint(provider, base_url=url), ["b"])
    run_worker()
    assert Item.objects.get(key="b").problem == "This site allows only models.example (ENDPOINT_HOSTS)."
    assert (Call.objects.latest("pk").state, len(asked)) == ("failed", 1)


def test_the_proxy_of_the_environment_is_used_only_where_the_site_says_so(proxy, settings, monkeypatch, make_endpoint):
    local = make_endpoint("openai", base_url="http://127.0.0.1:1/v1").spec
    with pytest.raises(Unreachable, match=r"is not used \(ENDPOINT_PROXY\)\.$"):
        _ask(local)
    settings.ENDPOINT_PROXY = True
    for found in (["10.0.0.7"], []):  # the name resolves, or only the proxy knows it
        proxy.clear()
        looked_up = _resolves_to(monkeypatch, *found)
        spec = make_endpoint("openai", base_url="http://models.example/v1").spec
        _ask(spec, times=3)
        assert proxy == ["http://models.example/v1/chat/completions"] * 3
        assert looked_up == ["models.example"], "the name was looked up once"
    proxy.clear()
    _resolves_to(monkeypatch, "10.0.0.7", "169.254.169.254")
    with pytest.raises(Rejected, match="link-local or metadata"):
        _ask(make_endpoint("openai", base_url="http://innocent.example/v1").spec)
    assert proxy == [], "a name that leads to a forbidden address is not handed to the proxy"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_batch_follows_none_either(provider, redirecting, make_endpoint):
    url, asked = redirecting
    endpoint = make_endpoint(provider, base_url=url)

    async def submit() -> None:
        backend = registry.make(endpoint.spec)
        try:
            batches = registry.make_batches(endpoint.spec, backend)
            with pytest.raises(Rejected, match="which is not followed"):
                await batches.status("batch-1")
            with pytest.raises(Rejected, match="which is not followed"):
                await batches.submit("uid", [("uid-1", {"model": "tiny", "messages": [], "max_tokens": 1})])
        finally:
            await backend.aclose()

    asyncio.run(submit())
    assert asked and "/taken" not in asked


@pytest.fixture
def proxy(monkeypatch):
    """URLs that a proxy was asked for; the worker's environment names it. It answers each call itself."""
    asked: list[str] = []
    answer = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "usage": {}}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    for name in ("NO_PROXY", "HTTP_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving(Handler) as address:
        monkeypatch.setenv("http_proxy", address)
        yield asked


def test_hosts_that_the_environment_excepts_are_asked_without_the_proxy(proxy, settings, monkeypatch, make_endpoint):
    settings.ENDPOINT_PROXY = True
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(Unreachable) as caught:
        _ask(make_endpoint("openai", base_url="http://127.0.0.1:1/v1").spec)
    assert proxy == [] and "ENDPOINT_PROXY" not in str(caught.value)


def test_a_name_is_saved_where_it_leads_to_no_forbidden_address(monkeypatch, settings):
    for address in ("169.254.169.254", "fe80::1%eth0", "fd00:ec2::254", "::ffff:169.254.1.1"):
        _resolves_to(monkeypatch, "10.0.0.7", address)
        with pytest.raises(ValidationError) as caught:
            _save("http://innocent.example/v1")
        assert caught.value.message_dict == {"base_url": ["A link-local or metadata address is not a model server."]}
    for found in (["127.0.0.1"], ["::1"], ["10.0.0.7"], ["192.168.1.9"], ["fd12:3456::1"], []):
        _resolves_to(monkeypatch, *found)
        assert _save("http://gpu-box:8001/v1").pk
        Endpoint.objects.all().delete()
    for spelling in ("2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]"):
        with pytest.raises(ValidationError, match="link-local or metadata"):
            _save(f"http://{spelling}/v1")
    looked_up = _resolves_to(monkeypatch, "10.0.0.7")
    settings.ENDPOINT_HOSTS = ["models.example"]
    with pytest.raises(ValidationError, match="ENDPOINT_HOSTS"):
        _save("http://gpu-box:8001/v1")
    assert looked_up == [], "the list of hosts decides first"


def test_no_spelling_of_a_forbidden_address_is_asked(make_endpoint):
    """Written into the database past the form, which is what a restored copy does."""
    for spelling in FORBIDDEN_SPELLINGS:
        assert addresses.is_forbidden(spelling)
    for host in ("169.254.169.254", "2852039166", "0xa9fea9fe", "169.254.43518", "[::ffff:169.254.169.254]",
                 "[2002:a9fe:a9fe::]"):  # fmt: skip
        with pytest.raises(Rejected) as caught:
            _ask(make_endpoint("openai", base_url=f"http://{host}/v1").spec)
        assert "link-local or metadata" in str(caught.value) or "canonical" in str(caught.value)


def test_a_netrc_of_the_worker_is_not_read(redirecting, monkeypatch, tmp_path, make_endpoint):
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with pytest.raises(Rejected, match="which is not followed"):
        _ask(make_endpoint("openai", base_url=redirecting[0]).spec)


def _resolves_to(monkeypatch, *addresses_found: str) -> list[str]:
    """Every name resolves to `found`; returns the list of names that were looked up."""
    looked_up: list[str] = []

    def look_up(host, *_: object, **__: object) -> list[tuple]:
        looked_up.append(host)
        if not addresses_found:
            raise socket.gaierror("no such name")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses_found]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return looked_up


def _save(url: str) -> Endpoint:
    values = {"name": "named", "provider": "openai", "model": "m", "base_url": url}
    return save_endpoint(by="", values=values)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_name_that_leads_elsewhere_by_now_is_not_asked(provider, monkeypatch, make_endpoint, start, run_worker):
    _resolves_to(monkeypatch, "169.254.169.254")
    start(make_endpoint(provider, base_url="http://innocent.example/v1"), [f"q{at}" for at in range(5)])
    run_worker()
    calls = list(Call.objects.all())
    assert {(call.state, call.attempts_made) for call in calls} == {("failed", 1)}
    assert {call.problem for call in calls} == {"A link-local or metadata address is not a model server."}


def test_what_is_no_metadata_address_is_allowed_in_the_same_spellings():
    for spelling in [
        "127.0.0.1",
        "::1",
        "0x7f000001",
        "10.0.0.7",
        "::ffff:10.0.0.7",
        "fd12:3456::1",
        "2002:a00:7::1",
        "64:ff9b::a00:7",
        "::ffff:0:a00:7",
        "64:ff9b:1:a00:0:700::",
        "8.8.8.8",
        "2001:db8::1",
        "models.example",
        "",
        "localhost",
    ]:
        assert not addresses.is_forbidden(spelling)


def test_a_name_that_turns_between_the_check_and_the_connection_is_not_connected_to(monkeypatch, make_endpoint):
    """Rebinding: each look-up gives another address. The one that is connected to is the one that is judged."""
    _resolves_to(monkeypatch, "10.0.0.7")
    endpoint = _save("http://turning.example/v1")
    answers = iter(["169.254.169.254", "127.0.0.1", "127.0.0.1"])
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), 9))]
    )
    with pytest.raises(Rejected, match="link-local or metadata"):
        _ask(endpoint.spec)
    assert next(answers) == "127.0.0.1", "the name was looked up once"


def test_of_several_addresses_the_forbidden_one_is_passed_by(monkeypatch, make_endpoint):
    _resolves_to(monkeypatch, "169.254.169.254", "127.0.0.1")
    connected = []
    original = addresses.guarded_socket

    def watched(row: tuple) -> socket.socket:
        made = original(row)
        connected.append(row[4][0])
        return made

    monkeypatch.setattr("workers.providers.wire.guarded_socket", watched)
    with pytest.raises((Rejected, Unreachable)):
        _ask(make_endpoint("openai", base_url="http://both.example:1/v1").spec)
    assert set(connected) == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("provider", "variable", "own", "address"),
    [
        ("openai", "OPENAI_BASE_URL", "api.openai.com", OpenAIBackend.own),
        ("anthropic", "ANTHROPIC_BASE_URL", "api.anthropic.com", ADDRESS),
    ],
)
def test_of_an_endpoint_without_an_address_only_the_providers_own_is_asked(
    provider, variable, own, address, monkeypatch, settings, make_endpoint
):
    spec = make_endpoint(provider, base_url="").spec

    async def ask() -> None:
        client = http_client(spec, address)
        try:
            with pytest.raises(Rejected, match="ENDPOINT_HOSTS"):
                await client.get("http://elsewhere.example/v1")
        finally:
            await client.aclose()

    asyncio.run(ask())
    monkeypatch.setenv(variable, "http://elsewhere.example/v1")  # the environment of a worker redirects no endpoint
    for hosts in ([], ["models.example"]):
        settings.ENDPOINT_HOSTS = hosts
        looked_up = _resolves_to(monkeypatch)
        with pytest.raises(Unreachable):
            _ask(make_endpoint(provider, base_url="").spec)
        assert looked_up == [own]


def test_hosts_of_the_list_are_allowed():
    for hosts, url in [
        (["Models.example"], "http://models.example/v1"),
        (["models.example:443"], "https://models.example/v1"),
        (["models.example:8000"], "http://models.example:8000/v1"),
        (["::1"], "http://[::1]:8000/v1"),
        ([], "http://anywhere.example/v1"),
    ]:
        addresses.check_allowed(url, hosts)


def test_hosts_that_only_look_like_the_list_are_not():
    for url in [
        "http://models.example:8001/",
        "http://models.example.evil/",
        "http://evil/?models.example:8000",
        "https://models.example/",
    ]:
        with pytest.raises(Rejected, match="ENDPOINT_HOSTS"):
            addresses.check_allowed(url, ["models.example:8000"])


def _ask(spec, *, times: int = 1) -> None:
    async def ask() -> None:
        backend = registry.make(spec)
        try:
            for _ in range(times):
                await backend.complete({"model": "m", "messages": [], "max_tokens": 1}, timeout=5, call="c")
        finally:
            await backend.aclose()

    asyncio.run(ask())


def test_a_name_that_does_not_resolve_is_unreachable_and_tried_again(monkeypatch, make_endpoint):
    _resolves_to(monkeypatch)
    with pytest.raises(Unreachable):
        _ask(make_endpoint("openai", base_url="http://nowhere.example/v1").spec)
