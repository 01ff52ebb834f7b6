"""What a process takes before it has anything to do: the web server alone loads the pages, once for all its
processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"config.urls", "annotation.urls", "benchmark.urls", "workers.urls"}
HEAVY = {"matplotlib", "mlcroissant", "pandas", "scipy", "statsmodels"}
"""Libraries that take up to a second and tens of megabytes each: they come in where they are used."""
WORKER = "from config.celery import app; app.loader.import_default_modules()"
PREPARE = "from django.core.management import execute_from_command_line as run; run(['manage.py', 'prepare'])"
WEB = """
import gc
from config import web
web.Family.fork = lambda *_, **__: None
web.Family.watch = lambda _: print("collects", gc.isenabled(), "spares", gc.get_freeze_count())
web.main()
"""


def told(code: str, var: Path, **names: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment = kept | {"DJANGO_SETTINGS_MODULE": "config.settings", "CREDENCE_VAR": str(var)} | names
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded(code: str, var: Path) -> set[str]:
    return set(told(f"{code}\nimport sys; print(*sys.modules)", var).split())


def test_a_worker_loads_no_page_and_nothing_heavy(tmp_path):
    modules = loaded(WORKER, tmp_path / "var")
    assert "workers.tasks" in modules and not (PAGES | HEAVY) & modules


def test_what_precedes_a_start_loads_no_page_and_nothing_heavy(prepared, tmp_path):
    modules = loaded(PREPARE, prepared(tmp_path / "var"))
    assert "annotation.models" in modules and not (PAGES | HEAVY) & modules


def test_the_web_server_loads_every_page_and_nothing_heavy(tmp_path):
    modules = loaded("import config.loaded", tmp_path / "var")
    assert modules >= PAGES and not HEAVY & modules


def test_collections_of_the_web_server_spare_what_its_processes_share(tmp_path):
    """A collection writes to what it looks at, and each process would then have its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = told(WEB, tmp_path / "var", PORT=str(port)).splitlines()[-1].split()
    assert words[:2] == ["collects", "True"]
    assert int(words[-1]) > 100_000  # the pages, and with them the libraries
