"""Real processes beside a test, on its own database, that know the job handler of the tests."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from django.db import connection

from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
_PRELUDE = """
import sys
import django
django.setup()
from tests.workers.conftest import Trial
from workers.services.handlers import register
register("trial", Trial())
"""
MANAGE = "from django.core.management import call_command; call_command(*sys.argv[1:])"
CELERY = "from config.celery import app; app.worker_main(sys.argv[1:])"


def database_url() -> str:
    """The database of the running test, as DATABASE_URL says it."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    return (
        f"postgres://{settings['USER']}:{settings['PASSWORD']}@{settings['HOST']}:{settings['PORT']}/{settings['NAME']}"
    )


def start_process(script: str, *arguments: str, folder: Path, **environment: str) -> subprocess.Popen:
    """Start `script` with the test's database; its files lie in `folder`. The caller ends it."""
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "BROKER_URL")}
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings", "CREDENCE_VAR": str(folder), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _PRELUDE + script, *arguments]
    environment = kept | settings | {"DATABASE_URL": database_url()} | environment
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True)


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
