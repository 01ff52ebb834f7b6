"""The web server of `make serve`: connections that dawdle hold nobody up, and it ends cleanly."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("web")  # one server for all

ROOT = Path(__file__).resolve().parents[2]
THREADS = 2
HALF = {
    "nothing": b"",
    "half a head": b"GET /login/ HTTP/1.1\r\nHost: 127",
    "half a body": b"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken=abcdefghijklmnopqrstuvwxyzabcdef\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nusername=",
}


def _environment(var: Path, port: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    told = {"HOST": "127.0.0.1", "PORT": str(port), "WORKERS": "1", "THREADS": str(THREADS), "CREDENCE_VAR": str(var)}
    return kept | told


@pytest.fixture(scope="module")
def site(prepared, tmp_path_factory):
    """Yield the port and the process of a server with an empty database."""
    var = prepared(tmp_path_factory.mktemp("web") / "var")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = _environment(var, port)
    process = subprocess.Popen([sys.executable, "-m", "config.web"], cwd=ROOT, env=environment, stderr=subprocess.PIPE)
    end = time.monotonic() + PATIENCE
    while True:
        try:
            get(port)
            break
        except OSError:
            assert process.poll() is None and time.monotonic() < end, "the server did not start"
            time.sleep(0.1)
    yield port, process
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)


def get(port: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/login/", timeout=PATIENCE) as answer:
        return answer.status


@pytest.mark.parametrize("kind", HALF)
def test_half_open_connections_do_not_stop_the_site(site, kind):
    """Ten times as many as there are threads, kept open while the page is asked for."""
    port, _ = site
    open_ones = [socket.create_connection(("127.0.0.1", port)) for _ in range(10 * THREADS)]
    try:
        for one in open_ones:
            one.sendall(HALF[kind])
        assert [get(port) for _ in range(3)] == [200, 200, 200]
    finally:
        for one in open_ones:
            one.close()


def test_an_address_that_is_taken_is_one_sentence(site, tmp_path):
    port, _ = site
    done = subprocess.run(
        [sys.executable, "-m", "config.web"], cwd=ROOT, env=_environment(tmp_path / "var", port),
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert f"Port {port} of 127.0.0.1: address already in use" in done.stderr


def test_it_ends_when_it_is_told_to(site):
    """Last in this file: no process of it is left, and the port is free."""
    port, process = site
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE) == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 5)
