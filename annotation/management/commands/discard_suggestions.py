from typing import Any

from annotation.management.json_command import ProjectCommand
from annotation.models import Project
from annotation.services.prefill import discard_unseen
from core.wording import counted


class Command(ProjectCommand):
    help = (
        "Discards what models suggested for stories that nobody has opened with it yet, labels and drafted tables, to "
        "try another model."
    )

    def on(self, project: Project, **options: Any) -> dict[str, Any]:
        return {"project": project.slug, "discarded": discard_unseen(by=None, project=project)}

    def say(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"Discarded: {counted(result['discarded'], 'suggestion')} of {result['project']}.")
