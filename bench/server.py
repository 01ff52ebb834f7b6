"""Starts the product's own server, or another to compare with, for a measurement."""

import argparse
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
SERVERS = {
    "product": ("python", "-m config.web"),
    "gunicorn": (
        "gunicorn",
        "config.wsgi --bind 127.0.0.1:{port} --workers {workers} --threads {each} --preload --log-level warning",
    ),
    "granian": (
        "granian",
        "--interface wsgi --host 127.0.0.1 --port {port} --workers {workers} --blocking-threads {each} --log-level "
        "warning config.wsgi:application",
    ),
}


def add_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workers", type=int, default=2, help="processes of the server")
    parser.add_argument("--threads", type=int, default=16, help="of all processes together")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(server: str, port: int, *, workers: int, threads: int, errors: IO | None = None) -> subprocess.Popen:
    """Start a server and return it once it answers. `threads` are those of all `workers` together; `errors` takes what
    the server logs.

    Raises SystemExit where it is not installed or does not answer within 60 s.
    """
    each = max(1, threads // workers)
    program, arguments = SERVERS[server]
    path = Path(sys.executable).with_name(program)
    if not path.exists():
        raise SystemExit(f"There is no {path}; install {program} beside the product.")
    sizes = {"HOST": "127.0.0.1", "PORT": str(port), "WORKERS": str(workers), "THREADS": str(each)}
    filled = arguments.format(port=port, workers=workers, each=each).split()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": errors}  # a table, or objects, are what the bench itself prints
    process = subprocess.Popen([str(path), *filled], cwd=ROOT, env=os.environ | sizes, **quiet)
    await_port(port, process)
    return process


def await_port(port: int, process: subprocess.Popen) -> None:
    """Return once `process` answers on a port of loopback. Raises SystemExit where it does not within 60 s."""
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    process.terminate()
    raise SystemExit("The server did not start within 60 s.")


def processor_seconds(process: subprocess.Popen, database: str = "") -> float:
    """Return what a server, its children, and the processes of a PostgreSQL on this machine that serve `database` have
    taken of processors so far."""
    seconds = 0.0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        of_server = process.pid in (int(entry.name), int(fields[1]))
        if of_server or (database and command.startswith("postgres:") and f" {database} " in command):
            seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds
