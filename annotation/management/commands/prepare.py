from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from annotation.services.sample import refuse_public_log_ins
from core import preparing
from core.digests import json_digest

MARK = ".collected"
"""The file in STATIC_ROOT that says of which files it was made."""


class Command(JsonCommand):
    help = (
        "Checks the settings, brings the database and the static files up to date and loads the sample: what "
        "precedes a start."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--sample", action="store_true", help="load the sample project where there is no project")

    def work(self, **options: Any) -> dict[str, Any]:
        # one process for all of it: to load the settings and the apps takes longer than the work
        migrate()
        if settings.OPEN_TO_OTHERS:
            refuse_public_log_ins(host=settings.HOST, loading=options["sample"] and not Project.objects.exists())
        output, collected = StringIO(), collect_static()
        if options["sample"]:
            call_command("load_sample", once=True, stdout=output)
        preparing.done()
        return {"static_files_collected": collected, "sample": output.getvalue().strip()}

    def say(self, result: dict[str, Any]) -> None:
        if result["sample"]:
            self.stdout.write(result["sample"])


def migrate() -> None:
    """Migrate the database where any migration is left: to find that there is none, as `migrate` does, takes a tenth
    of a start."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)


def collect_static() -> bool:
    """Collect the static files where any of them has changed: each is hashed and compressed anew, which takes
    seconds."""
    files = sorted(
        (name, file.stat().st_size, file.stat().st_mtime_ns)
        for finder in get_finders()
        for name, storage in finder.list([])
        for file in [Path(storage.path(name))]
    )
    mark, made_of = Path(settings.STATIC_ROOT) / MARK, json_digest([files, settings.STORAGES["staticfiles"]])
    if mark.is_file() and mark.read_text(encoding="utf-8") == made_of:
        return False
    mark.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0)
    mark.write_text(made_of, encoding="utf-8")
    return True
