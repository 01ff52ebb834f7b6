from argparse import ArgumentParser
from datetime import date
from typing import Any

from annotation.management.json_command import CHOSEN, ProjectCommand, chosen_assignments, day
from annotation.models import Project
from annotation.services.assignments import check_due, foreseen, set_due
from core.wording import counted


class Command(ProjectCommand):
    help = "Gives what people are assigned to a day to be finished by, or takes the day away."
    has_parts = True
    arguments = CHOSEN

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--due", type=day, metavar="YYYY-MM-DD", help="the day to finish by")
        which.add_argument("--no-due", action="store_true", help="without a day")

    def on(self, project: Project, *, due: date | None, preview: bool, **options: Any) -> dict[str, Any]:
        rows = chosen_assignments(project, options)
        check_due(due, rows)
        would = foreseen(rows)
        assignments = would["count"]
        if not preview:
            assignments = set_due(by=None, project=project, assignments=rows, due=due)
        return {
            "project": project.slug, "assignments": assignments, "due": due.isoformat() if due else None,
            "people": {person.username: count for person, count in would["loads"]}, "preview": preview,
        }  # fmt: skip

    def say(self, result: dict[str, Any]) -> None:
        due = f"to be finished by {result['due']}" if result["due"] else "without a deadline"
        would = "would be" if result["preview"] else "now:"
        self.stdout.write(f"{counted(result['assignments'], 'assignment')} {would} {due}.")
        self.say_of("people", result["people"])
