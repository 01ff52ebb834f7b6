from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.management.commands._importing import FILE, READING, ImportCommand, check_readable
from annotation.models import Project
from annotation.services.table_import import import_tables
from core.wording import counted


class Command(ImportCommand):
    help = (
        "Imports belief tables from a spreadsheet (CSV or .xlsx): story_id,actor,belief[,order], a proposition a row."
    )
    arguments = {
        **FILE,
        **READING,
        "--replace": {"action": "store_true", "help": "write over tables that are there"},
        "--dry-run": {"action": "store_true", "help": "only say what would be done"},
    }

    def on(self, project: Project, *, file: Path, dry_run: bool, **options: Any) -> dict[str, Any]:
        chosen = {"encoding": options["encoding"], "replace": options["replace"], "dry_run": dry_run}
        with check_readable(file).open("rb") as handle:
            result = import_tables(
                by=None, now=timezone.now(), project=project, handle=handle, file=str(file), **chosen
            )
        return self.judged(result, kept=not dry_run, problems_to=options["problems"])

    def detail(self, result: dict[str, Any]) -> list[str]:
        return [
            f"{name} has rows to label again in {counted(count, 'finished story', 'finished stories')}"
            for name, count in result["reopened"].items()
        ]
