from __future__ import annotations

from pathlib import Path

from annotation.management.commands._importing import check_readable
from annotation.management.json_command import JsonCommand
from annotation.services.archive_import import import_archive


class Command(JsonCommand):
    help = "Makes a project from an archive. People are matched by user name, or made without a password."

    def add_arguments(self, parser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.zip")
        parser.add_argument("--project", required=True, metavar="SLUG", help="the new project's name")

    def work(self, **options) -> dict:
        with check_readable(options["file"]).open("rb") as source:
            rows = import_archive(by=None, source=source, slug=options["project"])
        return {"project": options["project"], "rows": rows}
