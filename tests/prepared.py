"""What migrations leave, of all test processes made by one, and on SQLite kept until a migration changes; and a data
folder as `migrate` and `collectstatic` leave it, made once for all."""

import fcntl
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

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


def migrate_once() -> None:
    """Have the next `migrate` copy into the test's SQLite database what the same migrations left in another one; it
    runs them where nobody did.

    They take longer than most files of tests. A checkout that never ran a test has no copy, so there they run, of all
    test processes in one.
    """
    from django.core.management.commands.migrate import Command
    from django.db import connection

    patch, run = pytest.MonkeyPatch(), Command.handle
    kept = ROOT / ".pytest_cache" / "migrated" / f"{_digest_of_migrations()}.sqlite3"
    kept.parent.mkdir(parents=True, exist_ok=True)

    def handle(command: Command, *args, **options) -> None:
        patch.undo()
        connection.ensure_connection()
        with (kept.parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if kept.is_file():
                with closing(sqlite3.connect(kept)) as file:
                    file.backup(connection.connection)
                return
            run(command, *args, **options)
            for outdated in kept.parent.glob("*.sqlite3"):
                outdated.unlink()
            keep_migrated(connection.connection, kept.parent, kept.name)

    patch.setattr(Command, "handle", handle)


def copy_migrated(shared: Path) -> None:
    """Have the next `migrate` make the test's PostgreSQL database a copy of that which `TEST_MIGRATED` names, or else
    which another test process of this run has migrated; it migrates where it is the first."""
    from django.core.management.commands.migrate import Command
    from django.db import connection

    patch, run = pytest.MonkeyPatch(), Command.handle
    others = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) - 1
    pattern = f"migrated_{hashlib.sha256(os.fsencode(shared)).hexdigest()[:16]}"
    left = shared / "copies of the migrated database to be made"

    def handle(command: Command, *args, **options) -> None:
        patch.undo()
        own = connection.settings_dict["NAME"]
        with (shared / "migrating").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if migrated := os.environ.get("TEST_MIGRATED"):
                _copy_database(migrated, own)
                return
            if left.is_file():
                _copy_database(pattern, own)
                left.write_text(str(int(left.read_text()) - 1))
            else:
                run(command, *args, **options)
                if others:
                    _copy_database(own, pattern)
                left.write_text(str(others))
            if others and left.read_text() == "0":
                with connection._nodb_cursor() as cursor:
                    cursor.execute(f'DROP DATABASE "{pattern}"')

    patch.setattr(Command, "handle", handle)


def _copy_database(pattern: str, name: str) -> None:
    from django.db import connection

    connection.close()  # nobody may use a database that is copied or replaced
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{pattern}"')


def _digest_of_migrations() -> str:
    """Of the migrations of all apps, Django's among them."""
    import django
    from django.apps import apps

    digest = hashlib.sha256(django.__version__.encode())
    for app in apps.get_app_configs():
        for path in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(f"\0{app.label} {path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def keep_migrated(database: sqlite3.Connection, shared: Path, name: str = _MIGRATED) -> None:
    """Keep the database of a test process as it was migrated: once for all, since that takes longer than most tests."""
    own = shared / f"{os.getpid()}.sqlite3"
    with closing(sqlite3.connect(own)) as file:
        database.backup(file)
    own.rename(shared / name)


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
