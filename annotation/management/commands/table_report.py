from typing import Any

from annotation.management.json_command import ProjectCommand
from annotation.models import Project
from annotation.services.agreement import table_report
from core.plain import Json
from core.wording import counted


class Command(ProjectCommand):
    help = "Says how far experts agreed on the belief tables that they wrote apart: overlap and F1, with intervals."
    has_parts = True

    def on(self, project: Project, *, split: str | None, category: str | None, **options: Any) -> Json:
        return {"project": project.slug} | table_report(project=project, split=split, category=category)

    def say(self, result: Json) -> None:
        stories = counted(result["stories"], "story", "stories")
        self.stdout.write(
            f"{result['unremarked']} of {result['reviewed']} reviewed propositions of {stories} needed no remark."
        )
        for name, key in (("Overlap", "overlap"), ("F1 between the experts", "f1")):
            estimate = result[key]
            if estimate.value is None:
                text = f"none ({estimate.reason})"
            elif not estimate.interval:
                text = f"{estimate.value:.2%} ({estimate.reason})"
            else:
                low, high = estimate.interval
                text = f"{estimate.value:.2%} [{low:.2%}, {high:.2%}]"
            self.stdout.write(f"{name}: {text}")
