from typing import Any

from django.utils import timezone

from annotation.management.commands._output import file_output
from annotation.management.json_command import ProjectCommand
from annotation.models import Project
from annotation.services.archive_export import export_archive


class Command(ProjectCommand):
    help = "Writes a whole project into one file that import_archive reads elsewhere."
    arguments = {"--output": {"required": True, "metavar": "FILE.zip"}}

    def on(self, project: Project, *, output: str, **options: Any) -> dict[str, Any]:
        with file_output(output, mode="wb") as target:
            rows = export_archive(project=project, target=target, now=timezone.now())
        return {"project": project.slug, "path": str(output), "rows": rows}
