from __future__ import annotations

from collections.abc import Callable

from django.utils import timezone

from annotation.management.commands._table_rows import ROWS, WORDS, Press, rows_of
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
        parser.add_argument("action", choices=[*ACTIONS, "rows", *ROWS])
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--story", required=True, type=int, metavar="NUMBER")
        parser.add_argument("--expert", required=True, metavar="NAME", help="user name of who does it")
        rows = parser.add_argument_group("one row", ", ".join(ROWS))
        rows.add_argument("--row", type=int, metavar="NUMBER", help="counted from 1; without it a new row, below all")
        for name in WORDS:
            rows.add_argument(f"--{name}", metavar="TEXT")
        rows.add_argument("--keep", choices=["a", "b"], default="", help="decide: whose words")
        rows.add_argument("--with", type=int, dest="other", metavar="NUMBER", help="link: the other row")
        rows.add_argument("--drop", action="store_true", help="leave the row out, or take it away")

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
        report = {"project": project.slug, "story": story.number, "expert": member.user.username}
        if options["action"] == "rows":
            return report | {"rows": rows_of(member.user, story)}
        if options["action"] in ROWS:
            outcome, change = ROWS[options["action"]]
            change(_press(member.user, story, options))
            return report | {"row": options["row"], "done": outcome}
        outcome, act = ACTIONS[options["action"]]
        act(member.user, story)
        return report | {"done": outcome}

    def say(self, result: dict) -> None:
        if "rows" in result:
            for table, lines in result["rows"].items():
                self.stdout.writelines(f"{table} {number}. {line}\n" for number, line in enumerate(lines, 1))
        elif "row" in result:
            row = f"Row {result['row']}" if result["row"] else "A new row"
            self.stdout.write(f"{row} of story {result['story']} is {result['done']}.")
        else:
            self.stdout.write(f"The table of story {result['story']} is {result['done']}.")


def _press(by: User, story: Story, options: dict) -> Press:
    words = {name: options[name] for name in WORDS if options[name] is not None}
    if options["row"] is None and not words.get("belief", "").strip():
        raise ValueError("A new row needs --belief; name one that is there by --row.")
    return Press(by, story, options["row"], words, options["keep"], options["other"], options["drop"])
