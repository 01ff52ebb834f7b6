"""A site that others reach: the sample's password refuses to start, and behind TLS two settings are enough."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.core.management import CommandError, call_command

from annotation.management.commands import prepare
from annotation.models import Project, User
from annotation.services.sample import PASSWORD
from config.listening import is_loopback, listen
from tests.commands import program
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
OTHER = "another-long-password"


def test_what_only_this_machine_reaches():
    own = ["127.0.0.1", "127.8.9.1", "localhost", "::1", "127.1"]
    others = ["0.0.0.0", "::", "0", "192.0.2.7", "2001:db8::7", "8.8.8.8", "name.invalid", "a..b"]
    assert {host: is_loopback(host) for host in own + others} == dict.fromkeys(own, True) | dict.fromkeys(others, False)


def test_a_host_name_is_what_it_leads_to(monkeypatch):
    found: dict[str, list[str]] = {"here": ["127.0.1.1"], "there": ["192.0.2.7"], "both": ["127.0.1.1", "192.0.2.7"]}
    lead = lambda host, *_, **__: [(2, 1, 6, "", (address, 0)) for address in found[host]]  # noqa: E731
    monkeypatch.setattr(socket, "getaddrinfo", lead)
    assert [is_loopback(host) for host in found] == [True, False, False]


@pytest.fixture
def opened(monkeypatch, settings):
    """A site on every address, whose static files need no collecting."""
    monkeypatch.setattr(prepare, "collect_static", lambda: False)
    settings.HOST, settings.OPEN_TO_OTHERS = "0.0.0.0", True


@pytest.mark.django_db
def test_others_never_meet_a_new_sample(opened):
    with pytest.raises(CommandError, match=r"HOST is 0\.0\.0\.0, so others can reach.*Start with SAMPLE=0"):
        call_command("prepare", sample=True)
    assert not User.objects.exists() and not Project.objects.exists()
    call_command("prepare")


def test_others_never_meet_a_sample_password(opened, cast):
    """With the default SAMPLE=1, which loads nothing where a project exists, and with SAMPLE=0."""
    call_command("prepare", sample=True)
    User.objects.create_user("ada", password=PASSWORD)
    User.objects.create_user("bruno", password=OTHER)
    User.objects.create_user("dalia", password=PASSWORD, is_active=False)
    for sample in (True, False):
        with pytest.raises(CommandError, match=r"the password of ada is the sample's.*manage\.py changepassword NAME"):
            call_command("prepare", sample=sample)
    ada = User.objects.get(username="ada")
    ada.set_password(OTHER)
    ada.save()
    call_command("prepare", sample=True)


def test_the_sample_is_served_to_this_machine(opened, settings, cast):
    settings.OPEN_TO_OTHERS = False
    User.objects.create_user("ada", password=PASSWORD)
    call_command("prepare", sample=True)


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


# --- a server of its own
# ---------------------------------------------------------------------------------------------------------------------


def environment_of(var: Path, **names: str) -> dict[str, str]:
    removed = ("DATABASE_URL", "REDIS_URL", "SITE_URL", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "BEHIND_TLS")
    kept = {name: value for name, value in os.environ.items() if name not in removed}
    return kept | {"WORKERS": "1", "THREADS": "2", "CREDENCE_VAR": str(var)} | names


@pytest.fixture(scope="module")
def var(prepared, tmp_path_factory) -> Path:
    """A data folder in which ada has the sample's password."""
    folder = prepared(tmp_path_factory.mktemp("open") / "var")
    with program(folder) as run:
        code = f"from annotation.models import User; User.objects.create_user('ada', password={PASSWORD!r})"
        assert run("shell", "-v", "0", "-c", code).returncode == 0
    return folder


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ({"HOST": "0.0.0.0"}, "HOST is 0.0.0.0, so others can reach this site, but the password of ada"),
        ({"SITE_URL": "https://credence.example"}, "every page would redirect to itself"),
        ({"SITE_URL": "https://credence.example/sub", "TRUST_PROXY": "1"}, "works below no path"),
    ],
)
def test_a_server_that_may_not_be_served_ends_with_a_sentence(var, names, sentence):
    done = subprocess.run(
        [sys.executable, "-m", "config.web"], cwd=ROOT, env=environment_of(var, PORT="1", **names),
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 1 and not done.stdout
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def behind_tls(var) -> Iterator[int]:
    """Yield the port of a server that knows two settings only."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    names = {"PORT": str(port), "HOST": "127.0.0.1", "SITE_URL": "https://credence.example", "TRUST_PROXY": "true"}
    process = subprocess.Popen([sys.executable, "-m", "config.web"], cwd=ROOT, env=environment_of(var, **names))
    end = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            break
        except OSError:
            assert process.poll() is None and time.monotonic() < end, "the server did not start"
            time.sleep(0.1)
    yield port
    process.send_signal(signal.SIGTERM)
    process.wait(PATIENCE)


def ask(port: int, method: str, path: str, body: str = "", **headers: str) -> http.client.HTTPResponse:
    """Ask as a proxy does that ended TLS for a browser."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    told = {"Host": "credence.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.4"} | headers
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in told.items()})
    return connection.getresponse()


def test_behind_tls_two_settings_are_enough(behind_tls):
    page = ask(behind_tls, "GET", "/login/")
    assert page.status == 200 and page.getheader("Strict-Transport-Security").startswith("max-age=31536000")
    cookie, text = page.getheader("Set-Cookie"), page.read().decode()
    assert "Secure" in cookie
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', text)
    form = urlencode({"username": "ada", "password": PASSWORD, "csrfmiddlewaretoken": token[1]})
    sent = {"Cookie": cookie.partition(";")[0], "Content-Type": "application/x-www-form-urlencoded"}
    # nginx's own Host is the address that it passes requests to; others pass the browser's.
    for host in ("credence.example", f"127.0.0.1:{behind_tls}"):
        answer = ask(
            behind_tls, "POST", "/login/", form, Host=host, Origin="https://credence.example",
            Referer="https://credence.example/login/", **sent,
        )  # fmt: skip
        assert answer.status == 302, answer.read().decode()[:2000]
        session = [value for name, value in answer.getheaders() if name == "Set-Cookie" and "sessionid" in value]
        assert "Secure" in session[0] and "HttpOnly" in session[0]
    elsewhere = ask(behind_tls, "POST", "/login/", form, Origin="https://evil.example", **sent)
    assert elsewhere.status == 403


def test_plain_http_leads_to_the_site_once(behind_tls):
    plain = ask(behind_tls, "GET", "/login/?next=/account/", X_Forwarded_Proto="http", Host="127.0.0.1")
    assert (plain.status, plain.getheader("Location")) == (301, "https://credence.example/login/?next=/account/")
    assert ask(behind_tls, "GET", "/login/", Host="evil.example").status == 400
