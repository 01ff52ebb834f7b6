"""The web server of `make serve`: what it and others load, whom its connections keep waiting, what is never served, and
what two settings make of it behind TLS."""

import http.client
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest

from annotation.services.sample import PASSWORD
from config import web
from config.environment import is_loopback
from config.web import CONCESSIONS, Share, listen
from tests.commands import ROOT, environment_of, program, started
from tests.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("web")  # one server for all
PAGES = {"config.urls", "annotation.urls", "benchmark.urls", "workers.urls"}
HEAVY = {"matplotlib", "mlcroissant", "pandas", "scipy", "statsmodels"}
"""Libraries that take up to a second and tens of megabytes each: they come in where they are used."""
LOADING = {
    "worker": "from config.celery import app; app.loader.import_default_modules(); print(*sys.modules)",
    "prepare": "from django.core.management import execute_from_command_line as run; run(['manage.py', 'prepare']);"
    "print(*sys.modules)",
    "server": """
import gc
from config import web
web.Family.fork = lambda *_, **__: None
web.Family.watch = lambda _: print(gc.isenabled(), gc.get_freeze_count(), *sys.modules)
web.main()
""",
}
"""What each loads before it has anything to do, printed in its last line."""
THREADS = 2
HEAD = b"POST /login/ HTTP/1.1\r\nHost: credence.example\r\nCookie: csrftoken=abcdefghijklmnopqrstuvwxyzabcdef\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nusername="
HALF = {"nothing": b"", "half a head": b"GET /login/ HTTP/1.1\r\nHost: 127", "half a body": HEAD + FORM}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- what is loaded


def test_the_web_server_alone_loads_the_pages_and_nobody_anything_heavy(prepared, tmp_path):
    """Once for all its processes; a collection writes to what it looks at, and each would then have its own."""
    told, var = {}, prepared(tmp_path / "var")
    for name, code in LOADING.items():
        names = {"DJANGO_SETTINGS_MODULE": "config.settings", "PORT": str(free_port())}
        done = started(var, "-c", f"import sys\n{code}", **names)
        assert done.returncode == 0, done.stderr
        told[name] = done.stdout.splitlines()[-1].split()
        assert not HEAVY & {*told[name]} and PAGES & {*told[name]} == (PAGES if name == "server" else set()), name
    assert "workers.tasks" in told["worker"] and "annotation.models" in told["prepare"]
    collects, spares = told["server"][:2]
    assert collects == "True" and int(spares) > 100_000  # the pages, and with them the libraries


# --- shares of the connections


class Server:
    """As much of waitress's server as a share uses."""

    def __init__(self) -> None:
        self.active_channels: dict[int, object] = {}

    def handle_accept(self) -> None:
        self.active_channels[len(self.active_channels)] = object()

    def readable(self) -> bool:
        return True


def test_processes_share_connections_evenly_and_leave_none_waiting(monkeypatch):
    monkeypatch.setattr(web.time, "sleep", lambda seconds: None)
    counts, servers = memoryview(bytearray(12)).cast("I"), [Server() for _ in range(3)]
    for number, server in enumerate(servers):
        Share(counts, number).of(server)

    def held(*accepting: int) -> list[int]:
        """Connections of each, once these were offered one."""
        for number in accepting:
            servers[number].handle_accept()
        return [len(server.active_channels) for server in servers]

    assert held(0, 0) == [1, 0, 0], "the second is left to who holds fewer"
    assert held(1, 2) == [1, 1, 1] and held(0) == [2, 1, 1]
    assert held(*[0] * CONCESSIONS) == [2, 1, 1] and held(0) == [3, 1, 1], "what nobody takes is taken"
    servers[1].active_channels.clear()  # those that ended count no more
    assert servers[1].readable() and held(2) == [3, 0, 1] and held(1, 2) == [3, 1, 2]


# --- who reaches it


def test_what_only_this_machine_reaches(monkeypatch):
    own = ["127.0.0.1", "127.8.9.1", "localhost", "::1", "127.1"]
    others = ["0.0.0.0", "::", "0", "192.0.2.7", "2001:db8::7", "8.8.8.8", "name.invalid", "a..b"]
    assert [host for host in own + others if is_loopback(host)] == own
    # a host name is what it leads to
    found: dict[str, list[str]] = {"here": ["127.0.1.1"], "there": ["192.0.2.7"], "both": ["127.0.1.1", "192.0.2.7"]}
    lead = lambda host, *_, **__: [(2, 1, 6, "", (address, 0)) for address in found[host]]  # noqa: E731
    monkeypatch.setattr(socket, "getaddrinfo", lead)
    assert [is_loopback(host) for host in found] == [True, False, False]


def test_every_address_of_both_kinds_is_listened_on():
    for host, reached in {"::": ("127.0.0.1", "::1"), "::1": ("::1",), "127.0.0.1": ("127.0.0.1",)}.items():
        try:
            listening = listen(host, 0)
        except SystemExit:
            pytest.skip("this machine has no IPv6")
        with listening:
            listening.listen()
            for address in reached:
                socket.create_connection((address, listening.getsockname()[1]), 5).close()


# --- a server of its own, behind a proxy that ends TLS


@dataclass
class Site:
    var: Path
    port: int
    process: subprocess.Popen

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> http.client.HTTPResponse:
        """Ask as a proxy does that ended TLS for a browser."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        told = {"Host": "credence.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.4"} | headers
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in told.items()})
        return connection.getresponse()


@pytest.fixture(scope="module")
def site(prepared, tmp_path_factory) -> Iterator[Site]:
    """Yield a server that knows two settings only, and in whose data ada has the sample's password."""
    var = prepared(tmp_path_factory.mktemp("web") / "var")
    with program(var) as run:
        code = f"from annotation.models import User; User.objects.create_user('ada', password={PASSWORD!r})"
        assert run("shell", "-v", "0", "-c", code).returncode == 0
    port = free_port()
    own = {"HOST": "127.0.0.1", "PORT": str(port), "WORKERS": "1", "THREADS": str(THREADS)}
    names = environment_of(var, SITE_URL="https://credence.example", TRUST_PROXY="true", **own)
    process = subprocess.Popen([sys.executable, "-m", "config.web"], cwd=ROOT, env=names)
    end = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            break
        except OSError:
            assert process.poll() is None and time.monotonic() < end, "the server did not start"
            time.sleep(0.1)
    yield Site(var, port, process)
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.wait(PATIENCE)


def test_half_open_connections_do_not_stop_the_site(site):
    """Ten times as many as there are threads, kept open while the page is asked for."""
    for kind, sent in HALF.items():
        open_ones = [socket.create_connection(("127.0.0.1", site.port)) for _ in range(10 * THREADS)]
        try:
            for one in open_ones:
                one.sendall(sent)
            assert [site.ask("GET", "/login/").status for _ in range(3)] == [200, 200, 200], kind
        finally:
            for one in open_ones:
                one.close()


def test_behind_tls_two_settings_are_enough(site):
    page = site.ask("GET", "/login/")
    assert page.status == 200 and page.getheader("Strict-Transport-Security").startswith("max-age=31536000")
    cookie, text = page.getheader("Set-Cookie"), page.read().decode()
    assert "Secure" in cookie
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', text)
    form = urlencode({"username": "ada", "password": PASSWORD, "csrfmiddlewaretoken": token[1]})
    sent = {"Cookie": cookie.partition(";")[0], "Content-Type": "application/x-www-form-urlencoded"}
    own = sent | {"Origin": "https://credence.example", "Referer": "https://credence.example/login/"}
    # nginx's own Host is the address that it passes requests to; others pass the browser's.
    for host in ("credence.example", f"127.0.0.1:{site.port}"):
        answer = site.ask("POST", "/login/", form, Host=host, **own)
        assert answer.status == 302, answer.read().decode()[:2000]
        session = [value for name, value in answer.getheaders() if name == "Set-Cookie" and "sessionid" in value]
        assert "Secure" in session[0] and "HttpOnly" in session[0]
    assert site.ask("POST", "/login/", form, Origin="https://evil.example", **sent).status == 403
    # plain HTTP leads to the site, once
    plain = site.ask("GET", "/login/?next=/account/", X_Forwarded_Proto="http", Host="127.0.0.1")
    assert (plain.status, plain.getheader("Location")) == (301, "https://credence.example/login/?next=/account/")
    assert site.ask("GET", "/login/", Host="evil.example").status == 400


def test_what_may_not_be_served_ends_with_a_sentence_before_anything_is_prepared(site, tmp_path):
    serve, supervised = ["-m", "config.web"], ["-m", "config.supervised", "-c", "config/supervisord.conf"]
    taken = f"Port {site.port} of 127.0.0.1: address already in use; choose another, as with PORT=8001."
    var, new = site.var, tmp_path / "var"
    for module, folder, names, sentence in [
        (serve, var, {"HOST": "0.0.0.0"}, "HOST is 0.0.0.0, so others can reach this site, but the password of ada"),
        (serve, var, {"SITE_URL": "https://credence.example"}, "every page would redirect to itself"),
        (serve, var, {"SITE_URL": "https://credence.example/sub", "TRUST_PROXY": "1"}, "works below no path"),
        (serve, tmp_path / "own", {"PORT": str(site.port)}, taken),
        (supervised, new, {"PORT": str(site.port)}, taken),
        (supervised, new, {"PORT": "web"}, "PORT is 'web'; expected a whole number from 1 to 65535."),
    ]:
        done = started(folder, *module, **{"PORT": "1"} | names)
        assert done.returncode == 1 and not done.stdout, names
        assert sentence in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not new.exists()


def test_it_ends_when_it_is_told_to(site):
    """Last in this file: no process of it is left, and the port is free."""
    site.process.send_signal(signal.SIGTERM)
    assert site.process.wait(timeout=PATIENCE) == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", site.port), 5)
