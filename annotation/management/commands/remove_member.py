from __future__ import annotations

from django.utils import timezone

from annotation.management.json_command import JsonCommand
from annotation.models import Membership
from annotation.services.people import remove_member
from core.wording import counted


class Command(JsonCommand):
    help = "Ends a membership; votes and decisions stay, with their author."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--user", required=True, metavar="NAME")
        parser.add_argument(
            "--release-unfinished",
            action="store_true",
            help="release the stories that they have not finished, which withdraws their votes there",
        )

    def work(self, **options) -> dict:
        project, name = self.project(options["project"]), options["user"]
        members = Membership.objects.filter(project=project).select_related("user", "project")
        membership = members.filter(user__username=name).first()
        if membership is None:
            raise ValueError(f"{name}: no member of {project.slug} has this name.")
        released = remove_member(
            by=None, membership=membership, now=timezone.now(), release_unfinished=options["release_unfinished"]
        )
        return {"project": project.slug, "user": name, "released": released}

    def say(self, result: dict) -> None:
        released = f"; {counted(result['released'], 'assignment')} released" if result["released"] else ""
        self.stdout.write(f"{result['user']} is no longer a member of {result['project']}{released}.")
