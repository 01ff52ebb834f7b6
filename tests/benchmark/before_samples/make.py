"""Makes `installation.json.xz`, with the code of before alone (see the package)."""

from __future__ import annotations

import json
import lzma
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.db.migrations.loader import MigrationLoader  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402

from tests.benchmark.before_samples.afterwards import afterwards  # noqa: E402
from tests.benchmark.before_samples.figures import figures  # noqa: E402
from tests.benchmark.before_samples.world import SCRIPTED, build  # noqa: E402
from workers.providers.scripted.backend import FUNCTIONS  # noqa: E402

OF_THE_INSTALLATION = {
    "django_migrations",
    "django_content_type",
    "auth_permission",
    "django_session",
    "sqlite_sequence",
}


def main(target: Path) -> None:
    leaves = dict(MigrationLoader(connection).graph.leaf_nodes())
    if leaves["benchmark"] != "0010_label_schemas":
        raise SystemExit(f"The code is of benchmark {leaves['benchmark']}; expected the one before samples.")
    setup_test_environment()  # pages tell what they were made from
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    FUNCTIONS.update(SCRIPTED)
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
    told = figures()
    held = {"migrations": leaves, "rows": _rows(), "figures": told, "afterwards": afterwards()}
    text = json.dumps(held, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    target.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def _rows() -> dict[str, dict[str, Any]]:
    """Every table with rows as {"columns", "rows"}, times in ISO format."""
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(set(connection.introspection.table_names()) - OF_THE_INSTALLATION):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)} ORDER BY 1")
            rows = [list(row) for row in cursor.fetchall()]
            if rows:
                found[table] = {"columns": [column[0] for column in cursor.description], "rows": rows}
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
