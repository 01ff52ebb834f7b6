from typing import Any

from django.utils import timezone

from annotation.management.json_command import CHOSEN, ProjectCommand, chosen_assignments
from annotation.models import Project
from annotation.services.assignments import foreseen, release_all
from core.wording import counted


class Command(ProjectCommand):
    help = "Ends assignments of these people; their votes there no longer count and stay in the history."
    has_parts = True
    arguments = CHOSEN

    def on(self, project: Project, *, preview: bool, **options: Any) -> dict[str, Any]:
        rows = chosen_assignments(project, options)
        would = foreseen(rows)
        assignments, votes = would["count"], would["votes"]
        if not preview:
            assignments, votes = release_all(by=None, assignments=rows, now=timezone.now())
        return {
            "project": project.slug, "assignments": assignments, "votes": votes,
            "people": {person.username: count for person, count in would["loads"]}, "preview": preview,
        }  # fmt: skip

    def say(self, result: dict[str, Any]) -> None:
        would = "would be " if result["preview"] else ""
        assignments, votes = counted(result["assignments"], "assignment"), counted(result["votes"], "vote")
        self.stdout.write(f"{assignments} {would}released; {votes} {would}withdrawn.")
        self.say_of("people", result["people"])
