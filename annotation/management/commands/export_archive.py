from __future__ import annotations

from pathlib import Path

from django.utils import timezone

from annotation.management.json_command import JsonCommand
from annotation.services.archive_export import export_archive


class Command(JsonCommand):
    help = "Writes a whole project into one file that import_archive reads elsewhere."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--output", required=True, type=Path, metavar="FILE.zip")

    def work(self, **options) -> dict:
        project, path = self.project(options["project"]), options["output"]
        partial = path.with_name(path.name + ".partial")
        try:
            with partial.open("wb") as target:
                rows = export_archive(project=project, target=target, now=timezone.now())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        return {"project": project.slug, "path": str(path), "rows": rows}
