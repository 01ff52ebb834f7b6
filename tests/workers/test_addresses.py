"""No redirect is followed, and no name leads to an address that is forbidden: neither when it is saved nor when it is
asked."""

import asyncio
import socket

import pytest
from django.core.exceptions import ValidationError

from tests.servers.odd import GOOD, Odd, OddServer
from workers.models import Endpoint
from workers.providers import addresses, registry
from workers.providers.anthropic.backend import ADDRESS
from workers.providers.chat_completions import OpenAIBackend
from workers.providers.client import http_client
from workers.providers.errors import Rejected, Unreachable
from workers.services.endpoints import save_endpoint

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
PROVIDERS = ["openai", "anthropic", "vllm"]
FORBIDDEN = """
    169.254.169.254 2852039166 0xa9fea9fe 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376 025177524776 169.254.43518
    169.16689662 169.254.169.254. ::ffff:169.254.169.254 [::ffff:a9fe:a9fe] ::169.254.169.254 2002:a9fe:a9fe::1
    64:ff9b::169.254.169.254 64:ff9b:1::a9fe:a9fe 64:ff9b:1:a9fe:a9:fe00:: 64:ff9b:1:1a9:fe:a9fe::
    64:ff9b:1:1:a9:fea9:fe00:0 ::ffff:0:a9fe:a9fe ::ffff:0:169.254.169.254 2001:0:a9fe:a9fe::
    2001:0:808:808:0:0:5601:5601 2001:db8::5efe:169.254.169.254 2001:db8::200:5efe:169.254.169.254 fe80::1%eth0
    fd00:ec2::254 FD00:0EC2:0:0:0:0:0:254 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42 168.63.129.16 100.100.100.200
    192.0.0.192 ::ffff:192.0.0.192
"""
"""Addresses in every way of writing them, and in IPv6 addresses that gateways and tunnels take them out of."""
ALLOWED = """
    127.0.0.1 ::1 0x7f000001 10.0.0.7 ::ffff:10.0.0.7 fd12:3456::1 2002:a00:7::1 64:ff9b::a00:7 ::ffff:0:a00:7
    64:ff9b:1:a00:0:700:: 8.8.8.8 2001:db8::1 models.example localhost
"""
METADATA = "link-local or metadata"


@pytest.fixture
def redirecting():
    """(address, paths that were asked): sends everything on to a path of its own, which would answer."""
    asked: list[str] = []

    def reply(path: str, headers: dict, body: bytes) -> Odd:
        asked.append(path)
        return Odd(200 if path == "/taken" else 307, headers={"location": f"{server.url}/taken"})

    with OddServer(reply) as server:
        yield server.url, asked


@pytest.fixture
def proxy(monkeypatch):
    """URLs that a proxy was asked for; the worker's environment names it. It answers each call itself."""
    asked: list[str] = []
    for name in ("NO_PROXY", "HTTP_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with OddServer(lambda path, headers, body: asked.append(path) or Odd(body=GOOD)) as server:
        monkeypatch.setenv("http_proxy", server.url)
        yield asked


@pytest.fixture
def resolves(monkeypatch):
    """Have every name resolve to these addresses; returns the list of names that were looked up."""

    def resolve_to(*found: str) -> list[str]:
        looked_up: list[str] = []

        def look_up(host, *_: object, **__: object) -> list[tuple]:
            looked_up.append(host)
            if not found:
                raise socket.gaierror("no such name")
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in found]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        return looked_up

    return resolve_to


@pytest.fixture
def ask(make_endpoint):
    """Ask a new endpoint with this address: `ask("http://…")`."""

    def asked(url: str, *, provider: str = "openai", times: int = 1) -> None:
        async def work() -> None:
            backend = registry.make(make_endpoint(provider, base_url=url).spec)
            try:
                for _ in range(times):
                    await backend.complete({"model": "m", "messages": [], "max_tokens": 1}, timeout=5, call="c")
            finally:
                await backend.aclose()

        asyncio.run(work())

    return asked


def save(url: str) -> Endpoint:
    return save_endpoint(by="", values={"name": "named", "provider": "openai", "model": "m", "base_url": url})


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_redirect_is_an_end_with_a_sentence(provider, redirecting, make_endpoint, worked, settings):
    url, asked = redirecting
    item = worked(make_endpoint(provider, base_url=url), ["a"]).items.get()
    assert (item.call.state, item.call.attempts_made, len(asked)) == ("failed", 1, 1) and "/taken" not in asked
    where = "The server sends on to another address (127.0.0.1), which is not followed"
    assert item.problem == f"HTTP 307: {where}; register the address that answers itself."
    # the list of hosts binds the workers, too
    settings.ENDPOINT_HOSTS = ["models.example"]
    item = worked(make_endpoint(provider, base_url=url), ["b"]).items.get()
    assert item.problem == "This site allows only models.example (ENDPOINT_HOSTS)."
    assert (item.call.state, len(asked)) == ("failed", 1)


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


def test_a_netrc_of_the_worker_is_not_read(redirecting, monkeypatch, tmp_path, ask):
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with pytest.raises(Rejected, match="which is not followed"):
        ask(redirecting[0])


def test_the_proxy_of_the_environment_is_used_only_where_the_site_says_so(proxy, settings, resolves, monkeypatch, ask):
    with pytest.raises(Unreachable, match=r"is not used \(ENDPOINT_PROXY\)\.$"):
        ask("http://127.0.0.1:1/v1")
    settings.ENDPOINT_PROXY = True
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(Unreachable) as caught:
        ask("http://127.0.0.1:1/v1")
    assert proxy == [] and "ENDPOINT_PROXY" not in str(caught.value), "hosts that the environment excepts"
    monkeypatch.delenv("no_proxy")
    for found in (["10.0.0.7"], []):  # the name resolves, or only the proxy knows it
        proxy.clear()
        looked_up = resolves(*found)
        ask("http://models.example/v1", times=3)
        assert proxy == ["http://models.example/v1/chat/completions"] * 3
        assert looked_up == ["models.example"], "the name was looked up once"
    proxy.clear()
    resolves("10.0.0.7", "169.254.169.254")
    with pytest.raises(Rejected, match=METADATA):
        ask("http://innocent.example/v1")
    assert proxy == [], "a name that leads to a forbidden address is not handed to the proxy"


def test_a_name_is_saved_where_it_leads_to_no_forbidden_address(resolves, settings):
    for address in ("169.254.169.254", "fe80::1%eth0", "fd00:ec2::254", "::ffff:169.254.1.1"):
        resolves("10.0.0.7", address)
        with pytest.raises(ValidationError) as caught:
            save("http://innocent.example/v1")
        assert caught.value.message_dict == {"base_url": [f"A {METADATA} address is not a model server."]}
    for found in (["127.0.0.1"], ["::1"], ["10.0.0.7"], ["192.168.1.9"], ["fd12:3456::1"], []):
        resolves(*found)
        assert save("http://gpu-box:8001/v1").pk
        Endpoint.objects.all().delete()
    for spelling in ("2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]"):
        with pytest.raises(ValidationError, match=METADATA):
            save(f"http://{spelling}/v1")
    looked_up = resolves("10.0.0.7")
    settings.ENDPOINT_HOSTS = ["models.example"]
    with pytest.raises(ValidationError, match="ENDPOINT_HOSTS"):
        save("http://gpu-box:8001/v1")
    assert looked_up == [], "the list of hosts decides first"


def test_no_spelling_of_a_forbidden_address_is_asked(ask):
    """Written into the database past the form, which is what a restored copy does."""
    for spelling in FORBIDDEN.split():
        assert addresses.is_forbidden(spelling), spelling
    for spelling in (*ALLOWED.split(), ""):
        assert not addresses.is_forbidden(spelling), spelling
    hosts = ["169.254.169.254", "2852039166", "0xa9fea9fe", "169.254.43518", "[::ffff:169.254.169.254]"]
    for host in (*hosts, "[2002:a9fe:a9fe::]"):
        with pytest.raises(Rejected, match=f"{METADATA}|canonical"):
            ask(f"http://{host}/v1")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_name_that_leads_elsewhere_by_now_is_not_asked(provider, resolves, make_endpoint, worked):
    resolves("169.254.169.254")
    job = worked(make_endpoint(provider, base_url="http://innocent.example/v1"), [f"q{at}" for at in range(5)])
    calls = [item.call for item in job.items.all()]
    assert {(call.state, call.attempts_made) for call in calls} == {("failed", 1)}
    assert {call.problem for call in calls} == {f"A {METADATA} address is not a model server."}


def test_of_what_a_name_resolves_to_the_address_that_is_connected_to_is_judged(resolves, monkeypatch, ask):
    """Rebinding: each look-up gives another address."""
    answers = iter(["169.254.169.254", "127.0.0.1", "127.0.0.1"])
    turning = lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), 9))]  # noqa: E731
    monkeypatch.setattr(socket, "getaddrinfo", turning)
    with pytest.raises(Rejected, match=METADATA):
        ask("http://turning.example/v1")
    assert next(answers) == "127.0.0.1", "the name was looked up once"
    resolves("169.254.169.254", "127.0.0.1")  # of several addresses the forbidden one is passed by
    connected, original = [], addresses.guarded_socket

    def watched(row: tuple) -> socket.socket:
        made = original(row)
        connected.append(row[4][0])
        return made

    monkeypatch.setattr("workers.providers.wire.guarded_socket", watched)
    with pytest.raises((Rejected, Unreachable)):
        ask("http://both.example:1/v1")
    assert set(connected) == {"127.0.0.1"}
    resolves()
    with pytest.raises(Unreachable):  # and is tried again
        ask("http://nowhere.example/v1")


@pytest.mark.parametrize(("provider", "address"), [("openai", OpenAIBackend.own), ("anthropic", ADDRESS)])
def test_of_an_endpoint_without_an_address_only_the_providers_own_is_asked(
    provider, address, monkeypatch, settings, make_endpoint, resolves, ask
):
    async def elsewhere() -> None:
        client = http_client(make_endpoint(provider, base_url="").spec, address)
        try:
            with pytest.raises(Rejected, match="ENDPOINT_HOSTS"):
                await client.get("http://elsewhere.example/v1")
        finally:
            await client.aclose()

    asyncio.run(elsewhere())
    # the environment of a worker redirects no endpoint
    monkeypatch.setenv(f"{provider.upper()}_BASE_URL", "http://elsewhere.example/v1")
    for hosts in ([], ["models.example"]):
        settings.ENDPOINT_HOSTS = hosts
        looked_up = resolves()
        with pytest.raises(Unreachable):
            ask("", provider=provider)
        assert looked_up == [f"api.{provider}.com"]


def test_hosts_of_the_list_are_allowed_and_those_that_only_look_like_it_are_not():
    for hosts, url in [
        (["Models.example"], "http://models.example/v1"),
        (["models.example:443"], "https://models.example/v1"),
        (["models.example:8000"], "http://models.example:8000/v1"),
        (["::1"], "http://[::1]:8000/v1"),
        ([], "http://anywhere.example/v1"),
    ]:
        addresses.check_allowed(url, hosts)
    other = ["http://models.example:8001/", "http://models.example.evil/", "http://evil/?models.example:8000"]
    for url in (*other, "https://models.example/"):
        with pytest.raises(Rejected, match="ENDPOINT_HOSTS"):
            addresses.check_allowed(url, ["models.example:8000"])
