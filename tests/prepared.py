"""A data folder as `migrate` and `collectstatic` leave it, made once for all test processes and copied."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_MIGRATED = "migrated.sqlite3"
_PREPARING = """
import sys
import django
django.setup()
from django.core.management import call_command
if "migrate" in sys.argv:
    call_command("migrate", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
"""


def keep_migrated(database: sqlite3.Connection, shared: Path) -> None:
    """Keep the database of a test process as it was migrated: once for all, since that takes longer than most tests."""
    own = shared / f"{os.getpid()}.sqlite3"
    with closing(sqlite3.connect(own)) as file:
        database.backup(file)
    own.rename(shared / _MIGRATED)


def copy_prepared(var: Path, shared: Path) -> Path:
    """Return the new folder `var` of an installation on SQLite without a row; its pattern lies in `shared`."""
    pattern = shared / "prepared"
    with (shared / "prepared.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not pattern.is_dir():
            _prepare(shared / "preparing", shared / _MIGRATED)
            (shared / "preparing").rename(pattern)
    shutil.copytree(pattern, var)
    return var


def _prepare(var: Path, migrated: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment = kept | {"CREDENCE_VAR": str(var), "DJANGO_SETTINGS_MODULE": "config.settings"}
    missing = [] if migrated.is_file() else ["migrate"]
    if not missing:
        var.mkdir(mode=0o700)
        shutil.copy(migrated, var / "credence.sqlite3")
    subprocess.run([sys.executable, "-c", _PREPARING, *missing], cwd=ROOT, env=environment, check=True)
