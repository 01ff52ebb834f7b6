from __future__ import annotations

from annotation.management.commands._assigned import add_chosen, chosen_assignments, day
from annotation.management.json_command import JsonCommand
from annotation.services.assignments import check_due, foreseen, set_due
from core.wording import counted


class Command(JsonCommand):
    help = "Gives what people are assigned to a day to be finished by, or takes the day away."

    def add_arguments(self, parser) -> None:
        add_chosen(parser)
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--due", type=day, metavar="YYYY-MM-DD", help="the day to finish by")
        which.add_argument("--no-due", action="store_true", help="without a day")

    def work(self, **options) -> dict:
        project, due = self.project(options["project"]), options["due"]
        rows = chosen_assignments(project, options)
        check_due(due, rows)
        would = foreseen(rows)
        assignments = would["count"]
        if not options["preview"]:
            assignments = set_due(by=None, project=project, assignments=rows, due=due)
        return {
            "project": project.slug,
            "assignments": assignments,
            "due": due.isoformat() if due else None,
            "people": {person.username: count for person, count in would["loads"]},
            "preview": options["preview"],
        }

    def say(self, result: dict) -> None:
        due = f"to be finished by {result['due']}" if result["due"] else "without a deadline"
        would = "would be" if result["preview"] else "now:"
        self.stdout.write(f"{counted(result['assignments'], 'assignment')} {would} {due}.")
        self.say_of("people", result["people"])
