from typing import Any

from annotation.management.json_command import ProjectCommand
from annotation.models import Project
from annotation.services.table_report import table_report
from core.plain import Json
from core.statistics import Estimate
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
            self.stdout.write(f"{name}: {_estimate_text(result[key])}")


def _estimate_text(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"none ({estimate.reason})"
    share = f"{estimate.value:.2%}"
    if not estimate.interval:
        return f"{share} ({estimate.reason})"
    low, high = estimate.interval
    return f"{share} [{low:.2%}, {high:.2%}]"
