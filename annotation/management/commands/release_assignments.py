from __future__ import annotations

from django.utils import timezone

from annotation.management.commands._assigned import add_chosen, chosen_assignments
from annotation.management.json_command import JsonCommand
from annotation.services.assignments import foreseen, release_all
from core.wording import counted


class Command(JsonCommand):
    help = "Ends assignments of these people; their votes there no longer count and stay in the history."

    def add_arguments(self, parser) -> None:
        add_chosen(parser)

    def work(self, **options) -> dict:
        project = self.project(options["project"])
        rows = chosen_assignments(project, options)
        would = foreseen(rows)
        assignments, votes = would["count"], would["votes"]
        if not options["preview"]:
            assignments, votes = release_all(by=None, assignments=rows, now=timezone.now())
        return {
            "project": project.slug,
            "assignments": assignments,
            "votes": votes,
            "people": {person.username: count for person, count in would["loads"]},
            "preview": options["preview"],
        }

    def say(self, result: dict) -> None:
        would = "would be " if result["preview"] else ""
        assignments, votes = counted(result["assignments"], "assignment"), counted(result["votes"], "vote")
        self.stdout.write(f"{assignments} {would}released; {votes} {would}withdrawn.")
        self.say_of("people", result["people"])
