"""A data folder as `migrate` and `collectstatic` leave it, made once for all test processes and copied."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def copy_prepared(var: Path, shared: Path) -> Path:
    """Return the new folder `var` of an installation on SQLite without a row; its pattern lies in `shared`."""
    pattern = shared / "prepared"
    with (shared / "prepared.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not pattern.is_dir():
            _prepare(shared / "preparing")
            (shared / "preparing").rename(pattern)
    shutil.copytree(pattern, var)
    return var


def _prepare(var: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment = kept | {"CREDENCE_VAR": str(var), "DJANGO_SETTINGS_MODULE": "config.settings"}
    for command in (["migrate", "-v", "0"], ["collectstatic", "--noinput", "-v", "0"]):
        subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True)
