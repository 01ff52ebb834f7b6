"""A start that can have no address says so, before anything is prepared."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVE = ["config.supervised", "-c", "config/supervisord.conf"]


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def started(module: list[str], port: object, var: Path) -> str:
    environment = os.environ | {"PORT": str(port), "CREDENCE_VAR": str(var)}
    done = subprocess.run(
        [sys.executable, "-m", *module], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and not done.stdout
    return done.stderr


def test_a_port_that_is_taken_is_named_and_nothing_is_prepared(taken, tmp_path):
    assert started(SERVE, taken, tmp_path / "var") == (
        f"Port {taken} of 127.0.0.1: address already in use; choose another, as with PORT=8001.\n"
    )
    assert not (tmp_path / "var").exists()


def test_a_port_that_is_no_number_is_named(tmp_path):
    said = started(SERVE, "web", tmp_path / "var")
    assert said == "PORT is 'web'; expected a whole number from 1 to 65535.\n"
