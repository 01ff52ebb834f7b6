from typing import Any

from django.utils import timezone

from annotation.management.json_command import ProjectCommand
from annotation.models import Project
from annotation.services.people import remove_member
from core.wording import counted


class Command(ProjectCommand):
    help = "Ends a membership; votes and decisions stay, with their author."
    arguments = {
        "--user": {"required": True, "metavar": "NAME"},
        "--release-unfinished": {
            "action": "store_true",
            "help": "release the stories that they have not finished, which withdraws their votes there",
        },
    }

    def on(self, project: Project, *, user: str, release_unfinished: bool, **options: Any) -> dict[str, Any]:
        members = project.memberships.select_related("user", "project")
        membership = members.filter(user__username=user).first()
        if membership is None:
            raise ValueError(f"{user}: no member of {project.slug} has this name.")
        released = remove_member(
            by=None, membership=membership, now=timezone.now(), release_unfinished=release_unfinished
        )
        return {"project": project.slug, "user": user, "released": released}

    def say(self, result: dict[str, Any]) -> None:
        released = f"; {counted(result['released'], 'assignment')} released" if result["released"] else ""
        self.stdout.write(f"{result['user']} is no longer a member of {result['project']}{released}.")
