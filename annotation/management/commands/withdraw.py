from __future__ import annotations

from django.utils import timezone

from annotation.management.commands._scope import check_scope, stories_numbered
from annotation.management.json_command import JsonCommand
from annotation.services.withdrawals import take_back, withdraw
from core.wording import counted


class Command(JsonCommand):
    help = "Withdraws stories, which keep their data and leave all work, or takes them back."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--stories", nargs="+", type=int, metavar="NUMBER")
        which.add_argument("--category", metavar="NAME")
        parser.add_argument("--back", action="store_true", help="take them into use again")

    def work(self, **options) -> dict:
        project, category, numbers = self.project(options["project"]), options["category"], options["stories"] or []
        check_scope(project, split=None, category=category)
        which = {"project": project, "stories": stories_numbered(project, numbers), "category": category or ""}
        changed = take_back(by=None, **which) if options["back"] else withdraw(by=None, now=timezone.now(), **which)
        return {"project": project.slug, "stories": changed, "back": options["back"]}

    def say(self, result: dict) -> None:
        stories = counted(result["stories"], "story", "stories")
        self.stdout.write(f"{stories} {'taken back' if result['back'] else 'withdrawn'}.")
