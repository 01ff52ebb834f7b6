from __future__ import annotations

from django.utils import timezone

from annotation.management.commands._output import file_output
from annotation.management.json_command import JsonCommand
from annotation.services.archive_export import export_archive


class Command(JsonCommand):
    help = "Writes a whole project into one file that import_archive reads elsewhere."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--output", required=True, metavar="FILE.zip")

    def work(self, **options) -> dict:
        project = self.project(options["project"])
        with file_output(options["output"], mode="wb") as target:
            rows = export_archive(project=project, target=target, now=timezone.now())
        return {"project": project.slug, "path": str(options["output"]), "rows": rows}
