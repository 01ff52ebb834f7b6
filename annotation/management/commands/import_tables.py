from __future__ import annotations

from pathlib import Path

from django.utils import timezone

from annotation.management.commands._importing import ImportCommand, add_encoding, add_problems, check_readable
from annotation.services.table_import import import_tables
from core.wording import counted


class Command(ImportCommand):
    help = (
        "Imports belief tables from a spreadsheet (CSV or .xlsx): story_id,actor,belief[,order], a proposition a row."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--project", required=True, metavar="SLUG")
        add_encoding(parser)
        add_problems(parser)
        parser.add_argument("--replace", action="store_true", help="write over tables that are there")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")

    def work(self, **options) -> dict:
        project = self.project(options["project"])
        with check_readable(options["file"]).open("rb") as handle:
            chosen = {name: options[name] for name in ("encoding", "replace", "dry_run")}
            place = {"project": project, "handle": handle, "file": str(options["file"])}
            result = import_tables(by=None, now=timezone.now(), **place, **chosen)
        return self.judged(result, kept=not options["dry_run"], problems_to=options["problems"])

    def say(self, result: dict) -> None:
        self.say_result()
        for name, count in result["reopened"].items():
            self.stdout.write(
                f"  {name} has rows to label again in {counted(count, 'finished story', 'finished stories')}"
            )
        self.say_problems()
