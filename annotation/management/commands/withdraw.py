from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from annotation.management.json_command import ProjectCommand, check_scope, stories_numbered
from annotation.models import Project
from annotation.services.stories import take_back, withdraw
from core.plain import Json
from core.wording import counted


class Command(ProjectCommand):
    help = "Withdraws stories, which keep their data and leave all work, or takes them back."
    arguments = {"--back": {"action": "store_true", "help": "take them into use again"}}

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--stories", nargs="+", type=int, metavar="NUMBER")
        which.add_argument("--category", metavar="NAME")

    def on(
        self, project: Project, *, stories: list[int] | None, category: str | None, back: bool, **options: Any
    ) -> dict[str, Any]:
        check_scope(project, split=None, category=category)
        numbered = stories_numbered(project, stories or [])
        which: Json = {"project": project, "stories": numbered, "category": category or ""}
        changed = take_back(by=None, **which) if back else withdraw(by=None, now=timezone.now(), **which)
        return {"project": project.slug, "stories": changed, "back": back}

    def say(self, result: dict[str, Any]) -> None:
        stories = counted(result["stories"], "story", "stories")
        self.stdout.write(f"{stories} {'taken back' if result['back'] else 'withdrawn'}.")
