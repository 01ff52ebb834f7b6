from __future__ import annotations

from collections.abc import Callable

from django.utils import timezone

from annotation.management.json_command import JsonCommand
from annotation.models import Membership, Role, Story, User
from annotation.services import drafts, reconciliation


def _finish(by: User, story: Story) -> None:
    reconciliation.finish(by=by, story=story, now=timezone.now())


ACTIONS: dict[str, tuple[str, Callable[[User, Story], object]]] = {
    "hand-in": ("handed in", lambda by, story: drafts.hand_in(by=by, story=story, now=timezone.now())),
    "take-back": ("taken back", lambda by, story: drafts.take_back(by=by, story=story)),
    "release": ("released", lambda by, story: drafts.release_slot(by=None, story=story, expert=by)),
    "open": ("open in lanes", lambda by, story: reconciliation.open_lanes(story=story, by=by, now=timezone.now())),
    "agree": ("agreed to", lambda by, story: reconciliation.agree(by=by, story=story, now=timezone.now())),
    "finish": ("made of its lanes", _finish),
    "reopen": ("open in lanes again", lambda by, story: reconciliation.reopen(by=by, story=story)),
}
"""What is said of the table afterwards, and what the pages do."""


class Command(JsonCommand):
    help = "Does to the belief table of a story what an expert does on its pages."

    def add_arguments(self, parser) -> None:
        parser.add_argument("action", choices=ACTIONS)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--story", required=True, type=int, metavar="NUMBER")
        parser.add_argument("--expert", required=True, metavar="NAME", help="user name of who does it")

    def work(self, **options) -> dict:
        project = self.project(options["project"])
        story = project.stories.select_related("project").filter(number=options["story"]).first()
        if story is None:
            raise ValueError(f"There is no story {options['story']} in {project.slug}.")
        roles = (Role.EXPERT, Role.ADMIN)
        members = Membership.objects.filter(project=project, role__in=roles).select_related("user")
        member = members.filter(user__username=options["expert"]).first()
        if member is None:
            raise ValueError(f"{options['expert']}: no expert of {project.slug} has this name.")
        said, act = ACTIONS[options["action"]]
        act(member.user, story)
        return {"project": project.slug, "story": story.number, "expert": member.user.username, "done": said}

    def say(self, result: dict) -> None:
        self.stdout.write(f"The table of story {result['story']} is {result['done']}.")
