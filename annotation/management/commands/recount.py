from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from annotation.services.counts import differences, recount_project
from core.wording import counted


class Command(JsonCommand):
    help = "Counts cells, gold and votes of every story anew; with --check it only compares them with what is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="one project; else all")
        parser.add_argument("--check", action="store_true", help="change nothing, and fail where a count is wrong")

    def work(self, *, project: str | None, check: bool, **options: Any) -> dict[str, Any]:
        projects = [self.project(project)] if project else list(Project.objects.order_by("slug"))
        if not check:
            return {"stories": sum(map(recount_project, projects))}
        wrong = [(row.slug, *difference) for row in projects for difference in differences(row)]
        for slug, number, what in wrong:
            self.note(f"{slug}, story {number}: {what}")
        if wrong:
            stories = counted(len(wrong), "story", "stories")
            raise CommandError(f"{stories} with wrong counts; manage.py recount counts anew.")
        return {"stories": sum(row.stories.count() for row in projects), "wrong": 0}

    def say(self, result: dict[str, Any]) -> None:
        right = ": all counts are right" if "wrong" in result else " counted anew"
        self.stdout.write(f"{counted(result['stories'], 'story', 'stories')}{right}.")
